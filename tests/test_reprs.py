"""What a Python prompt shows of a result: one line."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.trials import Trials

RNG = np.random.default_rng(3)
TRIALS = Trials.from_arrays(
    np.round(RNG.beta(8, 2, 40), 3), family=["cnn"] * 20 + ["lr"] * 20, direction="max", bounds=(0, 1)
)


@pytest.mark.parametrize(
    ("make", "start"),
    [
        (lambda _: TRIALS, "Trials(2 families, 40 trials, 0 failed; selection, max)"),
        (lambda _: TRIALS["cnn"], "Trials(cnn, 20 trials, 0 failed; selection, max)"),
        (lambda _: lb.curve(TRIALS["cnn"], n_resamples=100), "Curve(cnn: mean of the best selection of"),
        (lambda _: lb.family_curves(TRIALS, n_resamples=100), "CurveSet(cnn, lr)"),
        (lambda _: lb.compare(TRIALS, n=[2], n_resamples=100), "Comparison("),
        (lambda _: lb.describe(TRIALS)[0], "Description(cnn: 20 trials; mean selection"),
        (lambda _: lb.plan_trials(TRIALS, n=2), "TrialPlan("),
        (lambda _: lb.reach(TRIALS, [0.8], n_resamples=100), "Reaches("),
        (lambda out: lb.write_report(TRIALS, out, page_only=True, statistics=["mean"], n_resamples=100), "Report("),
    ],
)
def test_a_result_is_one_line_at_a_prompt(make, start, tmp_path):
    text = repr(make(tmp_path / "r.html"))
    assert text.startswith(start)
    assert "\n" not in text
    assert len(text) < 300
    assert "nan" not in text
