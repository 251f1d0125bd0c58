"""``levelbest gate``: a CI check of a candidate against a baseline."""

from __future__ import annotations

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import working
from levelbest.errors import InputError

GATE_EXITS = {"pass": 0, "regressed": 1, "inconclusive": 3}
"""Exit codes of the answers."""


@click.command("gate", cls=Verb)
@options.data
@click.option("--baseline", metavar="NAME", required=True, help="The family to compare against.")
@click.option("--candidate", metavar="NAME", required=True, help="The family that is judged.")
@click.option(
    "--worth", type=float, metavar="D", help="The loss that would matter.  [default: 5 % of the score's range]"
)
@click.option(
    "--about",
    type=click.Choice(["suite", "problems"]),
    help="Over problems: exactly these, or others like them.  [default: suite]",
)
@click.option(
    "--headline", type=click.IntRange(min=1), metavar="N", help="The budget at which to compare.  [default: 1, a run]"
)
@options.confidence
@options.resamples
@click.option("--markdown", is_flag=True, help="Markdown for a pull request.")
@options.seed
@options.as_json
@options.as_one
def command(given: options.Given) -> int:
    """A CI check of a change: pass (exit code 0), regressed (1) or inconclusive (3).

    FILE contains runs of both versions: repeated runs of a suite of tests or problems (--group), or seeds. Regressed:
    the candidate is certified to be worse, or some problems are (named, with Holm's adjustment). Pass: it is certified
    not to be worse by --worth, allowing for outcomes not yet observed. A change without any effect fails in at most 1 -
    confidence of cases. A best score after many attempts is judged by levelbest claim.
    """
    if given["failed"] == "both":
        raise InputError("a gate decides under one failure policy: --failed worst or drop")
    from levelbest.designs.gate import gate

    keys = ("baseline", "candidate", "worth", "about", "headline", "confidence", "failed", "missing", "n_resamples")
    with working("deciding"):
        decided = gate(options.load_trials(given), rng=given["seed"], **{key: given[key] for key in keys})
    if given["as_json"]:
        options.echo_json(decided.to_dict())
    elif given["markdown"]:
        from levelbest.report.tables.gates import gate_markdown

        click.echo(gate_markdown(decided))
    else:
        from levelbest.report.terminal.gates import print_gate

        print_gate(decided)
    return GATE_EXITS[decided.decision]
