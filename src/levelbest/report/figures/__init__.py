"""Figures for papers and notebooks (matplotlib)."""
