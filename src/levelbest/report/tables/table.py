"""A table as data, and how it is written as Markdown, LaTeX, CSV and HTML; terminal and page draw it themselves."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from levelbest._plain import guarded, html_table, show_cost, show_limits, show_number

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "–": "--",
    "−": "$-$",
    "∞": r"$\infty$",
}
_MARK = (
    r"\providecommand{\familymark}[1]{\ifcsname textcolor\endcsname"
    r"\textcolor[rgb]{#1}{\rule{.45em}{.45em}}\,\fi}"
    "\n"
)
"""Nothing where no package of colours is loaded."""
_MARKDOWN = "\\`*_{}[]<>#|~"
Ends = tuple[float, float]


def latex_text(text: str) -> str:
    """A text as LaTeX text: nothing in it is a command."""
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))


def markdown_text(text: str) -> str:
    """A text as Markdown text: nothing in it is markup or HTML."""
    return "".join(f"\\{char}" if char in _MARKDOWN else char for char in " ".join(text.split()))


@dataclass(frozen=True)
class TableColumn:
    """The cells of one column and how they are written.

    A cell is a text, a number, the two ends of an interval, or None where there is nothing to show.
    """

    name: str
    cells: tuple[object, ...]
    key: str = ""
    """Its name in a CSV file, where that is another."""
    decimals: tuple[int, ...] = ()
    """Of each cell that is a number or an interval; none: numbers are written in full."""
    marks: tuple[str, ...] = ()
    """What stands beside each number."""
    unit: str | None = None
    """Of costs."""
    shown: Callable[[float], str] | None = None
    """How a number is written, where not with decimals."""
    right: bool = True
    """Whether it stands at the right, as numbers do."""

    def text(self, row: int) -> str:
        """One cell for reading."""
        cell = self.cells[row]
        mark = self.marks[row] if self.marks else ""
        if cell is None or isinstance(cell, str):
            return cell or ""
        if isinstance(cell, tuple):
            return show_limits(cell[0], cell[1], self.decimals[row])
        assert isinstance(cell, int | float)
        if self.shown is not None:
            return self.shown(cell) + mark
        return (str(cell) if isinstance(cell, int) else show_number(cell, self.decimals[row])) + mark

    @property
    def ends(self) -> tuple[TableColumn, ...]:
        """An interval as two columns; any other as it is."""
        if not any(isinstance(cell, tuple) for cell in self.cells):
            return (self,)
        pairs = [cell if isinstance(cell, tuple) else (None, None) for cell in self.cells]
        low, high = (tuple(pair[side] for pair in pairs) for side in (0, 1))
        return replace(self, name="low", key="low", cells=low), replace(self, name="high", key="high", cells=high)

    def exact(self, row: int) -> object:
        """One cell for a spreadsheet: every digit, nothing where there is no number."""
        cell = self.cells[row]
        if isinstance(cell, str):
            return guarded(cell)
        if isinstance(cell, float):
            return repr(cell) if math.isfinite(cell) else ""
        return "" if cell is None else cell


def texts(name: str, cells: Iterable[str | None], key: str = "", *, right: bool = False) -> TableColumn:
    """A column of texts."""
    return TableColumn(name, tuple(cells), key, right=right)


def counts(name: str, cells: Iterable[int | None], key: str = "") -> TableColumn:
    """A column of whole numbers."""
    return TableColumn(name, tuple(None if cell is None else int(cell) for cell in cells), key)


def numbers(
    name: str,
    cells: Iterable[float | None],
    decimals: int | Sequence[int],
    key: str = "",
    marks: Sequence[str] = (),
) -> TableColumn:
    """A column of numbers, rounded to ``decimals``, those of all or of each."""
    column = tuple(None if cell is None else float(cell) for cell in cells)
    return TableColumn(name, column, key, _each(decimals, len(column)), tuple(marks))


def limits(name: str, cells: Iterable[Ends | None], decimals: int | Sequence[int]) -> TableColumn:
    """A column of intervals."""
    column = tuple(None if cell is None else (float(cell[0]), float(cell[1])) for cell in cells)
    return TableColumn(name, column, "", _each(decimals, len(column)))


def costs(name: str, cells: Iterable[float | None], unit: str | None, key: str = "") -> TableColumn:
    """A column of costs, in the unit that people would use."""
    column = tuple(None if cell is None else float(cell) for cell in cells)
    return TableColumn(name, column, key, unit=unit, shown=lambda cost: show_cost(cost, unit))


def formed(name: str, cells: Iterable[float | None], form: str, key: str = "") -> TableColumn:
    """A column of numbers in one form, such as ``.2f``; a dash where one is undefined."""
    column = tuple(None if cell is None else float(cell) for cell in cells)
    return TableColumn(name, column, key, shown=lambda cell: "–" if math.isnan(cell) else format(cell, form))


def shares(name: str, cells: Iterable[float | None], key: str = "") -> TableColumn:
    """A column of shares in percent; nothing where one is undefined."""
    column = tuple(None if cell is None or math.isnan(cell) else float(cell) for cell in cells)
    return TableColumn(name, column, key, shown=lambda share: f"{100 * share:.0f} %")


def _each(decimals: int | Sequence[int], count: int) -> tuple[int, ...]:
    return (decimals,) * count if isinstance(decimals, int) else tuple(decimals)


@dataclass(frozen=True)
class Table:
    """Columns of equal length, with what to say about them."""

    columns: tuple[TableColumn, ...]
    title: str = ""
    note: str = ""

    @property
    def heads(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.columns[0].cells)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Every cell for reading."""
        return [tuple(column.text(row) for column in self.columns) for row in range(self.size)]

    @property
    def kinds(self) -> str:
        """For each column ``n`` where it stands at the right, else ``t``."""
        return "".join("n" if column.right else "t" for column in self.columns)

    def only(self, *keys: str) -> Table:
        """The columns of these keys, or names, in their order."""
        known = {column.key or column.name: column for column in self.columns}
        return replace(self, columns=tuple(known[key] for key in keys if key in known))

    def part(self, rows: Sequence[int]) -> Table:
        """Some of the rows."""
        cut = [
            replace(
                column,
                cells=tuple(column.cells[row] for row in rows),
                decimals=tuple(column.decimals[row] for row in rows) if column.decimals else (),
                marks=tuple(column.marks[row] for row in rows) if column.marks else (),
            )
            for column in self.columns
        ]
        return replace(self, columns=tuple(cut))

    def numbers(self) -> dict[str, object]:
        """Plain values for JSON, as they are read."""
        heads = [_capital(self.heads[0]), *self.heads[1:]]
        return {"title": self.title, "note": self.note, "heads": heads, "rows": self.rows}

    def markdown(self) -> str:
        """As Markdown, with the note below."""
        sides = ["---:" if column.right else "---" for column in self.columns]
        cells = [[markdown_text(cell) for cell in row] for row in (self.heads, *self.rows)]
        lines = "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], sides, *cells[1:]))
        return f"{lines}\n" + (f"\n{markdown_text(self.note)}\n" if self.note else "")

    def latex(self, colours: Mapping[str, str] = MappingProxyType({})) -> str:
        """As a table that any document class compiles, in one column of two; with booktabs loaded it has its rules,
        with xcolor a mark of its colour before each family (``colours`` as ``#2a55e0``, by the first cell of a row)."""
        sides = "".join("r" if column.right else "l" for column in self.columns)
        heads = " & ".join(latex_text(_capital(column.name)) for column in self.columns)
        body = "\n".join(
            _latex_mark(colours.get(self.columns[0].text(row), ""))
            + " & ".join(_latex_cell(column, row) for column in self.columns)
            + r" \\"
            for row in range(self.size)
        )
        rules = "".join(
            rf"\providecommand{{\{rule}}}{{\hline}}" + "\n" for rule in ("toprule", "midrule", "bottomrule")
        )
        rules += _MARK if colours else ""
        return (
            f"{rules}\\begin{{table}}\n\\centering{self._latex_size()}\n"
            f"\\caption{{{latex_text(self.note)}}}\n\\begin{{tabular}}{{{sides}}}\n\\toprule\n{heads} \\\\\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )

    def _latex_size(self) -> str:
        """The largest type in which a column of two, 229 points wide, has room for the table, and the space between."""
        count = len(self.columns)
        letters = sum(max(map(len, cells)) for cells in zip(self.heads, *self.rows, strict=True))
        sizes = ((r"\small", 4.5, 4), (r"\footnotesize", 4.0, 3), (r"\scriptsize", 3.5, 2))
        roomy = [way for way in sizes if way[1] * letters + 2 * way[2] * count <= 225]
        size, _, apart = (roomy or sizes[-1:])[0]
        return rf"{size}\setlength{{\tabcolsep}}{{{apart}pt}}"

    def csv(self) -> str:
        """As CSV with every digit; a text that a spreadsheet would take for a formula is quoted with an apostrophe."""
        columns = [end for column in self.columns for end in column.ends]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([guarded(column.key or column.name) for column in columns])
        writer.writerows([column.exact(row) for column in columns] for row in range(self.size))
        return out.getvalue()

    def html(self, colours: Mapping[str, str] = MappingProxyType({})) -> str:
        """For notebooks; every cell is text, names have their ``colours``."""
        right = [column.right for column in self.columns]
        return html_table(self.heads, self.rows, self.note, right=right, colours=colours)


def _latex_mark(colour: str) -> str:
    """The mark of a family: ``#2a55e0`` in parts of one, which the packages color and xcolor both know."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] if colour else []
    return rf"\familymark{{{','.join(f'{part:.3f}' for part in parts)}}}" if parts else ""


def _latex_cell(column: TableColumn, row: int) -> str:
    """A cell as text, an interval in brackets, a number with a minus sign of its own."""
    text, cell = column.text(row), column.cells[row]
    if isinstance(cell, tuple) and " to " in text:
        low, high = text.split(" to ")
        text = f"[{low}, {high}]"
    shown = latex_text(text)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", shown) if column.right else shown


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
