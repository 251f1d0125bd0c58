"""The format of the ledger, shared by the runner and all readers: records, their hash chain and the SQLite file."""
