"""``levelbest run``: random search and seeds from a study file, resumable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import say

if TYPE_CHECKING:
    from levelbest.run.study import Study


@click.command("run", cls=Verb)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--ledger", type=click.Path(path_type=Path), help="Where results go (default: beside STUDY, as .db).")
@click.option("--engine", help="inline, local, ray or slurm (default: as the study says, else local).")
@click.option("--workers", type=click.IntRange(min=1), help="Trials at once (default: what the machine allows).")
@click.option("--new-family", multiple=True, metavar="[OLD=]NEW", help="Run a changed family under a new name.")
@click.option("--redo", multiple=True, metavar="FAMILY", help="Start a family again; earlier runs are kept.")
@click.option(
    "--stop-when",
    type=click.Choice(["decided"]),
    help="Start no further trial once the families are decided at the headline budget, by limits valid at every look.",
)
@click.option("--quiet", is_flag=True, help="Print nothing until the end.")
@options.as_json
@click.option(
    "--check",
    is_flag=True,
    help="Check the study and its functions, print its first configurations; run nothing.",
)
def command(study: Path, ledger: Path | None, quiet: bool, as_json: bool, check: bool, **how: Any) -> None:
    """Run the trials of a study file (YAML, TOML or JSON). The same command continues where it stopped.

    A study file names the metric, the number of trials and, for each family, what to run and the space to search
    (the whole format: docs/runner.md):

    \b
    seed: 0
    metric: {selection: dev_acc, reported: test_acc, direction: max, bounds: [0, 1]}
    n_trials: 50
    families:
      cnn:
        command: python train.py --lr {lr} --seed {seed}   # prints {"dev_acc": ...}
        space: {lr: {loguniform: [1e-4, 1e-1]}}
      forest:
        function: models:forest        # forest(config, seed) in models.py
        space: {trees: {integer: [10, 500]}, depth: [4, 8, null]}

    A family that is added later runs beside the others. Ctrl-C lets the running trials finish; a second Ctrl-C stops
    them. Exit code 0: every planned trial is finished, or the families are decided (--stop-when); 1: none of them
    succeeded, or the first three of a family failed with the same error; 130: interrupted.
    """
    from levelbest.run.progress import reporter_for
    from levelbest.run.runner import run_study
    from levelbest.run.study_file import read_study

    planned = read_study(study)
    if check:
        _show(planned)
        return
    reporter = reporter_for("json" if as_json else "quiet" if quiet else "auto")
    done = run_study(planned, ledger or study.with_suffix(".db"), reporter=reporter, **how)
    if as_json:
        options.echo_json(done.to_dict())
    else:
        from levelbest.report.terminal.console import print_lines

        print_lines("\n".join([str(done), *done.why_failed()]))
    if not done.finished and not done.decided:
        click.get_current_context().exit(130)
    if done.all_failed:
        say("levelbest: no trial succeeded: see the reasons, and the logs beside the ledger")
        click.get_current_context().exit(1)


def _show(study: Study) -> None:
    from levelbest.run.engines import Job, open_engine

    names = [family.function for family in study.families if isinstance(family.function, str)]
    open_engine("inline", Job(study.folder, study.folder, names=tuple(names)))  # imports them, and starts nothing
    for place, family in enumerate(study.families):
        number = place if family.number is None else family.number
        what = " ".join(family.command.arguments) if family.command else family.function_name
        click.echo(f"{family.name}: {family.n_trials} trials of {what}")
        for trial in range(min(3, family.n_trials)):
            config, seed = family.space.draw(study.seed, number, trial, family.seeds)
            click.echo(f"  trial {trial}: {json.dumps(config)}, seed {seed}")
