"""Write the committed HELM artefact: python make_helm.py [FOLDER], with ``crfm-helm`` installed.

Its tutorial scenario is answered by a stand-in for its tutorial model; everything else is HELM's. Indentation, prompts
and most of its statistics are left out of the copy that is committed.
"""

import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from helm.benchmark import run
from helm.clients.simple_client import SimpleClient

ENTRIES = ["simple_mcqa:model=simple/model1,num_train_trials=2,data_augmentation=lower"]
STATISTICS = ("exact_match", "quasi_exact_match", "inference_runtime", "num_references")


def answer(_self, request):
    """A or B, by the length of the prompt."""
    return {"completions": ["AB"[len(request["prompt"]) % 3 % 2]] * request["num_completions"]}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "helm"
    shutil.rmtree(folder, ignore_errors=True)
    SimpleClient.invoke_model = answer
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        sys.argv = ["helm-run", "--run-entries", *ENTRIES, "--suite", "mini", "--max-eval-instances", "4", "-n", "1"]
        run.main()
        for file in Path("benchmark_output/runs/mini").rglob("*.json"):
            content = json.loads(file.read_text())
            if file.name == "stats.json":
                wanted = [one for one in content if one["name"]["name"] == "exact_match"]
                content = [one for one in wanted if "perturbation" not in one["name"]]
            if file.name == "per_instance_stats.json":
                for one in content:
                    one["stats"] = [stat for stat in one["stats"] if stat["name"]["name"] in STATISTICS]
            if file.name in ("per_instance_stats.json", "run_spec.json", "stats.json"):
                target = folder / file.parent.name.replace(":", "_") / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(json.dumps(content))
        os.chdir("/")
    (folder / "VERSIONS").write_text(f"crfm-helm {version('crfm-helm')}\npython {sys.version.split()[0]}\n")
