"""``levelbest claim``: is a claimed improvement more than luck, and more than a larger search?"""

from __future__ import annotations

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.errors import InputError

_NUMBERS = {"mean": "mean", "sd": "sd", "se": "se", "runs": "n", "tuned": "tuned"}
"""Options that give summary numbers, and the columns that they are."""


@click.command("claim", cls=Verb)
@click.argument("files", nargs=-1, metavar="[SUMMARY... | FILE...]")
@click.option(
    "--claimed", type=float, metavar="SCORE", help="The score claimed: the best of --attempts; FILE has baseline runs."
)
@click.option("--attempts", type=int, metavar="N", help="How many runs were tried, all of them.")
@click.option("--baseline", metavar="NAME", help="The name of the baseline; default: the first, or the only family.")
@click.option("--plus-minus", type=click.Choice(["sd", "se"]), help="What ± denotes; default: both readings.")
@click.option("--mean", nargs=2, type=float, metavar="A B", help="Summary numbers: the means of baseline and claim.")
@click.option("--sd", nargs=2, type=float, metavar="A B", help="Their standard deviations.")
@click.option("--se", nargs=2, type=float, metavar="A B", help="Standard errors, instead of --sd.")
@click.option("--runs", nargs=2, type=int, metavar="A B", help="The number of runs behind each mean, in a file too.")
@click.option("--tuned", nargs=2, type=int, metavar="A B", help="The number of trials each was tuned with.")
@click.option("--search-sd", type=float, help="Standard deviation of the trials of a search.  [default: of the runs]")
@click.option(
    "--noise", type=float, help="Standard deviation of the validation noise.  [default: none, and --search-sd]"
)
@options.confidence
@options.reading
@options.as_json
@options.as_one
def command(given: options.Given) -> int:
    """Is a claimed improvement more than luck, and more than a larger search?

    SUMMARY is a paper's result for one method, the baseline first: "base 76.3 ± 0.4 (5), tuned 10" "ours 77.0 ± 0.6
    (5), tuned 100", that is, the mean and the ± of 5 runs of the best of 10 or 100 trials; or a CSV file with a row for
    each and columns name, mean, sd (or se), n and tuned. The answer is Welch's interval, the part of the gain that the
    larger search explains under a stated assumption, and what would be needed to decide.

    With --claimed and --attempts, FILE contains runs of the baseline: is the claim, the best of N attempts, more than
    the best of N baseline runs would give? The p-value is exact, and cannot fall below N / (runs + N). Exit code: 0 if
    it is more than luck at this confidence, 1 if the data do not show it. With --failed both it must hold under both
    policies.
    """
    if given["claimed"] is None and given["attempts"] is None:
        return _summaries(given)
    return _attempts(given)


def _summaries(given: options.Given) -> int:
    from levelbest.designs.claim import claim

    source = list(given["files"])
    numbers = {column: given[option] for option, column in _NUMBERS.items() if given[option]}
    if numbers and not (source and numbers.keys() == {"n"}):  # --runs is of the means in a file too
        if source or not {"mean", "n"} <= numbers.keys() or not numbers.keys() & {"sd", "se"}:
            raise InputError(
                "summary numbers as options are --mean, --sd (or --se), --runs and --tuned, without a file"
            )
        source = [{"name": ["baseline", "claim"], **numbers}]
    keys = ("plus_minus", "search_sd", "noise", "direction", "confidence", "baseline", "runs")
    chosen = {key: given[key] for key in ("selection", "where") if given[key]}
    judged = claim(*source, **{key: given[key] for key in keys}, **chosen)
    if given["as_json"]:
        options.echo_json(judged.to_dict())
        return 0
    from levelbest.report.terminal.curves import print_claim
    from levelbest.results import Claim

    assert isinstance(judged, Claim)
    print_claim(judged)
    return 0


def _attempts(given: options.Given) -> int:
    from levelbest.designs.claim import claim
    from levelbest.report.terminal.console import console, print_text
    from levelbest.report.words.phrases import counted
    from levelbest.stats import Gate

    as_json = given["as_json"]
    if not given["files"]:
        raise InputError("--claimed needs FILE, with the runs of the baseline")
    trials = options.load_trials(given, quiet=as_json)
    keys = ("claimed", "attempts", "baseline", "confidence", "missing")
    gates, documents = [], []
    for failed in options.policies_of(given):
        gate = claim(trials, failed=failed, **{key: given[key] for key in keys})
        assert isinstance(gate, Gate)
        family = given["baseline"] or trials.families[0]
        lost = trials[family].scores(failed, missing=given["missing"]).n_failed
        gates.append(gate)
        documents.append(gate.to_dict() | {"family": family, "n_failed": lost, "failed": failed})
        if not as_json:
            print_text(f"{family}: {gate}", console())
            if lost:
                click.echo(f"note: {lost} baseline runs failed and are {counted(failed)}", err=True)
    if as_json:
        warnings = {"warnings": [caution.to_dict() for caution in trials.cautions]}
        options.echo_json(documents[0] | warnings, *documents[1:])
    return 0 if all(gate.passed for gate in gates) else 1
