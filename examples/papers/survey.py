"""Count statistical words in a folder of paper texts, as appendix B of *A Boo(n)* did for ICLR 2017.

    python examples/papers/survey.py FOLDER [--json]

Every .txt file of the folder is one paper (pdftotext makes them from PDFs). A word in a paper is not yet a method used:
these are upper bounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from _common import markdown_table

# [B] appendix B. Headings of that conference are in capitals, so that capitals tell a heading from a mention.
HEADINGS = ("EXPERIMENT",)
EVALUATIONS = ("EXPERIMENT", "EVALUATION")
TESTS = (
    "hypothesis test", "p-value", "t-test", "confidence level", "significance level", "ANOVA", "analysis of variance",
    "Wilcoxon", "sign test",
)  # fmt: skip
INTERVALS = ("confidence interval",)
PUBLISHED = {
    "papers": 194,
    "experiments in a heading": 174,
    "experiments or evaluation in a heading": 180,
    "hypothesis tests": 11,
    "confidence intervals": 11,
    "both": 0,
}


def count_papers(folder: Path) -> dict[str, int]:
    """How many papers of the folder hold each kind of words."""
    paths = sorted(folder.glob("*.txt")) if folder.is_dir() else []
    if not paths:
        raise SystemExit(f"{folder} holds no .txt files; make them from PDFs with pdftotext")
    found = dict.fromkeys(PUBLISHED, 0)
    for path in paths:
        # line ends and hyphenation of the extracted text must not split a phrase
        text = " ".join(path.read_text(encoding="utf-8", errors="replace").split())
        tests, intervals = _mentions(text, TESTS), _mentions(text, INTERVALS)
        found["papers"] += 1
        found["experiments in a heading"] += _mentions(text, HEADINGS)
        found["experiments or evaluation in a heading"] += _mentions(text, EVALUATIONS)
        found["hypothesis tests"] += tests
        found["confidence intervals"] += intervals
        found["both"] += tests and intervals
    return found


def _mentions(text: str, phrases: Sequence[str]) -> bool:
    """Case matters, as for grep: ANOVA and the headings are in capitals; other phrases may start a sentence."""
    return any(phrase in text or phrase[0].upper() + phrase[1:] in text for phrase in phrases)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Count statistical words in a folder of paper texts.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    found = count_papers(chosen.folder)
    if chosen.json:
        print(json.dumps(found))
        return 0

    def share(counts: dict[str, int], key: str) -> str:
        return f"{counts[key]} ({100 * counts[key] / counts['papers']:.0f} %)"

    rows = [(key, share(found, key), share(PUBLISHED, key)) for key in PUBLISHED]
    print(markdown_table(("papers with", "this folder", "ICLR 2017 ([B])"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
