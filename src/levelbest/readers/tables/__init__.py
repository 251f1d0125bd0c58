"""Plain tables: bytes and text, CSV, Parquet, dataframes, and the tidy table of trials."""
