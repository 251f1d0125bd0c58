"""The reporting checklist ([D] text box 1 and the conference checklists based on it), filled in from the data.

Items that the trials cannot answer come from a small answers file (a mapping from keys to answers); the rest are open
questions in the output, with a hint what to write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from levelbest import _check
from levelbest._plain import round_to_uncertainty, show_cost, show_limits, show_number
from levelbest.errors import InputError
from levelbest.report.tables.table import latex_text, markdown_text
from levelbest.report.view import Item, ShownFamily, View
from levelbest.report.words.phrases import counted, plural

# key, who asks ([D] text box 1 in its order; ARR's responsible-research and NeurIPS' paper checklists), question, hint
_ITEMS = (
    (
        "infrastructure",
        "[D] 1; ARR C1; NeurIPS compute",
        "What computing infrastructure was used?",
        "name the machine, its processors or accelerators and their number",
    ),
    (
        "runtime",
        "[D] 2; ARR C1; NeurIPS compute",
        "How long did each approach take on average?",
        "give a cost column, or the average time of a trial for each family",
    ),
    (
        "splits",
        "[D] 3; ARR C2; NeurIPS setting",
        "How were training, validation and test data split?",
        "give the sizes and how the split was made",
    ),
    (
        "validation",
        "[D] 4",
        "What is the validation performance behind each reported test result?",
        "give both a selection and a reported score",
    ),
    ("code", "[D] 5; NeurIPS open access", "Where is the code?", "give a link, or say why there is none"),
    (
        "bounds",
        "[D] 6; ARR C2; NeurIPS setting",
        "Which values were searched for each hyperparameter?",
        "give the bounds or the set of values of each hyperparameter",
    ),
    (
        "configuration",
        "[D] 7; ARR C2",
        "Which hyperparameters did the best models have?",
        "give the configuration of each family's winner",
    ),
    ("trials", "[D] 8; ARR C2", "How many search trials were run?", "give the number for each family"),
    (
        "sampling",
        "[D] 9; ARR C2; NeurIPS setting",
        "How were hyperparameter values chosen, and by which score were they selected?",
        "name the sampler (uniform, grid, manual, Bayesian) and the selection score",
    ),
    (
        "expected",
        "[D] 10; ARR C3; NeurIPS significance",
        "What is the expected performance as a function of the number of trials, with its uncertainty?",
        "report the curve with its band",
    ),
    (
        "failures",
        "NeurIPS significance",
        "How many trials failed, and how do they count?",
        "say how many trials failed and what was done with them",
    ),
    (
        "total_cost",
        "ARR C1; NeurIPS compute",
        "What did all the experiments cost together?",
        "give a cost column, or the total of GPU hours or dollars, failed and preliminary runs included",
    ),
    ("parameters", "ARR C1", "How many parameters do the models have?", "give the number for each model"),
    ("packages", "ARR C4", "Which packages and versions were used?", "list them with their versions"),
    (
        "seeds",
        "NeurIPS significance",
        "What varies between trials: seeds, splits, hyperparameters?",
        "name what was random",
    ),
)
KEYS = tuple(item[0] for item in _ITEMS)
QUESTIONS = {key: question for key, _, question, _ in _ITEMS}
_MOST_PACKAGES = 15
_WELL_KNOWN = (
    "numpy scipy scikit-learn torch tensorflow jax flax keras transformers datasets vllm lightning pytorch-lightning "
    "xgboost lightgbm catboost pandas polars gymnasium allennlp"
)


def fill_checklist(
    view: View, answers: Mapping[str, str] | None = None, facts: Mapping[str, str] | None = None
) -> tuple[Item, ...]:
    """Every item, answered from the answers file, else from the ledger's facts, else from the trials, else open."""
    given = dict(answers or {})
    for key in given:
        _check.as_choice(key, KEYS, "checklist item")
    known = _told_by(view)
    for key in ("validation", "expected", "configuration"):  # over tasks, each has its own
        each = {task: answer for task, task_view in view.tasks.items() if (answer := _told_by(task_view).get(key))}
        if each:
            known[key] = "\n".join(f"{task}: {answer}" for task, answer in each.items())
    recorded = _recorded_answers(view, facts or {}) | {key: text for key, text in (facts or {}).items() if key in KEYS}
    items = []
    for key, asked_by, question, hint in _ITEMS:
        for source, known_answers in (("answers", given), ("ledger", recorded), ("trials", known)):
            if known_answers.get(key):
                items.append(Item(key, asked_by, question, hint, known_answers[key], source))
                break
        else:
            items.append(Item(key, asked_by, question, hint))
    return tuple(items)


def read_answers(path: Path) -> dict[str, str]:
    """Answers from a YAML or JSON file: a mapping of item keys to texts."""
    import yaml

    try:
        document: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the answers file {path.name} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"the answers file {path.name} is not YAML: {str(error).splitlines()[0]}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InputError(f"the answers file {path.name} must map item keys to answers; known: {', '.join(KEYS)}")
    for key in document:
        _check.as_choice(str(key), KEYS, "checklist item")
    return {str(key): " ".join(str(value).split()) for key, value in document.items() if value not in (None, "")}


def _told_by(view: View) -> dict[str, str]:
    """What the trials themselves answer, by key."""
    over = "" if view.n_groups is None else f" of {plural(view.n_groups, view.words.group)}"
    best = _each(view, lambda family: _at_headline(view, family))
    answers = {
        "trials": _each(view, lambda family: f"{view.words.count(family.n_trials)}{over}"),
        "expected": f"{view.words.best_of(view.headline)}, {view.score}:\n{best};\nthe whole curve is in the figure",
        "failures": _failures(view),
    }
    chosen = [family for family in view.families if family.chosen == family.chosen]
    if view.reported and chosen:
        answers["validation"] = ";\n".join(
            f"{family.name}: {view.selection} {family.chosen:.4g}, {view.reported} {family.winner:.4g}"
            for family in chosen
        )
    if any(family.space for family in view.families):
        how = "declared" if all(family.declared for family in view.families) else "observed"
        answers["bounds"] = f"{_each(view, lambda family: _mapping(family.space))} (as {how})"
        answers["configuration"] = _each(
            view, lambda family: _mapping(family.assignment) + (f" ({family.path})" if family.path else "")
        )
    return answers | _spent(view)


def _each(view: View, text: Callable[[ShownFamily], str]) -> str:
    return ";\n".join(f"{family.name}: {text(family)}" for family in view.families)


def _mapping(values: Mapping[str, str]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items()) or "none recorded"


def _at_headline(view: View, family: ShownFamily) -> str:
    value, low, high = family.headline
    decimals = round_to_uncertainty(value, low, high)
    return f"{show_number(value, decimals)}{view.headline_mark(family)} ({show_limits(low, high, decimals)})"


def _failures(view: View) -> str:
    if not any(family.n_failed for family in view.families):
        return "none failed"
    words = view.words
    lost = {
        family.name: plural(family.n_failed, words.part)
        if words.in_parts
        else f"{family.n_failed} of {family.n_trials}"
        for family in view.families
    }
    return f"{_each(view, lambda family: lost[family.name])}; {counted(view.failed)}"


def _spent(view: View) -> dict[str, str]:
    """What the trials cost, where that is known."""
    if not any(family.mean_cost == family.mean_cost for family in view.families):
        return {}
    total = sum(family.total_cost for family in view.families if family.total_cost == family.total_cost)
    spent = show_cost(total, view.cost_unit)
    return {
        "runtime": _each(view, lambda family: f"{show_cost(family.mean_cost, view.cost_unit)} per {view.words.unit}"),
        "total_cost": f"{spent} for the {view.n_rows} {view.words.parts} reported here",
    }


def _recorded_answers(view: View, facts: Mapping[str, str]) -> dict[str, str]:
    """What a ledger recorded: machine, packages, search spaces, how values were chosen; nothing of other trials."""
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
    single = "the configuration and the seed, both drawn independently for every trial"
    answers = {
        "infrastructure": ", ".join(part for part in machine if part) if cpus else "",
        "packages": _packages(facts),
        "bounds": _spaces(view),
        "sampling": f"independent random draws fixed by the study's seed {facts['ledger:seed']} before any result; "
        f"selected by {view.selection}",
        "seeds": single if {int(count) for count in seeds.values()} == {1} else several,
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


def _spaces(view: View) -> str:
    """The declared space of every family, without what was hidden from the view."""
    lines = [
        f"{family.name}: {', '.join(f'{name}: {text}' for name, text in family.space.items())}"
        for family in view.families
        if family.declared and family.space
    ]
    return ";\n".join(lines)


def checklist_markdown(items: Sequence[Item]) -> str:
    """A task list: answered items ticked, open ones with what to write."""
    lines = ["# Reporting checklist", ""]
    for item in items:
        box = "x" if item.answer else " "
        answer = markdown_text(item.answer) if item.answer else f"**Open:** {markdown_text(item.hint)}"
        lines.append(f"- [{box}] **{item.question}** ({markdown_text(item.asked_by)})  \n  {answer}")
    return "\n".join(lines) + "\n"


def checklist_latex(items: Sequence[Item]) -> str:
    """A description list for an appendix."""
    lines = [r"\begin{description}"]
    for item in items:
        answer = latex_text(item.answer) if item.answer else rf"\emph{{Open:}} {latex_text(item.hint)}"
        lines.append(rf"\item[{{{latex_text(item.question)}}}] {answer} ({latex_text(item.asked_by)})")
    return "\n".join([*lines, r"\end{description}"]) + "\n"


def checklist_html(items: Sequence[Item]) -> str:
    """A list to paste into a page."""
    lines = []
    for item in items:
        answer = escape(item.answer) if item.answer else f"<em>Open:</em> {escape(item.hint)}"
        lines.append(f"<dt>{escape(item.question)} ({escape(item.asked_by)})</dt>\n<dd>{answer}</dd>")
    return "<dl>\n" + "\n".join(lines) + "\n</dl>\n"
