"""``levelbest loop``: keep only real improvements in a research loop."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.errors import InputError

LOOP_EXITS = {"keep": 0, "discard": 1, "again": 3}
"""Exit codes of the answers."""


@click.command("loop", cls=Verb)
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option("--baseline", is_flag=True, help="A run of the version that candidates must beat.")
@click.option("--candidate", metavar="NAME", help="A run of this candidate; without a score: what to do next.")
@click.option("--score", type=float, help="The score of the run.")
@click.option("--failed", metavar="REASON", help="The run failed, for this reason.")
@click.option("--metric", metavar="NAME", help="What the score is called; fixed with the first run.  [default: score]")
@click.option(
    "--direction",
    type=click.Choice(["max", "min"]),
    help="Whether higher or lower is better; fixed with the first run.",
)
@click.option("--confidence", type=float, help="1 minus the share of false keeps; fixed likewise.  [default: 0.95]")
@click.option(
    "--seed", type=click.IntRange(min=0), help="For the seeds that are proposed; fixed likewise.  [default: 0]"
)
@options.as_json
@options.as_one
def command(given: options.Given) -> int:
    """Keep only real improvements in a research loop: keep, discard, or run again.

    First record sixteen runs of the baseline, then every run of every candidate. The answer to a candidate is "discard"
    (exit code 1), "again K" (run it K more times; 3) or "keep" (0): one run, then three, then twelve fresh ones,
    compared with a pool of sixteen baseline runs. A kept candidate becomes the next baseline. False keeps are at most 5
    % of all keeps over the whole loop, however long. The ledger records every run and every answer; without --score the
    command prints the state of the loop. Several agents may use one ledger at once.
    """
    from levelbest.run.loop import Loop

    loop = Loop(given["ledger"], **{key: given[key] for key in ("direction", "metric", "confidence", "seed")})
    run = {"score": given["score"], "failed": given["failed"]}
    if given["candidate"] is not None:
        if given["baseline"]:
            raise InputError("a run is of the baseline or of a candidate: give --baseline or --candidate")
        decision = loop.candidate(given["candidate"], **run)
        _tell(decision, given["as_json"])
        return LOOP_EXITS[decision.answer]
    if not given["baseline"] and given["score"] is None and given["failed"] is None:
        _tell(loop.state, given["as_json"])
        return 0
    if not given["baseline"]:
        raise InputError("a score is of the baseline or of a candidate: give --baseline or --candidate NAME")
    _tell(loop.baseline(**run), given["as_json"])
    return 0


def _tell(result: object, as_json: bool) -> None:
    from levelbest._shown import Said
    from levelbest.report.terminal.console import console, print_text

    assert isinstance(result, Said)
    if as_json:
        options.echo_json(result.to_dict())
        return
    out = console()
    for place, line in enumerate(str(result).splitlines()):
        print_text(line, out, "" if place else "bold")
