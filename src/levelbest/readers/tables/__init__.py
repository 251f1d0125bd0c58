"""Plain tables: CSV, JSON, Parquet and dataframes in, the tidy table of trials in and out."""
