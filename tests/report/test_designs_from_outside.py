"""A design from outside is worded, tabled and drawn with its own words; report/ asks of none which it is."""

import ast
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
import levelbest.report
from levelbest.designs import DesignWords, TableDesign, _protocol, register_design
from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.seeds import Configurations, Seeds
from levelbest.designs.trials import IndependentTrials
from levelbest.errors import InputError
from levelbest.report.build import build_view
from levelbest.report.figures.report import report_figures
from levelbest.report.page.html import render_page
from levelbest.report.view_tables import page_table
from levelbest.stats.inference import run_contrasts

BATCHES = DesignWords(unit="batch", units="batches", drawn="picked by lot")
MACHINES = DesignWords(unit="machine", single="a new machine", ran="We used {many} {units}{each}.", estimated="")


class Batches(IndependentTrials):
    """Every trial is a batch."""

    name = "batches"
    words = BATCHES

    @classmethod
    def fits(cls, trials, request):  # noqa: ARG003
        return "batch" in getattr(trials, "configuration", {})


class Machines(TableDesign):
    """Every trial is a machine, compared by the mean of a new one."""

    name = "machines"
    words = MACHINES
    adjustment = "holm"
    headline = 1
    beyond = ""
    moot = Seeds.moot

    @classmethod
    def fits(cls, trials, request):  # noqa: ARG003
        return "machine" in getattr(trials, "configuration", {})

    @property
    def reach(self):
        return dict.fromkeys(self.families, 1.0)

    def contrasts(self, question):
        return run_contrasts([self.metric.sign * own.curve_of for own in self.scores], question)


@pytest.fixture(autouse=True)
def _registered():
    _protocol.designs()
    kept = list(_protocol._KNOWN)
    register_design(Batches)
    register_design(Machines)
    yield
    _protocol._KNOWN[:] = kept


def _trials(column):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(shift, 0.1, 12) for shift in (0.0, 1.0)])
    family = ["a"] * 12 + ["b"] * 12
    return lb.Trials.from_arrays(scores, direction="max", family=family, configuration={column: np.arange(24)})


def _labels(figure):
    return " ".join(ax.get_xlabel() for ax in figure.axes)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"name": ""}, "the design Other has no name"),
        ({"name": "batches"}, "known already"),
        ({"name": "other", "column": "batch"}, "'batch' is no column of Trials; for one of the configuration write"),
        ({"name": "other", "option": "pairs"}, "unknown option of Request 'pairs'; did you mean 'paired'"),
    ],
)
def test_a_design_that_could_never_fit_is_refused(attributes, message):
    with pytest.raises(InputError, match=message):
        register_design(type("Other", (TableDesign,), attributes))


def test_a_design_with_many_budgets():
    trials = _trials("batch")
    compared = lb.compare(trials, n_resamples=199)
    assert compared.summary[0].startswith("With 5 batches: b, better than a by ")
    assert compared.summary[1].startswith("The same with 1 to 6 batches;")
    assert "12 batches each" in compared.summary[-1]
    assert "from 7 on, 12 batches are too few to tell" in str(compared)
    assert compared.to_dict()["counted"] == "batch"
    assert "| batches |" in compared.to_markdown()
    assert "Batches" in compared.to_latex()
    assert "best selection of 5 batches picked by lot" in lb.curve(trials["a"], n=[5], n_resamples=199).sentence(5)
    view = build_view(trials, statistics=["mean"], n_resamples=199)
    assert page_table(view).heads[:2] == ("family", "batches")
    assert "We ran 12 batches each of 2 families" in view.methods
    figures = report_figures(view, trials)
    assert _labels(figures["curves"]).startswith("budget (batches)")
    assert compared.plot().get_xlabel() == "budget (batches)"
    page = render_page(view, {"curves": b"<svg/>"})
    assert "Every batch" in page
    assert "24 batches" in page


def test_a_design_with_one_budget(capsys):
    trials = _trials("machine")
    compared = lb.compare(trials)
    assert compared.summary[0].startswith("For a new machine: b, better than a by ")
    assert compared.summary[-1] == (
        "95 % confidence; 12 machines each, none failed; a failure rate of up to 22 % may go undetected."
    )
    assert "| family | a new machine | 95 % | machines |" in compared.to_markdown()
    view = build_view(trials)
    assert (view.title, view.statistics) == ("a and b: selection of a new machine", ("mean",))
    assert view.methods.startswith(
        "We used 12 machines each. Families are compared by the difference of their means of "
    )
    figures = report_figures(view, trials)
    assert list(figures) == ["runs", "differences"]  # one budget has no curve
    assert "machines, their mean and its limits" in _labels(figures["runs"])
    page = render_page(view, {"runs": b"<svg/>", "differences": b"<svg/>"})
    assert '<h2 id="runs">Every machine</h2>' in page
    from levelbest.report.terminal.comparison import print_report

    print_report(view, details=True)
    printed = capsys.readouterr().out
    assert "selection of a new machine (mean)" in printed
    assert "trial" not in printed.replace("--", "")


def _names():
    known = {design.name for design in _protocol.designs()} | {"tasks"}
    words = [own.words for own in (IndependentTrials, Seeds, Configurations, ProblemsDesign)]
    return known | {word for own in words for word in (own.unit, own.units, own.part)} | {"grid point"}


def test_report_asks_of_no_design_which_it_is():
    wrong, names = [], _names()
    for path in Path(levelbest.report.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare):
                continue
            compared = [node.left, *node.comparators]
            texts = [part.value for side in compared for part in ast.walk(side) if isinstance(part, ast.Constant)]
            if names.intersection(texts) and ".status" not in ast.unparse(node):  # a trial may be running, too
                wrong.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert wrong == []
