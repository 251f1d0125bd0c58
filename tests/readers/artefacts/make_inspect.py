"""Write the committed inspect_ai logs: python make_inspect.py [FOLDER], with ``inspect-ai`` installed.

A scripted model answers, so that every score is known: sample i of a problem is right when i is below its number.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["INSPECT_LOG_LEVEL"] = "error"

import inspect_ai
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import generate


@scorer(metrics=[mean()])
def length():
    async def score(state, _target):
        return Score(value=float(len(state.output.completion)))

    return score


@task
def arithmetic(scorers=None):
    """Four problems, three samples of each; problem 3 raises an error in its second sample."""
    problems = [Sample(id=f"q{i}", input=f"2 + {i}", target=str(2 + i)) for i in range(4)]
    return Task(dataset=problems, solver=generate(), scorer=scorers or match(), epochs=3, fail_on_error=False)


def answer(messages, _tools, _choice, _config):
    """Right for the first i samples of problem i."""
    problem = int(messages[-1].text.split()[-1])
    count = SEEN[problem] = SEEN.get(problem, 0) + 1
    if problem == 3 and count == 2:
        raise ValueError("the model gave no answer")
    text = str(2 + problem) if count <= problem else "none"
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=10 + problem, output_tokens=count, total_tokens=10 + problem + count)
    return output


SEEN: dict[int, int] = {}


def write_logs(folder):
    for kind in ("eval", "json"):
        SEEN.clear()
        options = {"log_dir": str(folder), "log_format": kind, "display": "none", "max_samples": 1}
        inspect_ai.eval(arithmetic(), model=get_model("mockllm/model", custom_outputs=answer), **options)
    SEEN.clear()
    both = arithmetic(scorers=[match(), length()])
    model = get_model("mockllm/second", custom_outputs=answer)
    inspect_ai.eval(both, model=model, log_dir=str(folder / "two"), log_format="eval", display="none", max_samples=1)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "inspect"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        write_logs(Path(home))
        for info in list_eval_logs(home):
            log = read_eval_log(info.name)
            for sample in log.samples:  # what was said and done is long, and holds paths of this machine
                sample.messages, sample.events, sample.attachments = [], [], {}
                if sample.error is not None:
                    sample.error.traceback = sample.error.traceback_ansi = ""
            log.eval.task_file = None
            two = "two/" if "/two/" in info.name else ""
            name = f"{folder}/{two}{log.eval.model.split('/')[1]}.{info.name.rsplit('.', 1)[1]}"
            Path(name).parent.mkdir(exist_ok=True)
            write_eval_log(log, name)
    (folder / "VERSIONS").write_text(f"inspect_ai {inspect_ai.__version__}\npython {sys.version.split()[0]}\n")
