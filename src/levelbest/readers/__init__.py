"""Trials from anywhere: one file per source, one registry, one pipeline."""
