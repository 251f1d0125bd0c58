"""Writes the shipped samples and what ``llm.md`` shows of them: ``python docs/write_evaluation.py``.

The samples are simulated: three models on 60 problems of two benchmarks, six samples of each.
"""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.figure import Figure

import levelbest as lb
from levelbest.report.figures.curves import save_figure

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures" / "evaluation"
SAMPLES = DOCS.parent / "src" / "levelbest" / "data" / "samples.csv"
MODELS = {"small": (-0.05, 250), "medium": (0.0, 700), "large": (0.15, 900)}
"""What a model adds to the success rate of a problem, and how many tokens it writes."""
RATE = {"input": 0.4, "output": 1.6}


def samples() -> str:
    """A table of samples, which its seed decides."""
    rng = np.random.default_rng(2026)
    rows = ["model,task,problem,sample,answer,correct,tokens_in,tokens_out"]
    for task, shape in (("algebra", (1.5, 1.0)), ("logic", (1.0, 1.4))):
        for problem in range(30):
            easy, asked = rng.beta(*shape), int(rng.integers(150, 400))
            for model, (extra, length) in MODELS.items():
                rate = float(np.clip(easy + extra + rng.normal(0, 0.08), 0.02, 0.98))
                for sample in range(6):
                    right = bool(rng.random() < rate)
                    answer = "A" if right else rng.choice(["B", "C", "D"], p=[0.6, 0.25, 0.15])
                    written = int(length * np.exp(rng.normal(0, 0.4)) * (1.4 - 0.6 * rate))
                    rows.append(f"{model},{task},{task}-{problem},{sample},{answer},{int(right)},{asked},{written}")
    return "\n".join(rows) + "\n"


def printed(*command: str) -> str:
    """What a command prints in the folder of the shipped samples."""
    return subprocess.run(
        [sys.executable, "-m", "levelbest", *command],
        cwd=SAMPLES.parent,
        env={"COLUMNS": "80", "PATH": "", "PYTHONPATH": str(DOCS.parent / "src")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.rstrip()


def with_output(text: str) -> str:
    """The chapter with the output of every command on the shipped samples that a block of text follows."""
    block = re.compile(r"(```sh\nlevelbest ([^\n]*samples\.csv[^\n]*)\n```\n\n```text\n)[^`]*(\n```)")
    return block.sub(lambda match: match[1] + printed(*match[2].split()) + match[3], text)


def figures() -> dict[str, Figure]:
    """The pictures of the chapter, by name."""
    trials = lb.read_trials(SAMPLES, cost=RATE, answer="answer")
    drawn = {name: Figure(figsize=size, layout="constrained") for name, size in SIZES.items()}
    verdict = lb.compare(trials)
    verdict.plot(drawn["ribbon"].add_subplot(), kind="ribbon")
    verdict.plot(drawn["pareto"].add_subplot(), kind="pareto")
    passes, votes = drawn["selection"].add_subplot(), {"mean": "pass@k", "majority": "maj@k"}
    for (statistic, label), dash in zip(votes.items(), ("-", "--"), strict=True):
        curve = lb.curve(trials["large"], statistic=statistic)
        passes.plot(curve.n, curve.value, dash, color="#1f5fd0", label=label)
        passes.fill_between(curve.n, curve.low, curve.high, color="#1f5fd0", alpha=0.12, linewidth=0)
    passes.set(xlabel="k, samples of each problem", ylabel="problems solved by large")
    passes.legend(frameon=False)
    pooled = lb.read_trials(SAMPLES, cost=RATE, task="none")
    lb.compare(pooled, axis="cost").plot(drawn["spend"].add_subplot(), kind="ribbon")
    return drawn


SIZES = {"ribbon": (8.0, 2.0), "pareto": (7.0, 3.0), "selection": (7.0, 3.0), "spend": (8.0, 2.0)}

if __name__ == "__main__":
    SAMPLES.write_text(samples(), encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    for name, figure in figures().items():
        save_figure(figure, FIGURES / f"{name}.svg")
    chapter = DOCS / "llm.md"
    chapter.write_text(with_output(chapter.read_text(encoding="utf-8")), encoding="utf-8")
