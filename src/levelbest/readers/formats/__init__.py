"""One file for each tool whose results are read; each offers ``READERS`` to the registry and says where its facts lie.

``_tree`` opens a tool's files, knows a tool by them and lists what is lost; ``_rows`` makes tables of rows, of runs and
of scores; ``_searches`` joins searches that were repeated; ``_wire`` reads Protocol Buffers.
"""
