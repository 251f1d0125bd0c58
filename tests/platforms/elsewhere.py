"""What works on every system: read, compare, report, write, verify, serve. The runner refuses politely or runs."""

import sys
from pathlib import Path

import levelbest as lb
from levelbest.errors import InputError
from levelbest.run.verify import verify_ledger
from levelbest.web.data import LiveData

folder, ledger, runs = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "runs"
rows = "".join(f"{'ab'[i % 2]},0.{i + 10},0.{i + 20}\n" for i in range(24))
(folder / "runs.csv").write_text("model,val_acc,test_acc\n" + rows)
trials = lb.read_trials(folder / "runs.csv")
lb.compare(trials)
lb.write_trials(trials, folder / "tidy.csv")
lb.write_trials(trials, folder / "tidy.parquet")
lb.write_report(trials, folder / "report.html")
assert lb.read_trials(folder / "tidy.parquet").n_trials == 24
assert verify_ledger(ledger).whole
live = LiveData(ledger)
assert live.state()
live.close()
space = {"x": {"uniform": [0, 1]}}
refusal = ""
for name, objective in (("f", lambda config, _: config["x"]), ("c", ["sh", "-c", "echo '{{\"score\": {x}}}'"])):
    try:
        done = lb.run_trials(objective, space, n_trials=4, ledger=folder / f"{name}.db", progress=False)
        assert (done.families[0].n_trials, done.families[0].n_failed) == (4, 0)
    except InputError as error:
        refusal = str(error)
assert ("on Windows use its Linux subsystem" in refusal) != runs, refusal
print("works")
