"""Readers, one file per tool; each defines ``READERS`` for the registry and says where its files keep their facts.

``_tree`` opens a tool's files, knows a tool by them and lists what is lost; ``_rows`` makes tables of rows, of runs and
of scores; ``_searches`` joins searches that were repeated; ``_wire`` reads Protocol Buffers.
"""
