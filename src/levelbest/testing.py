"""For test suites: assert what trials certify.

from levelbest.testing import assert_not_worse

def test_new_prompt():
    assert_not_worse("results.csv", "new", "base", by=0.02, family="prompt", group="question")
"""

from __future__ import annotations

from levelbest.designs.gate import require
from levelbest.results import Requirement

__all__ = ["assert_better", "assert_not_worse"]


def assert_not_worse(trials: object, candidate: str, baseline: str, *, by: float, **how: object) -> Requirement:
    """Fail unless the trials certify that the candidate is not worse than the baseline by ``by``.

    Parameters
    ----------
    trials
        Trials, or whatever `levelbest.read_trials` takes.
    candidate, baseline
        The two families.
    by
        The loss that would matter.
    how
        As of `levelbest.require`.

    Returns
    -------
    Requirement
        The claim as judged: what is certified, and by which limits.

    Examples
    --------
    >>> runs = {"model": ["a"] * 60 + ["b"] * 60, "seed": [*range(60)] * 2, "acc": [0.5, 0.5001] * 60}
    >>> assert_not_worse(runs, "a", "b", by=0.2, family="model", selection="acc", direction="max", bounds=(0, 1))
    Requirement('a not worse than b by 0.2': certified)
    """
    __tracebackhide__ = True  # pytest shows the line that asserts
    return _asserted(trials, f"{candidate} not worse than {baseline} by {by!r}", how)


def assert_better(
    trials: object, candidate: str, baseline: str, *, by: float | None = None, **how: object
) -> Requirement:
    """Fail unless the trials certify that the candidate is better than the baseline, by more than ``by`` if given.

    Parameters
    ----------
    trials, candidate, baseline, how
        As of `assert_not_worse`.
    by
        The gain that is claimed; None: any.

    Returns
    -------
    Requirement
        The judged claim.

    Examples
    --------
    >>> runs = {"model": ["a"] * 5 + ["b"] * 5, "acc": [.81, .82, .80, .83, .82, .70, .71, .74, .73, .72],
    ...         "seed": [*range(5)] * 2}
    >>> assert_better(runs, "a", "b", family="model", selection="acc", direction="max")
    Requirement('a better than b': certified)
    """
    __tracebackhide__ = True
    return _asserted(trials, f"{candidate} better than {baseline}" + ("" if by is None else f" by {by!r}"), how)


def _asserted(trials: object, claim: str, how: dict[str, object]) -> Requirement:
    __tracebackhide__ = True
    judged = require(trials, claim, **how)  # type: ignore[arg-type]
    if not judged:
        raise AssertionError(str(judged))
    return judged
