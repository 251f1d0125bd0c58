"""Write the committed EvalPlus artefact: python make_evalplus.py [FOLDER], with ``evalplus`` installed.

Three problems of our own stand in for its data set, which it would download; samples and results are EvalPlus's.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

BODIES = {  # right, right on the basic tests alone, wrong
    "double": ["    return 2 * x\n", "    return x + min(x, 5)\n", "    return x\n"],
    "square": ["    return x * x\n", "    return x * min(x, 5)\n", "    raise ValueError(x)\n"],
    "negate": ["    return -x\n", "    return -min(x, 5)\n", "    return x\n"],
}
DRAWS = [0, 1, 2, 0, 1]


def problems():
    """Problems with two basic inputs and two more."""
    for place, (name, bodies) in enumerate(BODIES.items()):
        yield {
            "task_id": f"HumanEval/{place}",
            "prompt": f'def {name}(x):\n    """Return the {name} of x."""\n',
            "entry_point": name,
            "canonical_solution": bodies[0],
            "base_input": [[1], [2]],
            "plus_input": [[7], [9]],
            "contract": "",
            "atol": 0,
            "test": "",
        }


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "evalplus"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        asked = list(problems())
        (home / "problems.jsonl").write_text(lines(asked))
        samples = [
            {"task_id": one["task_id"], "solution": one["prompt"] + BODIES[one["entry_point"]][draw]}
            for one in asked
            for draw in DRAWS
        ]
        (home / "some-model.jsonl").write_text(lines(samples))
        command = [Path(sys.executable).with_name("evalplus.evaluate"), "--dataset", "humaneval", "--parallel", "1"]
        own = {"HUMANEVAL_OVERRIDE_PATH": str(home / "problems.jsonl"), "HOME": name, "XDG_CACHE_HOME": name}
        subprocess.run([*command, "--samples", home / "some-model.jsonl"], check=True, env=os.environ | own)
        for result in home.glob("*eval_results.json"):
            shutil.copyfile(result, folder / result.name)
    (folder / "VERSIONS").write_text(f"evalplus {version('evalplus')}\npython {sys.version.split()[0]}\n")
