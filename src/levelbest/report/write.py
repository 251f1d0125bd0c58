"""One call from trials to files: the page, the figures, the tables and the checklist."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from levelbest._plain import dump_json, html_table
from levelbest._write import check_target, make_folder, write_text
from levelbest.designs._input import as_table
from levelbest.errors import InputError, named
from levelbest.report.build import build_view
from levelbest.report.figures.curves import own_style, save_figure
from levelbest.report.figures.report import report_figures
from levelbest.report.page import html, tables
from levelbest.report.paper import checklist, markup
from levelbest.report.view import View
from levelbest.trials import Trials

__all__ = ["Report", "write_report"]


@dataclass(frozen=True, eq=False)
class Report:
    """What was written, the page first, and the view it shows."""

    view: View
    page: Path
    files: tuple[Path, ...]

    def _repr_html_(self) -> str:
        """How a notebook shows it: the verdict and where the page is."""
        return html_table(["verdict"], [[one] for one in self.view.verdict], caption=f"page: {self.page}")

    def __str__(self) -> str:
        return "\n".join([*self.view.verdict, f"page: {self.page}"])


def write_report(
    trials: Any,
    path: str | Path = "report.html",
    *,
    answers: Mapping[str, str] | None = None,
    force: bool = False,
    page_only: bool = False,
    **options: Any,
) -> Report:
    """Write the page at ``path`` and, in a folder of its name, figures (SVG, PDF, PNG), tables and the checklist.

    An existing file is kept unless ``force``; ``options`` are those of `build_view` and, where the trials are yet to be
    read, those of `read_trials`. Samples of problems that are read in parts have no table of trials and no figure of
    their distribution.
    """
    page = Path(path)
    beside = page.with_suffix("") if page.suffix else page.with_name(page.name + "-files")
    if page.is_dir():
        raise InputError(f"{page} is a folder; name the page's file, e.g. {page / 'report.html'}")
    if page.exists() and not force:
        raise InputError(f"{page} exists and is kept; give another name, or overwrite it with {named('force')}")
    make_folder(page.parent)
    check_target(page)  # before the long computation
    building = inspect.signature(build_view).parameters
    reading = {key: options.pop(key) for key in list(options) if key not in building}
    given = as_table(trials, reading)
    view = build_view(given, **options)
    table = given if isinstance(given, Trials) else None
    view = replace(view, checklist=checklist.fill_checklist(view, answers, {} if table is None else table.facts))
    make_folder(beside)
    return Report(view, page, tuple(_write_all(view, table, page, beside, page_only)))


def _write_all(view: View, trials: Trials | None, page: Path, beside: Path, page_only: bool) -> list[Path]:
    with own_style():
        figures = report_figures(view, trials)
    written = []
    pictures = {}
    for name, figure in figures.items():
        for ending in ("svg",) if page_only else ("svg", "pdf", "png"):
            written.append(save_figure(figure, beside / f"{name}.{ending}"))
            figure.set_layout_engine("none")  # laid out once, for every format
        pictures[name] = (beside / f"{name}.svg").read_bytes()
    write_text(page, html.render_page(view, pictures))
    if page_only:
        for one in written:
            one.unlink()
        beside.rmdir()
        return [page]
    texts = {
        "families.md": markup.families_markdown(view),
        "families.tex": markup.families_latex(view),
        "families.csv": markup.families_csv(view),
        "appendix.tex": markup.appendix_latex(view),
        "methods.tex": markup.methods_latex(view),
        "checklist.md": markup.checklist_markdown(view.checklist),
        "checklist.tex": markup.checklist_latex(view.checklist),
        **({"trials.csv": tables.trials_csv(view)} if view.table else {}),
        "report.json": dump_json({key: value for key, value in view.to_dict().items() if key != "table"}),
    }
    return [page, *written, *(write_text(beside / name, text) for name, text in texts.items())]
