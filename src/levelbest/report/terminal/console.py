"""The terminal: plain text that wraps at its width, with colour where it has it; text from data is never markup."""

from __future__ import annotations

import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING

from levelbest.cautions import Caution
from levelbest.report.tables.results import variance_table
from levelbest.report.tables.table import Table
from levelbest.report.words.cautions import remarks
from levelbest.results import FamilyVariance

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

    from levelbest.report.words.answers import Piece
    from levelbest.report.words.plans import Step

_WIDTH, _WIDEST, _LABEL = 80, 100, 6
_LABELS = (("doubt", "yellow"), ("note", ""), ("chosen", "dim"))
"""By severity: doubts about the conclusion, limits of it, and what was chosen for the reader."""
_CHOICES = 2
"""So many of the last kind are shown on one screen."""


def console() -> Console:
    """A rich console: colour and width of the terminal, plain text and a fixed width when piped.

    Text from data is never markup: ``cnn[big]``, ``lr[/b]`` and ``:smile:`` print as they are.
    """
    from rich.console import Console

    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)
    out.width = min(out.width, _WIDEST) if sys.stdout.isatty() else _WIDTH
    return out


_HELD_TOGETHER = re.compile(r"(?<=\d) (?=%|more\))|(?<=±) (?=\d)|(?<=Seed) (?=\d)|(?<=\bn) (?==)|(?<==) (?=\d)")
_BOUND = "\N{NO-BREAK SPACE}"


def fold(text: str, width: int) -> list[str]:
    """Lines of at most ``width``, broken at spaces: not within words, nor between a number and its sign.

    Examples
    --------
    >>> fold("in up to 12 % of trials", 12)
    ['in up to', '12 % of', 'trials']
    """
    lines = textwrap.wrap(_HELD_TOGETHER.sub(_BOUND, text), width, break_on_hyphens=False, break_long_words=False)
    return [line.replace(_BOUND, " ") for line in lines]


def print_text(text: str, out: Console, style: str = "") -> None:
    """A paragraph, wrapped at spaces."""
    from rich.text import Text

    for line in fold(text, out.width):
        out.print(Text(line, style=style), soft_wrap=True)


def print_lines(text: str) -> None:
    """Paragraphs, a line or more each, as wide as the terminal; one that is indented stays so."""
    out = console()
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        for folded in fold(line.strip(), out.width - len(indent)):
            out.print(indent + folded, soft_wrap=True)


def screen_lines(*shown: str) -> int:
    """The lines of a screen above the prompt, without those of the texts ``shown``; a small or unknown one has 24."""
    from shutil import get_terminal_size

    lines = max(24, get_terminal_size().lines if is_terminal() else 0)
    return lines - 1 - sum(text.count("\n") for text in shown)


def held(out: Console, *draws: Callable[[], None]) -> str:
    """What is printed by these, to be counted before it is shown (`release`)."""
    with out.capture() as caught:
        for draw in draws:
            draw()
    return caught.get()


def release(out: Console, text: str) -> None:
    """Show what was held back."""
    out.file.write(text)


def is_terminal() -> bool:
    """Whether output goes to a terminal, not to a file or program."""
    return sys.stdout.isatty()


def has_blocks() -> bool:
    """Whether the terminal, or the file that is written to, has block characters."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def print_pieces(pieces: Iterable[Piece], out: Console, styles: Mapping[str, str], style: str = "") -> None:
    """A sentence, wrapped at spaces, the names of the families in their colours."""
    from rich.text import Text

    shown = Text(style=style)
    for piece in pieces:
        text = re.sub(r"\s", " ", piece.text)
        shown.append(text, styles.get(piece.text, "") if piece.is_family else "")
    start = 0
    for line in fold(shown.plain, out.width):
        start = shown.plain.index(line, start)
        out.print(shown[start : start + len(line)], soft_wrap=True)


LONGEST_TEXT = 24
"""Longer texts in a table may be shortened."""
_SHORTEST, _GAP = 12, 2


def shorten_middle(text: str, width: int) -> str:
    """A name without its middle, where it is longer than ``width``: both ends tell names apart.

    Examples
    --------
    >>> shorten_middle("roberta-large-finetuned-on-mnli", 16)
    'roberta-…on-mnli'
    """
    if len(text) <= width:
        return text
    last = (width - 1) // 2
    return f"{text[: width - 1 - last]}…{text[-last:] if last else ''}"


@dataclass(frozen=True)
class DrawnTable:
    """A table as rich draws it: columns of texts are wrapped at spaces, and names shortened, where there is no room."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool]
    styles: Sequence[str] = ()
    """Of the names, by row."""
    name_column: int = 0
    room: int = 0
    """The least width of the column of names."""
    most: int | None = None
    """Lines that there is room for."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        """The lines, the head first."""
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> list[Text]:
        """The head and all rows, each at most ``width`` wide."""
        from rich.text import Text

        widths, gap = self._widths(width)
        lines = [Text(line, style="dim") for line in self._row(self.heads, widths, gap)]
        each = [self._row(row, widths, gap) for row in self.rows]
        kept = self._fitting([len(row) for row in each], len(lines))
        start = sum(widths[: self.name_column]) + gap * self.name_column
        for i, line in ((i, line) for i, row in enumerate(each[:kept]) for line in row):
            text = Text(line)
            if self.styles and self.styles[i]:
                text.stylize(self.styles[i], start, start + widths[self.name_column])
            lines.append(text)
        return lines if kept == len(each) else [*lines, Text(f"... and {len(each) - kept} more")]

    def _fitting(self, rows: Sequence[int], head: int) -> int:
        """How many rows of so many lines fit."""
        if self.most is None or head + sum(rows) <= self.most:
            return len(rows)
        free = self.most - head - 1  # the last line says how many more there are
        return max(1, sum(total <= free for total in accumulate(rows)))

    def _widths(self, width: int) -> tuple[list[int], int]:
        """The width of each column and the gap between them: texts give way first, then heads are wrapped."""
        cells = [max((len(row[k]) for row in self.rows), default=0) for k in range(len(self.heads))]
        widths = [max(cell, len(head)) for cell, head in zip(cells, self.heads, strict=True)]
        widths[self.name_column] = max(widths[self.name_column], self.room)
        least = [self._least(k) for k in range(len(widths))]
        gap = _GAP
        for gap in (_GAP, 1):
            if sum(widths) + gap * (len(widths) - 1) <= width:
                return widths, gap
        while sum(widths) + gap * (len(widths) - 1) > width:
            movable = [k for k in range(len(widths)) if widths[k] > least[k]]
            if not movable:
                break
            widths[max(movable, key=lambda k: (not self.right[k], widths[k]))] -= 1
        return widths, gap

    def _least(self, k: int) -> int:
        """How narrow a column can be: numbers stay whole, heads and texts are wrapped at spaces, names are cut."""
        words = [word for text in (self.heads[k], *self._texts(k)) for word in text.split()]
        longest = max(map(len, words), default=0)
        numbers = [row[k] for row in self.rows] if self.right[k] else []
        return max([min(longest, LONGEST_TEXT if self.right[k] else _SHORTEST), *map(len, numbers)], default=0)

    def _texts(self, k: int) -> list[str]:
        return [] if self.right[k] else [row[k] for row in self.rows]

    def _row(self, cells: Sequence[str], widths: Sequence[int], gap: int) -> list[str]:
        columns = []
        for k, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            lines = [cell] if len(cell) <= width else _wrapped(cell, width)
            columns.append([line.rjust(width) if self.right[k] else line.ljust(width) for line in lines])
        blank = [" " * width for width in widths]
        return [
            (" " * gap).join(cell or blank[k] for k, cell in enumerate(line)).rstrip()
            for line in zip_longest(*columns, fillvalue="")
        ]


def _wrapped(text: str, width: int) -> list[str]:
    """At spaces; a word that is longer than the column without its middle."""
    return fold(" ".join(shorten_middle(word, width) for word in text.split()), width) or [""]


def drawn_table(
    shown: Table,
    *,
    styles: Sequence[str] = (),
    room: int | None = None,
    folded: Sequence[str] = (),
    most: int | None = None,
) -> DrawnTable:
    """A table for the terminal, ``most`` lines of it; the names of families have ``styles``.

    ``room`` is the least width of the names; columns named in ``folded`` repeat nothing that stands in the row above.
    """
    once = [k for k, column in enumerate(shown.columns) if column.name in folded]
    rows = shown.rows
    kept = [
        ["" if k in once and i and rows[i - 1][k] == cell else cell for k, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    place = shown.heads.index("family") if "family" in shown.heads else 0
    right = [column.right for column in shown.columns]
    return DrawnTable(shown.heads, kept, right, tuple(styles), place, min(room or 0, LONGEST_TEXT), most)


def print_labelled(rows: Iterable[tuple[str, str, str]], out: Console) -> None:
    """Rows of (label, its style, text), the text with a hanging indent."""
    from rich.text import Text

    indent = " " * (_LABEL + 1)
    for label, style, text in rows:
        first, *rest = fold(text, out.width - len(indent)) or [""]
        out.print(Text.assemble((f"{label:<{_LABEL}} ", style), first), soft_wrap=True)
        for line in rest:
            out.print(Text(indent + line), soft_wrap=True)


def print_cautions(
    cautions: Iterable[Caution],
    out: Console | None = None,
    *,
    n_families: int = 0,
    most: int | None = None,
    details: bool | None = None,
) -> None:
    """Warnings, each matter once: doubts first, then limits, ``most`` of them; what was chosen stands above all.

    Where there are ``details`` to ask for (False), the first is shown, and how many more there are.
    """
    out = out or console()
    every = [remark for remark in remarks(cautions, n_families) if remark.severity < 2]
    if details is False and every:
        more = f" ({len(every) - 1} more)" if len(every) > 1 else ""
        print_labelled([(*_LABELS[every[0].severity], cut(str(every[0]), out, lines=2, after=more))], out)
        return
    doubts = [(*_LABELS[remark.severity], str(remark)) for remark in every]
    if most is not None and len(doubts) > most:
        doubts[most - 1 :] = [("", "", f"and {len(doubts) - most + 1} more; the JSON form lists all")]
    print_labelled(doubts, out)


def print_choices(
    cautions: Iterable[Caution], out: Console | None = None, *, n_families: int = 0, details: bool | None = None
) -> None:
    """What was chosen for the reader.

    Where there are ``details`` to ask for (False), the first two have a line each, and the rest a count.
    """
    out = out or console()
    rows = [str(remark) for remark in remarks(cautions, n_families) if remark.severity == 2]
    if details is False:
        more = f" ({len(rows) - _CHOICES} more)" if len(rows) > _CHOICES else ""
        rows = [cut(row, out, lines=1, after=more if i else "") for i, row in enumerate(rows[:_CHOICES])]
    print_labelled([(*_LABELS[2], row) for row in rows], out)


def print_foot(
    cautions: Iterable[Caution],
    out: Console,
    footer: str = "",
    *,
    steps: Sequence[Step] = (),
    n_families: int = 0,
    details: bool = False,
) -> None:
    """What stands below every answer: doubts, what to do next, what was chosen for the reader, conditions."""
    doubts = list(cautions)
    print_cautions(doubts, out, n_families=n_families, details=details)
    print_steps(steps, out, details=details)
    print_choices(doubts, out, n_families=n_families, details=details)
    print_text(footer, out, "dim")


def cut(text: str, out: Console, *, lines: int, after: str = "") -> str:
    """A labelled text that takes so many lines at most, with ``after`` at its end in any case."""
    wide, dots = out.width - _LABEL - 1, " ..."
    kept = text.split()
    while len(fold(" ".join(kept) + after, wide)) > lines and len(kept) > 1:
        kept = [*kept[: -2 if kept[-1] == dots.strip() else -1], dots.strip()]
    return " ".join(kept) + after


def print_steps(steps: Sequence[Step], out: Console, *, details: bool | None = None) -> None:
    """What to do next, each with its command and its reason; the first by itself where there are ``details``."""
    if details is False and steps:
        first = steps[0]
        print_labelled([("next", "green", first.text)], out)
        if first.command:
            _print_command(first.command, out)
        return
    for i, step in enumerate(steps):
        text = f"{step.text}: {step.why}" if step.why else step.text
        print_labelled([("next" if i == 0 else "", "green", text)], out)
        if step.command:
            _print_command(step.command, out)


def print_variances(variances: Sequence[FamilyVariance], out: Console) -> None:
    """A row for each family and source of variance; nothing where there is none."""
    if not variances:
        return
    shown = variance_table(variances)
    print_text(shown.note, out, "dim")
    out.print(drawn_table(shown, folded=("family",)))
    out.print()


def _print_command(command: str, out: Console) -> None:
    from rich.text import Text

    for line in _folded(command, out.width - _LABEL - 5):
        out.print(Text(f"{' ' * (_LABEL + 3)}{line}", style="bold"), soft_wrap=True)


def _folded(command: str, width: int) -> list[str]:
    """A command that a shell takes as it stands, folded before options where it is longer than a line."""
    parts: list[list[str]] = [[]]
    for word in shlex.split(command):
        parts += [[word]] if word.startswith("--") else []
        parts[-1] += [] if word.startswith("--") else [word]
    lines = [shlex.join(parts[0])]
    for option in map(shlex.join, parts[1:]):
        if len(lines[-1]) + 1 + len(option) <= width:
            lines[-1] += f" {option}"
        else:
            lines.append(f"  {option}")
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
