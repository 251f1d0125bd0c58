"""Sample ids that occur twice in one problem, looked for part by part."""

from __future__ import annotations

from levelbest.cautions import Caution
from levelbest.readers.parts._counts import Counted
from levelbest.readers.parts._ranking import cut_parts
from levelbest.readers.parts._source import run
from levelbest.readers.tables.engine import name_of
from levelbest.trials.problems import about_repeats

__all__ = ["find_repeats"]


def find_repeats(connection: object, counted: Counted, limit: int) -> list[Caution]:
    """Refuse sample ids that repeat with their scores; caution where the scores differ."""
    source = counted.source
    if source.sample is None:
        return []
    column = name_of(source.sample)
    ends = run(connection, f"SELECT min({column}), max({column}) FROM {source.relation} WHERE {source.where}")
    if ends[0][0] == ends[0][1]:  # the same in every row tells nothing
        return []
    scores = [source.number(source.selection)] + ([] if source.reported is None else [source.number(source.reported)])
    differ = " OR ".join(f"min({score}) IS DISTINCT FROM max({score})" for score in scores)
    count, other, first = 0, 0, None
    for part in cut_parts(counted.samples, limit // 2):
        low, high = (source.literal(counted.labels[at]) for at in (part[0][0], part[-1][1] - 1))
        inner = (
            f"SELECT {source.key} AS g, {column} AS id, {differ} AS other FROM {source.relation} WHERE "
            f"({source.where}) AND {source.key} >= {low} AND {source.key} <= {high} AND {column} IS NOT NULL "
            f"GROUP BY {source.key}, {column} HAVING count(*) > 1"
        )
        columns = "count(*), count(CASE WHEN other THEN 1 END), min(g), arg_min(CAST(id AS VARCHAR), g)"
        ids, others, problem, sample = run(connection, f"SELECT {columns} FROM ({inner})")[0]
        count, other = count + ids, other + others
        if first is None and ids:
            first = sample, str(problem)
    return [] if first is None else about_repeats(counted.family, count, other == 0, *first)
