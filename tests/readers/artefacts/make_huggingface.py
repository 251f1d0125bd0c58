"""Write the committed Hugging Face artefact: python make_huggingface.py [FOLDER], with ``huggingface_hub``, PyYAML."""

import json
import shutil
import sys
from pathlib import Path

import huggingface_hub
import yaml
from huggingface_hub import EvalResult, EvalResultEntry, ModelCard, ModelCardData, eval_result_entries_to_yaml

SCORES = {"small": (0.81, 0.42, 21.5), "large": (0.86, 0.31, 33.25)}


def card(model, accuracy, loss):
    """A model card with two metrics on one data set."""
    common = {"task_type": "text-classification", "dataset_type": "glue", "dataset_name": "GLUE"}
    common |= {"dataset_config": "sst2", "dataset_split": "validation"}
    results = [
        EvalResult(**common, metric_type="accuracy", metric_value=accuracy),
        EvalResult(**common, metric_type="loss", metric_value=loss),
    ]
    return ModelCard(f"---\n{ModelCardData(model_name=model, eval_results=results, license='mit')}\n---\n\n# {model}\n")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "huggingface"
    shutil.rmtree(folder, ignore_errors=True)
    for model, (accuracy, loss, exam) in SCORES.items():
        made = card(model, accuracy, loss)
        (folder / "cards" / model).mkdir(parents=True)
        made.save(folder / "cards" / model / "README.md")
        entries = [EvalResultEntry(dataset_id="cais/hle", task_id="default", value=exam, notes="no-tools")]
        (folder / "entries" / model / ".eval_results").mkdir(parents=True)
        text = yaml.dump(eval_result_entries_to_yaml(entries))
        (folder / "entries" / model / ".eval_results" / "hle.yaml").write_text(text)
    (folder / "card.json").write_text(json.dumps(made.data.to_dict(), indent=1) + "\n")
    (folder / "VERSIONS").write_text(
        f"huggingface_hub {huggingface_hub.__version__}\npython {sys.version.split()[0]}\n"
    )
