"""Write docs/papers.md and its figures from the three scripts.

    python examples/papers/make_page.py --data FOLDER

With ``--data`` figures and tables come from the authors' own results, which are not shipped; without it the page holds
what the shipped results show.
"""

from __future__ import annotations

import argparse
import io
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.resources import files
from pathlib import Path

import boon
import show_your_work
import showing_doesnt_always_work
from _common import Study, markdown_table, run_steps

import levelbest.cli.main

ROOT = Path(__file__).resolve().parents[2]
DIGITS = str(files("levelbest") / "data" / "digits.csv")

INTRODUCTION = """\
# The papers, reproduced

levelbest builds on three papers: *A Boo(n) for Evaluating Architecture Performance* (Bajgar, Kadlec and Kleindienst
2018), *Show Your Work* (Dodge, Gururangan, Card, Schwartz and Smith 2019) and *Showing Your Work Doesn't Always Work*
(Tang, Lee, Xin, Liu, Yu and Lin 2020). For each paper a table compares the published numbers with ours and explains the
differences, including cases where a paper and its data disagree or a statement does not hold. Figures from the authors'
own results come first, with source and licence; the same figures from results shipped with levelbest, or from a known
distribution, come second. The authors' files are not shipped. Every coverage is given with the mean width of the
interval. The noisy quadratic that opda fits (Lourie, Cho and He) is left out because it has no
[certificate of coverage](coverage.md): it is valid only near the optimum, and trials do not
show whether they are near it.

To rebuild this page, run `python examples/papers/make_page.py --data FOLDER`, or for one paper
`python examples/papers/boon.py --out OUT` (also `show_your_work.py`, `showing_doesnt_always_work.py`); each takes less
than three minutes. FOLDER is where you put the authors' files: `boon/cbt_fixed_hyppar.csv`, `boon/cbtrs_results.csv`
and `boon/cifar100-resnet-oct17.csv` from gitlab.com/obajgar/boon, `hedwig/hedwig.tsv` from
github.com/castorini/meanmax. Without them the scripts say what is missing and continue.
"""

PAPERS = (boon, show_your_work, showing_doesnt_always_work)

FIGURES = (
    (
        "[B] figure 1: scores of runs, and test score against validation score",
        "describe DIGITS --where \"family in ('mlp-seeds', 'random-forest')\"",
    ),
    (
        "[B] figure 2: three summaries of m experiments",
        "simulate --kde DIGITS --of random-forest --reported test_accuracy --summaries",
    ),
    (
        "[B] figure 3: spread of the estimators",
        "simulate --kde DIGITS --of mlp-seeds --reported test_accuracy --estimators",
    ),
    (
        "[D] figure 1: expected best, crossing, budget for a score",
        "curve DIGITS --where \"family in ('svm', 'random-forest')\" --reported none --published svm=.9 --shade spread",
    ),
    ("[D] figure 2: time as the budget", "curve examples/papers/budgets/budgets.csv --axis cost"),
    (
        "[D] figure 3: trials that match a reported score",
        "reach DIGITS --where \"family <> 'mlp-seeds'\" --reported none --target 0.9",
    ),
    (
        "[D] figure 4: spread within what was observed",
        "curve DIGITS --where \"family = 'mlp'\" --reported none --published mlp=0.94 --shade spread",
    ),
    (
        "[T] figure 1: V against the truth",
        "simulate --kde DIGITS --of random-forest --against beta(2,1.54) --estimator v --trials 50",
    ),
    (
        "[T] figure 2: a wrong winner",
        "simulate --kde DIGITS --of random-forest --against beta(2,1.54) --estimator v --trials 25 --n 10-25",
    ),
    (
        "[T] figure 3: estimates below the truth (dotted)",
        "simulate --kde DIGITS --of svm --estimator v --n 1,2,5,10,20,30,40,50",
    ),
    (
        "[T] figure 4: coverage",
        "simulate --kde DIGITS --of svm --estimator v --interval percentile,default --n 1,2,5,10,20,30,40",
    ),
    ("[T] figure 5: the kernel density (above)", "simulate --kde DIGITS --of random-forest --n 1,2,5,10,20,30,40"),
)
"""Every figure of the papers, and the command that draws its equivalent."""

SHIPPED = "import levelbest; print(levelbest.__path__[0] + '/data/digits.csv')"


def picture_name(what: str) -> str:
    """The file of a figure's picture: ``[B] figure 1: ...`` is ``command-b1.svg``."""
    return f"command-{what[1].lower()}{what[11]}.svg"


def draw_figures(folder: Path, *, quick: bool = False) -> None:
    """Run every command of the table on the shipped results; its picture is the one beside it."""
    for what, command in FIGURES:
        words = [DIGITS if word == "DIGITS" else word for word in shlex.split(command)]
        words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
        words += ["--out", str(folder / picture_name(what))]
        if quick and words[0] == "simulate":
            words += ["--samples", "20", "--resamples", "99"]
        with redirect_stdout(io.StringIO()):
            if (code := levelbest.cli.main.main(words)) != 0:
                raise SystemExit(f"levelbest {command} ended with {code}")


def figures_table() -> str:
    """Each figure of the papers with the command that draws its equivalent, and a small picture of it."""
    rows = []
    for what, command in FIGURES:
        shown = command.replace("DIGITS", '"$DIGITS"').replace("beta(2,1.54)", '"beta(2,1.54)"')
        picture = f'<img src="figures/papers/{picture_name(what)}" width="200" alt="{what.split(":")[0]}">'
        rows.append((what, f"`levelbest {shown} --out f.svg`", picture))
    return (
        "## Every figure, and the command that draws it\n\nEach figure is drawn by the command beside it from the "
        "shipped results, which are here:\n\n```sh\n"
        f'DIGITS=$(python -c "{SHIPPED}")\n```\n\n{markdown_table(("figure", "command", "its picture"), rows)}\n'
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write docs/papers.md and its figures.")
    parser.add_argument("--data", type=Path, help="folder with boon/ and hedwig/ (the authors' files, not shipped)")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs")
    chosen = parser.parse_args(arguments)
    figures = chosen.docs / "figures" / "papers"
    figures.mkdir(parents=True, exist_ok=True)
    draw_figures(figures, quick=chosen.quick)
    parts = [INTRODUCTION, figures_table()]
    with tempfile.TemporaryDirectory() as folder:
        for paper in PAPERS:
            study = Study(Path(folder), chosen.data, chosen.quick)
            parts.append(run_steps(study, paper.TITLE, paper.STEPS))
            for note in study.missing:
                print(note, file=sys.stderr)
        text = "\n".join(parts)
        for path in sorted(Path(folder).glob("*.svg")):
            if f"figures/papers/{path.name}" in text:
                shutil.copyfile(path, figures / path.name)
    (chosen.docs / "papers.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
