"""The certificate of verdicts: do difference bands hold together, and how often is a verdict false?

    python -m levelbest.simulation.verdict_certificate run        # half an hour; goes on where it stopped
    python -m levelbest.simulation.verdict_certificate write      # docs/coverage-verdicts.md

Scores of each law are standardised to mean 0 and variance 1, so that neither family of a pair drowns the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from levelbest.simulation.battery import clopper_pearson
from levelbest.simulation.laws import Law, named_law
from levelbest.stats.budgets import claim_gate
from levelbest.stats.contrasts import Sample, difference_bands

__all__ = ["CELLS", "VerdictCell", "run_cell", "run_gate", "run_verdict_certificate", "write_verdict_certificate"]

SEED, SAMPLES, RESAMPLES = 2026, 2000, 999
ATTEMPTS = ((20, 1), (50, 5), (200, 10))
LEVELS = (0.01, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class VerdictCell:
    """Families of 50 trials with these laws, all pairs compared for n = 1..n_max together."""

    laws: tuple[str, ...]
    n_max: int
    kind: str
    paired: bool = False

    @property
    def key(self) -> str:
        """Its name in the results."""
        return f"{' / '.join(self.laws)} | {self.n_max}{' | paired' * self.paired}"


FIVE = (
    ("norm", "norm"), ("norm", "uniform"), ("expon", "norm"), ("beta(8,2)", "quadratic"), ("uniform", "-expon"),
)  # fmt: skip
HARD = (
    ("t(3)", "norm"), ("lognorm(1)", "norm"), ("beta(0.5,0.5)", "norm"), ("three_point", "norm"),
    ("bernoulli(0.3)", "bernoulli(0.6)"),
)  # fmt: skip
EQUAL = ("beta(8,2)", "expon", "t(3)", "beta(8,2) rounded")
CELLS = (
    *(VerdictCell(pair, n_max, "pair") for n_max in (10, 25) for pair in FIVE),
    *(VerdictCell(pair, 25, "hard") for pair in HARD),
    *(VerdictCell((law, law), 25, "equal") for law in EQUAL),
    VerdictCell(("norm", "norm"), 25, "equal", paired=True),
    VerdictCell(("norm",) * 4, 25, "equal"),
    VerdictCell(("norm", "uniform", "expon", "beta(8,2)"), 25, "pair"),
)


def _standard(name: str) -> Law:
    plain = name.removesuffix(" rounded")
    law = named_law(plain)
    u = (np.arange(200_000) + 0.5) / 200_000
    scores = law.quantile(u)
    mean, sd = float(scores.mean()), float(scores.std())
    inner = law.quantile if plain == name else law.rounded(0.01).quantile
    return Law(name, lambda p: (inner(p) - mean) / sd)


def run_cell(cell: VerdictCell, *, n_samples: int = SAMPLES, n_trials: int = 50, seed: int = SEED) -> dict[str, Any]:
    """How often the bands hold at all budgets and pairs together, and how often a verdict is false or true."""
    laws = [_standard(name) for name in cell.laws]
    n = np.arange(1, cell.n_max + 1)
    pairs = list(combinations(range(len(laws)), 2))
    curves = [law.true_mean(n) for law in laws]
    truths = [np.zeros(n.size) if cell.laws[a] == cell.laws[b] else curves[a] - curves[b] for a, b in pairs]
    held = wrong = decided = 0
    width = np.zeros(n.size)
    for at in range(n_samples):
        rng = np.random.default_rng([seed, cell.n_max, at, *(ord(c) for c in "".join(cell.laws))])
        samples = [Sample(law.draw(rng, (1, n_trials))[0][0]) for law in laws]
        if cell.paired:
            # half of the variance is the pair's own
            common = samples[0].selection
            samples = [Sample((common + law.draw(rng, (1, n_trials))[0][0]) / np.sqrt(2)) for law in laws]
        found = difference_bands(
            samples, pairs, n, paired=cell.paired, step_down=len(pairs) > 1, n_resamples=RESAMPLES, rng=rng
        )
        held += all(((d.low <= t) & (t <= d.high)).all() for d, t in zip(found, truths, strict=True))
        # a verdict for the family that is not better, where the truth is told apart from zero by more than rounding
        wrong += any(((d.certified != 0) & (d.certified * t <= 1e-9)).any() for d, t in zip(found, truths, strict=True))
        decided += any((d.certified != 0).any() for d in found)
        width += (found[0].high - found[0].low) / n_samples
    return {
        "laws": list(cell.laws),
        "kind": cell.kind,
        "paired": cell.paired,
        "n_max": cell.n_max,
        "n_trials": n_trials,
        "n_samples": n_samples,
        "coverage": held / n_samples,
        "false_verdicts": wrong / n_samples,
        "decided": decided / n_samples,
        "width": [round(w, 4) if np.isfinite(w) else None for w in map(float, width[[0, 4, cell.n_max - 1]])],
    }


def run_gate(baseline: int, attempts: int, *, n_samples: int = SAMPLES, seed: int = SEED) -> dict[str, Any]:
    """How often the gate lets luck pass, at several levels, where there is no improvement."""
    rng = np.random.default_rng([seed, baseline, attempts])
    scores = rng.normal(size=(n_samples, baseline + attempts))
    p = np.array([claim_gate(row[:baseline], float(row[baseline:].max()), attempts).p_value for row in scores])
    return {
        "kind": "gate",
        "baseline": baseline,
        "attempts": attempts,
        "n_samples": n_samples,
        "smallest_possible_p": attempts / (baseline + attempts),
        "passed": {f"{level:g}": float(np.mean(p <= level)) for level in LEVELS},
    }


def run_verdict_certificate(
    out: Path, *, n_samples: int = SAMPLES, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Run what is not there yet; the file holds one entry per cell."""
    results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    out.parent.mkdir(parents=True, exist_ok=True)
    jobs: list[tuple[str, Callable[[], dict[str, Any]]]] = []
    jobs += [(cell.key, partial(run_cell, cell, n_samples=n_samples)) for cell in CELLS]
    jobs += [(f"gate {m} {k}", partial(run_gate, m, k, n_samples=n_samples)) for m, k in ATTEMPTS]
    for key, job in jobs:
        if results.get(key, {}).get("n_samples") == n_samples:
            continue
        results[key] = job()
        out.write_text(json.dumps(results, indent=0, allow_nan=False) + "\n", encoding="utf-8")
        if progress:
            progress(f"{key}: {results[key]}")
    return results


def write_verdict_certificate(source: Path, page: Path) -> None:
    """The page: coverage of the bands, false verdicts, and the gate."""
    cells = list(json.loads(source.read_text(encoding="utf-8")).values())
    bands = [one for one in cells if one["kind"] != "gate"]
    low, high = clopper_pearson(0.95, bands[0]["n_samples"])
    titles = {
        "pair": "Pairs of laws",
        "hard": "Hard cases, named: a tail or a wall on the best side that 50 trials do not show, and few values",
        "equal": "Equal laws: every verdict is false",
    }
    lines = [
        "# The certificate of verdicts",
        "",
        "Difference bands, nominal 95 % over all budgets (and pairs) together: how often the band holds the true "
        "difference at every budget at once, and how often a verdict names the wrong family. "
        f"{bands[0]['n_samples']:,} samples a row, {bands[0]['n_trials']} trials of each family, {RESAMPLES} "
        f"resamples, seed {SEED}; a true .950 shows as {low:.3f} to {high:.3f}. Scores are standardised. With more "
        "than two families the bands are joint over all pairs, and verdicts are step-down. A width of none: in some "
        "samples there is no band at that budget.",
        "",
        "Written by `python -m levelbest.simulation.verdict_certificate write` from what `run` computed.",
    ]
    head = "| laws | n | familywise coverage | false verdicts | any verdict | width at n = 1, 5, last |"
    for kind, title in titles.items():
        lines += ["", f"## {title}", "", head, "|---|---|---|---|---|---|"]
        for one in bands:
            if one["kind"] == kind or (kind == "equal" and len(set(one["laws"])) == 1):
                name = ", ".join(one["laws"]) + (" (paired)" if one["paired"] else "")
                widths = ", ".join("none" if w is None else f"{w:.2f}" for w in one["width"])
                lines.append(
                    f"| {name} | 1 to {one['n_max']} | {one['coverage']:.3f} | {one['false_verdicts']:.3f} | "
                    f"{one['decided']:.3f} | {widths} |"
                )
    heads = " | ".join(f"p <= {level:g}" for level in LEVELS)
    lines += ["", "## The gate under no improvement", "", f"| baseline runs | attempts | smallest p | {heads} |",
              "|---|---|---|" + "---|" * len(LEVELS)]  # fmt: skip
    for one in cells:
        if one["kind"] == "gate":
            shares = " | ".join(f"{one['passed'][f'{level:g}']:.3f}" for level in LEVELS)
            lines.append(f"| {one['baseline']} | {one['attempts']} | {one['smallest_possible_p']:.3f} | {shares} |")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description="Run or write the certificate of verdicts.")
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--results", type=Path, default=Path("benchmarks/coverage/verdicts.json"))
    parser.add_argument("--samples", type=int, default=SAMPLES)
    given = parser.parse_args()
    if given.what == "run":
        run_verdict_certificate(given.results, n_samples=given.samples, progress=lambda text: print(text, flush=True))
    else:
        write_verdict_certificate(given.results, Path("docs/coverage-verdicts.md"))
