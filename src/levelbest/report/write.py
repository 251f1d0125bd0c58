"""One call from trials to files: the page, the figures, the tables and the checklist."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from levelbest import _check
from levelbest._plain import html_table
from levelbest._write import check_target, make_folder, write_bytes, write_text
from levelbest.designs._input import as_table
from levelbest.errors import InputError, named
from levelbest.report.build import build_view
from levelbest.report.figures.curves import PAPERS, figure_bytes, for_paper, own_style
from levelbest.report.figures.report import phone_figures, report_figures
from levelbest.report.page import html
from levelbest.report.paper import checklist
from levelbest.report.paper.retrain import retrain_study
from levelbest.report.tasks import build_task_view
from levelbest.report.view import View
from levelbest.report.view_tables import appendix_tables, families_table, methods_latex, paper_table
from levelbest.trials import Trials
from levelbest.trials.colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NO_PAGES = (".pdf", ".svg", ".png", ".md", ".tex", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".docx")
"""Endings of what a report is not."""


@dataclass(frozen=True, eq=False)
class Report:
    """The files written, the page first, and the view that it shows."""

    view: View
    page: Path
    files: tuple[Path, ...]

    def _repr_html_(self) -> str:
        """How a notebook shows it: the verdict with its picture, and where the page is."""
        shown = html_table(["verdict"], [[sentence] for sentence in self.view.verdict], caption=f"page: {self.page}")
        return shown if self.view.comparison is None else self.view.comparison._repr_html_() + shown

    def __repr__(self) -> str:
        return f"Report({self.page}: {self.view.verdict[0]})"

    def __str__(self) -> str:
        return "\n".join([*self.view.verdict, f"page: {self.page}"])


def write_report(
    trials: object,
    path: str | Path = "report.html",
    *,
    answers: Mapping[str, str] | None = None,
    force: bool = False,
    page_only: bool = False,
    figures: Sequence[str] = ("svg",),
    task: str | None = None,
    task_directions: Mapping[str, str] | None = None,
    paper: str | None = None,
    **options: Any,
) -> Report:
    """Write the page at ``path`` and, in a folder of its name, figures, tables and the checklist.

    ``figures`` are the formats of those beside the page: ``svg``, ``pdf`` and ``png``. An existing file is kept unless
    ``force``; ``options`` are those of `build_view` and, where the trials are yet to be read, those of `read_trials`.
    With ``task``, the column of tasks or data sets, the report has a panel for each and a verdict over all of them;
    ``task_directions`` are those that differ (``max`` or ``min`` by task). Samples of problems that are read in parts
    have no table of trials and no figure of their distribution. Every option of the command line about the files is a
    parameter.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes, with its arguments among ``options``.
    path
        Of the page; ``.html`` is added where it is missing.
    answers
        To items of the checklist that the data do not tell, by key.
    force
        Whether to write over an existing page.
    page_only
        Leave out what stands beside the page.
    figures
        Formats of the figures beside the page.
    paper
        ``neurips``, ``icml`` or ``acl``: the width of a column and the size of type, for the figures beside the page.
    task, task_directions
        The column of tasks or data sets, and the directions of those that differ.
    options
        Of the verbs (``confidence``, ``headline``, ``baseline``, ...) and of reading.

    Returns
    -------
    Report
        Where the files are, and the verdict.

    Examples
    --------
    >>> report = write_report("results.csv", "page.html", family="model", headline=10)       # doctest: +SKIP
    >>> print(report)                                                                        # doctest: +SKIP
    """
    for ending in figures:
        _check.as_choice(ending, ("svg", "pdf", "png"), "figure format")
    _check.as_choice(paper or "none", ("none", *PAPERS), "paper")
    page = free_place(Path(path), force=force)  # before the long computation
    beside = page.with_suffix("")
    building = inspect.signature(build_view).parameters
    reading = {key: options.pop(key) for key in list(options) if key not in building}
    given = as_table(trials, reading if task is None or isinstance(trials, Trials) else reading | {"task": task})
    table = given if isinstance(given, Trials) else None
    if table is not None and (task is not None or table.task is not None):
        view = build_task_view(table, task_directions=task_directions, **options)
    else:
        view = build_view(given, **options)
    view = replace(view, checklist=checklist.fill_checklist(view, answers, {} if table is None else table.facts))
    with own_style():
        drawn = report_figures(view, table)
    pictures = {name: figure_bytes(figure, "svg") for name, figure in drawn.items()}
    phone = {name: figure_bytes(figure, "svg") for name, figure in phone_figures(view).items()}
    files = html.page_files(view)
    write_text(page, html.render_page(view, pictures, files, phone))
    if page_only:
        return Report(view, page, (page,))
    make_folder(beside)
    with for_paper(paper), own_style():
        printed = drawn if paper is None else report_figures(view, table)
        written = [page, *_write_figures(beside, printed, figures, pictures if paper is None else {})]
    texts = _texts(view) | files
    written += [write_text(beside / name, text) for name, text in texts.items() if text]
    return Report(view, page, tuple(written))


def _write_figures(
    folder: Path, drawn: Mapping[str, Figure], kinds: Sequence[str], pictures: Mapping[str, bytes]
) -> list[Path]:
    """Every figure in every format; ``pictures`` are those that are there as SVG already."""
    written = []
    for (name, figure), kind in product(drawn.items(), kinds):
        ready = pictures.get(name) if kind == "svg" else None
        written.append(write_bytes(folder / f"{name}.{kind}", ready or figure_bytes(figure, kind)))
    return written


def _texts(view: View) -> dict[str, str]:
    """The files of text beside the page, by name."""
    return {
        "families.md": paper_table(view).markdown(),
        "families.tex": paper_table(view).latex({name: LIGHT[hue] for name, hue in view.hues.items()}),
        "families.csv": families_table(view).csv(),
        "appendix.tex": "\n".join(table.latex() for table in appendix_tables(view)),
        "methods.tex": methods_latex(view),
        "retrain.yaml": retrain_study(view.comparison) if view.comparison and view.comparison.best_found else "",
        "checklist.md": checklist.checklist_markdown(view.checklist),
        "checklist.tex": checklist.checklist_latex(view.checklist),
    }


def free_place(page: Path, *, force: bool) -> Path:
    """The path, where a page can be written at it; ``name`` means ``name.html``."""
    if page.is_dir() and not page.with_name(page.name + ".html").is_file():  # the folder beside that page
        raise InputError(f"{page} is a folder; name the page's file, e.g. {page / 'report.html'}")
    if page.suffix.lower() in _NO_PAGES:
        raise InputError(f"a report is a page of HTML, got {page.name}; name it {page.with_suffix('.html').name}")
    if page.suffix.lower() not in (".html", ".htm"):
        page = page.with_name(page.name + ".html")
    if page.exists() and not force:
        raise InputError(f"{page} exists and is kept; give another name, or overwrite it with {named('force')}")
    make_folder(page.parent)
    return check_target(page)
