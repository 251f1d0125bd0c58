"""``levelbest gate``: is a claimed improvement after N attempts more than luck?"""

from __future__ import annotations

import click

from levelbest.cli import options


@click.command("gate")
@options.data
@click.option("--baseline", metavar="NAME", help="The family that holds the baseline's runs, where there are several.")
@click.option(
    "--claimed", type=float, required=True, metavar="SCORE", help="The score claimed: the best of the attempts."
)
@click.option("--attempts", type=int, required=True, metavar="N", help="How many runs were tried, all of them.")
@options.confidence
@options.as_json
@options.as_one
def command(given: options.Given) -> int:
    """Is a claimed improvement after N attempts more than the best of N baseline runs would give?

    FILE holds runs of the baseline. The p-value is exact, and cannot fall below N / (runs + N).

    Exit code: 0 if the claim is more than luck at the confidence, 1 if the data do not allow to say so, 2 for wrong
    usage. With --failed both it must be so under both policies.
    """
    from levelbest.errors import InputError
    from levelbest.report.words.phrases import counted
    from levelbest.stats import claim_gate

    as_json = given["as_json"]
    trials = options.load_trials(given, quiet=as_json)
    if given["baseline"] is not None:
        trials = trials[given["baseline"]]
    elif len(trials.families) > 1:
        raise InputError(
            f"the gate needs the runs of one baseline, and here are {', '.join(trials.families)}; choose by --baseline"
        )
    trials.refuse_tasks()
    family, metric, chosen = trials.families[0], trials.metric, (given["claimed"], given["attempts"])
    gates, documents = [], []
    for failed in options.policies_of(given):
        scores = trials.scores(failed, missing=given["missing"])
        gate = claim_gate(
            scores.curve_of,
            *chosen,
            direction=metric.direction,
            bounds=metric.bounds,
            confidence=given["confidence"],
        )
        gates.append(gate)
        documents.append(gate.to_dict() | {"family": family, "n_failed": scores.n_failed, "failed": failed})
        if not as_json:
            click.echo(f"{family}: {gate}")
            if scores.n_failed:
                note = f"note: {scores.n_failed} baseline runs failed and are {counted(failed)}"
                click.echo(note, err=True)
    if as_json:
        warnings = {"warnings": [caution.to_dict() for caution in trials.cautions]}
        options.echo_json(documents[0] | warnings, *documents[1:])
    return 0 if all(gate.passed for gate in gates) else 1
