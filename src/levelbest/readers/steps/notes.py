"""What is said about a reading: what was left out, and what was chosen for the reader."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from levelbest.cautions import Caution
from levelbest.errors import InputError, named
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.nested import no_item
from levelbest.readers.steps.numbers import Numbers, as_numbers
from levelbest.trials import Skipped

__all__ = ["Notes"]

_KEPT_SKIPPED = 1000
_KEPT_WORDS = 20


@dataclass
class Notes:
    """Collected while the steps run."""

    skipped: list[Skipped] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)

    def skip(self, table: Merged, rows: npt.NDArray[np.bool_], why: str | dict[int, str]) -> None:
        """These rows are left out."""
        places = np.flatnonzero(rows)
        room = max(0, _KEPT_SKIPPED - len(self.skipped))
        for row in places[:room].tolist():
            self.skipped.append(Skipped(table.at(row), why if isinstance(why, str) else why[row]))
        if len(places) > room:
            reason = why if isinstance(why, str) else "their score is no number"
            self.skipped.append(Skipped(table.source, f"{len(places) - room} more rows: {reason}"))

    def numbers(self, table: Merged, name: str, role: str) -> Numbers:
        """A column as numbers; conversions are said, and a column that holds mostly words is refused."""
        if name not in table.columns:
            raise no_item(table.source, name, role)
        read = as_numbers(table.columns[name])
        if len(read.words) * 2 > table.n_rows - int(read.empty.sum()):
            row, word = next(iter(read.words.items()))
            raise InputError(
                f"the column for {named(role)}, {name!r}, must hold numbers, and {len(read.words)} of {table.n_rows} "
                f"cells do not (first: {word!r} at {table.at(row)}); choose another column"
            )
        for how, (count, first) in read.converted.items():
            self.cautions.append(
                Caution.of("converted-numbers", None, count, count=count, column=name, how=how, first=first)
            )
        return read

    def words(self, table: Merged, read: Numbers, name: str) -> None:
        """Text in a column that only describes a trial does not cost the trial: the cell is empty, and that is said."""
        for row, word in list(read.words.items())[:_KEPT_WORDS]:
            self.skipped.append(Skipped(f"{table.at(row)}, column {name!r}", f"{word!r} is no number; read as empty"))
        if len(read.words) > _KEPT_WORDS:
            more = f"{len(read.words) - _KEPT_WORDS} more cells are no numbers"
            self.skipped.append(Skipped(f"{table.source}, column {name!r}", more))
