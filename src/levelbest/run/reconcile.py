"""Checks that a study matches its ledger: settings that determine results cannot change within a family."""

from __future__ import annotations

import itertools
import json
from collections.abc import Container, Mapping, Sequence

from levelbest import _check
from levelbest._ledger.chain import LedgerFamily
from levelbest.errors import DataError, InputError, named
from levelbest.run.ledger import Entry, Ledger
from levelbest.run.study import Family, Study


def reconcile(
    study: Study, ledger: Ledger, new_family: Sequence[str] = (), redo: Sequence[str] = ()
) -> tuple[dict[str, int], list[Entry]]:
    """The number in the ledger of each family, and the records to add; a ``DataError`` where study and ledger differ.

    ``new_family`` names (``NEW`` or ``OLD=NEW``) what a changed family is called from here on; its earlier trials stay.
    ``redo`` names families that begin again, changed or not, under a new name and with new configurations.
    """
    _same_study(study, ledger)
    known = list(ledger.chain.families.values())
    used = {earlier.number for earlier in known} | {
        family.number for family in study.families if family.number is not None
    }
    renamed = _renamed(study, known, new_family, redo) | _begun_again(study, known, redo)
    numbers: dict[str, int] = {}
    entries: list[Entry] = []
    for family in study.families:
        same = [earlier for earlier in known if _is_same(earlier, family)]
        match = same[-1] if same and family.name not in redo else None
        if match is None:
            name, number, planned = renamed.get(family.name, family.name), family.number, 0
            if number is None:
                number = next(n for n in range(len(used) + 1) if n not in used)
            elif number in ledger.chain.families:
                raise DataError(f"family {family.name}: the number {number} belongs to another family in this ledger")
            used.add(number)
            body = {"name": name, "declared": family.name, "definition": family.definition()}
            entries.append(Entry("family", {**body, "fingerprint": family.fingerprint}, family=number))
        else:
            name, number, planned = match.name, match.number, match.n_planned
        if family.n_trials < planned:
            raise DataError(
                f"family {name}: a plan can grow and not shrink, {planned} trials were planned and the study now says "
                f"{family.n_trials}; leave n_trials at {planned} or more"
            )
        if family.n_trials > planned:
            entries.append(Entry("plan", {"n_trials": family.n_trials}, family=number))
        numbers[family.name] = number
    return numbers, entries


def _begun_again(study: Study, known: list[LedgerFamily], redo: Sequence[str]) -> dict[str, str]:
    """Family of the study that begins again -> its new name; what was run stays under the one it had."""
    names = {family.name: family for family in study.families}
    for name in redo:
        if name not in names:
            raise InputError(f"{named('redo', name)}: {_check.nearest_first(name, list(names))}")
        if not any(earlier.declared == name for earlier in known):
            raise InputError(f"{named('redo', name)}: nothing of it was run yet, so it needs no redoing")
    return {name: _free_name(name, known) for name in redo}


def _free_name(name: str, known: list[LedgerFamily]) -> str:
    taken = {used for earlier in known for used in (earlier.name, earlier.declared)}
    return next(free for k in itertools.count(2) if (free := f"{name}-{k}") not in taken)


def _is_same(earlier: LedgerFamily, family: Family) -> bool:
    return earlier.declared == family.name and earlier.fingerprint == family.fingerprint


def _same_study(study: Study, ledger: Ledger) -> None:
    now = study.to_dict()
    lines = _difference({key: ledger.chain.study.get(key) for key in now}, now)
    if lines:
        raise DataError(
            "the study changed after it began (nothing was run):\n"
            + "\n".join(lines)
            + "\nSeed, metric, cost and headline belong to the whole ledger: change them back, or begin another with "
            + named("ledger")
        )


def _renamed(study: Study, known: list[LedgerFamily], new_family: Sequence[str], redo: Sequence[str]) -> dict[str, str]:
    """Family of the study -> the new name that its changed definition is to have, where it does not begin again."""
    changed = [
        family
        for family in study.families
        if family.name not in redo
        and any(earlier.declared == family.name for earlier in known)
        and not any(_is_same(earlier, family) for earlier in known)
    ]
    names = {name for earlier in known for name in (earlier.name, earlier.declared)}
    taken = names | {family.name for family in study.families}
    renamed = dict(_new_name(text, [family.name for family in changed], taken) for text in new_family)
    for family in changed:
        if family.name not in renamed:
            before = [earlier for earlier in known if earlier.declared == family.name][-1]
            free = _free_name(family.name, known)
            raise DataError(
                f"family {family.name} changed after it began (nothing was run):\n"
                + "\n".join(_difference(dict(before.definition), family.definition()))
                + "\nTrials of two definitions are not one sample. Change it back, or keep both: "
                + f"{named('new_family', free)} runs this one under a new name"
            )
    for family in study.families:
        for earlier in known:
            if earlier.name == family.name != earlier.declared:
                raise DataError(
                    f"family {family.name}: the ledger knows {earlier.declared} by this name; choose another"
                )
    return renamed


def _new_name(text: str, changed: Sequence[str], taken: Container[str]) -> tuple[str, str]:
    """``OLD=NEW``, or ``NEW`` where one family changed, as (old, new)."""
    old, equals, new = text.partition("=")
    if not equals and len(changed) != 1:
        names = ", ".join(changed) or "none"
        raise InputError(f"{named('new_family', text)}: say OLD=NEW, because the families that changed are: {names}")
    if not equals:
        old, new = changed[0], text
    if old not in changed:
        raise InputError(f"{named('new_family', text)}: {old} has not changed, so it needs no new name")
    if new in taken:
        raise InputError(f"{named('new_family', text)}: there is a family {new} already; choose another name")
    return old, new


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Lines ``- was`` and ``+ is`` of what differs, by dotted path."""
    was, is_now = _paths(before), _paths(now)
    lines = []
    for key in dict.fromkeys([*was, *is_now]):
        if was.get(key) != is_now.get(key):
            lines += [f"  - {key}: {was[key]}"] if key in was else []
            lines += [f"  + {key}: {is_now[key]}"] if key in is_now else []
    return lines


def _paths(value: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    paths: dict[str, str] = {}
    for key, part in value.items():
        if key == "space" and not prefix and isinstance(part, list):
            paths |= {f"space.{name}": json.dumps(given) for name, given in part}
            paths["space (order)"] = ", ".join(name for name, _ in part)
        elif isinstance(part, Mapping) and part:
            paths |= _paths(part, f"{prefix}{key}.")
        else:
            paths[f"{prefix}{key}"] = json.dumps(part)
    return paths
