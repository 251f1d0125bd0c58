"""From the certificate's results to its page and to the table shipped with the package."""

from __future__ import annotations

from statistics import median
from typing import Any

from levelbest.simulation.battery import clopper_pearson

Result = dict[str, Any]

# kind -> title, and what to say of it
TITLES = {
    "bounded mean": (
        "Mean curve, one score column, bounds known",
        "Distributions between 0 and 1 without a mode that most samples miss; such distributions have their own "
        "table below.",
    ),
    "mean": ("Mean curve, one score column, no bounds", ""),
    "few trials": (
        "Three to ten trials, no bounds",
        "At n = 1 `jackknife` is Student's t, which is exact for the normal distribution.",
    ),
    "rare modes": (
        "Modes that are missing in most samples",
        "`gaffke` does not require every mode to be observed, and covers. The default does not: with m trials a mode "
        "with a probability below about 3/m may be missing, and limits based on the observed scores cannot allow for "
        "it.",
    ),
    "bounded reported mean": ("Mean curve, selected by one score and reported by another, bounds known", ""),
    "reported mean": ("Mean curve, selected by one score and reported by another, no bounds", ""),
    "many trials": ("A thousand trials, no bounds", ""),
    "very many trials": ("Twenty thousand trials, no bounds", ""),
    "many reported": ("Thousands of trials, selected by one score and reported by another, no bounds", ""),
    "many reported median": ("Thousands of trials, median curve, selected by one score and reported by another", ""),
    "many trials band": ("Thousands of trials, no bounds, over all the budgets at once", ""),
    "bounded mean band": ("Mean curve, one score column, bounds known, over all the budgets at once", ""),
    "mean band": ("Mean curve, one score column, no bounds, over all the budgets at once", ""),
    "reported mean band": (
        "Mean curve, selected by one score and reported by another, over all the budgets at once",
        "",
    ),
    "reported median": ("Median curve, selected by one score and reported by another", ""),
    "quantile": ("Median curve, one score column", ""),
    "quantile band": ("Median curve, one score column, over all the budgets at once", ""),
}
STARRED = (
    "A star marks distributions whose second mode is missing in more than one sample in twenty: they count as rare "
    "modes."
)
LEADING = {"default", "exact"}
MODES = {"beta(8,2), 20 % failed": 0.2, "beta(8,2), 30 % failed": 0.3, "accuracies, 30 % failed": 0.3}
"""The probability of a mode apart from the others."""
CLAIMED = ("bounded mean", "mean", "bounded reported mean", "reported mean", "reported median", "quantile")
"""Kinds whose lowest coverage an interval carries with it."""


def coverage_table(cells: list[Result]) -> dict[str, Any]:
    """kind -> method -> n_trials -> n / n_trials -> lowest coverage over the distributions, where the interval is
    defined."""
    kinds: dict[str, Any] = {}
    for cell in cells:
        if cell["kind"] not in CLAIMED or _often_unseen(cell):
            continue
        for method, result in cell["methods"].items():
            sizes = kinds.setdefault(cell["kind"], {}).setdefault(method, {})
            shares = sizes.setdefault(str(cell["n_trials"]), {})
            for n, covered, defined in zip(cell["n"], result["coverage"], result["defined"], strict=True):
                if defined < 0.5:
                    continue
                share = f"{n / cell['n_trials']:g}"
                shares[share] = min(shares.get(share, 1.0), covered)
    return kinds


def _often_unseen(cell: Result) -> bool:
    """Whether a mode of the distribution is so rare that more than one sample in twenty does not show it."""
    return MODES.get(cell["law"], 1.0) < 1 - 0.05 ** (1 / cell["n_trials"])


def coverage_page(cells: list[Result], *, seed: int, resamples: int) -> str:
    """The certificate as Markdown."""
    low, high = clopper_pearson(0.95, 2000)
    lines = [
        "# The coverage certificate",
        "",
        f"Coverage of every interval, nominally 95 %, on difficult distributions: 2,000 samples a cell unless stated "
        f"otherwise, {resamples} resamples each, seed {seed}. A true coverage of .950 is estimated as {low:.3f} to "
        f"{high:.3f} in 95 % of the cells. The mean width of the interval is given beside its coverage, as a "
        "multiple of 2 x 1.96 standard deviations of the estimate: 1 would suffice if the distribution were known. "
        "Where several distributions are combined, the lowest coverage is given with the median width. An interval "
        "that is undefined for a sample counts as not covering, and a dash means that it is undefined for most "
        "samples; a width of 99 means 99 or more.",
        "",
        "The constants of the default for one score column were chosen on the distributions of these tables, so "
        "these tables are only a consistency check for them. The constants for reported scores were chosen on other "
        "distributions: normal scores with correlations .1 and .8, accuracies around beta(6,2), selection that "
        "overfits past 1.2 standard deviations. The tables of reported scores are therefore an independent test. "
        "Tables of the default with bounds were computed before the log-odds rule for the unobserved score was "
        "added, which makes no interval narrower. Rows of methods other than `default` and `gaffke` were computed "
        "before intervals were extended to include the estimate.",
        "",
        "Written from `benchmarks/coverage/intervals.json` by `python benchmarks/coverage/intervals.py write`; the "
        "results themselves by `python benchmarks/coverage/intervals.py run`.",
        "",
    ]
    for kind, (title, words) in TITLES.items():
        here = [cell for cell in cells if cell["kind"] == kind and LEADING & set(cell["methods"])]
        if not here:
            continue
        lines += [f"## {title}", ""]
        samples = sorted({_leading(cell)["samples"] for cell in here})
        said = [words] if words else []
        if samples != [2000]:
            said.append(f"The default: {' or '.join(f'{size:,}' for size in samples)} samples a cell.")
        if any(_often_unseen(cell) for cell in here):
            said.append(STARRED)
        if said:
            lines += [" ".join(said), ""]
        for size in sorted({cell["n_trials"] for cell in here}):
            lines += _of_size([cell for cell in here if cell["n_trials"] == size], jointly=kind.endswith("band"))
    return "\n".join(lines).rstrip() + "\n"


def _of_size(cells: list[Result], *, jointly: bool) -> list[str]:
    """The rivals, all distributions together; and the first of them, distribution by distribution."""
    methods = list(dict.fromkeys(name for cell in cells for name in cell["methods"]))
    methods.sort(key=lambda name: (name not in LEADING, name != "gaffke"))
    budgets, size = cells[0]["n"], cells[0]["n_trials"]
    counted = [cell for cell in cells if not _often_unseen(cell)]
    heads = ["all at once", "mean width"] if jointly else [f"n = {n}" for n in budgets]
    lines = []
    if len(methods) > 1:
        lines += [f"{size} trials, lowest coverage over {len(counted)} distributions and median width:", ""]
        lines += [_row(["interval", *heads]), _row(["---"] + ["---:"] * len(heads))]
        lines += [
            _row([f"**{name}**" if name in LEADING else name, *_together(counted, name, jointly=jointly)])
            for name in methods
        ]
        lines.append("")
    lines += [f"{size} trials, {methods[0]}, distribution by distribution:", "", _row(["distribution", *heads])]
    lines.append(_row(["---"] + ["---:"] * len(heads)))
    for cell in cells:
        distribution = cell["law"] + " *" * _often_unseen(cell)
        lines.append(_row([distribution, *_together([cell], methods[0], jointly=jointly)]))
    return [*lines, ""]


def _leading(cell: Result) -> Result:
    return next(result for name, result in cell["methods"].items() if name in LEADING)


def _together(cells: list[Result], method: str, *, jointly: bool) -> list[str]:
    """Coverage and width at every budget, or of the whole band."""
    cells = [cell for cell in cells if method in cell["methods"]]
    if jointly:
        lowest = min(cell["methods"][method]["jointly"] for cell in cells)
        widths = [_width(cell, method, i) for cell in cells for i in range(len(cell["n"]))]
        return [_share(lowest), _typical(widths)]
    shown = []
    for i in range(len(cells[0]["n"])):
        defined = [cell for cell in cells if cell["methods"][method]["defined"][i] >= 0.5]
        if not defined:
            shown.append("–")
            continue
        lowest = min(cell["methods"][method]["coverage"][i] for cell in defined)
        shown.append(f"{_share(lowest)} {_typical([_width(cell, method, i) for cell in defined])}".strip())
    return shown


def _width(cell: Result, method: str, i: int) -> float | None:
    """The mean width in standard deviations of the estimate; None where the estimate has hardly any."""
    width, sd = cell["methods"][method]["width"][i], cell.get("sd", [None] * len(cell["n"]))[i]
    return None if width is None or not sd or sd < 1e-9 else width / (2 * 1.96 * sd)


def _typical(widths: list[float | None]) -> str:
    known = [width for width in widths if width is not None]
    return f"({min(median(known), 99):.2f})" if known else ""


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.000"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
