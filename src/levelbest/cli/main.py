"""The ``levelbest`` command, and progress on standard error where that is a terminal.

A command's module is imported only when that command runs.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import shlex
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import click

from levelbest import __version__
from levelbest._cores import TICKER
from levelbest.errors import Ambiguous, InputError, LevelbestError, naming

_PATIENCE = 1.0
"""Seconds before anything is shown."""
FILES, OPTIONS = "levelbest.files", "levelbest.options"
"""Where a command that takes no files says which ones it reads, and how."""

# name -> one line of help; each lives in levelbest.cli.<name> as ``command``
COMMANDS: dict[str, str] = {
    "demo": "A full tour, on shipped results.",
    "report": "Verdict, figures, page, tables, checklist in one go.",
    "describe": "Score distributions, failures, is it a random sample?",
    "curve": "The expected best score against the budget.",
    "compare": "Which family is better, at which budgets.",
    "reach": "The budget needed to reach a score, with an interval.",
    "plan": "How many more trials or problems it takes to decide.",
    "gate": "CI check: pass, regressed or inconclusive.",
    "claim": "Is a claimed gain more than luck and a larger search?",
    "audit": "Judge a finished keep/discard log: which keeps survive?",
    "loop": "Keep only real improvements in a research loop.",
    "run": "Random search and seeds from a study file.",
    "serve": "A live page of a study, while it runs and after.",
    "verify": "Check that nothing in a ledger was deleted or edited.",
    "simulate": "Bias and coverage on a known distribution.",
    "checklist": "The reporting checklist, filled in from the data.",
    "convert": "Results of any tool as one tidy table of trials.",
}


JOBS: dict[str, tuple[str, ...]] = {
    "look": ("demo", "describe", "curve", "compare", "report", "reach"),
    "decide": ("plan", "gate", "claim", "loop", "audit"),
    "run": ("run", "serve", "verify"),
    "tools": ("simulate", "checklist", "convert"),
}
"""The commands by job, as ``levelbest --help`` lists them; one that is in none is among the tools."""

_FLAGS = {
    "kind": "--to",
    "metrics": "--reader-option metrics",
    "rng": "--seed",
    "seed": "--seed-column",
    "missing": "--missing-reported",
    "n_resamples": "--resamples",
}
"""Arguments whose flag is not their name."""


def _flag(argument: str, value: object = None) -> str:
    flag = _FLAGS.get(argument, f"--{argument.replace('_', '-')}")
    return flag if value is None else f"{flag} {_in_quotes(str(value))}"


def _in_quotes(text: str) -> str:
    """A word as the shell takes it, in double quotes if it has single ones."""
    if "'" not in text or "!" in text:
        return shlex.quote(text)
    return '"' + re.sub(r'(["$`\\])', r"\\\1", text) + '"'


_COMMANDS_OF_VERBS = {"plan_trials": "plan", "write_report": "report"}
"""Verbs whose command is not their name."""
_OF_THE_OUTPUT = (
    "files",
    "as_json",
    "out",
    "pairs",
    "p_values",
    "log",
    "published",
    "force",
    "title",
    "figures",
    "paper",
)
"""Options that say what to do with the answer, and not what is asked."""


def _command(verb: str, arguments: dict[str, object]) -> str:
    """The command with the files of the one that runs and all its options that it takes; no path of a machine."""
    name = _COMMANDS_OF_VERBS.get(verb, verb)
    words = ["levelbest", name]
    context = click.get_current_context(silent=True)
    if context is None:
        return shlex.join([*words, *(word for key, value in arguments.items() for word in _option(key, value))])
    words += [_near(str(file)) for file in context.params.get("files", context.meta.get(FILES, ()))]
    command = cli.get_command(context, name)
    taken = {param.name for param in command.params} if command is not None else set()
    given = {
        key: value
        for key, value in context.params.items()
        if key in taken - {*_OF_THE_OUTPUT}
        and context.get_parameter_source(key) is click.core.ParameterSource.COMMANDLINE
    }
    settings = context.meta.get(OPTIONS, {}) | given | arguments
    return shlex.join([*words, *(word for key, value in settings.items() for word in _option(key, value))])


def _option(name: str, value: object) -> list[str]:
    """An option as it is written, with its value."""
    flag = {"seed": "--seed", "reader_options": "--reader-option", "task_directions": "--task-direction"}.get(name)
    flag = flag or _flag(name)
    if isinstance(value, dict):
        return [word for key, each in value.items() for word in (flag, f"{key}={each}")]
    if isinstance(value, bool):
        return [flag] if value else ["--unpaired"] * (name == "paired")
    if name == "spaces":
        value = _near(str(value))
    if name in ("n", "budget") and isinstance(value, tuple):
        value = ",".join(f"{budget:g}" for budget in value)
    several = value if isinstance(value, (list, tuple)) else [value]
    return [flag, *(f"{part:.12g}" if isinstance(part, float) else f"{part}" for part in several)]


def _near(name: str) -> str:
    """A path as seen from here; a file elsewhere by its name alone."""
    path = Path(name)
    if not path.is_absolute():
        return name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"levelbest.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from levelbest._check import nearest_first

            near = nearest_first(args[0], list(COMMANDS))
            hint = " (a file goes after a command: levelbest describe FILE)" if Path(args[0]).exists() else ""
            raise click.UsageError(f"there is no command {args[0]!r}; {near}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The commands by job, a line each, and the two options that there are."""
        known = [name for names in JOBS.values() for name in names]
        jobs = JOBS | {"tools": (*JOBS["tools"], *(name for name in COMMANDS if name not in known))}
        formatter.write_paragraph()
        for job, names in jobs.items():
            there = [name for name in names if name in COMMANDS]
            for i, name in enumerate(there):
                formatter.write(f"  {'' if i else job:<8}{name:<11}{COMMANDS[name]}\n")
        formatter.write("\n  Options: -h, --help and --version. levelbest COMMAND --help has those of each.\n")


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="levelbest")
def cli() -> None:
    """Compare models at the budget you really have, with error bars that hold."""


def main(args: list[str] | None = None) -> int:
    """Run the command line. 0: done; 1: the data do not allow it; 2: wrong usage; 130: interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal's encoding lacks is spelled out
            stream.reconfigure(errors="backslashreplace")
    try:
        with naming(_flag, _command):
            code = cli.main(args=args, prog_name="levelbest", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"))
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return tell("stopped", 130)
    except LevelbestError as error:
        wrong_usage = isinstance(error, InputError) and not isinstance(error, Ambiguous)
        return tell(str(error), 2 if wrong_usage else 1)
    except SystemExit as stop:
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        _let_go_of_output()  # click and rich leave with 1 where their reader went away
        return 0
    except BrokenPipeError:
        _let_go_of_output()  # its reader went away (a pager, head)
        return 0
    except OSError as error:
        _let_go_of_output()
        return tell(f"{error.filename or 'what is printed'} cannot be read or written: {error.strerror or error}", 1)
    except MemoryError:
        return tell("there is not enough memory for this", 1)


def tell(sentence: str, code: int) -> int:
    """Say it on standard error; the code of the process is handed back."""
    with contextlib.suppress(OSError):
        say(f"levelbest: {sentence}")
    return code


def say(text: str) -> None:
    """Lines on standard error, wrapped at spaces if that is a terminal."""
    wide = min(shutil.get_terminal_size().columns, 100) if sys.stderr.isatty() else 0
    for line in text.splitlines():
        folded = textwrap.wrap(line, wide, break_on_hyphens=False, break_long_words=False) if wide else []
        print("\n".join(folded or [line]), file=sys.stderr)


def _let_go_of_output() -> None:
    """Point standard output elsewhere, so that nothing is tried again when the process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function of (done, total) that draws the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say what is being done, and for how long, once it has taken more than a second; the line is gone at the end."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    shown = threading.Thread(target=_tick, args=(what, over), daemon=True, name=TICKER)
    shown.start()
    try:
        yield
    finally:
        over.set()
        shown.join()


def _tick(what: str, over: threading.Event) -> None:
    begun = monotonic()
    if over.wait(_PATIENCE):
        return
    while True:
        print(f"\r{what} ... {monotonic() - begun:.0f} s\x1b[K", end="", file=sys.stderr, flush=True)
        if over.wait(_PATIENCE):
            break
    print("\r\x1b[2K", end="", file=sys.stderr, flush=True)  # the whole line, and nothing else


# ---- what options hold, read from what was typed


def parsed_budgets(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """``1,2,5``, ``1-20`` or a mix of both."""
    if value is None:
        return None
    from levelbest._check import no_such_budget

    budgets: set[int] = set()
    try:
        for part in value.replace(" ", "").split(","):
            first, _, last = part.partition("-" if "-" in part[1:] else ":")
            budgets.update(range(int(first), int(last or first) + 1))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of budgets; {no_such_budget(value)}", ctx, param) from None
    if not budgets or min(budgets) < 1:
        raise click.BadParameter(f"a budget is at least 1 trial, got {value!r}", ctx, param)
    return tuple(sorted(budgets))


def parsed_statistic(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """``mean``, ``median``, a quantile or a registered statistic."""
    if value in ("mean", "median", "all", "majority"):
        return value
    from levelbest.stats.best import statistic_named

    try:
        return statistic_named(value).name
    except InputError:
        message = f"{value!r} is neither mean, median, all, majority nor a quantile between 0 and 1"
        raise click.BadParameter(message, ctx, param) from None


def as_costs(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    """``3600,7200``: numbers in the unit of the cost column."""
    if value is None:
        return None
    try:
        levels = tuple(sorted(float(part) for part in value.split(",")))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of costs; write 3600,7200", ctx, param) from None
    if levels[0] <= 0:
        raise click.BadParameter(f"a budget of cost is more than 0, got {value!r}", ctx, param)
    return levels


def as_directions(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    directions = {}
    for given in value:
        task, _, direction = given.rpartition("=")
        if not task or direction not in ("max", "min"):
            raise click.BadParameter(f"{given!r} is not a task and its direction; write perplexity=min", ctx, param)
        directions[task] = direction
    return directions


def as_published(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    """Name -> score."""
    scores = {}
    for text in given:
        name, _, score = text.rpartition("=")
        try:
            scores[name.strip()] = float(score)
        except ValueError:
            raise InputError(f"a published score is NAME=SCORE, such as 'Smith 2019=0.92', got {text!r}") from None
        if not name.strip():
            raise InputError(f"a published score needs a name: NAME=SCORE, got {text!r}")
    return scores


def as_pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """``KEY=VALUE``, as often as needed."""
    for pair in value:
        if "=" not in pair:
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE, e.g. study=cnn", ctx, param)
    return dict(pair.split("=", 1) for pair in value)


def as_names(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """``FAMILY=TEXT``; a family named after its column has an equals sign of its own: ``mixup = True=Mixup``."""
    families: dict[str, str] = {}
    for given in value:
        known = re.fullmatch(r"(.+ = [^=]+)=(.*)", given)
        families |= {known[1]: known[2]} if known else as_pairs(ctx, param, (given,))
    return families


def as_label(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | dict[str, str]:
    """The column of labels, or what columns are called."""
    bare = [text for text in value if "=" not in text]
    if bare and len(value) > 1:
        raise click.BadParameter(
            f"{bare[0]!r} alone is the column of labels (with --judge), and then the only --label; what columns are "
            "called is COL=TEXT",
            ctx,
            param,
        )
    return bare[0] if bare else as_pairs(ctx, param, value)


if __name__ == "__main__":
    sys.exit(main())
