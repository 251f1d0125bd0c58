"""Some forty hostile folders, files and databases: each is refused in one line or read in part, within bounds.

All are read in one fresh process, each in a fork of it with two gigabytes and a minute, so that a hang or a full memory
is seen for what it is.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import levelbest as lb
from levelbest.errors import LevelbestError

sys.path.insert(0, str(Path(__file__).parent))
from hostile import CASES, SECRET

SECONDS, BYTES = 60, 2 << 30


def outcome(path):
    """What reading a source gives: its trials as text, or our own error; the family names show whose file was read."""
    try:
        trials = lb.read_trials(path, direction="max")
        lost = [f"{part.where}: {part.why}" for part in trials.skipped]
        return f"{len(trials)} trials of {', '.join(map(str, trials.families))}; {lost}; {dict(trials.configuration)}"
    except LevelbestError as error:
        message = str(error)
        return message if "\n" not in message else f"several lines: {message}"


def within_bounds(path):
    """The outcome of reading in a child with little memory and time; how it was ended where it has none."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        signal.alarm(SECONDS)
        try:
            text = outcome(path)
        except BaseException as error:
            text = f"raised {type(error).__name__}: {error}"
        os.write(writes, text.encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as answer:
        text = answer.read().decode()
    _, status = os.waitpid(child, 0)
    return text if status == 0 else f"ended by signal {os.WTERMSIG(status)}"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    done = subprocess.run([sys.executable, __file__, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_source_does_no_harm(outcomes, name):
    text, _ = outcomes[name]
    assert text
    assert not text.startswith(("raised", "ended by", "several lines"))
    assert SECRET not in text


def test_what_is_good_beside_it_is_read(outcomes):
    for name in ("pipe_called_runs_csv", "link_a_csv_to_dev_zero", "a_socket", "links_in_a_circle"):
        assert outcomes[name][0].startswith("12 trials of a, b"), outcomes[name]
    assert "runs.csv: not read: it is a pipe" in outcomes["pipe_called_runs_csv"][0]
    assert "leads out of the folder" in outcomes["a_private_file_linked"][0]


def test_a_million_columns_are_refused_within_seconds(outcomes):
    text, seconds = outcomes["a_million_columns"]
    assert "has 1,000,000 columns, and at most 20,000 are read" in text
    assert seconds < 5  # CPU seconds: the machine may be busy


if __name__ == "__main__":
    answers = {}
    for name, make in CASES.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        home = Path(sys.argv[1]) / name
        home.mkdir()
        source = make(home)
        before = time.process_time() + sum(os.times()[2:4])
        answers[name] = (within_bounds(source), sum(os.times()[2:4]) + time.process_time() - before)
    print(json.dumps(answers))
