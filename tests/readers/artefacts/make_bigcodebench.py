"""Write the committed BigCodeBench artefact: python make_bigcodebench.py [FOLDER], with it and ``matplotlib``.

Two problems of our own stand in for its data set. What only generates answers or reaches for a network (``vllm``,
``e2b``, ``gradio_client``, ``datasets``) may be absent: empty modules take its place, and the evaluation is its own.
"""

import json
import os
import shutil
import sys
import tempfile
import types
from importlib.metadata import version
from pathlib import Path

BODIES = {
    "double": ["    return 2 * x\n", "    return x\n"],
    "square": ["    return x * x\n", "    raise ValueError\n"],
}
DRAWS = [0, 1, 0, 0]
TEST = """
import unittest
class TestCases(unittest.TestCase):
    def test_case_1(self):
        self.assertEqual({name}(3), {value})
"""


def problems():
    for place, (name, bodies) in enumerate(BODIES.items()):
        prompt = f"def {name}(x):\n"
        yield {
            "task_id": f"BigCodeBench/{place}",
            "complete_prompt": prompt,
            "instruct_prompt": f"Write {name}.",
            "code_prompt": prompt,
            "canonical_solution": bodies[0],
            "test": TEST.format(name=name, value={"double": 6, "square": 9}[name]),
            "entry_point": name,
        }


def stand_in(name, *members):
    """An empty module for one that is not needed here."""
    module = types.ModuleType(name)
    for member in members:
        setattr(module, member, None)
    sys.modules.setdefault(name, module)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "bigcodebench"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.environ |= {"BIGCODEBENCH_OVERRIDE_PATH": str(home / "problems.jsonl"), "HOME": name, "XDG_CACHE_HOME": name}
        stand_in("gradio_client", "Client", "handle_file")
        stand_in("e2b", "Sandbox")
        stand_in("datasets", "load_dataset")
        stand_in("bigcodebench.generate", "run_codegen")
        from bigcodebench.evaluate import evaluate

        asked = list(problems())
        (home / "problems.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
        samples = [
            {"task_id": one["task_id"], "solution": one["complete_prompt"] + BODIES[one["entry_point"]][draw]}
            for one in asked
            for draw in DRAWS
        ]
        answers = home / "some-model--bigcodebench-complete.jsonl"
        answers.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
        evaluate("complete", "full", samples=str(answers), execution="local", parallel=1, no_gt=False)
        for result in home.glob("*eval_results.json"):
            shutil.copyfile(result, folder / result.name)
    (folder / "VERSIONS").write_text(f"bigcodebench {version('bigcodebench')}\npython {sys.version.split()[0]}\n")
