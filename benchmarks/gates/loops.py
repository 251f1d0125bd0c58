"""Research loops of 200 attempts, judged by the rule that `levelbest loop` has (`levelbest.run.keeping.Keeping`).

    python benchmarks/gates/loops.py --loops 2000        # about 5 minutes; writes loops.json, and docs/gates.md

Null loops: no candidate differs from the baseline, so that every keep is false. Mixed loops: 10 % of the candidates are
better by 1 (or 2) standard deviations of a run, 40 % worse by 1, the others equal; what is kept is the next baseline.
Beside it what people do: keep what scores better in one run, or run every candidate five times beside five runs of the
baseline (or beside one pool of 16) and keep it where Welch's one-sided p is below .05.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from _page import markdown, save
from scipy import stats

from levelbest.run.keeping import Keeping

ATTEMPTS = 200
Draw = Callable[[np.random.Generator, int], np.ndarray]


def _skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    return (rng.lognormal(0, 0.8, size) - np.exp(0.32)) / np.sqrt((np.exp(0.64) - 1) * np.exp(0.64))


def _two_modes(rng: np.random.Generator, size: int) -> np.ndarray:
    scores = np.where(rng.random(size) < 0.15, 1, 0) + 0.1 * rng.standard_normal(size)
    return (scores - 0.15) / np.sqrt(0.15 * 0.85 + 0.01)


DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "skewed up": _skewed,
    "skewed down": lambda rng, size: -_skewed(rng, size),
    "two modes, 15 % good": _two_modes,
    "two modes, 15 % bad": lambda rng, size: -_two_modes(rng, size),
    "ties (rounded to 1 sd)": lambda rng, size: np.round(rng.standard_normal(size)) / np.sqrt(13 / 12),
}


def effects(rng: np.random.Generator, better: float) -> np.ndarray:
    """How much each candidate differs from the baseline that it meets; 0 for all where ``better`` is."""
    drawn = rng.random(ATTEMPTS)
    mixed = np.where(drawn < 0.1, better, np.where(drawn < 0.5, -1.0, 0.0))
    return mixed if better else np.zeros(ATTEMPTS)


def staged(draw: Draw, better: float, rng: np.random.Generator) -> tuple[int, int, int]:
    """One loop by the shipped rule: true keeps, false keeps, runs."""
    loop, base, true, false, runs = Keeping(), 0.0, 0, 0, 0
    for attempt, effect in enumerate(effects(rng, better)):
        while missing := loop.missing:
            for score in base + draw(rng, missing):
                loop.run_baseline(float(score))
            runs += missing
        scores, done = base + effect + draw(rng, 16), 0
        while True:
            answer = loop.run_candidate(f"c{attempt}", float(scores[done]))["answer"]
            done += 1
            if answer != "again":
                break
        runs += done
        if answer == "keep":
            base += effect
            true, false = true + (effect > 0), false + (effect <= 0)
    return true, false, runs


def if_better(draw: Draw, better: float, rng: np.random.Generator) -> tuple[int, int, int]:
    """Keep what scores better in one run than the last that was kept."""
    base, best = 0.0, float(draw(rng, 1)[0])
    true = false = 0
    for effect in effects(rng, better):
        score = base + effect + float(draw(rng, 1)[0])
        if score > best:
            base, best = base + effect, score
            true, false = true + (effect > 0), false + (effect <= 0)
    return true, false, ATTEMPTS + 1


def five_times(draw: Draw, better: float, rng: np.random.Generator) -> tuple[int, int, int]:
    """Five runs of every candidate beside five of the baseline; kept where p < .05."""
    differences = effects(rng, better)
    baseline = draw(rng, 5 * ATTEMPTS).reshape(ATTEMPTS, 5)
    scores = draw(rng, 5 * ATTEMPTS).reshape(ATTEMPTS, 5) + differences[:, None]
    with np.errstate(all="ignore"):
        p_value = stats.ttest_ind(scores, baseline, axis=1, equal_var=False, alternative="greater").pvalue
    kept = p_value < 0.05
    return int((kept & (differences > 0)).sum()), int((kept & (differences <= 0)).sum()), 10 * ATTEMPTS


def five_beside_pool(draw: Draw, better: float, rng: np.random.Generator) -> tuple[int, int, int]:
    """Five runs of every candidate beside one pool of sixteen; kept where p < .05."""
    differences = effects(rng, better)
    scores = draw(rng, 5 * ATTEMPTS).reshape(ATTEMPTS, 5) + differences[:, None]
    with np.errstate(all="ignore"):
        p_value = stats.ttest_ind(scores, draw(rng, 16)[None, :], axis=1, equal_var=False, alternative="greater").pvalue
    kept = p_value < 0.05
    return int((kept & (differences > 0)).sum()), int((kept & (differences <= 0)).sum()), 5 * ATTEMPTS + 16


RULES = {
    "levelbest loop": staged,
    "keep if better": if_better,
    "everything five times": five_times,
    "five times, one pool": five_beside_pool,
}


def cell(rule: str, distribution: str, better: float, loops: int, seed: int) -> dict[str, object]:
    """What many loops give."""
    counts = np.array(
        [RULES[rule](DISTRIBUTIONS[distribution], better, np.random.default_rng([seed, i])) for i in range(loops)]
    )
    true, false, runs = counts.T
    return {
        "rule": rule,
        "distribution": distribution,
        "better": better,
        "loops": loops,
        "any_false": float((false > 0).mean()),
        "false_discovery_rate": float((false / np.maximum(true + false, 1)).mean()),
        "true_keeps": float(true.mean()),
        "runs": float(runs.mean()),
        "true_per_1000_runs": float(1000 * true.sum() / runs.sum()),
    }


def cells(loops: int) -> list[dict[str, object]]:
    """All cells of the table."""
    rows = [cell("levelbest loop", name, 0.0, loops, k) for k, name in enumerate(DISTRIBUTIONS)]
    rows += [cell("levelbest loop", name, 1.0, loops, 100 + k) for k, name in enumerate(DISTRIBUTIONS)]
    rows.append(cell("levelbest loop", "normal", 2.0, loops, 200))
    for rule in list(RULES)[1:]:
        rows += [cell(rule, "normal", better, loops, 300 + int(better)) for better in (0.0, 1.0, 2.0)]
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """For the page."""
    head = ("rule", "scores", "loop", "any false keep", "false discovery rate", "true keeps", "runs", "per 1,000 runs")
    what = {0.0: "null", 1.0: "mixed, +1 sd", 2.0: "mixed, +2 sd"}
    lines = []
    for row in rows:
        shown = [row["rule"], row["distribution"], what[row["better"]], f"{row['any_false']:.3f}"]
        mixed = [f"{row['false_discovery_rate']:.3f}", f"{row['true_keeps']:.1f}", f"{row['runs']:.0f}"]
        mixed += [f"{row['true_per_1000_runs']:.1f}"]
        lines.append(shown + (mixed if row["better"] else ["", "", f"{row['runs']:.0f}", ""]))
    return markdown(head, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=2000)
    loops = parser.parse_args().loops
    rows = cells(loops)
    print(shown := table(rows))
    save("loops", {"loops": loops, "attempts": ATTEMPTS, "cells": rows}, shown)
