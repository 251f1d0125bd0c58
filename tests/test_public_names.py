"""The names that outsiders rely on. Adding one is a decision; losing one breaks someone."""

import ast
import builtins
import inspect
import re
from pathlib import Path

import pytest

import levelbest
from levelbest import stats

PUBLIC = {
    "Caution", "Curve", "DataError", "InputError", "LevelbestError", "Metric", "MissingExtra", "Trials",
    "curve", "family_curves", "write_report", "read_trials", "write_trials", "log_curve", "stats",
    "Run", "Study", "Verification", "read_study", "run_study", "run_trials", "verify_ledger",
    "claim", "Claim", "Gate", "audit", "Audit", "Loop", "LoopDecision", "LoopState",
    "gate", "GateDecision", "require", "Requirement",
    "compare", "Comparison", "Effect", "PairComparison", "Standing", "Verdict",
    "CostCurveSet", "CurveSet", "FamilyCostCurve", "Settings",
    "reach", "Reach", "Reaches",
    "plan_trials", "TrialPlan",
    "compare_tasks", "TaskComparison",
    "describe", "Description", "Report",
    "variance", "Variances",
}  # fmt: skip
STATS = {
    "Normality", "gaussian_best", "law_best", "normal_best", "normality",
    "Interval", "best_interval", "claim_gate",
    "best_statistic", "best_weights", "expected_best", "quantile_best", "spread_of_best", "standard_error",
    "unseen",
    "cost_curve",
    "quantile_interval", "horizon", "rank_band",
    "CdfBand", "cdf_band", "mean_curve_bounds",
    "anytime_cdf_band", "anytime_quantile_interval",
    "difference_band",
    "all_of_k", "expected_best_by_group", "pass_at_k", "group_difference", "group_interval", "group_variance",
    "plan_groups",
    "winners_curse",
    "variance_components",
    "CostCurve", "Curse", "Difference", "Gate", "GroupBest", "GroupPlan", "GroupVariance", "RankBand",
    "VarianceComponents",
}  # fmt: skip


def test_public_names_are_pinned():
    assert set(levelbest.__all__) == PUBLIC
    assert set(stats.__all__) == STATS


def test_every_public_name_resolves():
    for name in PUBLIC - {"stats"}:
        assert getattr(levelbest, name).__doc__, name
    for name in STATS:
        assert getattr(stats, name).__doc__, name


def test_one_default_for_what_functions_of_arrays_share():
    """Limits are pointwise unless asked to be simultaneous; a band, simultaneous by nature, may be asked to be not."""
    wanted = {"simultaneous": False, "pointwise": False, "rng": 0, "n_resamples": 2000}
    given = {
        (name, parameter.name): parameter.default
        for name in stats.__all__
        if inspect.isfunction(getattr(stats, name))
        for parameter in inspect.signature(getattr(stats, name)).parameters.values()
        if parameter.name in wanted
    }
    assert given == {place: wanted[place[1]] for place in given}
    bands = {"difference_band", "group_difference", "horizon", "rank_band"}
    assert {name for name, parameter in given if parameter == "pointwise"} == bands


@pytest.mark.parametrize("package", [levelbest, stats], ids=["levelbest", "stats"])
def test_what_a_public_function_returns_is_public(package):
    own_or_common = {*dir(builtins), *levelbest.__all__, *package.__all__, "FloatArray", "Path"}
    for name in package.__all__:
        if inspect.isfunction(function := getattr(package, name)):
            returned = set(re.findall(r"\w+", str(inspect.signature(function).return_annotation)))
            assert returned <= own_or_common, name


@pytest.mark.parametrize("package", [levelbest, stats], ids=["levelbest", "stats"])
def test_type_checkers_see_every_public_name(package):
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert sorted(alias.asname for node in block.body for alias in node.names) == sorted(package.__all__)


@pytest.mark.parametrize("package", [levelbest, stats], ids=["levelbest", "stats"])
def test_public_functions_say_what_they_take_and_give(package):
    for name in package.__all__:
        if not inspect.isfunction(function := getattr(package, name)):
            continue
        text, signature = inspect.getdoc(function), inspect.signature(function)
        wanted = {"Parameters", "Examples"} | ({"Returns"} if signature.return_annotation != "None" else set())
        assert wanted <= set(re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)), name
        assert [each for each in signature.parameters if not re.search(rf"\b{each}\b", text)] == [], name
