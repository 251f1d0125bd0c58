"""The table of trials."""

from __future__ import annotations

from levelbest.trials.joining import one_table
from levelbest.trials.scores import (
    BY_ID,
    OK,
    RUNNING,
    SETTINGS_GIVEN,
    STATUSES,
    FailurePolicy,
    Metric,
    Scores,
    Settings,
    by_configuration,
    data_splits,
    few_again,
    has_repeats,
    is_split_name,
    runs_of,
    split_column,
)
from levelbest.trials.table import Skipped, Trials

__all__ = [
    "BY_ID",
    "OK",
    "RUNNING",
    "SETTINGS_GIVEN",
    "STATUSES",
    "FailurePolicy",
    "Metric",
    "Scores",
    "Settings",
    "Skipped",
    "Trials",
    "by_configuration",
    "data_splits",
    "few_again",
    "has_repeats",
    "is_split_name",
    "one_table",
    "runs_of",
    "split_column",
]
