"""The page of the certificate of configurations with several seeds, from its results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["write"]

ENOUGH = 0.93


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"


def _part(cells: dict[str, Any], kind: str) -> dict[tuple[str, ...], Any]:
    return {tuple(name.split("/")[1:]): cell for name, cell in cells.items() if name.startswith(f"{kind}/")}


def _components(
    cells: dict[tuple[str, ...], Any], biases: dict[tuple[str, ...], Any], uneven: dict[tuple[str, ...], Any]
) -> list[str]:
    designs = list(dict.fromkeys(key[0] for key in cells))
    distributions = list(dict.fromkeys(key[1] for key in cells))
    lowest = {
        distribution: min(min(cell["covered"].values()) for key, cell in cells.items() if key[1] == distribution)
        for distribution in distributions
    }
    others = [f"{distribution} ({value:.3f})" for distribution, value in lowest.items() if value < ENOUGH]
    bias, error = max(
        ((abs(cell["mean"][source] - 1), cell["error"][source]) for cell in biases.values() for source in cell["mean"]),
    )
    times = {
        source: [cell["times"][source] for key, cell in cells.items() if key[1] == "normal" and key[2] != "0"]
        for source in ("configuration", "seed")
    }
    differing = min(min(cell["covered"].values()) for cell in uneven.values())
    below = f"; not for {_listed(others)}" if others else ""
    lines = [
        f"Over 10,000 tables each, the largest of {2 * len(biases)} differences between mean estimate and truth "
        f"is {100 * bias:.1f} % of the truth, with a standard error of {100 * error:.1f} %: the estimates are unbiased "
        "(a test of the package enumerates every outcome of a distribution). "
        "The intervals of both sources and of the share of "
        f"configurations cover at least {ENOUGH:g} in every design and at every ratio for "
        f"{_listed([name for name in distributions if lowest[name] >= ENOUGH])}{below}. "
        "Where the variance between seeds differs between configurations (standard deviations that vary by a "
        "quarter; normal and exponential distributions, equal "
        f"variances) the lowest is {differing:.3f}. The price: for normal distributions the mean widths are "
        f"{min(times['configuration']):.1f} to {max(times['configuration']):.1f} times (configurations) and "
        f"{min(times['seed']):.1f} to {max(times['seed']):.1f} times (seeds) those of limits that are valid for "
        "normal distributions only, most of all with eight to ten configurations. Coverage of the variance of "
        "configurations, where it is zero, a tenth of, equal to, and ten times that of seeds; then the lowest "
        "coverage for seeds and for the share, and the largest bias:",
        "",
    ]
    rows = []
    for design in designs:
        for distribution in distributions:
            own = [cell for key, cell in cells.items() if key[:2] == (design, distribution)]
            means = [cell["mean"] for key, cell in biases.items() if key[:2] == (design, distribution)]
            worst = max((abs(value - 1) for mean in means for value in mean.values()), default=0.0)
            covered = [f"{cell['covered']['configuration']:.3f}" for cell in own]
            least = [f"{min(cell['covered'][name] for cell in own):.3f}" for name in ("seed", "share")]
            rows.append([design, distribution, *covered, *least, f"{100 * worst:.1f} %"])
    heads = ["design", "distribution", "0", "1/10", "1", "10", "seeds, lowest", "share, lowest", "largest bias"]
    return [*lines, *_table(heads, rows)]


def _splits(cells: dict[tuple[str, ...], Any]) -> list[str]:
    rows = [
        [
            distribution,
            *(f"{cell['covered'][name]:.3f} ({100 * (cell['mean'][name] - 1):+.1f} %)" for name in cell["mean"]),
        ]
        for (distribution,), cell in cells.items()
    ]
    return [
        "Eight configurations on the same five splits with two seeds each, a tenth of the runs lost, all variances "
        "equal. Coverage, and in parentheses the bias, with a standard error of 1 to 3 %:",
        "",
        *_table(["distribution", "configuration", "split", "seed"], rows),
    ]


def _curves(cells: dict[tuple[str, ...], Any]) -> list[str]:
    rows = []
    for (design, distribution), cell in cells.items():
        for place, n in enumerate(cell["n"]):
            alone = f"{cell['runs_as_trials']:.3f}" if n == 1 else ""
            rivals = [
                f"{covered[place]:.3f} ({error[place]:.2f})"
                for covered, error in zip(
                    cell["bootstrap_covered"].values(), cell["bootstrap_error"].values(), strict=True
                )
            ]
            rows.append([design, distribution, str(n), f"{cell['covered'][place]:.3f}", alone, *rivals])
    lowest = min(min(cell["covered"]) for cell in cells.values())
    flat = [cell["runs_as_trials"] for cell in cells.values()]
    worst = [
        min(min(cell["bootstrap_covered"][name]) for cell in cells.values())
        for name in ("configurations", "seeds too", "seeds, nearer")
    ]
    return [
        "The interval for the best of n configurations, selected and reported by the mean over their seeds; no "
        f"bounds, equal variances. The lowest coverage is {lowest:.3f}. At n = 1 the interval that treats every run "
        f"as a trial covers {min(flat):.3f} to {max(flat):.3f}. The last three columns are percentile bootstraps, "
        "with the ratio of their standard error to the true one in parentheses: resampling configurations with their "
        "runs; resampling seeds within them too, which counts the variance from seeds twice; and resampling seeds "
        "too, with the configuration means shrunk to correct for that. Their lowest "
        f"coverages are {worst[0]:.3f}, {worst[1]:.3f} and {worst[2]:.3f}.",
        "",
        *_table(
            ["design", "distribution", "n", "covered", "runs as trials", "configurations", "seeds too", "nearer"], rows
        ),
    ]


def write(results: Path, page: Path) -> None:
    """The certificate for reading."""
    known = json.loads(results.read_text(encoding="utf-8"))
    sets, cells = known["sets"], known["cells"]
    lines = [
        "# Coverage of configurations and seeds",
        "",
        "How often intervals at a nominal 95 % cover the truth where configurations have several runs: "
        "10,000 simulated tables per cell for variances (standard error .002 at .95), 2,000 with data splits, "
        f"and {sets // 2} for curves. `8 x 4` is eight configurations with four seeds each; "
        "`10 x 1 to 12` has 1, 1, 2, 3, 4, 4, 5, 8, 8 and 12. The effects of configurations and "
        "of seeds are both drawn from the distribution named, scaled. "
        "`python benchmarks/coverage/configurations.py run` repeats the simulation and `... write` this page.",
        "",
        "## Variance by source",
        "",
        *_components(_part(cells, "components"), _part(cells, "bias"), _part(cells, "uneven")),
        "## Data splits",
        "",
        *_splits(_part(cells, "splits")),
        "## The best of n configurations",
        "",
        *_curves(_part(cells, "curve")),
        "## False winners",
        "",
        "How often equal families get a false winner if every run counts as a trial, and how rarely with "
        "configurations as the unit, is in [the certificate of verdicts](coverage-verdicts.md).",
    ]
    page.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
