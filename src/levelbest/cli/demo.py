"""``levelbest demo``: the tour on real results shipped with the package."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("demo")
@click.option("--out", type=click.Path(path_type=Path), default=Path("levelbest-demo"), show_default=True)
def command(out: Path) -> None:
    """The whole tour, on shipped results."""
    from levelbest.curves import family_curves
    from levelbest.readers import read_trials  # type: ignore[attr-defined,unused-ignore]
    from levelbest.report.figure import save_curves
    from levelbest.report.text import print_curves

    table = Path(__file__).resolve().parents[1] / "data" / "digits.csv"
    trials = read_trials(
        table,
        family="family",
        selection="val_accuracy",
        reported="test_accuracy",
        cost="seconds",
        direction="max",
        bounds=(0, 1),
    )
    found = family_curves(trials, simultaneous=True)
    print_curves(found)
    out.mkdir(parents=True, exist_ok=True)
    save_curves(found, out / "curves.png")
    click.echo(f"figure: {out / 'curves.png'}")
