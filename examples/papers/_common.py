"""What the scripts share: a study that collects figures and facts, the shipped trials, and other people's data."""

from __future__ import annotations

import argparse
import csv
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

import levelbest as lb
from levelbest.cli.main import progress_bar
from levelbest.report.figures.curves import ONE_COLUMN, save_figure

_BOON = "notebooks/results of the authors' repository (gitlab.com/obajgar/boon)"
SOURCES = {
    "boon/cbt_fixed_hyppar.csv": _BOON,
    "boon/cbtrs_results.csv": _BOON,
    "boon/cifar100-resnet-oct17.csv": _BOON,
    "hedwig/hedwig.tsv": "data/hedwig.tsv of the authors' repository (github.com/castorini/meanmax)",
}
"""Files that may not be shipped, by their place in the ``--data`` folder, and where they can be had."""

BOON_DATA = "Data: the results that Bajgar, Kadlec and Kleindienst published with their paper, Apache-2.0 (IBM 2018)."
HEDWIG_DATA = "Data: the results that Tang et al. published with their paper (castorini/meanmax), MIT licence."
"""What stands beside a figure drawn from other people's results: the source and its licence."""


@dataclass(frozen=True)
class Fact:
    """A published number beside ours. ``why`` says why they differ, or what to make of them."""

    what: str
    published: float | str | None
    ours: float | str
    why: str = ""
    digits: int = 2

    def row(self, where: str) -> tuple[str, str, str, str]:
        """The cells of the table; ``where`` is the place in the paper."""
        return f"{where}: {self.what}", self._show(self.published), self._show(self.ours), self.why

    def _show(self, value: float | str | None) -> str:
        return "not printed" if value is None else value if isinstance(value, str) else f"{value:.{self.digits}f}"


@dataclass
class Study:
    """One paper's reproduction while it is made: where it writes, what it may read, and what it found."""

    out: Path
    data: Path | None = None
    quick: bool = False
    parts: list[str] = field(default_factory=list)
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def count(self, usual: int) -> int:
        """A number of samples: the usual one, or few for a quick look."""
        return min(usual, 60) if self.quick else usual

    def say(self, text: str) -> None:
        """A heading or a paragraph."""
        self.parts.append(text)

    def compare(self, where: str, facts: Sequence[Fact], source: str = "") -> None:
        """Rows of the paper's table: published and ours, ``where`` in the paper, from whose results."""
        self.rows += [fact.row(where) for fact in facts]
        if source and source not in self.sources:
            self.sources.append(source)

    def figure(self, figure: Any, name: str, see: str, source: str = "") -> None:
        """Write the figure as SVG and PNG; ``see`` says what to see, ``source`` whose data it is drawn from."""
        for kind in ("svg", "png"):
            save_figure(figure, self.out / f"{name}.{kind}")
        below = f"*{see}*" if not source else f"*{see}* {source}"
        self.parts.append(f"![{see.split('. ')[0]}](figures/papers/{name}.svg)\n\n{below}")

    def find(self, name: str) -> Path | None:
        """A file of the data folder; where it is not there, what is missing is noted and the study goes on."""
        path = None if self.data is None else self.data / name
        if path is not None and path.is_file():
            return path
        note = f"`{name}` is not in the data folder; it can be had from {SOURCES[name]}."
        if note not in self.missing:
            self.missing.append(note)
        return None

    def text(self) -> str:
        """Everything as Markdown: the one table of the paper, then its figures."""
        table = [markdown_table(HEAD, self.rows)] if self.rows else []
        notes = ["Not read here, so that numbers are missing:\n\n" + "\n".join(f"- {note}" for note in self.missing)]
        return "\n\n".join(table + self.sources + self.parts + (notes if self.missing else [])) + "\n"


HEAD = ("where and what", "published", "ours", "why they differ")
"""The heads of the one table that every paper has."""

Step = Callable[[Study], None]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def run_steps(study: Study, title: str, steps: Sequence[Step]) -> str:
    """Every step in turn with a progress bar on a terminal; the section as Markdown."""
    import matplotlib

    study.out.mkdir(parents=True, exist_ok=True)
    style = {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}
    with matplotlib.rc_context(style), progress_bar(title) as bar:
        for i, step in enumerate(steps):
            step(study)
            if bar:
                bar(i + 1, len(steps))
    return f"## {title}\n\n{study.text()}"


def script(title: str, steps: Sequence[Step], name: str, arguments: Sequence[str] | None = None) -> int:
    """The command line that every paper's script has."""
    parser = argparse.ArgumentParser(description=f"Reproduce {title}.")
    parser.add_argument(
        "--out", type=Path, default=Path("papers-out"), help="folder for figures and the table of facts"
    )
    parser.add_argument("--data", type=Path, help="folder with boon/ and hedwig/ (the authors' files, not shipped)")
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs")
    chosen = parser.parse_args(arguments)
    if chosen.data is not None and not chosen.data.is_dir():
        print(f"there is no folder {chosen.data}; going on with the shipped data", file=sys.stderr)
    study = Study(chosen.out, chosen.data, chosen.quick)
    text = run_steps(study, title, steps)
    page = chosen.out / f"{name}.md"
    page.write_text(text.replace("](figures/papers/", "]("), encoding="utf-8")
    for note in study.missing:
        print(note, file=sys.stderr)
    figures = len(list(chosen.out.glob("*.svg")))
    print(f"{page}: the facts; beside it {figures} figures, as SVG and PNG")
    return 0


@functools.cache
def digits() -> lb.Trials:
    """The shipped study: random search for four families, and one of seeds alone."""
    with as_file(files("levelbest") / "data" / "digits.csv") as path:
        return lb.read_trials(str(path), bounds=(0, 1))


@functools.cache
def time_study() -> lb.Trials:
    """Three approaches on the digits data that cost milliseconds to a second a trial (budgets/study.yaml)."""
    return lb.read_trials(str(Path(__file__).parent / "budgets" / "budgets.csv"))


def panels(count: int, height: float = 2.4, rows: int = 1, **options: Any) -> tuple[Any, Any]:
    """A figure with ``count`` axes in ``rows``, and those axes, row by row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 * ONE_COLUMN, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, np.ravel(figure.subplots(rows, count // rows, **options))


def read_columns(path: Path, columns: Sequence[str], keep: Callable[[dict[str, str]], bool], **options: Any) -> Any:
    """Columns of numbers from the rows of a delimited file that ``keep`` lets through."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, **options) if keep(row)]
    return tuple(np.array([float(row[name]) for row in rows]) for name in columns)


def as_reader(study: Study) -> tuple[Any, Any] | None:
    """[B]: validation and test accuracy, in percent, of 370 runs of the AS Reader with fixed hyperparameters."""
    path = study.find("boon/cbt_fixed_hyppar.csv")
    if path is None:
        return None
    found = read_columns(
        path, ("valid.accuracy", "accuracy"), lambda row: "dist" in row["log_path"] and float(row["epoch"]) > 0
    )
    return 100 * found[0], 100 * found[1]


def random_search(study: Study, *, last: bool = True) -> tuple[Any, Any] | None:
    """[B]: validation and test accuracy, in percent, of 197 runs of the AS Reader with random hyperparameters.

    A log has a row for each checkpoint; the one with the best validation accuracy counts, of tied ones the ``last``.
    """
    path = study.find("boon/cbtrs_results.csv")
    if path is None:
        return None
    best: dict[str, tuple[float, float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["valid_accuracy"] or not float(row["iterations_done"] or 0) > 0:
                continue
            valid, test = float(row["valid_accuracy"]), float(row["cbtest_CN_test_2500ex.txt_accuracy"])
            known = best.get(row["log"], (-np.inf, np.nan))[0]
            if valid > known or (last and valid == known):
                best[row["log"]] = valid, test
    found = 100 * np.array(list(best.values()))
    return found[:, 0], found[:, 1]


def resnet(study: Study) -> tuple[Any, Any] | None:
    """[B]: validation and test precision, in percent, of the 74 ResNet runs that trained to the end."""
    path = study.find("boon/cifar100-resnet-oct17.csv")
    if path is None:
        return None
    names = ("Precision_valid", "Precision_test")
    found = read_columns(path, names, lambda row: float(row["step_test"]) >= 35000)
    return 100 * found[0], 100 * found[1]


def hedwig(study: Study) -> dict[str, Any] | None:
    """[T]: dev F1 of the random-search runs on Reuters."""
    path = study.find("hedwig/hedwig.tsv")
    if path is None:
        return None
    names = {"MLP": "mlp", "LSTM": "reg_lstm"}
    return {
        name: read_columns(path, ("f1",), lambda row, model=model: row["model_name"] == model, delimiter="\t")[0]
        for name, model in names.items()
    }
