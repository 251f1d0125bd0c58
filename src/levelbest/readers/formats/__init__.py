"""Readers, one file per tool; each defines ``READERS`` for the registry and says where its files keep their facts.

``_tree`` opens a tool's files, recognises the tool by them and lists what is skipped; ``_rows`` makes tables from rows,
runs and scores; ``_searches`` combines repeated searches; ``_wire`` reads Protocol Buffers.
"""
