"""What files hold, whoever wrote them: bytes and text, CSV, Parquet, dataframes, and the tidy table of trials."""
