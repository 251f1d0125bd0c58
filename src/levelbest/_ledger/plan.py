"""Checks records of a ledger against its plan: the definition, the configurations drawn, scores within bounds."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from levelbest._ledger.file import one_line
from levelbest._ledger.records import Body, LedgerRecord
from levelbest._ledger.space import Space
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest._ledger.chain import Chain


def fingerprint_of(definition: object) -> str:
    """A hash of a family's definition, the order of its parameters included."""
    return hashlib.sha256(json.dumps(definition).encode()).hexdigest()


def beyond_bounds(value: float | None, bounds: tuple[float | None, float | None]) -> bool:
    """Whether a score lies outside the study's own bounds."""
    low, high = bounds
    return value is not None and ((low is not None and value < low) or (high is not None and value > high))


class Plan:
    """The plan of a ledger, as far as its chain was followed."""

    def __init__(self, *, draws: bool) -> None:
        self._draws = draws
        self._spaces: dict[int, Space] = {}

    def problem(self, chain: Chain, record: LedgerRecord, body: Body) -> str | None:
        """Why a record that the chain has taken is not what the plan makes of it; None where it is."""
        if record.family is None:
            return None
        family = chain.families[record.family]
        if record.kind == "family":
            if fingerprint_of(body["definition"]) != family.fingerprint:
                return "has a fingerprint that is not that of its definition"
            try:
                self._spaces[record.family] = Space(dict(family.definition["space"]))
            except (InputError, ArithmeticError, ValueError, TypeError) as error:
                return f"declares a space that cannot be drawn from: {one_line(error)}"
        elif record.kind == "start" and self._draws and record.family in self._spaces and chain.study:
            place = chain.study["seed"], record.family, record.trial or 0, family.definition["seeds"]
            try:
                drawn = self._spaces[record.family].draw(*place)
            except (InputError, ArithmeticError, ValueError, TypeError) as error:
                return f"cannot be drawn: {one_line(error)}"
            if drawn != (body["config"], body["seed"]):
                return "is not the configuration and seed that the plan draws for this trial"
        elif record.kind == "end" and record.status == "ok" and chain.study:
            metric = chain.study["metric"]
            name = metric["reported"] or metric["selection"] or ""
            score = family.ends[record.trial or 0].scores.get(name)
            if beyond_bounds(score, metric["bounds"]):
                return f"has {name} = {score:g}, outside the bounds of its study"
        return None
