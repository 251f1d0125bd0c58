"""Results as dataframes of the library in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from levelbest.errors import MissingExtra

__all__ = ["as_frame"]


def as_frame(columns: Mapping[str, Sequence[object]]) -> Any:
    """A dataframe of these columns: pandas where it is installed, else polars.

    Any is the type of frames: neither library is a dependency.
    """
    plain = {name: list(values) for name, values in columns.items()}
    try:
        import pandas
    except ImportError:
        try:
            import polars
        except ImportError:
            raise MissingExtra("pandas or polars", "pandas") from None
        return polars.DataFrame(plain, strict=False)
    return pandas.DataFrame(plain)
