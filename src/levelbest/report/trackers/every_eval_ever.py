"""Trials in the schema of Every Eval Ever (0.2.2): a result for each family, and samples where problems have them."""

from __future__ import annotations

import json
import re
import time
import uuid
from pathlib import Path

import numpy as np

from levelbest._write import write_text
from levelbest.designs.curve import family_curves
from levelbest.readers.formats.every_eval_ever import OBSERVED
from levelbest.results import Curve
from levelbest.trials import STATUSES, Trials

_VERSION = "0.2.2"
_OK = STATUSES.index("ok")


def write_every_eval_ever(trials: Trials, out: str | Path, *, timestamp: float | None = None) -> Path:
    """Write ``EVALUATION/FAMILY/{uuid}.json`` below a folder, and ``{uuid}.jsonl`` for samples right or wrong.

    The score of a family is that of one trial, or of one sample over problems, with its interval: the first point of
    its curve. Configurations have no place in that schema. ``timestamp``, when the record was made, is in seconds since
    1970; now, where it is not given.
    """
    folder = Path(out)
    moment = str(time.time() if timestamp is None else timestamp)
    evaluation = trials.metric.reported or trials.metric.selection
    for curve in family_curves(trials, n=[1]):
        identity = f"{evaluation}/{curve.family}/{moment}"
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, identity))
        home = folder / _safe(evaluation) / _safe(curve.family)
        home.mkdir(parents=True, exist_ok=True)
        samples = _samples(trials, curve.family, identity, evaluation)
        document = _document(trials, curve, identity, evaluation, moment)
        if samples:
            document["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{name}.jsonl",
                "total_rows": len(samples),
            }
            write_text(home / f"{name}.jsonl", "".join(json.dumps(sample) + "\n" for sample in samples))
        write_text(home / f"{name}.json", json.dumps(document, indent=2) + "\n")
    return folder


def _safe(name: str) -> str:
    """A name as one folder; developer/model stays two, as that project lays them out."""
    parts = [re.sub(r"[^\w.+=@-]", "_", part).strip(".") for part in name.split("/")[:2]]
    return "/".join(part for part in parts if part) or "unnamed"


def _document(trials: Trials, curve: Curve, identity: str, evaluation: str, moment: str) -> dict[str, object]:
    details = {"n_trials": str(curve.n_trials), "n_failed": str(curve.n_failed), "failed": curve.failed}
    uncertainty: dict[str, object] = {"num_samples": int(curve.n_trials)}
    low, high = float(curve.low[0]), float(curve.high[0])
    if np.isfinite([low, high]).all():
        limits = {"lower": low, "upper": high, "confidence_level": curve.confidence, "method": curve.method}
        uncertainty["confidence_interval"] = limits
    lower = trials.metric.direction == "min"
    return {
        "schema_version": _VERSION,
        "evaluation_id": identity,
        "retrieved_timestamp": moment,
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": trials.facts.get("format", "unknown"), "version": "unknown"},
        "model_info": {"name": curve.family.rpartition("/")[2] or curve.family, "id": curve.family},
        "evaluation_results": [
            {
                "evaluation_name": evaluation,
                "source_data": {
                    "dataset_name": trials.source[0] if trials.source else "unknown",
                    "source_type": "other",
                },
                "metric_config": {"metric_name": evaluation, "lower_is_better": lower, **_scale(trials)},
                "score_details": {"score": float(curve.value[0]), "details": details, "uncertainty": uncertainty},
            }
        ],
    }


def _scale(trials: Trials) -> dict[str, object]:
    """What scores can be. The schema asks for bounds of whatever is not right or wrong: without any, what was seen."""
    scores = trials.selection if trials.reported is None else trials.reported
    seen = scores[np.isfinite(scores)]
    least, most = trials.metric.bounds
    if least is not None and most is not None:
        return {"score_type": "continuous", "min_score": least, "max_score": most}
    if np.isin(seen, (0.0, 1.0)).all():
        return {"score_type": "binary"}
    return {
        "score_type": "continuous",
        "min_score": float(seen.min()) if least is None else least,
        "max_score": float(seen.max()) if most is None else most,
        "additional_details": {"bounds": OBSERVED},
    }


def _samples(trials: Trials, family: str, identity: str, evaluation: str) -> list[dict[str, object]]:
    """A record for each sample of a problem; none where scores are not right (1) or wrong (0), as the schema asks."""
    scores = trials.selection if trials.reported is None else trials.reported
    rows = np.flatnonzero((trials.family == trials.families.index(family)) & (trials.status == _OK))
    if trials.group is None or not np.isin(scores[rows], (0.0, 1.0)).all():
        return []
    return [
        {
            "schema_version": f"instance_level_eval_{_VERSION}",
            "evaluation_id": identity,
            "model_id": family,
            "evaluation_name": evaluation,
            "sample_id": trials.groups[trials.group[row]],
            "interaction_type": "single_turn",
            "input": {"raw": "", "reference": []},
            "output": {"raw": []},
            "answer_attribution": [],
            "evaluation": {"score": float(scores[row]), "is_correct": bool(scores[row])},
        }
        for row in rows
    ]
