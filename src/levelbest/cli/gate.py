"""``levelbest gate``: is a claimed improvement after N attempts more than luck?"""

from __future__ import annotations

from typing import Any

import click

from levelbest.cli.options import data_options, json_option, load_trials

__all__ = ["command"]


@click.command("gate")
@data_options
@click.option("--baseline", metavar="NAME", help="The family that holds the baseline's runs, where there are several.")
@click.option(
    "--claimed", type=float, required=True, metavar="SCORE", help="The score claimed: the best of the attempts."
)
@click.option("--attempts", type=int, required=True, metavar="N", help="How many runs were tried, all of them.")
@click.option("--confidence", type=float, default=0.95, show_default=True)
@json_option
def command(files: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Is a claimed improvement after N attempts more than the best of N baseline runs would give?

    FILE holds runs of the baseline. The p-value is exact, and cannot fall below N / (runs + N).

    Exit code: 0 if the claim is more than luck at the confidence, 1 if the data do not allow to say so, 2 for wrong
    usage.
    """
    from levelbest._plain import dump_json
    from levelbest.errors import InputError
    from levelbest.stats import claim_gate

    trials = load_trials(files, options, quiet=as_json)
    if options["baseline"] is not None:
        trials = trials[options["baseline"]]
    elif len(trials.families) > 1:
        raise InputError(
            f"the gate needs the runs of one baseline, and here are {', '.join(trials.families)}; choose by --baseline"
        )
    policy = "worst" if options["failed"] == "both" else options["failed"]
    scores = trials.scores(policy, missing=options["missing"])
    direction = trials.metric.direction
    found = claim_gate(
        scores.curve_of,
        options["claimed"],
        options["attempts"],
        direction=direction,
        bounds=trials.metric.bounds,
        confidence=options["confidence"],
    )
    if as_json:
        document = found.to_dict() | {"family": trials.families[0], "n_failed": scores.n_failed}
        click.echo(dump_json(document | {"warnings": [c.to_dict() for c in trials.cautions]}))
    else:
        click.echo(f"{trials.families[0]}: {found}")
        if scores.n_failed:
            how = "counted as the worst score" if policy == "worst" else "dropped"
            click.echo(f"note: {scores.n_failed} baseline runs failed and are {how}", err=True)
    return 0 if found.passed else 1
