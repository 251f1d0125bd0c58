"""Writes what the code of docs/configurations.md prints, and its figure: ``python docs/write_configurations.py``."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

PAGE = Path(__file__).parent / "configurations.md"
_BLOCK = re.compile(r"(^```python\n(.*?)^```\n)(\n```text\n)(.*?)(^```\n)", re.S | re.M)


def written() -> tuple[str, dict[str, Any]]:
    """The page with what its code prints, run from top to bottom, and the names that the code leaves."""
    names: dict[str, Any] = {}

    def printed(match: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(match[2], PAGE.name, "exec"), names)
        lines = [line for text in out.getvalue().splitlines() for line in _folded(text)]
        body = "".join(f"{line}\n" for line in lines)
        return f"{match[1]}{match[3]}{body}{match[5]}"

    return _BLOCK.sub(printed, PAGE.read_text(encoding="utf-8")), names


def _folded(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, 118, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    from levelbest.report.figures.curves import save_figure

    page, names = written()
    PAGE.write_text(page, encoding="utf-8")
    save_figure(names["ax"].figure, PAGE.parent / "figures" / "variances.svg")
