"""Write docs/papers.md and its figures from the three scripts.

    python examples/papers/make_page.py --data FOLDER

With ``--data`` figures and tables come from the authors' own results, which are not shipped; without it the page holds
what the shipped results show.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import boon
import show_your_work
import showing_doesnt_always_work
from _common import Study, markdown_table, run_steps

INTRODUCTION = """\
# The papers, reproduced

levelbest stands on three papers: *A Boo(n) for Evaluating Architecture Performance* (Bajgar, Kadlec and Kleindienst
2018), *Show Your Work* (Dodge, Gururangan, Card, Schwartz and Smith 2019) and *Showing Your Work Doesn't Always Work*
(Tang, Lee, Xin, Liu, Yu and Lin 2020). For each paper one table sets what was published beside ours and says why they
differ, also where a paper and its data disagree or a statement does not hold. Figures of the authors' own results come
first, with their source and licence beside them; the same of results shipped with levelbest, or of a known
distribution, second. The authors' files are not shipped. Wherever a coverage is given, the mean width of the interval
stands beside it. The noisy quadratic that opda fits (Lourie, Cho and He) is left out because it has no
[certificate of coverage](coverage.md): it holds only near the optimum, and trials do not tell whether they are near.

Make this page again with `python examples/papers/make_page.py --data FOLDER`, or one paper's part with
`python examples/papers/boon.py --out OUT` (also `show_your_work.py`, `showing_doesnt_always_work.py`); each takes less
than three minutes. FOLDER is where you put the authors' files: `boon/cbt_fixed_hyppar.csv`, `boon/cbtrs_results.csv`
and `boon/cifar100-resnet-oct17.csv` from gitlab.com/obajgar/boon, `hedwig/hedwig.tsv` from
github.com/castorini/meanmax. Without them the scripts say what is missing and go on.
"""

PAPERS = (boon, show_your_work, showing_doesnt_always_work)

FIGURES = (
    ("[B] figure 1: scores of runs", "boon-distributions", "levelbest describe FILE --out f.svg"),
    (
        "[B] figure 2: three summaries of m experiments",
        "boon-summaries",
        "levelbest simulate --kde FILE --summaries --out f.svg",
    ),
    (
        "[B] figure 3: spread of the estimators (the Gaussian one: `python examples/papers/boon.py --out OUT`)",
        "boon-estimators",
        "levelbest simulate --kde FILE --summaries --n 5 --out f.svg",
    ),
    (
        "[D] figure 1: expected best, crossing, budget for a score",
        "show-crossing",
        "levelbest curve FILE --published CNN=0.395 --shade spread --out f.svg",
    ),
    ("[D] figure 2: time as the budget", "show-time", "levelbest compare FILE --axis cost --out f.svg"),
    (
        "[D] figure 3: trials that match a reported score",
        "show-match",
        "levelbest reach FILE --target NAME=0.8 --out f.svg",
    ),
    (
        "[D] figure 4: spread within what was observed",
        "show-range",
        "levelbest curve FILE --published NAME=0.8 --shade spread --out f.svg",
    ),
    ("[T] figure 1: V and U against the truth", "doesnt-curves", "levelbest simulate --lesson --out FOLDER"),
    (
        "[T] figure 2: a wrong winner (its curves: `python examples/papers/showing_doesnt_always_work.py --out OUT`)",
        "doesnt-curves",
        "levelbest simulate --kde FILE --of MLP --against LSTM --estimator v --trials 25",
    ),
    (
        "[T] figure 3: estimates below the truth",
        "doesnt-below",
        "levelbest simulate --kde FILE --of MLP --estimator v --out f.svg",
    ),
    (
        "[T] figure 4: coverage",
        "doesnt-coverage",
        "levelbest simulate --kde FILE --of MLP --interval percentile,default --out f.svg",
    ),
    ("[T] figure 5: the distributions", "doesnt-distributions", "levelbest describe FILE --out f.svg"),
)
"""Every figure of the papers: our equivalent, and the command that draws it."""


def figures_table() -> str:
    """Each figure of the papers with the command that draws its equivalent, and a small picture of ours."""
    rows = [
        (what, f"`{command}`", f'<img src="figures/papers/{name}.svg" width="160" alt="{what.split(" (")[0]}">')
        for what, name, command in FIGURES
    ]
    return f"## Every figure, and the command that draws it\n\n{markdown_table(('figure', 'command', 'ours'), rows)}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write docs/papers.md and its figures.")
    parser.add_argument("--data", type=Path, help="folder with boon/ and hedwig/ (the authors' files, not shipped)")
    parser.add_argument("--docs", type=Path, default=Path(__file__).resolve().parents[2] / "docs")
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs")
    chosen = parser.parse_args(arguments)
    figures = chosen.docs / "figures" / "papers"
    figures.mkdir(parents=True, exist_ok=True)
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
