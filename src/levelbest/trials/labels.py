"""Display names of columns and families, in place of those in the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from levelbest import _check
from levelbest.errors import InputError, named
from levelbest.trials.table import Trials


def relabelled(trials: Trials, label: Mapping[str, str], name: Mapping[str, str]) -> Trials:
    """The trials with other words for their score and cost columns (``label``) and their families (``name``).

    Examples
    --------
    >>> trials = Trials.from_arrays([0.7, 0.9], direction="max", family=["mlp_v2", "svm"])
    >>> relabelled(trials, {"selection": "Accuracy"}, {"mlp_v2": "MLP"})
    Trials(2 families, 2 trials, 0 failed; Accuracy, max)
    """
    metric = trials.metric
    columns = {role: text for role in ("selection", "reported", "cost") if (text := getattr(metric, role)) is not None}
    for given, known, option in ((label, list(columns.values()), "label"), (name, list(trials.families), "name")):
        for wanted in given:
            if wanted not in known:
                near = _check.nearest_first(wanted, known)
                raise InputError(
                    f"{named(option)} renames columns and families of the trials, and {wanted!r} is neither; {near}"
                )
    families = tuple(name.get(family, family) for family in trials.families)
    if len(set(families)) < len(families):
        raise InputError(f"two families would have one name; give each another one with {named('name')}")
    facts = {}
    for key, text in trials.facts.items():
        kind, colon, family = key.partition(":")
        facts[f"{kind}{colon}{name.get(family, family)}"] = text
    return replace(
        trials,
        metric=replace(metric, **{role: label.get(column, column) for role, column in columns.items()}),
        families=families,
        facts=facts,
        cautions=tuple(
            replace(caution, family=name.get(caution.family or "", caution.family)) for caution in trials.cautions
        ),
    )
