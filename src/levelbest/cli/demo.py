"""``levelbest demo``: the tour on real results shipped with the package, or on a small study run on the spot."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from levelbest._write import make_folder, write_bytes
from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import FILES, OPTIONS, working
from levelbest.errors import InputError, called


@click.command("demo", cls=Verb)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("levelbest-demo"), show_default=True, help="A folder."
)
@options.seed
@options.details
@click.option("--run", "fresh", is_flag=True, help="Run a small study now instead: 120 trials, a few seconds.")
def command(out: Path, seed: int, fresh: bool, details: bool) -> None:
    """A full tour on results that ship with the package: prints the verdict and writes a page."""
    from levelbest.cli.report import tell_report
    from levelbest.readers import read_trials
    from levelbest.report.write import write_report

    if fresh:
        _run(out / "live", seed, details=details)
        return
    _copy(out, "digits.csv", "digits.yaml")
    chosen: options.Given = {"family": "family", "selection": "val_accuracy", "reported": "test_accuracy"}
    chosen |= {"cost": "seconds", "direction": "max", "bounds": (0, 1)}
    study = out / "digits.yaml"
    needed = {"bounds": (0, 1)} | ({"spaces": study} if details else {})  # the rest is known by the names of columns
    click.get_current_context().meta.update({FILES: (out / "digits.csv",), OPTIONS: needed})
    trials = read_trials(out / "digits.csv", **chosen, spaces=options.declared_spaces(study))
    title = "Random search on the digits data"
    with working("writing the report"):
        report = write_report(trials, out / "report.html", force=True, title=title, rng=seed)
    if details:
        click.echo(f"The same by hand:\n\n  {called('report')}\n")
    tell_report(report, as_json=False, details=details)


def _run(out: Path, seed: int, *, details: bool) -> None:
    """A study file, its training script, the ledger and the report, all in one folder."""
    from dataclasses import replace

    from levelbest.cli.report import tell_report
    from levelbest.report.write import write_report
    from levelbest.run.progress import reporter_for
    from levelbest.run.runner import run_study
    from levelbest.run.study_file import read_study

    _copy(out, "live/study.yaml", "live/train.py")
    ledger = out / "study.db"
    if ledger.exists():
        raise InputError(
            f"{ledger} already exists and is kept; levelbest run {out / 'study.yaml'} continues it, and --out names "
            "another folder for a fresh study"
        )
    click.echo("Three descent rules on a noisy objective, 40 trials each. To watch, in another terminal:\n")
    click.echo(f"  levelbest serve {ledger}\n")
    done = run_study(replace(read_study(out / "study.yaml"), seed=seed), ledger, reporter=reporter_for("auto"))
    click.echo(f"{done}\n")
    if not done.finished:
        click.get_current_context().exit(130)
    click.get_current_context().meta[FILES] = (ledger,)
    title = "Three descent rules on a noisy objective"
    with working("writing the report"):
        report = write_report(done.trials(), out / "report.html", force=True, title=title, rng=seed)
    tell_report(report, as_json=False, details=details)


def _copy(out: Path, *names: str) -> None:
    make_folder(out)
    for name in names:
        content = resources.files("levelbest").joinpath("data", *name.split("/")).read_bytes()
        write_bytes(out / name.rpartition("/")[2], content)
