"""Writes what the README and the first page quote of the shipped results: ``python docs/write_quotes.py``."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
import textwrap
from importlib import resources
from pathlib import Path

import levelbest as lb
from levelbest.cli.main import main

TABLE = str(resources.files("levelbest") / "data" / "digits.csv")
ROOT = Path(__file__).resolve().parents[1]
COLUMNS = "--family family --selection val_accuracy --reported test_accuracy --direction max --bounds 0 1"


def compared() -> str:
    """What ``levelbest compare`` prints of the table that the demo leaves behind."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("levelbest-demo").mkdir()
        shutil.copy(TABLE, "levelbest-demo/digits.csv")
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
            assert main(["compare", "levelbest-demo/digits.csv", "--bounds", "0", "1"]) == 0
    return "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())


def summary() -> str:
    """What ``levelbest.compare`` says of them, with what stands behind it."""
    options = dict(pair.split(" ", 1) for pair in COLUMNS.removeprefix("--").split(" --"))
    return " ".join(lb.compare(TABLE, **(options | {"bounds": (0, 1)})).summary)


def with_quotes(readme: str, start: str, quotation: str, printed: str) -> tuple[str, str]:
    """Both pages with the output in its place: the verdict as a quotation, and the whole screen as a block."""
    quoted = "\n".join(f"> {line}" for line in textwrap.wrap(quotation, 118, break_on_hyphens=False))
    readme = re.sub(r"(?:^> .*\n)+", lambda _: f"{quoted}\n", readme, count=1, flags=re.M)
    block = re.compile(r"(this prints\n\n```text\n).*?(\n```)", flags=re.S)
    return readme, block.sub(lambda match: f"{match[1]}{printed}{match[2]}", start, count=1)


if __name__ == "__main__":
    pages = [ROOT / "README.md", ROOT / "docs" / "start.md"]
    texts = with_quotes(*(page.read_text(encoding="utf-8") for page in pages), summary(), compared())
    for page, text in zip(pages, texts, strict=True):
        page.write_text(text, encoding="utf-8")
