"""Write the committed artefact in the schema of Every Eval Ever: python make_every_eval_ever.py [FOLDER].

That project's package is not on the package index that these were made with, so this follows its published schemas
(eval.schema.json and instance_level_eval.schema.json, version 0.2.2), field by field.
"""

import json
import shutil
import sys
from pathlib import Path

TRIES = {"org/small": [[1, 0], [0, 0], [1, 1]], "org/large": [[1, 1], [0, 1], [1, 1]]}


def document(model, scores):
    """One model's result on one evaluation."""
    mean = sum(map(sum, scores)) / sum(map(len, scores))
    return {
        "schema_version": "0.2.2",
        "evaluation_id": f"sums/{model}/1700000000",
        "retrieved_timestamp": "1700000000",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "levelbest",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "by hand", "version": "unknown"},
        "model_info": {"name": model.split("/")[1], "id": model},
        "evaluation_results": [
            {
                "evaluation_name": "sums",
                "source_data": {"dataset_name": "sums", "source_type": "other"},
                "metric_config": {
                    "lower_is_better": False,
                    "score_type": "continuous",
                    "min_score": 0,
                    "max_score": 1,
                },
                "score_details": {"score": mean, "uncertainty": {"num_samples": sum(map(len, scores))}},
            }
        ],
    }


def samples(model, scores):
    """A record for each try at each problem."""
    for place, tries in enumerate(scores):
        for score in tries:
            yield {
                "schema_version": "instance_level_eval_0.2.2",
                "evaluation_id": f"sums/{model}/1700000000",
                "model_id": model,
                "evaluation_name": "sums",
                "sample_id": f"q{place}",
                "interaction_type": "single_turn",
                "input": {"raw": f"{place} + 1?", "reference": [str(place + 1)]},
                "output": {"raw": [str(place + score)]},
                "answer_attribution": [],
                "evaluation": {"score": float(score), "is_correct": bool(score)},
                "performance": {"latency_ms": 1500.0},
            }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "every_eval_ever"
    shutil.rmtree(folder, ignore_errors=True)
    for model, scores in TRIES.items():
        home = folder / "sums" / model
        home.mkdir(parents=True)
        (home / "result.json").write_text(json.dumps(document(model, scores), indent=1) + "\n")
        (home / "result.jsonl").write_text("".join(json.dumps(one) + "\n" for one in samples(model, scores)))
    (folder / "VERSIONS").write_text("not by the tool: see make_every_eval_ever.py\n")
