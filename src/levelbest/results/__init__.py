"""Results: frozen numbers, provenance and warnings as data; `levelbest.report` renders them."""

from __future__ import annotations

from levelbest.results.audits import Audit, AuditedKeep, IfNoise, LoggedVersion
from levelbest.results.claim import Claim, ClaimedPair
from levelbest.results.comparison import (
    BestFound,
    Comparison,
    ComparisonTerms,
    Effect,
    PairComparison,
    SpendPerSolved,
    Standing,
)
from levelbest.results.curve import (
    TRIALS,
    CostCurveSet,
    Curve,
    CurveSet,
    DesignWords,
    FamilyCostCurve,
    Noise,
    Stratum,
    VerifierEffect,
)
from levelbest.results.gates import INCONCLUSIVE, PASS, REGRESSED, BrokenProblem, GateDecision, Requirement
from levelbest.results.loops import Attempt, LoopDecision, LoopState
from levelbest.results.plan import DividedRuns, Reach, Reaches, TrialPlan
from levelbest.results.tasks import OverTasks, Profile, TaskComparison
from levelbest.results.variance import FamilyVariance, Variances
from levelbest.results.verdict import (
    NOT_COMPARABLE,
    UNDECIDED,
    Crossing,
    Verdict,
    crossings_of,
    verdict_ranges,
    winners,
)

__all__ = [
    "INCONCLUSIVE",
    "NOT_COMPARABLE",
    "PASS",
    "REGRESSED",
    "TRIALS",
    "UNDECIDED",
    "Attempt",
    "Audit",
    "AuditedKeep",
    "BestFound",
    "BrokenProblem",
    "Claim",
    "ClaimedPair",
    "Comparison",
    "ComparisonTerms",
    "CostCurveSet",
    "Crossing",
    "Curve",
    "CurveSet",
    "DesignWords",
    "DividedRuns",
    "Effect",
    "FamilyCostCurve",
    "FamilyVariance",
    "GateDecision",
    "IfNoise",
    "LoggedVersion",
    "LoopDecision",
    "LoopState",
    "Noise",
    "OverTasks",
    "PairComparison",
    "Profile",
    "Reach",
    "Reaches",
    "Requirement",
    "SpendPerSolved",
    "Standing",
    "Stratum",
    "TaskComparison",
    "TrialPlan",
    "Variances",
    "Verdict",
    "VerifierEffect",
    "crossings_of",
    "verdict_ranges",
    "winners",
]
