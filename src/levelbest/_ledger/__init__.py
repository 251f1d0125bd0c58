"""The ledger's format, for the runner that writes it and all who read it: records, the chain they form, the file."""
