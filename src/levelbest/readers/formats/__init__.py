"""One file for each tool whose results are read; each offers ``READERS`` to the registry and says where its facts lie.

``_tree`` walks folders and archives and knows a tool by its files, ``_rows`` makes tables of rows and of runs,
``_searches`` joins searches that were repeated, ``_metrics`` reads a run's own metrics file.
"""
