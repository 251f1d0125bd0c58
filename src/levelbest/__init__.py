"""levelbest: compare models at the budget you really have, with error bars that hold.

    import levelbest as lb
    trials = lb.read_trials("results.csv", family="model", selection="dev_acc", reported="test_acc")
    print(lb.compare(trials))

Pure functions of arrays live in ``levelbest.stats``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from levelbest._lazy import lazy_names

if TYPE_CHECKING:
    from levelbest import stats as stats
    from levelbest.cautions import Caution as Caution
    from levelbest.comparisons import Comparison as Comparison
    from levelbest.comparisons import compare as compare
    from levelbest.comparisons.planning import plan_trials as plan_trials
    from levelbest.comparisons.reach import reach as reach
    from levelbest.comparisons.tasks import compare_tasks as compare_tasks
    from levelbest.curves import curve as curve
    from levelbest.curves import family_curves as family_curves
    from levelbest.errors import DataError as DataError
    from levelbest.errors import InputError as InputError
    from levelbest.errors import LevelbestError as LevelbestError
    from levelbest.errors import MissingExtra as MissingExtra
    from levelbest.readers import read_trials as read_trials
    from levelbest.readers.tables.tidy import write_trials as write_trials
    from levelbest.report.write import write_report as write_report
    from levelbest.results import Curve as Curve
    from levelbest.run.runner import Run as Run
    from levelbest.run.runner import run_study as run_study
    from levelbest.run.runner import run_trials as run_trials
    from levelbest.run.study_file import read_study as read_study
    from levelbest.run.verify import verify_ledger as verify_ledger
    from levelbest.trials import Metric as Metric
    from levelbest.trials import Trials as Trials

__version__ = "0.1.0"

# name -> the module it lives in; the order is that of the layers
_HOMES = {
    "Caution": "cautions",
    "DataError": "errors",
    "InputError": "errors",
    "LevelbestError": "errors",
    "MissingExtra": "errors",
    "Metric": "trials",
    "Trials": "trials",
    "read_trials": "readers",
    "write_trials": "readers.tables.tidy",
    "Curve": "results",
    "curve": "curves",
    "family_curves": "curves",
    "Run": "run.runner",
    "run_study": "run.runner",
    "run_trials": "run.runner",
    "read_study": "run.study_file",
    "verify_ledger": "run.verify",
    "compare": "comparisons",
    "Comparison": "comparisons",
    "reach": "comparisons.reach",
    "write_report": "report.write",
    "plan_trials": "comparisons.planning",
    "compare_tasks": "comparisons.tasks",
}
__all__ = sorted([*_HOMES, "stats"])
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
