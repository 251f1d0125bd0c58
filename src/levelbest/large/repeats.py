"""Sample ids that occur twice in one problem, looked for part by part."""

from __future__ import annotations

from typing import Any

from levelbest.cautions import Caution
from levelbest.large.counts import Counted
from levelbest.large.parts import cut_parts
from levelbest.large.source import run
from levelbest.readers.groups import said_of_repeats
from levelbest.readers.tables.engine import name_of

__all__ = ["find_repeats"]


def find_repeats(connection: Any, counted: Counted, limit: int) -> list[Caution]:
    """Refuse sample ids that repeat with their scores; caution where the scores differ."""
    source = counted.source
    if source.sample is None:
        return []
    column = name_of(source.sample)
    ends = run(connection, f"SELECT min({column}), max({column}) FROM {source.relation} WHERE {source.where}")
    if ends[0][0] == ends[0][1]:  # the same in every row tells nothing
        return []
    scores = [source.number(source.selection)] + ([] if source.reported is None else [source.number(source.reported)])
    differ = " OR ".join(f"min({one}) IS DISTINCT FROM max({one})" for one in scores)
    count, other, first = 0, 0, None
    for part in cut_parts(counted.sizes, limit // 2):
        low, high = (source.literal(counted.labels[at]) for at in (part[0][0], part[-1][1] - 1))
        inner = (
            f"SELECT {source.key} AS g, {column} AS id, {differ} AS other FROM {source.relation} WHERE "
            f"({source.where}) AND {source.key} >= {low} AND {source.key} <= {high} AND {column} IS NOT NULL "
            f"GROUP BY {source.key}, {column} HAVING count(*) > 1"
        )
        columns = "count(*), count(CASE WHEN other THEN 1 END), min(g), arg_min(CAST(id AS VARCHAR), g)"
        found = run(connection, f"SELECT {columns} FROM ({inner})")[0]
        count, other = count + found[0], other + found[1]
        if first is None and found[0]:
            first = found[2:]
    if first is None:
        return []
    return said_of_repeats(counted.family, count, other == 0, first[1], str(first[0]))
