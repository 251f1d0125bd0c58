"""Repeated samples from a known distribution: bias of estimates, coverage of intervals, and false winners.

The work is cut into chunks, each with its own seed ([seed, chunk]), and chunks are summed in order: the result is the
same for any number of workers, and an interrupted run continues where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._cores import ENGINES, in_forks, on_ray
from levelbest._plain import picked, plain, rows_of
from levelbest._write import append_text, check_target
from levelbest.errors import DataError, InputError
from levelbest.simulation.distributions import Distribution, JointDistribution
from levelbest.stats.bands import Interval, Terms, all_intervals, best_interval, interval_methods
from levelbest.stats.best import Mean, best_statistic, expected_best, statistic_named

Sums = dict[str, Any]
"""Of one chunk of samples, by name, and by name within each method: numbers, arrays over n, or lists once kept."""

_SAMPLES_AT_ONCE = 50
_ROUNDING = 1e-12
"""Two true curves that differ by so little of their size are one: quadrature tells no more."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class BatteryPlan:
    """One cell of the battery: a distribution, how many trials each sample has, and what to compute of each sample."""

    distribution: Distribution | JointDistribution
    n_trials: int
    n: tuple[int, ...]
    methods: tuple[str, ...] = ("default",)
    estimator: str = "u"
    statistic: str | float = "mean"
    confidence: float = 0.95
    simultaneous: bool = False
    use_bounds: bool = True
    n_samples: int = 2000
    n_resamples: int = 999
    seed: int = 0

    @property
    def of_means(self) -> bool:
        """Whether the curve is one of means, which have several estimators and share draws."""
        return isinstance(statistic_named(self.statistic), Mean)

    @property
    def n_chunks(self) -> int:
        """How many chunks the samples are cut into."""
        return -(-self.n_samples // _SAMPLES_AT_ONCE)

    def fingerprint(self) -> dict[str, object]:
        """What must agree for a kept chunk to be of this plan."""
        distribution = {
            "law": self.distribution.name,
            "direction": self.distribution.direction,
            "statistic": str(self.statistic),
        }
        request = picked(self, "n_trials", "n", "methods", "estimator", "confidence", "simultaneous", "use_bounds")
        return plain(distribution | request | picked(self, "n_samples", "n_resamples", "seed"))


@dataclass(frozen=True, eq=False)
class Simulation:
    """What the samples showed, with Clopper-Pearson limits for every proportion."""

    plan: BatteryPlan
    n_samples: int
    truth: FloatArray
    mean_estimate: FloatArray
    sd_estimate: FloatArray
    below_truth: FloatArray
    covered: dict[str, FloatArray]
    """Share of samples whose interval holds the truth; one that is undefined does not. NaN where none has one."""
    defined: dict[str, FloatArray]
    mean_width: dict[str, FloatArray]
    """Over the samples whose interval is finite."""
    jointly: dict[str, float]
    """Share of samples whose intervals hold the truth at every n at once."""

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; ``points`` are those of the first interval method."""
        first = self.plan.methods[0]
        return {
            **self.plan.fingerprint(),
            "n_samples": self.n_samples,
            "points": self.points(first),
            "intervals": {
                name: {"jointly": self.jointly[name], "points": self.points(name)} for name in self.plan.methods
            },
        }

    def points(self, method: str) -> list[dict[str, object]]:
        """One row per n for one interval method."""
        below = np.array([clopper_pearson(share, self.n_samples) for share in self.below_truth])
        covered = np.array([clopper_pearson(share, self.n_samples) for share in self.covered[method]])
        rows = rows_of(
            n=self.plan.n,
            truth=self.truth,
            mean_estimate=self.mean_estimate,
            bias=self.mean_estimate - self.truth,
            sd_estimate=self.sd_estimate,
            below_truth=self.below_truth,
            below_low=below[:, 0],
            below_high=below[:, 1],
            coverage=self.covered[method],
            coverage_low=covered[:, 0],
            coverage_high=covered[:, 1],
            mean_width=self.mean_width[method],
            defined=self.defined[method],
        )
        return [plain(row) for row in rows]


def simulate(
    distribution: Distribution | JointDistribution,
    n_trials: int,
    n: npt.ArrayLike,
    *,
    jobs: int = 1,
    engine: str = "local",
    keep: Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Simulation:
    """Draw samples of ``n_trials`` from the distribution, and compare estimates and intervals with the true curve.

    Chunks run in ``jobs`` processes here or, with ``engine="ray"``, as tasks of a Ray cluster; the result is the same.
    ``keep`` is a file of finished chunks: written as they finish, and read first, so that an interrupted run goes on.
    ``progress`` is called with (chunks done, chunks in all).
    """
    trials = _check.as_count(n_trials, "n_trials")
    budgets = tuple(int(budget) for budget in np.unique(_check.as_budgets(n, trials)[0]))
    methods = options.pop("methods", ("default",))
    plan = BatteryPlan(
        distribution, trials, budgets, (methods,) if isinstance(methods, str) else tuple(methods), **options
    )
    _check.as_confidence(plan.confidence)
    _check.as_choice(engine, ENGINES, "engine")
    for name in plan.methods:
        _check.as_choice(name, interval_methods(), "interval")
    truth = distribution.truth(budgets, plan.statistic)
    done = _kept(keep, plan)
    todo = [chunk for chunk in range(plan.n_chunks) if chunk not in done]
    total = plan.n_chunks
    if progress:
        progress(len(done), total)
    for chunk, counts in _run(plan, truth, todo, jobs, engine):
        done[chunk] = counts
        if keep is not None:
            append_text(keep, json.dumps({"plan": plan.fingerprint(), "chunk": chunk, "sums": plain(counts)}) + "\n")
        if progress:
            progress(len(done), total)
    return _summary(plan, truth, [done[chunk] for chunk in range(total)])


def clopper_pearson(share: float, size: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact limits for a proportion of ``size`` samples."""
    from scipy.special import betaincinv

    if share != share:
        return share, share
    hits, tail = round(share * size), (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, size - hits + 1, tail))
    high = 1.0 if hits == size else float(betaincinv(hits + 1, size - hits, 1 - tail))
    return low, high


def run_chunk(plan: BatteryPlan, truth: FloatArray, chunk: int) -> Sums:
    """Sums over the samples of one chunk, which its number and the seed alone decide."""
    rng = np.random.default_rng([plan.seed, chunk])
    size = min(_SAMPLES_AT_ONCE, plan.n_samples - chunk * _SAMPLES_AT_ONCE)
    selection, reported = plan.distribution.draw(rng, (size, plan.n_trials))
    budgets, direction = np.array(plan.n), plan.distribution.direction
    sums: Sums = {"samples": size, **{name: {} for name in plan.methods}}
    for i in range(size):
        claimed = None if reported is None else reported[i]
        if plan.of_means:
            estimate = expected_best(selection[i], budgets, claimed, estimator=plan.estimator, direction=direction)
        else:
            estimate = best_statistic(selection[i], budgets, claimed, statistic=plan.statistic, direction=direction)
        centred = np.asarray(estimate) - truth  # squares of deviations from the truth lose no digits
        _add(sums, sum=centred, squares=centred**2, below=centred < 0)
        for name, limits in _limits(plan, selection[i], claimed, budgets, rng).items():
            low, high = np.asarray(limits.low), np.asarray(limits.high)
            with np.errstate(invalid="ignore"):
                holds, width = (low <= truth) & (truth <= high), high - low
            finite = np.isfinite(width)
            _add(sums[name], covered=holds, defined=~np.isnan(width), jointly=holds.all())
            _add(sums[name], finite=finite, width=np.where(finite, width, 0.0))
    return sums


def _add(sums: Sums, **parts: object) -> None:
    for name, part in parts.items():
        sums[name] = sums.get(name, 0.0) + part


def _limits(
    plan: BatteryPlan, selection: FloatArray, reported: FloatArray | None, n: IntArray, rng: np.random.Generator
) -> dict[str, Interval]:
    """Every interval of one sample; those of a mean curve share one set of draws."""
    bounds = plan.distribution.bounds if plan.use_bounds else None
    estimator = "v" if plan.estimator == "v" else "u"
    terms = Terms(plan.confidence, plan.simultaneous, plan.distribution.direction, bounds, plan.n_resamples, estimator)
    if plan.of_means:
        return all_intervals(selection, n, reported, terms, only=plan.methods, rng=rng)
    options = asdict(replace(terms, estimator="u"))
    return {
        name: best_interval(selection, n, reported, statistic=plan.statistic, method=name, rng=rng, **options)
        for name in plan.methods
    }


def _run(
    plan: BatteryPlan, truth: FloatArray, todo: Sequence[int], jobs: int, engine: str
) -> Iterator[tuple[int, Sums]]:
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, got {jobs}")
    if engine == "ray":
        yield from _run_on_ray(plan, truth, todo)
        return
    numbered = partial(_numbered, plan, truth)
    yield from map(numbered, todo) if jobs == 1 or len(todo) < 2 else in_forks(numbered, todo, jobs)


def _numbered(plan: BatteryPlan, truth: FloatArray, chunk: int) -> tuple[int, Sums]:
    return chunk, run_chunk(plan, truth, chunk)


def _run_on_ray(plan: BatteryPlan, truth: FloatArray, todo: Sequence[int]) -> Iterator[tuple[int, Sums]]:
    """Finished chunks as tasks of Ray Core end.

    A task whose worker died runs again: its number and the seed decide the result.
    """
    with on_ray() as ray:
        try:
            shared, task = (ray.put(plan), ray.put(truth)), ray.remote(_numbered)
            waiting = [task.remote(*shared, chunk) for chunk in todo]
            while waiting:
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
        except ray.exceptions.RayError as error:
            raise DataError(f"the Ray cluster lost the simulation: {type(error).__name__}; run it again") from error


def _summary(plan: BatteryPlan, truth: FloatArray, chunks: Sequence[Sums]) -> Simulation:
    size = sum(chunk["samples"] for chunk in chunks)

    def total(key: str, method: str | None = None) -> FloatArray:
        rows = [np.asarray(chunk[key] if method is None else chunk[method][key], float) for chunk in chunks]
        return np.asarray(np.sum(rows, axis=0))

    def mean_width(method: str) -> FloatArray:
        finite = total("finite", method)
        return total("width", method) / np.where(finite > 0, finite, np.nan)

    mean = total("sum") / size
    variance = (total("squares") - size * mean**2) / max(1, size - 1)
    return Simulation(
        plan=plan,
        n_samples=size,
        truth=truth,
        mean_estimate=truth + mean,
        sd_estimate=np.sqrt(np.maximum(variance, 0)),
        below_truth=total("below") / size,
        covered={
            name: np.where(total("defined", name) > 0, total("covered", name) / size, np.nan) for name in plan.methods
        },
        defined={name: total("defined", name) / size for name in plan.methods},
        mean_width={name: mean_width(name) for name in plan.methods},
        jointly={name: float(total("jointly", name)) / size for name in plan.methods},
    )


def _kept(keep: Path | None, plan: BatteryPlan) -> dict[int, Sums]:
    """Chunks of this plan that an earlier run finished."""
    if keep is None or not check_target(keep).exists():
        return {}
    chunks, wanted = {}, plan.fingerprint()
    for line in keep.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue  # the line that an interruption cut short: its chunk runs again
        if row["plan"] != wanted:
            raise DataError(f"{keep.name} holds chunks of another simulation; name another file, or remove it")
        chunks[row["chunk"]] = row["sums"]
    return chunks


def false_winner(
    a: Distribution,
    b: Distribution,
    n_trials: int,
    n: npt.ArrayLike,
    *,
    estimator: str = "u",
    n_samples: int = 2000,
    seed: int = 0,
) -> list[dict[str, object]]:
    """How often, at every n, the distribution with the worse true curve has the better estimate, with limits; and the
    true curves with the mean estimates, which can have the wrong winner too ([T] figs. 1 and 2)."""
    if a.direction != b.direction:
        raise InputError(
            f"two distributions need one direction, got {a.direction} for {a.name} and {b.direction} for {b.name}"
        )
    budgets, _ = _check.as_budgets(n, n_trials)
    first_mean, second_mean = a.true_mean(budgets), b.true_mean(budgets)
    gap = first_mean - second_mean
    gap[np.abs(gap) <= _ROUNDING * np.maximum(np.abs(first_mean), np.abs(second_mean)).max()] = 0.0
    rng = np.random.default_rng(seed)
    wrong, sums = np.zeros(budgets.size), np.zeros((2, budgets.size))
    estimated = partial(expected_best, n=budgets, estimator=estimator, direction=a.direction)
    for _ in range(n_samples):
        values = np.stack([estimated(distribution.draw(rng, (1, n_trials))[0][0]) for distribution in (a, b)])
        wrong += (values[0] - values[1]) * gap < 0
        sums += values
    share, means = wrong / n_samples, sums / n_samples
    low, high = zip(*(clopper_pearson(rate, n_samples) for rate in share), strict=True)
    return rows_of(
        n=budgets.tolist(),
        true_difference=gap,
        false_winner=share,
        low=low,
        high=high,
        truth=first_mean,
        against_truth=second_mean,
        mean_estimate=means[0],
        against_mean_estimate=means[1],
    )
