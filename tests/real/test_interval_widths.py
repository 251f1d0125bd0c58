"""How wide the default is on published results, against what one would need who knew their law."""

import numpy as np

from levelbest.stats import best_interval, expected_best


def scores(table, model):
    rows = [line.rstrip("\n").split("\t") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    return np.array([float(row[4]) for row in rows if model in row[0] and row[3] == "dev"])


def test_bounds_far_from_the_scores_do_not_widen_the_interval_at_half_of_the_trials(real_data):
    law = scores(real_data / "hedwig" / "hedwig.tsv", "mlp")
    law = law[law > 0]
    rng = np.random.default_rng(0)
    samples = rng.choice(law, (60, 80))
    spread = np.std([expected_best(sample, 40) for sample in rng.choice(law, (2000, 80))])
    widths = {
        bounds: np.mean([best_interval(sample, 40, bounds=bounds, n_resamples=499).width for sample in samples])
        for bounds in (None, (0, 1))
    }
    assert widths[0, 1] <= widths[None]
    # 2 x 1.96 standard deviations of the estimate would do for one who knew the law
    assert widths[0, 1] <= 4.5 * 2 * 1.96 * spread
