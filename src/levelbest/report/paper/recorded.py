"""What a ledger recorded, as answers for the checklist: machine, packages, search spaces, how values were chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping

from levelbest.report.view import View

_MOST_PACKAGES = 15
_WELL_KNOWN = (
    "numpy scipy scikit-learn torch tensorflow jax flax keras transformers datasets vllm lightning pytorch-lightning "
    "xgboost lightgbm catboost pandas polars gymnasium allennlp"
)
_RANGES = {
    "uniform": "uniform",
    "loguniform": "log-uniform",
    "integer": "whole numbers",
    "log-integer": "whole numbers, log-uniform",
}


def recorded_answers(view: View, facts: Mapping[str, str]) -> dict[str, str]:
    """Answers by the checklist's keys; none where the trials do not come from a ledger."""
    if "ledger:head" not in facts:
        return {}
    cpus, memory = facts.get("environment:cpus"), facts.get("environment:memory")
    machine = [
        facts.get("environment:processor"),
        f"{cpus} CPUs",
        ", ".join(json.loads(facts.get("environment:gpus", "[]"))),
        memory and f"{int(memory) / 1e9:.0f} GB of memory",
        facts.get("environment:system"),
    ]
    seeds = {family.name: facts.get(f"seeds:{family.name}", "1") for family in view.families}
    each = ", ".join(f"{name} {count}" for name, count in seeds.items())
    several = f"the configuration and the seed; seeds a configuration: {each}"
    anew = "the configuration and the seed, both drawn anew for every trial"
    answers = {
        "infrastructure": ", ".join(part for part in machine if part) if cpus else "",
        "packages": _packages(facts),
        "bounds": _spaces(view, facts),
        "sampling": f"independent random draws fixed by the study's seed {facts['ledger:seed']} before any result; "
        f"selected by {view.selection}",
        "seeds": anew if {int(count) for count in seeds.values()} == {1} else several,
    }
    return {key: value for key, value in answers.items() if value}


def _packages(facts: Mapping[str, str]) -> str:
    installed: dict[str, str] = json.loads(facts.get("environment:packages", "{}"))
    if not installed:
        return ""
    shown = [name for name in installed if name in _WELL_KNOWN.split()]
    if len(installed) <= _MOST_PACKAGES:
        shown = list(installed)
    parts = [f"Python {facts['environment:python']}"] if "environment:python" in facts else []
    parts += [f"{name} {installed[name]}" for name in shown]
    if len(shown) < len(installed):
        parts.append(f"and {len(installed) - len(shown)} more, with their versions in the ledger")
    if "environment:code" in facts:
        parts.append(f"own code at commit {facts['environment:code']}")
    return ", ".join(parts)


def _spaces(view: View, facts: Mapping[str, str]) -> str:
    """The declared space of every family, without what was hidden from the view."""
    seen = {name for family in view.families for name in family.space}

    def is_seen(name: str) -> bool:
        return f"config.{name}" in seen or any(other.startswith(f"config.{name}.") for other in seen)

    lines = []
    for family in view.families:
        space: dict[str, object] = json.loads(facts.get(f"space:{family.name}", "{}"))
        parts = [f"{name}: {_law(law)}" for name, law in space.items() if is_seen(name)]
        if parts:
            lines.append(f"{family.name}: {', '.join(parts)}")
    return ";\n".join(lines)


def _law(given: object) -> str:
    """One parameter of a space in words."""
    if not isinstance(given, dict):
        return f"always {_text(given)}"
    kind = next(iter(given))
    value = given[kind]
    if kind in _RANGES:
        law = f"{_RANGES[kind]} from {_text(value[0])} to {_text(value[1])}"
    elif kind == "normal":
        law = f"normal with mean {_text(value[0])} and sd {_text(value[1])}"
    elif kind == "choice":
        law = f"one of {', '.join(_text(choice) for choice in value)}"
        if given.get("weights"):
            law += f" with weights {', '.join(_text(weight) for weight in given['weights'])}"
    elif kind == "constant":
        law = f"always {_text(value)}"
    else:
        law = json.dumps({key: part for key, part in given.items() if key != "when"})
    if given.get("when"):
        law += " where " + " and ".join(f"{name} is {_text(one)}" for name, one in dict(given["when"]).items())
    return law


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else json.dumps(value)
    return str(value) if isinstance(value, int) else f"{value:.6g}"
