"""Random search and seeds that lose nothing: spaces, studies, the ledger, the loop and its engines."""
