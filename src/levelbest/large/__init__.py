"""Tables of samples too large to hold: problems in parts of bounded size, read and ranked one part after the other."""

from levelbest.large.families import LargeFamily, best_by_group_large
from levelbest.large.source import as_memory

__all__ = ["LargeFamily", "as_memory", "best_by_group_large"]
