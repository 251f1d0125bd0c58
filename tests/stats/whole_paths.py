"""The probability of a whole path, where the package follows half of one that is its own mirror image."""

from levelbest.stats.bands._paths import _merged, path_probability


def order_probability(n_trials, lower, upper):
    """P(lower_i <= U_(i) <= upper_i for every i), U_(i) the i-th smallest of n_trials uniform numbers."""
    if upper[0] <= 0 or lower[-1] >= 1:
        return 0.0
    return path_probability(n_trials, *_merged(lower, upper))
