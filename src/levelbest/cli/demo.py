"""``levelbest demo``: the tour on real results shipped with the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import click

__all__ = ["command"]


@click.command("demo")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("levelbest-demo"), show_default=True, help="A folder."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The random seed.")
def command(out: Path, seed: int) -> None:
    """The whole tour, on shipped results."""
    from levelbest.cli.report import tell_report
    from levelbest.errors import InputError
    from levelbest.readers import read_trials
    from levelbest.report.write import write_report

    table = resources.files("levelbest").joinpath("data", "digits.csv").read_bytes()
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "digits.csv").write_bytes(table)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}; name another folder with --out") from error
    chosen: dict[str, Any] = {
        "family": "family",
        "selection": "val_accuracy",
        "reported": "test_accuracy",
        "cost": "seconds",
    }
    trials = read_trials(out / "digits.csv", **chosen, direction="max", bounds=(0, 1))
    click.echo("Random search on the digits data: five families, 120 trials each. The same by hand:\n")
    options = " ".join(f"--{key} {value}" for key, value in chosen.items())
    click.echo(f"  levelbest report {out / 'digits.csv'} {options} --direction max --bounds 0 1\n")
    title = "Random search on the digits data"
    tell_report(write_report(trials, out / "report.html", force=True, title=title, rng=seed), as_json=False)
