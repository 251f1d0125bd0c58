"""Headline, strip, table, pairs, page and JSON name the same contenders at every budget, for every design.

The truth is counted again from the verdicts of the JSON document, budget by budget. The default suite makes 4 to 12
comparisons of each design, ``pytest --long tests/report/test_contenders.py`` makes 200 of each, all with a page.
"""

import re
from itertools import pairwise

import numpy as np
import pytest

import levelbest as lb
from levelbest.report.build import build_view
from levelbest.report.page.data import page_data
from levelbest.report.tables.results import pair_table, standings_table
from levelbest.report.tasks import build_task_view
from levelbest.report.terminal.comparison import strips_of
from levelbest.report.terminal.curves import LOG_ABOVE
from levelbest.report.words.answers import answer_of, contenders_at_headline, ranges_of, text_of
from levelbest.results import TaskComparison
from levelbest.results.verdict import leading_spans

NAMES = ["ann", "bob", "cyd", "dee"]
EACH = {"cost": 4, "tasks": 5}
"""Comparisons of each design in the default suite, 12 of the others."""
WITH_A_PAGE = 2


def scores(rng, rows, level):
    return (level + 0.05 * rng.standard_normal(rows)).round(3)


def table(rng, columns_of, names, rows):
    """Rows of each family with the columns of its design."""
    parts = []
    for name in names:
        own = scores(rng, rows, 0.5 + rng.choice([0.0, 0.02, 0.08, 0.2]))
        parts.append({"model": [name] * rows, "acc": own.tolist(), **columns_of(rng, rows)})
    return {key: [cell for part in parts for cell in part[key]] for key in parts[0]}


def numbered(**of):
    """Columns that are functions of the row's number alone."""
    return lambda _, rows: {name: [number(row) for row in range(rows)] for name, number in of.items()}


def seconds(rng, rows):
    return {"seconds": rng.uniform(1, rng.choice([2, 6]), rows).round(2).tolist()}


def statuses(rng, rows):
    return {"status": rng.choice(["ok", "ok", "ok", "failed"], rows).tolist()}


DESIGNS = {
    "trials": (numbered(), (6, 15), {}),
    "seeds": (numbered(seed=int), (3, 9), {}),
    "configurations": (numbered(lr=lambda row: 0.1 / (1 + row // 3), seed=lambda row: row % 3), (12, 25), {}),
    "pairs": (numbered(lr=lambda row: round(0.01 * (row + 1), 2)), (6, 9), {}),
    "problems": (numbered(problem_id=lambda row: row // 3, seed=lambda row: row % 3), (18, 31), {}),
    "searches": (numbered(repeat=lambda row: row // 5, trial=lambda row: row % 5), (20, 31), {}),
    "cost": (seconds, (8, 11), {"axis": "cost"}),
    "failures": (statuses, (8, 13), {}),
    "tasks": (numbered(task=lambda row: "xyz"[row % 3], lr=lambda row: 0.01 * (1 + row // 3)), (12, 31), {}),
}


def answers(design, count):
    """Random comparisons of a design, with the trials that each is of."""
    columns_of, (least, most), given = DESIGNS[design]
    rng = np.random.default_rng([29, list(DESIGNS).index(design)])
    for _ in range(count):
        rows = int(rng.integers(least, most))
        rows -= rows % {"configurations": 3, "problems": 3, "searches": 5, "tasks": 3}.get(design, 1)
        names = NAMES[: int(rng.integers(2, 5))]
        trials = lb.read_trials(table(rng, columns_of, names, rows))
        yield trials, lb.compare(trials, n_resamples=99, **given)


def forms_of(trials, result, paged):
    """Each comparison of a result, over tasks and on each, with its JSON document and the strip of its page."""
    document = result.to_dict()
    if isinstance(result, TaskComparison):
        view = build_task_view(trials, statistics=["mean"], n_resamples=99) if paged else None
        yield result.overall, document, view and page_strip(view, "trials")
        for task, compared in result.tasks.items():
            yield compared, document["tasks"][task], view and page_strip(view.tasks[task], "trials")
        return
    view = build_view(trials, statistics=["mean"], n_resamples=99) if paged else None
    yield result, document, view and page_strip(view, "cost" if result.terms.over_cost else "trials")


def page_strip(view, axis):
    strips = page_data(view)["kinds"][f"mean/{axis}"]["strips"]  # none of one budget
    return strips[0]["segments"] if strips else None


def truth_at(document, names, budget):
    """Those that nobody beats by the pairs of the JSON document, and the one that beats all; none: not compared."""
    verdicts = {}
    for pair in document["comparisons"]:
        here = [part["verdict"] for part in pair["verdicts"] if part["from"] <= budget <= part["to"]]
        decided = [verdict for verdict in here if verdict in names]
        verdicts[tuple(pair["families"])] = (decided or here or ["not comparable"])[0]
    if set(verdicts.values()) == {"not comparable"}:
        return (), None
    beaten = {name for pair, winner in verdicts.items() if winner in names for name in pair if name != winner}
    wins = {name: sum(winner == name for winner in verdicts.values()) for name in names}
    best = next((name for name in names if wins[name] == len(names) - 1), None)
    return tuple(name for name in names if name not in beaten), best


def budgets_of(document):
    edges = {end for pair in document["comparisons"] for part in pair["verdicts"] for end in (part["from"], part["to"])}
    if all(float(edge).is_integer() for edge in edges):
        return list(range(int(min(edges)), int(max(edges)) + 1))
    edges = sorted(edges)
    return [(low + high) / 2 for low, high in pairwise(edges)]


def is_within(budget, ranges):
    """Whether a budget lies in ``1 to 3 and 9``."""
    return any(int(low) <= budget <= int(high or low) for low, high in re.findall(r"(\d+)(?: to (\d+))?", ranges))


def named_at(comparison, budget):
    """Whom the sentences name at this budget, in the answer and where it changes; None where neither speaks of it."""
    names, matches = list(comparison.families), []
    some = "|".join(names)
    if answered := re.match(rf"With (\d+) [a-z ]+: (any|(?:{some})[^.;(]*)", str(answer_of(comparison))):
        answered_by = answered[2].split(", better")[0]
        if budget == int(answered[1]):
            matches.append(set(re.findall(some, answered_by)) or set(names))
    leaders = set()
    for clause in text_of(ranges_of(comparison)).rstrip(".").split("; "):
        if same := re.match(r"The same with ([\d, toand]+)", clause):
            if is_within(budget, same[1]):
                matches.append(set(contenders_at_headline(comparison)))
            continue
        found = re.match(r"([\d, toand]+?)(?: [a-z ]+)?: (.*)", clause)
        if found is None or "in part" in clause:
            continue
        first, *further = re.split(r", at (?=\d)", found[2])
        whom = leaders if first == "either" else set(names) if "any of" in first else set(re.findall(some, first))
        leaders = leaders if " or " in first else leaders | whom
        for part in further:
            where, also = part.split(" also ")
            if is_within(budget, where):
                whom = whom | set(re.findall(some, also))
        if is_within(budget, found[1]):
            matches.append(whom)
    assert all(whom == matches[0] for whom in matches), (budget, matches)
    return matches[0] if matches else None


def check_headline_and_spans(comparison, document, page):
    """At every budget: the words, the strip of who is best, and that of the page."""
    names, spans, whole = list(comparison.families), leading_spans(comparison), not comparison.terms.over_cost
    for budget in budgets_of(document):
        contenders, best = truth_at(document, names, budget)
        where = (budget, document["summary"])
        span = next(part for part in spans if part.start <= budget <= part.end)
        assert span.best == best, where
        if whole or not contenders:
            assert set(span.contenders) == set(contenders), where
        else:  # a family that cannot finish a trial at a cost is no contender
            assert set(span.contenders) <= set(contenders), where
        if page is not None:
            segment = next(part for part in page if part[0] <= budget <= part[1])
            assert segment[2] == (names.index(best) if best else -1 if span.contenders else -2), where
            assert {names[place] for place in segment[3]} == (set() if best else set(span.contenders)), where
        if whole:
            named = named_at(comparison, budget)
            assert named is None or named == ({best} if best else set(contenders)), where


def check_terminal_strip(comparison, document):
    """Letters at so many places that every budget has one."""
    names = list(comparison.families)
    strips = strips_of(comparison, names, 401)
    if strips is None or comparison.terms.over_cost:
        return
    budgets = budgets_of(document)
    first, last = budgets[0], budgets[-1]
    truth = {budget: truth_at(document, names, budget) for budget in budgets}
    for column in range(401):
        share = column / 400
        place = first * (last / first) ** share if last / first > LOG_ABOVE else first + share * (last - first)
        contenders, best = truth[round(place)]
        for name, letters in strips.rows:
            letter = "B" if name == best else "o" if name in contenders else "-" if contenders else " "
            assert letters[column] == letter, (round(place), name, letters)


def check_tables(comparison, document):
    """The families at one budget, and every budget of every pair."""
    names = list(comparison.families)
    contenders, _ = truth_at(document, names, comparison.pairs[0].effect.budget)
    if comparison.standings:
        assert set(standings_table(comparison).columns[0].cells) == set(names)
        if contenders and not comparison.terms.over_cost:
            assert set(document["possible_best"]) == set(contenders)
    for pair, written in zip(comparison.pairs, document["comparisons"], strict=True):
        better = pair_table(pair, every=True).columns[-1].cells
        for budget, cell in zip(pair.budget, better, strict=True):
            here = {part["verdict"] for part in written["verdicts"] if part["from"] <= budget <= part["to"]}
            winners = here & set(pair.families)
            assert not winners or cell in winners, (budget, cell, here)


def check(design, count, with_a_page):
    for number, (trials, result) in enumerate(answers(design, count)):
        for comparison, document, page in forms_of(trials, result, number < with_a_page):
            check_headline_and_spans(comparison, document, page)
            check_terminal_strip(comparison, document)
            check_tables(comparison, document)


@pytest.mark.parametrize("design", DESIGNS)
def test_all_forms_name_the_same_contenders(design):
    check(design, EACH.get(design, 12), WITH_A_PAGE)


@pytest.mark.long
@pytest.mark.parametrize("design", DESIGNS)
def test_all_forms_name_the_same_contenders_in_200_comparisons(design):
    check(design, 200, 200)
