"""Samples that do not fit into memory: counted once, then read and ranked in parts of bounded size."""

from __future__ import annotations

from levelbest.readers.parts._source import as_memory
from levelbest.readers.parts._table import PartedTable, read_in_parts

__all__ = ["PartedTable", "as_memory", "read_in_parts"]
