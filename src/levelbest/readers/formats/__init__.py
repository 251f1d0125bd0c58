"""One file for each tool whose results are read; each offers ``READERS`` to the registry and imports no other."""
