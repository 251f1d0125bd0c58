"""Reading a ledger while it grows: what a live page, a progress line and a report need, refreshed by what is new.

view = LedgerView("study.db")
while True:
    view.refresh()                       # reads the records since the last time only
    for family in view.families.values():
        family.counts, family.prefix, family.scores("dev_acc")
"""

from __future__ import annotations

import gc
import hashlib
import sqlite3
from pathlib import Path
from typing import cast

from levelbest._ledger.chain import Chain, LedgerFamily, refuse
from levelbest._ledger.file import connect_to_read, one_line
from levelbest._ledger.records import StartBody, read_body
from levelbest._read import open_file
from levelbest.errors import DataError, InputError
from levelbest.run.ledger import logs_folder


class LedgerView(Chain):
    """The chain of a ledger's file, followed as it grows. It never writes and never imports study code.

    What it shows hashes to its ``head``, and a ledger that is not whole is a ``DataError``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__(refuse(self.path.name))
        self._connection = connect_to_read(self.path)
        self._file = self.path.stat()
        try:
            self.refresh()
        except BaseException:
            self._connection.close()
            raise

    @property
    def trouble(self) -> str:
        """Why what is read is no longer what stands under the ledger's name; empty where it is."""
        try:
            now = self.path.stat()
        except OSError:
            return f"The ledger {self.path.name} was deleted or moved: what is shown is its last state."
        if (now.st_dev, now.st_ino) != (self._file.st_dev, self._file.st_ino):
            return f"Another file has taken the name {self.path.name}: what is shown is the last state of the old one."
        return ""

    def refresh(self) -> int:
        """Read what is new; how many records there were."""
        # A hundred thousand new dicts make the garbage collector look through all of them again and again, for nothing.
        collecting = gc.isenabled()
        gc.disable()
        before = self.seq
        try:
            self.follow_to_the_end(self._connection)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise DataError(f"the ledger {self.path.name} cannot be read just now: {one_line(error)}") from error
        finally:
            if collecting:
                gc.enable()
        return self.seq - before

    def family(self, name: str) -> LedgerFamily:
        """The family of this name."""
        for family in self.families.values():
            if family.name == name:
                return family
        known = ", ".join(family.name for family in self.families.values())
        raise InputError(f"the ledger has no family {name!r}; it has {known}")

    def configuration(self, family: str, trial: int) -> tuple[dict[str, object], int]:
        """Configuration and seed of a trial that has started."""
        seq = self.family(family).starts.get(trial)
        if seq is None:
            raise InputError(f"trial {trial} of {family} has not started")
        (text,) = self._connection.execute("SELECT body FROM records WHERE seq = ?", (seq,)).fetchone()
        body = cast(StartBody, read_body(text))  # the chain was followed past it
        return body["config"], body["seed"]

    def log(self, family: str, trial: int, most: int = 100_000) -> str:
        """The end of a finished trial's log, as text; empty where it printed nothing or the log is gone."""
        end = self.family(family).ends.get(trial)
        name = Path((end.log if end else None) or "")
        if not name.name or ".." in name.parts or name.is_absolute():
            return ""
        folder = logs_folder(self.path)
        try:
            with open_file(folder / name, within=folder) as file:
                if end and end.log_hash and hashlib.file_digest(file, "sha256").hexdigest() != end.log_hash:
                    return "This log is not the one that was written, and is not shown."
                file.seek(max(0, file.seek(0, 2) - most))
                return file.read(most).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except (OSError, InputError):
            return "This log is not a file in the ledger's folder of logs, and is not shown."

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> LedgerView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
