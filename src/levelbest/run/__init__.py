"""Crash-safe random search and seeds: spaces, studies, the ledger, the loop and the engines."""
