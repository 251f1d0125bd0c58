"""``levelbest audit``: judge a finished keep/discard log."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb


@click.command("audit", cls=Verb)
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--selection", metavar="COL", help="The column of the score that decided what was kept.")
@click.option("--direction", type=click.Choice(["max", "min"]), help="Whether higher or lower is better.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the picture here (.png, .svg or .pdf).")
@options.confidence
@options.as_json
@options.as_one
def command(given: options.Given) -> None:
    """Judge a finished keep/discard log: which keeps survive, and how much of the gain is selection.

    LOG is a TSV, CSV or JSONL file with a row for each run: a score, a status (keep, discard, crash, best, tentative,
    revert ...) and the version (commit, name ...). Rows with the same version are repeated runs and show the noise. If
    no version was run twice, results are shown for several assumed sizes of the noise, and no keep is called real.
    """
    from levelbest.designs.audit import audit

    judged = audit(given["log"], **{key: given[key] for key in ("selection", "direction", "confidence")})
    if given["out"] is not None:
        from levelbest.report.figures.gates import save_attempts

        save_attempts(judged, given["out"])
    if given["as_json"]:
        options.echo_json(judged.to_dict())
        return
    from levelbest.report.terminal.gates import print_audit

    print_audit(judged)
    if given["out"] is not None:
        click.echo(f"figure: {given['out']}")
