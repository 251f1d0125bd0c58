"""The coverage certificate of curves over cost: limits against a truth by simulation, from few and from many trials.

python benchmarks/coverage/cost.py run       # a quarter of an hour; goes on where it stopped
python benchmarks/coverage/cost.py write     # docs/coverage-cost.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from levelbest._check import FloatArray
from levelbest.stats.budgets import Pool, spend
from levelbest.stats.budgets._cost import curve_of

HERE = Path(__file__).parent
SEED, SAMPLES, ORDERS, RESAMPLES = 2024, 100, 20_000, 999
SCORES = {
    "beta(8,2), bounds known": ((0.0, 1.0), 0.0),
    "normal": ((None, None), -6.0),
    "two modes": ((None, None), 0.0),
}
COSTS = ("that vary by themselves", "that rise with the score", "1 for bad trials, 10 for good ones")
BUDGETS = {50: (0.7, 1.17, 1.94, 3.24, 5.4, 9.0, 15.0), 200: (0.7, 1.0, 1.5, 2.5, 3.0, 5.0, 10.0, 40.0)}
"""In mean costs of a trial, by the number of trials."""
CELLS = [(distribution, kind, 50) for distribution in list(SCORES)[:2] for kind in COSTS[:2]] + [
    ("two modes", COSTS[2], size) for size in BUDGETS
]


def scores(distribution: str, shape: int | tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Random scores; the two modes are .4 with probability .6, as of trials that are stopped early, and .8."""
    if distribution == "two modes":
        return np.asarray(np.where(rng.random(shape) < 0.4, 0.8, 0.4) + 0.05 * rng.normal(size=shape))
    return rng.normal(size=shape) if distribution == "normal" else rng.beta(8, 2, shape)


def costs(kind: str, distribution: str, scored: FloatArray, rng: np.random.Generator) -> FloatArray:
    """What trials with these scores cost: exponential, higher the better they are, or low for those stopped early."""
    if kind == COSTS[2]:
        return np.where(scored > 0.6, 10.0, 1.0)
    if kind == COSTS[0]:
        return rng.exponential(size=scored.shape)
    level = scored if distribution == "normal" else (scored - 0.8) / 0.12
    return np.asarray(np.exp(0.7 * level) * rng.gamma(2.0, 0.5, scored.shape))


def truths(distribution: str, kind: str, budgets: FloatArray, mean: float) -> FloatArray:
    """The expected best within each budget, by simulated searches whose error is a hundredth of what is judged."""
    rng, out = np.random.default_rng(SEED + 1), []
    for budget in budgets:
        longest = int(1.6 * budget / mean + 16 * np.sqrt(budget / mean)) + 40
        searches = max(20_000, 6_000_000 // longest)
        total, done = 0.0, 0
        while done < searches:
            part = min(max(1, 4_000_000 // longest), searches - done)
            scored = scores(distribution, (part, longest), rng)
            spent = np.cumsum(costs(kind, distribution, scored, rng), axis=1)
            total += float(np.where(spent <= budget, scored, SCORES[distribution][1]).max(axis=1).sum())
            done += part
        out.append(total / done)
    return np.array(out)


def measure(distribution: str, kind: str, n_trials: int) -> dict[str, Any]:
    """How often limits hold at each budget, and at all of them together."""
    bounds, worst = SCORES[distribution]
    rng = np.random.default_rng(SEED)
    mean = float(costs(kind, distribution, scores(distribution, 10**6, rng), rng).mean())
    in_trials = np.array(BUDGETS[n_trials])
    truth = truths(distribution, kind, in_trials * mean, mean)
    held, jointly = np.zeros(truth.size), 0
    for sample in range(SAMPLES):
        rng = np.random.default_rng([SEED, n_trials, sample])
        scored = scores(distribution, n_trials, rng)
        pool = Pool(scored, scored, costs(kind, distribution, scored, rng), worst, 1, bounds)
        spent = spend(pool, in_trials * mean, ORDERS, RESAMPLES, np.random.default_rng(sample))
        alone, band = (curve_of(spent, "max", 0.95, simultaneous=simultaneous) for simultaneous in (False, True))
        held += (alone.low <= truth) & (truth <= alone.high)
        jointly += bool(((band.low <= truth) & (truth <= band.high)).all())
    return {
        "budgets": [float(f"{budget:.3g}") for budget in in_trials],
        "held": [float(f"{share:.4g}") for share in held / SAMPLES],
        "jointly": jointly / SAMPLES,
    }


def run(path: Path) -> None:
    """Measure what is not there yet."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for distribution, kind, n_trials in CELLS:
        key = f"{distribution} | {kind} | {n_trials}"
        if key not in results:
            results[key] = measure(distribution, kind, n_trials)
            print(key, results[key], flush=True)
            path.write_text(json.dumps(results, indent=0), encoding="utf-8")


def page(results: dict[str, Any]) -> str:
    """The certificate as Markdown."""
    lines = [
        "# Coverage over cost",
        "",
        f"How often 95 % limits of a curve over cost cover the truth: {SAMPLES} samples a row, seed {SEED}; a true "
        "coverage of .950 is estimated as .89 to .98 in 95 % of the cells. Budgets are in mean costs of a trial. "
        "Costs are independent of the score (exponential), higher for better trials, or as with early stopping: 1 for "
        "the 60 % of trials that are stopped, 10 for the good ones. The last column is for the band over all budgets. "
        "No constant was chosen on these distributions. Written by "
        "`python benchmarks/coverage/cost.py write` from results by "
        "`python benchmarks/coverage/cost.py run`.",
    ]
    for n_trials in BUDGETS:
        rows = {key: own for key, own in results.items() if key.endswith(f" | {n_trials}")}
        budgets = next(iter(rows.values()))["budgets"]
        lines += [
            "",
            f"## {n_trials:,} trials",
            "",
            f"| scores | costs | {' | '.join(f'{b:g}' for b in budgets)} | all |",
        ]
        lines.append(f"| --- | --- |{' ---: |' * (len(budgets) + 1)}")
        for key, own in rows.items():
            distribution, kind, _ = key.split(" | ")
            shares = " | ".join(f"{share:.3f}".lstrip("0") for share in [*own["held"], own["jointly"]])
            lines.append(f"| {distribution} | {kind} | {shares} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--results", type=Path, default=HERE / "cost.json")
    given = parser.parse_args()
    if given.what == "run":
        run(given.results)
    else:
        text = page(json.loads(given.results.read_text(encoding="utf-8")))
        (HERE.parents[1] / "docs/coverage-cost.md").write_text(text, encoding="utf-8")
