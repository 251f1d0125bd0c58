"""Options that mean the same in every command, and the step from files to trials."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli import main
from levelbest.errors import InputError
from levelbest.stats.bands import interval_methods
from levelbest.trials import Settings, Trials

if TYPE_CHECKING:
    from levelbest.designs import Request, Table

Given = dict[str, Any]
"""What the command line says: the values of a command's options, each of its own type, by the names of parameters."""
Command = Callable[..., int | None]
Option = Callable[[Command], Command]


def as_one(function: Callable[[Given], int | None]) -> Command:
    """A command's function, which takes all its options as one object."""

    @functools.wraps(function)
    def command(**given: object) -> int | None:
        return function(given)

    return command


def _together(*options: Option) -> Option:
    """Several options as one, in this order."""

    def decorate(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _methods(serving: str) -> str:
    """The interval methods that serve it, as a list to choose from."""
    return ", ".join(interval_methods(serving))


budgets = click.option("--n", "n", callback=main.parsed_budgets, metavar="LIST", help="Budgets: 1,2,5 or 1-20.")
axis_of_budgets = click.option(
    "--axis",
    type=click.Choice(["trials", "cost"]),
    default="trials",
    show_default=True,
    help="What budgets count: trials, or what trials cost.",
)
axis = _together(
    axis_of_budgets,
    click.option(
        "--budget",
        callback=main.as_costs,
        metavar="LIST",
        help="Budgets of cost, in the unit of the cost column: 3600,7200.",
    ),
)
statistic = click.option(
    "--statistic",
    callback=main.parsed_statistic,
    metavar="mean|median|Q|all|majority",
    default="mean",
    show_default=True,
    help="A statistic of the best of n; over problems also all (of n succeed: pass^k) and majority (--answer votes: "
    "maj@k).",
)
confidence = click.option(
    "--confidence",
    type=float,
    default=Settings.confidence,
    show_default=True,
    help="Of intervals, bands and verdicts: 0.95, not 95.",
)
resamples = click.option(
    "--resamples",
    "n_resamples",
    type=click.IntRange(min=99),
    default=Settings.n_resamples,
    show_default=True,
    help="Random draws behind an interval.",
)
headline = click.option(
    "--headline",
    type=click.IntRange(min=1),
    metavar="N",
    help="The budget of interest: tested first, at full confidence. Default: the one registered in the ledger.",
)
about = click.option(
    "--about",
    type=click.Choice(["problems", "suite"]),
    default="problems",
    help="Other problems like these, or exactly these.",
)
details = click.option("--details", is_flag=True, help="Print everything, not only what fits one screen.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The random seed.")
workers = click.option("--workers", type=click.IntRange(min=1), help="Ray workers, or trials at once on the cost axis.")
design = _together(
    click.option("--baseline", metavar="NAME", help="Compare every other family with this one; default: all pairs."),
    click.option("--worth", type=float, metavar="D", help="The smallest difference that matters."),
    click.option(
        "--interval",
        metavar="METHOD",
        default="default",
        show_default=True,
        help=f"{_methods('differences')}; gaffke: intervals and verdicts that rest on --bounds alone.",
    ),
    click.option(
        "--paired/--unpaired",
        default=None,
        help="Require pairs (by equal seeds too), or ignore them; default: where all configurations or splits match.",
    ),
    confidence,
    resamples,
)
curve = _together(
    statistic,
    click.option(
        "--estimator",
        type=click.Choice(["u", "v", "naive", "gaussian"]),
        default="u",
        show_default=True,
        help="u is unbiased; the others are for comparison.",
    ),
    click.option(
        "--interval",
        metavar="METHOD",
        default="default",
        show_default=True,
        help=f"{_methods('curves')}; over problems {_methods('problems')}.",
    ),
    click.option("--simultaneous", is_flag=True, help="A band that covers all budgets at once."),
    confidence,
    budgets,
    resamples,
)

in_parts = _together(
    click.option("--memory", metavar="SIZE", help="Read Parquet samples of many problems in parts, within e.g. 4GB."),
    click.option(
        "--engine", type=click.Choice(["local", "ray"]), help="What reads them: this process, or Ray workers."
    ),
)


tasks = click.option(
    "--task-direction",
    "task_directions",
    multiple=True,
    callback=main.as_directions,
    metavar="TASK=max|min",
    help="The direction of a task that differs from --direction.",
)


published = click.option(
    "--published",
    multiple=True,
    callback=main.as_published,
    metavar="NAME=SCORE",
    help="A published score, drawn dashed; in a family's colour where NAME is its name. With --task: TASK/NAME=SCORE.",
)

log = click.option(
    "--log/--linear", default=None, help="Show budgets on a log scale; default: for long curves, and over cost."
)


reading = _together(
    click.option("--family", metavar="COL[,COL]", help="The column that distinguishes families."),
    click.option("--selection", metavar="COL", help="The score that picks the winner (validation)."),
    click.option("--reported", metavar="COL", help="The score reported for the winner (test)."),
    click.option("--cost", metavar="COL", help="The cost of a trial: seconds, GPU hours, dollars."),
    click.option("--task", metavar="COL", help="Tasks or data sets: each separately, and all together."),
    click.option("--group", metavar="COL", help="The problem that a sample belongs to."),
    click.option("--weight", metavar="COL", help="The weight of each problem in averages over problems."),
    click.option("--stratum", metavar="COL", help="Strata of the problems: difficulty, source."),
    click.option("--cluster", metavar="COL", help="Clusters of problems (repositories, passages)."),
    click.option("--success", metavar="EXPR", help='Graded scores: ">= 0.8" counts as 1, all others as 0.'),
    click.option("--answer", metavar="COL", help="The answer of each sample, for --statistic majority (maj@k)."),
    click.option("--rate", metavar="KIND=PRICE", help="Dollars per million tokens: input=3,output=15,cached=0.3."),
    click.option("--judge", metavar="COL", help="A judge's score of every sample; with --label COL, labels of some."),
    click.option("--trial", metavar="COL", help="Rows of one run; its best checkpoint is chosen by selection."),
    click.option(
        "--tied", type=click.Choice(["first", "last"]), default="first", help="Which of tied best checkpoints counts."
    ),
    click.option("--search", metavar="COL", help="Repeated searches: the unit is the whole search."),
    click.option("--seed-column", metavar="COL", help="The column that holds the trials' seeds."),
    click.option("--configuration", metavar="COL[,COL]", help="The columns of settings; by default all that may be."),
    click.option("--status", metavar="COL", help="The column that says how a trial ended."),
    click.option("--where", metavar="EXPR", help='Keep only rows for which this holds, e.g. "epoch > 0".'),
    click.option(
        "--map", "map", multiple=True, metavar="NAME=COL,COL", help="Columns to merge: acc=accuracy,test_acc."
    ),
    click.option(
        "--label",
        multiple=True,
        callback=main.as_label,
        metavar="COL=TEXT",
        help="COL=TEXT: a display name for a score or cost. With --judge, COL alone: the column of labels.",
    ),
    click.option(
        "--name", multiple=True, callback=main.as_names, metavar="FAMILY=TEXT", help="The name to show for a family."
    ),
    click.option("--direction", type=click.Choice(["max", "min"]), help="Whether higher or lower is better."),
    click.option("--selection-direction", type=click.Choice(["max", "min"]), help="The same for the selection score."),
    click.option("--bounds", type=float, nargs=2, metavar="A B", help="The lowest and highest possible score."),
    click.option("--reader", metavar="NAME", help="The format, where it is not recognised."),
    click.option(
        "--reader-option",
        "reader_options",
        multiple=True,
        callback=main.as_pairs,
        metavar="KEY=VALUE",
        help="Passed to the reader, e.g. study=cnn, experiment=NAME, metrics=results.json, history=yes.",
    ),
    click.option("--wide", metavar="PATTERN", help='Columns that hold one sample each, e.g. "s*".'),
    click.option("--spaces", metavar="STUDY", help="The study file that drew the trials, for its search spaces."),
    click.option(
        "--failed",
        type=click.Choice(["worst", "drop", "both"]),
        default="worst",
        show_default=True,
        help="How failed trials count.",
    ),
    click.option(
        "--missing-reported",
        "missing",
        type=click.Choice(["refuse", "drop", "worst", "selection"]),
        default="refuse",
        show_default=True,
        help="How a trial without a reported score counts.",
    ),
)
"""How to read trials from files."""
data = _together(click.argument("files", nargs=-1, required=True, metavar="FILE..."), reading)
"""FILES, and how to read trials from them."""
_NOT_OF_READING = ("files", "reader_options", "failed", "missing", "rate")
READING = tuple(
    option.name or "" for option in click.command()(data(lambda: None)).params if option.name not in _NOT_OF_READING
)
"""Those of them that `read_trials` takes, by the same names."""


def load_trials(given: Given, *, quiet: bool = True, keep: bool = False) -> Trials:
    """Read the trials the options name; unless ``quiet``, say on standard error what was chosen and what was skipped.

    Commands that print warnings say it there. ``keep``: with the columns that play no part.
    """
    from levelbest.readers import read_trials  # type: ignore[attr-defined,unused-ignore]

    files, for_reader = given["files"], given["reader_options"]
    reading = {key: given[key] for key in READING if given[key] not in (None, ())}
    if given["rate"]:
        reading["cost"] = _cost_of(given)
    if given["spaces"]:
        reading["spaces"] = declared_spaces(given["spaces"])
    clash = next((key for key in for_reader if key in reading), None)
    if clash:
        raise InputError(f"--reader-option {clash}= is a separate option: give --{clash.replace('_', '-')}")
    trials: Trials = read_trials(files if len(files) > 1 else files[0], **reading, **for_reader, keep=keep)
    for caution in () if quiet else trials.cautions:
        if caution.code in ("guessed-columns", "converted-numbers", "skipped-rows"):
            main.say(f"chosen {caution}")
    return trials


def _cost_of(given: Given) -> str | dict[str, float] | None:
    """The column of costs, or the prices of tokens."""
    from levelbest.readers.steps.priced import as_rates

    if not given["rate"]:
        return given["cost"]  # type: ignore[no-any-return]
    if given["cost"]:
        raise InputError("a cost is read from its column (--cost) or computed from tokens (--rate): give one")
    return as_rates(given["rate"])


def declared_spaces(study: str | Path) -> dict[str, object]:
    """The space of each family of a study file."""
    from levelbest.run.study_file import read_study

    return {family.name: family.space for family in read_study(study).families}


def load_table(given: Given) -> Table:
    """The trials, or samples of problems that stay in their files where the options say so."""
    if not given["memory"] and not given["engine"]:
        return load_trials(given)
    from levelbest.readers.parts import read_in_parts

    for name in ("group", "selection", "direction"):
        if not given[name]:
            raise InputError(f"samples that are read in parts need --{name}; it is not guessed for them")
    keys = ("family", "selection", "reported", "group", "weight", "stratum", "cluster", "where", "direction", "answer")
    served = {*keys, "cost", "trial", "seed_column", "bounds", "tied"}  # no checkpoints, so that none are tied
    for name in (*READING, "reader_options"):
        if given[name] and name not in served:
            option = name.replace("_", "-").removesuffix("s" * (name == "reader_options"))
            raise InputError(f"samples that are read in parts have no --{option}; leave it out, or leave out --memory")
    return read_in_parts(
        given["files"],
        **{key: given[key] for key in keys},
        cost=_cost_of(given),
        sample=given["trial"] or given["seed_column"],
        bounds=given["bounds"] or None,
        memory=given["memory"] or "4GB",
        engine=given["engine"] or "local",
        workers=given["workers"] or 2,
    )


def load_tables(given: Given) -> Mapping[str, Table]:
    """A table for each task that the options name; without tasks one, of no name."""
    table = load_table(given)
    if not isinstance(table, Trials) or table.task is None:
        if given["task_directions"]:
            raise InputError("--task-direction is for tasks; name their column with --task")
        return {"": table}
    from levelbest.designs.tasks import split_tasks

    return split_tasks(table, given["task_directions"])


def policies_of(given: Given) -> tuple[str, ...]:
    """The failure policies asked for."""
    return ("worst", "drop") if given["failed"] == "both" else (given["failed"],)


def request_of(given: Given, failed: str) -> Request:
    """What the options ask of the trials, under one failure policy."""
    from levelbest.designs import Request

    asking = {field.name for field in fields(Request)} - {"settings", "workers"}
    settings = Settings(given["confidence"], failed, given["missing"], given["n_resamples"], given["seed"])
    chosen = {name: value for name, value in given.items() if name in asking}
    return Request.of(**chosen, workers=given["workers"] or 1, settings=settings)


def echo_json(document: Mapping[str, object], other: Mapping[str, object] | None = None) -> None:
    """One JSON document on standard output, with that of the other failure policy within it."""
    from levelbest._plain import dump_json

    click.echo(dump_json({**document} if other is None else {**document, "other_failure_policy": other}))
