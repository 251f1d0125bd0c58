"""The methods paragraph: what was done and what was searched, in sentences ready for a paper, with references."""

from __future__ import annotations

import json
from collections.abc import Sequence

from levelbest import __version__
from levelbest.report.words.curves import interval_name
from levelbest.report.words.phrases import after, counted, level, plural, shortened
from levelbest.report.words.verdicts import adjustment_words
from levelbest.results import Comparison, Curve, DesignWords
from levelbest.trials.spaces import SearchSpace

_RANGES = {
    "uniform": "uniform from {} to {}",
    "loguniform": "log-uniform from {} to {}",
    "integer": "whole numbers from {} to {}",
    "log-integer": "whole numbers, log-uniform from {} to {}",
    "normal": "normal with mean {} and sd {}",
    "observed": "{} to {}",
}
_IN_SHORT = dict.fromkeys(("uniform", "integer", "observed"), "{} to {}")
_IN_SHORT |= dict.fromkeys(("loguniform", "log-integer"), "{} to {} (log)") | {"normal": "{} ± {}"}
_MOST_PARAMETERS, _MOST_CHOICES = 12, 8
REFERENCES = (
    "O. Bajgar, R. Kadlec, J. Kleindienst. A Boo(n) for Evaluating Architecture Performance. ICML 2018.",
    "J. Dodge, S. Gururangan, D. Card, R. Schwartz, N. A. Smith. Show Your Work: Improved Reporting of Experimental "
    "Results. EMNLP-IJCNLP 2019.",
    "R. Tang, J. Lee, J. Xin, X. Liu, Y. Yu, J. Lin. Showing Your Work Doesn't Always Work. ACL 2020.",
    "N. Lourie, K. Cho, H. He. Show Your Work with Confidence: Confidence Bands for Tuning Curves. NAACL 2024.",
)


def methods_paragraph(
    curves: Sequence[Curve],
    comparison: Comparison | None = None,
    *,
    headline: int,
    named: str = "",
    n_searches: int | None = None,
    weight: str | None = None,
) -> str:
    """One paragraph: sample, score, estimator, intervals, comparisons, failures, seed.

    ``curves`` are those of every family, of one or several statistics; ``headline`` is the budget of the headline
    number, ``named`` says how it was chosen, where it was tested by itself; ``n_searches`` is known where the unit is
    the whole search, and ``weight`` is the column that problems are weighted by.
    """
    first = curves[0]
    families = list({curve.family: curve for curve in curves}.values())
    single = comparison is not None and bool(comparison.terms.words.single)
    sentences = _sample(families, n_searches)
    if weight is not None:
        sentences.append(f"{plural(2, first.words.group)[2:].capitalize()} are weighted by {weight}.")
    for statistic, what in () if single else (("mean", "expectation"), ("median", "median")):
        drawn = next((curve for curve in curves if curve.statistic == statistic), None)
        if drawn is not None:
            kind, over = ("Bands", "for all n at once") if drawn.simultaneous else ("Limits", "for each n")
            cited = f"({interval_name(drawn.method)})" + (" [4]" if statistic == "median" else "")
            sentences.append(f"{kind} for the {what} have {level(drawn.confidence)} confidence {over} {cited}.")
    if comparison is not None:
        sentences.append(_compared(comparison))
        if not single and not first.words.group and (spaces := spaces_paragraph(comparison.spaces)):
            sentences.append(spaces)
    lost = sum(curve.n_failed for curve in families)
    total = sum(curve.n_trials if curve.n_runs is None else curve.n_runs for curve in families)
    unit = first.words.part
    many = f"{lost:,} of {plural(total, unit, f'{total:,}')}"
    sentences.append(f"{many} failed and were {counted(first.failed)}." if lost else f"No {unit} failed.")
    if not single:
        sentences.append(f"The headline number is {_headline_words(first.words, headline)}{after(named, ', ')}.")
    sentences.append(f"Computed with levelbest {__version__}, seed {first.seed}.")
    return " ".join(sentences)


def _runs(families: Sequence[Curve]) -> str:
    """How many trials a family has, or from how many to how many."""
    counts = sorted({curve.n_trials for curve in families})
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _sample(families: Sequence[Curve], n_searches: int | None) -> list[str]:
    """What was run, what is reported, and the estimator, in the sentences of the design."""
    first, words = families[0], families[0].words
    mean = "mean " if words.in_parts else ""
    because = "" if words.group else ": the same score selects and is reported"
    score = f"the best {mean}{first.selection} ({words.unchecked}{because})"
    if first.reported:
        score = f"the {first.reported} of the {words.unit} with the best {first.selection}"
    runs = [curve.n_runs for curve in families if curve.n_runs is not None]
    n_groups = 0 if first.problems is None else int(first.problems.groups.size)
    filled = {
        "many": _runs(families),
        "each": " each" if len(families) > 1 else "",
        "unit": words.unit,
        "units": words.units,
        "families": plural(len(families), "family"),
        "systems": f" with each of {len(families)} systems" if len(families) > 1 else "",
        "score": score,
        "column": first.score,
        "drawn": after(words.drawn),
        "groups": plural(n_groups, words.group, f"{n_groups:,}"),
        "runs": f", {plural(sum(runs), 'run')} in all" if runs else "",
        "searches": n_searches,
        "ties": "tied selection scores share their weight [1]",
    }
    return [sentence.format(**filled) for sentence in (words.ran, words.estimated) if sentence]


def _headline_words(words: DesignWords, n: int) -> str:
    """``the best of n = 5``, or what it is called."""
    return words.best_of(n) if words.measure else f"the best of n = {n}"


def _compared(comparison: Comparison) -> str:
    terms = comparison.terms
    single = terms.words.single
    what = f"means of {single}" if single else "curves"
    over = "all pairs" if single else "all budgets and pairs"
    how = adjustment_words(terms)
    worth = ""
    if terms.worth is not None:
        worth = f" Differences below {terms.worth:.2g} were not considered worth having."
    return (
        f"Families are compared by the difference of their {what}{f' ({how})' if how else ''}; a family is called "
        f"better only where that excludes equality at {level(terms.confidence)} over {over}.{worth}"
    )


def parameter_words(given: object) -> str:
    """One parameter of a space: ``log-uniform from 0.0001 to 100``, ``one of sgd, adam where layers is 2``."""
    if not isinstance(given, dict):
        return f"always {_text(given)}"
    kind = next(iter(given))
    value = given[kind]
    if kind in _RANGES:
        text = _RANGES[kind].format(_text(value[0]), _text(value[1]))
    elif kind == "choice":
        text = f"one of {_listed(value)}"
        if given.get("weights"):
            text += f" with weights {', '.join(map(_text, given['weights']))}"
    elif kind == "constant":
        text = f"always {_text(value)}"
    else:
        text = json.dumps({key: part for key, part in given.items() if key != "when"})
    if given.get("when"):
        text += " where " + " and ".join(
            f"{name} is {' or '.join(map(_text, wanted)) if isinstance(wanted, list) else _text(wanted)}"
            for name, wanted in dict(given["when"]).items()
        )
    return text


def searched_words(space: SearchSpace) -> str:
    """What of one family was searched: its parameters that vary, or that it is one fixed configuration."""
    if not space.parameters:
        return "not recorded"
    if space.fixed:
        values = [f"{fixed.name} {_text(fixed.value)}" for fixed in space.parameters[:_MOST_PARAMETERS]]
        return f"one fixed configuration ({', '.join(values)})"
    ranges_first = sorted(space.searched, key=lambda parameter: parameter.kind == "choice")
    shown = [f"{parameter.name} {_in_short(parameter.given)}" for parameter in ranges_first[:_MOST_PARAMETERS]]
    more = len(space.searched) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _in_short(given: object) -> str:
    """``0.0001 to 100 (log)``, ``(sgd, adam)``: what the appendix has in full."""
    assert isinstance(given, dict)
    kind = next(iter(given))
    if kind in _IN_SHORT:
        return _IN_SHORT[kind].format(*map(_text, given[kind]))
    return f"({_listed(given[kind])})" if kind == "choice" else f"({kind})"


def _listed(values: Sequence[object]) -> str:
    more = f" and {len(values) - _MOST_CHOICES} more" if len(values) > _MOST_CHOICES else ""
    return ", ".join(map(_text, values[:_MOST_CHOICES])) + more


def spaces_heading(spaces: Sequence[SearchSpace]) -> str:
    """Where the words come from."""
    kinds = {space.declared for space in spaces if space.parameters}
    if kinds == {True}:
        return "Searched, as declared"
    return "Searched, as observed" if kinds == {False} else "Searched, as declared or else as observed"


def space_rows(spaces: Sequence[SearchSpace]) -> list[tuple[tuple[str, ...], str]]:
    """Families with what was searched; those with the same space together, none where nothing is known of any."""
    rows: dict[str, list[str]] = {}
    mixed = len({space.declared for space in spaces if space.parameters}) > 1
    for space in spaces if any(space.parameters for space in spaces) else ():
        seen = " (observed)" if mixed and space.parameters and not space.declared else ""
        rows.setdefault(searched_words(space) + seen, []).append(space.family)
    return [(tuple(families), text) for text, families in rows.items()]


def spaces_paragraph(spaces: Sequence[SearchSpace]) -> str:
    """One sentence for a methods paragraph."""
    rows = [f"{shortened(families)}: {text}" for families, text in space_rows(spaces)]
    sentences = [f"{spaces_heading(spaces)}: {'; '.join(rows)}.", fixed_sentence(spaces)] if rows else []
    return " ".join(filter(None, sentences))


def fixed_sentence(spaces: Sequence[SearchSpace]) -> str:
    """That a family was not searched where others were; empty where all were, or none was."""
    fixed = [space.family for space in spaces if space.fixed]
    if not fixed or not any(space.searched for space in spaces):
        return ""
    return f"{shortened(fixed)} {'is' if len(fixed) == 1 else 'are each'} one fixed configuration, not a search."


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else json.dumps(value, default=str)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def parameter_texts(space: SearchSpace) -> dict[str, str]:
    """By parameter, for a table: a constant as it is."""
    return {each.name: _text(each.value) if each.fixed else parameter_words(each.given) for each in space.parameters}
