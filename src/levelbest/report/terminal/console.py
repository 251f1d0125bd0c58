"""The terminal: plain text that wraps at its width, with colour where it has it; text from data is never markup."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from levelbest.cautions import Caution
from levelbest.report.tables.results import variance_table
from levelbest.report.tables.table import Table
from levelbest.report.words.cautions import remarks
from levelbest.results import FamilyVariance
from levelbest.trials.colours import GREY, TERMINAL, Hues

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

    from levelbest.report.words.answers import Piece
    from levelbest.report.words.plans import Step

_WIDTH, _WIDEST, _LABEL = 80, 100, 6
_LABELS = (("doubt", "yellow"), ("note", ""), ("chosen", "dim"))
"""By severity: doubts about the conclusion, limits of it, and what was chosen for the reader."""


def console() -> Console:
    """A rich console: colour and width of the terminal, plain text and a fixed width when piped.

    Text from data is never markup: ``cnn[big]``, ``lr[/b]`` and ``:smile:`` print as they are.
    """
    from rich.console import Console

    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)
    out.width = min(out.width, _WIDEST) if sys.stdout.isatty() else _WIDTH
    return out


def print_text(text: str, out: Console, style: str = "") -> None:
    """A paragraph, wrapped at spaces."""
    from rich.text import Text

    for line in textwrap.wrap(text, out.width, break_on_hyphens=False):
        out.print(Text(line, style=style), soft_wrap=True)


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
    """Whether somebody reads what is printed, and no file or program."""
    return sys.stdout.isatty()


def has_blocks() -> bool:
    """Whether the terminal, or the file that is written to, has block characters."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def family_styles(hues: Hues, families: Sequence[str]) -> dict[str, str]:
    """The colour of each family, that of the page and the figures; rich takes the nearest that a terminal has."""
    return {name: TERMINAL[hues.get(name, GREY)] for name in families}


def print_pieces(pieces: Iterable[Piece], out: Console, styles: Mapping[str, str], style: str = "") -> None:
    """A sentence, wrapped at spaces, the names of the families in their colours."""
    from rich.text import Text

    shown = Text.assemble(*((piece.text, styles.get(piece.text, "") if piece.is_family else "") for piece in pieces))
    if shown.plain:
        shown.style = style
        for line in shown.wrap(out, out.width):
            line.rstrip()
            out.print(line, soft_wrap=True)


LONGEST = 24
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

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        """The lines, the head first."""
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> list[Text]:
        """The head and all rows, each at most ``width`` wide."""
        from rich.text import Text

        widths, gap = self._widths(width)
        lines = [Text(line, style="dim") for line in self._row(self.heads, widths, gap)]
        for i, row in enumerate(self.rows):
            start = sum(widths[: self.name_column]) + gap * self.name_column
            for line in self._row(row, widths, gap):
                text = Text(line)
                if self.styles and self.styles[i]:
                    text.stylize(self.styles[i], start, start + widths[self.name_column])
                lines.append(text)
        return lines

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
        return max([min(longest, LONGEST if self.right[k] else _SHORTEST), *map(len, numbers)], default=0)

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
    words = " ".join(shorten_middle(word, width) for word in text.split())
    return textwrap.wrap(words, width, break_on_hyphens=False, break_long_words=False) or [""]


def drawn_table(
    shown: Table, *, styles: Sequence[str] = (), room: int | None = None, folded: Sequence[str] = ()
) -> DrawnTable:
    """A table for the terminal; the names of families have ``styles``.

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
    return DrawnTable(shown.heads, kept, right, tuple(styles), place, min(room or 0, LONGEST))


def print_labelled(rows: Iterable[tuple[str, str, str]], out: Console) -> None:
    """Rows of (label, its style, text), the text with a hanging indent."""
    from rich.text import Text

    indent = " " * (_LABEL + 1)
    for label, style, text in rows:
        first, *rest = textwrap.wrap(text, out.width - len(indent), break_on_hyphens=False) or [""]
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
        print_labelled([(*_LABELS[every[0].severity], cut(str(every[0]), out, lines=1, after=more))], out)
        return
    doubts = [(*_LABELS[remark.severity], str(remark)) for remark in every]
    if most is not None and len(doubts) > most:
        doubts[most - 1 :] = [("", "", f"and {len(doubts) - most + 1} more; the JSON form lists all")]
    print_labelled(doubts, out)


def print_choices(
    cautions: Iterable[Caution],
    out: Console | None = None,
    *,
    n_families: int = 0,
    apart: bool = True,
    details: bool | None = None,
) -> None:
    """What was chosen for the reader: it is read before the answer, ``apart`` from it by an empty line.

    Where there are ``details`` to ask for (False), the first has two lines and each other one.
    """
    out = out or console()
    chosen = [remark for remark in remarks(cautions, n_families) if remark.severity == 2]
    if details is False and chosen:
        rows = [cut(str(remark), out, lines=1 if i else 2) for i, remark in enumerate(chosen)]
        print_labelled([(*_LABELS[2], row) for row in rows], out)
        return
    print_labelled([(*_LABELS[2], str(remark)) for remark in chosen], out)
    if chosen and apart:
        out.print()


def cut(text: str, out: Console, *, lines: int, after: str = "") -> str:
    """A labelled text that takes so many lines at most, with ``after`` at its end in any case."""
    wide, dots = out.width - _LABEL - 1, " ..."
    kept = text.split()
    while len(textwrap.wrap(" ".join(kept) + after, wide, break_on_hyphens=False)) > lines and len(kept) > 1:
        kept = [*kept[: -2 if kept[-1] == dots.strip() else -1], dots.strip()]
    return " ".join(kept) + after


def print_steps(steps: Sequence[Step], out: Console, *, details: bool | None = None) -> None:
    """What to do next, each with its command and its reason; the first by itself where there are ``details``."""
    if details is False and steps:
        first = steps[0]
        print_labelled([("next", "green", first.text)], out)
        if first.command:
            _print_command(_on_one_line(first.command, out.width - _LABEL - 5), out)
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


def _on_one_line(command: str, width: int) -> str:
    """A command without its middle, where it is longer than a line: the details have all of it."""
    words = shlex.split(command)
    return command if len(command) <= width else shlex.join([*words[:2], "...", *words[-2:]])


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
