"""Write the committed samples of lm-evaluation-harness: python make_lm_eval.py, with ``lm_eval`` installed.

Its dummy model guesses at random; two tasks of six problems, run twice. From the results file the parts that describe
the machine are taken out, and so are the texts of the documents.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

KEPT = ("results", "higher_is_better", "config", "model_name", "model_source", "n-samples", "lm_eval_version")
CHOICE = """task: mini_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{q}}}}"
doc_to_target: gold
doc_to_choice: "{{{{choices}}}}"
metric_list: [{{metric: acc, aggregation: mean, higher_is_better: true}}]
"""
WORDS = """task: mini_words
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{q}}}}"
doc_to_target: "{{{{a}}}}"
generation_kwargs: {{until: ["\\n"]}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
filter_list:
  - {{name: strict, filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: take_first}}]}}
  - {{name: loose, filter: [{{function: take_first}}]}}
"""

if __name__ == "__main__":
    folder = Path(__file__).parent / "lm_eval"
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as home:
        data = Path(home) / "data.jsonl"
        # "lol" is what the dummy model says: two of the six problems have it for their answer.
        rows = [
            {"q": f"{i}?", "a": "lol" if i % 3 == 0 else "7", "choices": ["a", "b"], "gold": i % 2} for i in range(6)
        ]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        for name, text in (("choice", CHOICE), ("words", WORDS)):
            (Path(home) / f"{name}.yaml").write_text(text.format(data=data))
        for seed in ("1", "2"):
            command = [
                sys.executable,
                "-m",
                "lm_eval",
                "run",
                "--model",
                "dummy",
                "--model_args",
                "pretrained=org/dummy",
            ]
            command += ["--tasks", "mini_choice,mini_words", "--include_path", home, "--output_path", f"{home}/out"]
            environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": f"{home}/hf"}
            subprocess.run([*command, "--log_samples", "--seed", seed], check=True, cwd=home, env=environment)
        for file in sorted(Path(home, "out").rglob("*.json*")):
            target = folder / file.parent.name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".json":
                results = json.loads(file.read_text())
                target.write_text(json.dumps({key: results[key] for key in KEPT if key in results}, indent=1))
            else:
                lines = [json.loads(line) for line in file.read_text().splitlines()]
                target.write_text("".join(json.dumps({**line, "arguments": {}}) + "\n" for line in lines))
    (folder / "VERSIONS").write_text(f"lm_eval {version('lm_eval')}\npython {sys.version.split()[0]}\n")
