"""Results as dataframes of the library in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from levelbest.errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import polars

Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame"


def as_frame(columns: Mapping[str, Sequence[object]]) -> Frame:
    """A dataframe of these columns: pandas where it is installed, else polars."""
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
