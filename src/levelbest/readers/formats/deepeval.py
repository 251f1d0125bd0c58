"""DeepEval: test runs, each test case one problem, which passed or not, with its metrics."""

from __future__ import annotations

from pathlib import Path

from levelbest.cautions import Caution
from levelbest.readers.formats._rows import Record, number, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks, stem

__all__ = ["READERS"]

_CASES = ("testCases", "test_cases", "test_results", "testResults", "conversationalTestCases")
_METRICS = ("metricsData", "metrics_data")
_LOOK = 20


def _is_run(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    return any(has_marks(path, key) for key in _CASES) and any(has_marks(path, key) for key in _METRICS)


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per test case of each run."""
    rows: list[Record] = []
    for name in tree.of_kind(_is_run, "test run of DeepEval"):
        run = tree.document(name)
        run = run["testRunData"] if isinstance(run.get("testRunData"), dict) else run
        model = _model(run) or stem(name.rsplit("/", 1)[-1]).lstrip(".") or tree.name
        cases = [case for key in _CASES if isinstance(run.get(key), list) for case in run[key]]
        for place, case in enumerate(cases, 1):
            with tree.trying(f"{name}, test case {place}"):
                rows.append({"model": model, "task": "deepeval", **_row(case, place)})
    if not rows:
        return []
    metrics = sorted({key for row in rows for key in row if key.startswith("metric.")})
    facts = {"direction:success": "max", "bounds:low": "0", "bounds:high": "1"}
    table = scored_table(tree.name, rows, "DeepEval test run", ["success"], several=False, facts=facts)
    about = {"task": "a test case", "column": "success", "others": metrics}
    table.cautions.append(Caution.of("guessed-columns", None, len(metrics), kind="primary", **about))
    return [table]


def _model(run: Record) -> str | None:
    settings = run.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, dict) else None
    return str(model or run.get("identifier") or "") or None


def _row(case: Json, place: int) -> Record:
    listed: list[Json] = next((case[key] for key in _METRICS if isinstance(case.get(key), list)), [])
    scores = {f"metric.{metric['name']}": number(metric.get("score")) for metric in listed}
    passed = case.get("success")
    known = isinstance(passed, bool) and (not listed or any(score is not None for score in scores.values()))
    row: Record = {
        "problem": str(case.get("name") or f"test case {place}"),
        "status": "ok" if known else "failed",
        "success": float(passed) if known else None,
        **{name: score for name, score in scores.items() if score is not None},
    }
    seconds = number(case.get("completionTime", case.get("completion_time")))
    return row | ({} if seconds is None else {"seconds": seconds})


READERS = (
    tool(
        "deepeval",
        "DeepEval test runs (.json), or a folder of them",
        _tables,
        "test case of DeepEval",
        files=lambda name: name.endswith(".json"),
        file=_is_run,
        look=_LOOK,
    ),
)
