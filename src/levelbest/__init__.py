"""levelbest: compare models at the budget you really have, with error bars you can trust.

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
    from levelbest.designs.audit import audit as audit
    from levelbest.designs.claim import claim as claim
    from levelbest.designs.compare import compare as compare
    from levelbest.designs.curve import curve as curve
    from levelbest.designs.curve import family_curves as family_curves
    from levelbest.designs.gate import gate as gate
    from levelbest.designs.gate import require as require
    from levelbest.designs.plan import plan_trials as plan_trials
    from levelbest.designs.reach import reach as reach
    from levelbest.designs.tasks import compare_tasks as compare_tasks
    from levelbest.designs.variance import variance as variance
    from levelbest.errors import DataError as DataError
    from levelbest.errors import InputError as InputError
    from levelbest.errors import LevelbestError as LevelbestError
    from levelbest.errors import MissingExtra as MissingExtra
    from levelbest.readers import read_trials as read_trials
    from levelbest.report.describe import Description as Description
    from levelbest.report.describe import describe as describe
    from levelbest.report.trackers import log_curve as log_curve
    from levelbest.report.trackers import write_trials as write_trials
    from levelbest.report.write import Report as Report
    from levelbest.report.write import write_report as write_report
    from levelbest.results import Audit as Audit
    from levelbest.results import Claim as Claim
    from levelbest.results import Comparison as Comparison
    from levelbest.results import CostCurveSet as CostCurveSet
    from levelbest.results import Curve as Curve
    from levelbest.results import CurveSet as CurveSet
    from levelbest.results import Effect as Effect
    from levelbest.results import FamilyCostCurve as FamilyCostCurve
    from levelbest.results import GateDecision as GateDecision
    from levelbest.results import LoopDecision as LoopDecision
    from levelbest.results import LoopState as LoopState
    from levelbest.results import PairComparison as PairComparison
    from levelbest.results import Reach as Reach
    from levelbest.results import Reaches as Reaches
    from levelbest.results import Requirement as Requirement
    from levelbest.results import Standing as Standing
    from levelbest.results import TaskComparison as TaskComparison
    from levelbest.results import TrialPlan as TrialPlan
    from levelbest.results import Variances as Variances
    from levelbest.results import Verdict as Verdict
    from levelbest.run.loop import Loop as Loop
    from levelbest.run.runner import Run as Run
    from levelbest.run.runner import run_study as run_study
    from levelbest.run.runner import run_trials as run_trials
    from levelbest.run.study import Study as Study
    from levelbest.run.study_file import read_study as read_study
    from levelbest.run.verify import Verification as Verification
    from levelbest.run.verify import verify_ledger as verify_ledger
    from levelbest.stats.budgets import Gate as Gate
    from levelbest.trials import Metric as Metric
    from levelbest.trials import Settings as Settings
    from levelbest.trials import Trials as Trials

__version__ = "0.2.0"

# by the module that they live in; the order is that of the layers
_NAMES = {
    "cautions": ("Caution",),
    "errors": ("DataError", "InputError", "LevelbestError", "MissingExtra"),
    "stats.budgets": ("Gate",),
    "trials": ("Metric", "Settings", "Trials"),
    "readers": ("read_trials",),
    "results": (
        "Audit",
        "Claim",
        "Comparison",
        "Curve",
        "CostCurveSet",
        "CurveSet",
        "Effect",
        "FamilyCostCurve",
        "GateDecision",
        "LoopDecision",
        "LoopState",
        "PairComparison",
        "Reach",
        "Reaches",
        "Requirement",
        "Standing",
        "TaskComparison",
        "TrialPlan",
        "Variances",
        "Verdict",
    ),
    "designs.curve": ("curve", "family_curves"),
    "designs.audit": ("audit",),
    "designs.claim": ("claim",),
    "designs.compare": ("compare",),
    "designs.gate": ("gate", "require"),
    "designs.tasks": ("compare_tasks",),
    "designs.reach": ("reach",),
    "designs.plan": ("plan_trials",),
    "designs.variance": ("variance",),
    "report.describe": ("Description", "describe"),
    "report.trackers": ("log_curve", "write_trials"),
    "report.write": ("Report", "write_report"),
    "run.loop": ("Loop",),
    "run.runner": ("Run", "run_study", "run_trials"),
    "run.study": ("Study",),
    "run.study_file": ("read_study",),
    "run.verify": ("Verification", "verify_ledger"),
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
__all__ += ["stats"]
