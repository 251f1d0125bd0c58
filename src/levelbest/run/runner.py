"""Runs a study: opens or creates its ledger, checks that it is the same study, and continues where it stopped."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import levelbest
from levelbest._check import as_choice
from levelbest._ledger.chain import Counts, Reason
from levelbest.errors import InputError, named
from levelbest.run import handover
from levelbest.run.attempt import search_path
from levelbest.run.engines import Engine, Job, open_engine
from levelbest.run.environment import capture_environment
from levelbest.run.ledger import Entry, Ledger, logs_folder, reason_lines
from levelbest.run.lock import check_platform, hold_file, hold_ledger
from levelbest.run.reconcile import reconcile
from levelbest.run.session import Reporter, Session
from levelbest.run.standing import FIRST, LiveStanding
from levelbest.run.study import Resources, Study
from levelbest.run.view import LedgerView

if TYPE_CHECKING:
    from levelbest.trials import Trials


@dataclass(frozen=True)
class Run:
    """The result of a session: the ledger, its head, and the progress of each family."""

    ledger: Path
    head: str
    families: tuple[Counts, ...]
    finished: bool
    reasons: tuple[Reason, ...] = ()
    """Why trials failed or diverged, most frequent first: the reason, how many trials, and of which families."""
    decided: bool = False
    """Whether it stopped before its plan was done because its families were decided."""

    @property
    def saved(self) -> float:
        """The share of the planned trials that have not been run."""
        planned = sum(counts.n_planned for counts in self.families)
        return 1 - sum(counts.n_trials for counts in self.families) / planned if planned else 0.0

    @property
    def all_failed(self) -> bool:
        """Whether trials ended, and not one of them with a score."""
        ended = sum(counts.n_trials for counts in self.families)
        return ended > 0 and ended == sum(counts.n_failed for counts in self.families)

    def why_failed(self, most: int = 5) -> list[str]:
        """One line for each of the most frequent reasons; empty where nothing failed."""
        return reason_lines(self.reasons, most)

    def trials(self) -> Trials:
        """The table of trials, for curves and comparisons."""
        from levelbest.readers import read_trials

        table: Trials = read_trials(self.ledger)
        return table

    def __str__(self) -> str:
        parts = [
            f"{name}: {finished} of {planned} trials{f', {failed} failed' if failed else ''}"
            for name, planned, finished, failed in self.families
        ]
        end = "finished" if self.finished else "stopped; the same command continues"
        if self.decided:
            end = f"decided; {100 * self.saved:.0f} % of the planned trials were not needed"
        return f"{'; '.join(parts)} ({end}). Ledger {self.ledger.name}.\nhead {self.head}"

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {
            "ledger": self.ledger.name,
            "head": self.head,
            "finished": self.finished,
            "decided": self.decided,
            "saved": self.saved,
            "families": [counts._asdict() for counts in self.families],
            "reasons": [
                {"reason": reason, "n_trials": count, "families": list(of)} for reason, count, of in self.reasons
            ],
        }


def run_study(
    study: Study,
    ledger: str | Path,
    *,
    engine: str | None = None,
    workers: int | None = None,
    new_family: Sequence[str] = (),
    redo: Sequence[str] = (),
    stop_when: str | None = None,
    reporter: Reporter | None = None,
) -> Run:
    """Run or continue a study until every planned trial is finished or someone stops it.

    Parameters
    ----------
    study
        As of `read_study`.
    ledger
        The file that everything is recorded in; where it is there, the study goes on.
    engine, workers
        Where trials run, and how many at once; default: as the study says.
    new_family
        Names of families that are new since the ledger began, and not old ones renamed.
    redo
        Families that begin again, under a new name and with new configurations; what was run of them stays.
    stop_when
        ``decided``: no further trial starts once, of every two families, one is ahead at the study's headline budget,
        by limits that hold at every look; None: the whole plan is run.
    reporter
        Who is told how far it is.

    Returns
    -------
    Run
        What was run, what failed, and the trials.

    Examples
    --------
    >>> done = run_study(read_study("study.yaml"), "study.db", workers=2)                    # doctest: +SKIP
    >>> done.trials().to_frame()                                                             # doctest: +SKIP
    """
    _stop_where_defined()
    check_platform()
    path = Path(ledger)
    reporter = reporter or Reporter()
    name = engine or study.engine
    _check_commands(study)
    for option, given, what in (("new_family", new_family, "changed after it began"), ("redo", redo, "has begun")):
        if given and not path.exists():
            raise InputError(f"{named(option)} is for a study that {what}, and there is no {path.name} yet")
    with hold_ledger(path), contextlib.ExitStack() as stack:
        opened = None
        if path.exists():
            opened = _open(stack, path)
            reconcile(study, opened, new_family, redo)  # refuse before anything starts
        chosen = open_engine(name, _job(study, path, workers))
        stack.callback(chosen.stop)
        if opened is None:
            Ledger.create(path, _first(study)).close()
            opened = _open(stack, path)
        numbers, entries = reconcile(study, opened, new_family, redo)
        opened.append([*entries, *_session(study, opened, chosen, name)])
        session = Session(study, numbers, opened, chosen, reporter)
        session.decided = _decided(opened, study, stop_when)
        reporter.begin(opened, study.judge)
        stack.callback(reporter.end)
        finished = session.run()
        early = session.stopped_early and not finished
        return Run(path, opened.chain.head, opened.chain.counts, finished, opened.chain.reasons, early)


def _decided(ledger: Ledger, study: Study, stop_when: str | None) -> Callable[[], bool] | None:
    """What says after every end whether the families are decided; None where nothing is to stop the session."""
    if stop_when is None:
        return None
    as_choice(stop_when, ("decided",), named("stop_when"))
    headline, judge = ledger.chain.study.get("headline"), study.judge
    if headline is None or judge.selection is None or judge.direction is None or len(study.families) < 2:
        raise InputError(
            f"{named('stop_when')} decided needs two families, their selection score with its direction, and the "
            "budget to decide at, registered before the first trial: headline: 5 in the study"
        )
    if min(family.n_trials for family in study.families) < FIRST:
        raise InputError(f"{named('stop_when')} decided needs plans of at least {FIRST} trials, its first look")
    standing = LiveStanding(ledger.chain, judge, headline)
    return lambda: standing.decided(headline)


def _open(stack: contextlib.ExitStack, path: Path) -> Ledger:
    if path.is_file():  # what is no ledger is the ledger's to refuse
        stack.enter_context(hold_file(path))
    return stack.enter_context(Ledger(path))


def run_trials(
    objective: Callable[..., object] | str | Sequence[str],
    space: Mapping[str, object],
    *,
    n_trials: int = 50,
    family: str = "trials",
    ledger: str | Path = "study.db",
    seed: int | None = None,
    seeds: int = 1,
    selection: str | None = None,
    reported: str | None = None,
    direction: str | None = None,
    bounds: object = None,
    cost: str | Mapping[str, object] | None = None,
    headline: int | None = None,
    engine: str = "local",
    workers: int | None = None,
    time_limit: float | str | None = None,
    retries: int = 3,
    resources: Mapping[str, object] | None = None,
    redo: bool = False,
    progress: bool | None = None,
) -> Run:
    """Random search: draw ``n_trials`` configurations from ``space``, run ``objective(config, seed)`` on each.

    Called again with the same ledger it continues where it stopped, with a larger ``n_trials`` it adds trials, and with
    another ``family`` it adds a family. Every entry of a study file is a parameter.

    Parameters
    ----------
    objective
        A function that returns a number or a dict of scores (or yields them as it trains), the name of one
        (``module:name``), or a command template.
    space
        How each parameter is drawn, in the words of a study file; SciPy's frozen distributions and lists too.
    n_trials, seeds
        Trials in all, and how many of them share a configuration.
    family, ledger
        What the trials are called, and the file that keeps them.
    seed, selection, reported, direction, bounds, cost, headline
        As in a study file; what is left out is as the ledger has it. They are many because they are one study's
        entries, each known by its own name.
    engine, workers, resources, time_limit, retries
        Where trials run, how many at once, what each needs and may take, and how often one that is killed runs again.
    redo
        Whether the family begins again, under a new name; what was run of it stays in the ledger.
    progress
        True draws bars, False says nothing; by default bars on a terminal and lines elsewhere.

    Returns
    -------
    Run
        Where the ledger is, its head, and how far each family is; ``trials()`` is the table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> ledger = Path(tempfile.mkdtemp()) / "study.db"
    >>> space = {"x": {"uniform": [0, 1]}}
    >>> done = run_trials(lambda config, seed: config["x"], space, n_trials=4, ledger=ledger, progress=False)
    >>> done.families[0], done.finished
    (Counts(family='trials', n_planned=4, n_trials=4, n_failed=0), True)
    """
    _stop_where_defined()
    check_platform()
    path = Path(ledger)
    with LedgerView(path) if path.exists() else contextlib.nullcontext() as view:
        kept = view.study if view else None
    metric_before: Mapping[str, object] = kept["metric"] if kept else {}
    judged = {"selection": selection, "reported": reported, "direction": direction, "bounds": bounds}
    metric = {key: metric_before.get(key) if value is None else value for key, value in judged.items()}
    if cost is None:
        cost = {**kept["cost"]} if kept else {}
    given: dict[str, object] = {
        "seed": (kept["seed"] if kept else 0) if seed is None else seed,
        "cost": {"of": cost} if isinstance(cost, str) else cost,
        "headline": kept.get("headline") if kept and headline is None else headline,
        "families": {
            family: {
                ("function" if callable(objective) or _is_name(objective) else "command"): objective,
                "space": space,
                "n_trials": n_trials,
                "seeds": seeds,
                "time_limit": time_limit,
                "retries": retries,
                "resources": resources or {},
            }
        },
    }
    study = Study.from_dict(given, folder=Path.cwd(), name=path.stem, metric=metric)
    reporter = None
    if progress is not False:
        from levelbest.run.progress import reporter_for

        reporter = reporter_for("auto" if progress is None else "bar")
    return run_study(study, path, engine=engine, workers=workers, redo=(family,) if redo else (), reporter=reporter)


def _stop_where_defined() -> None:
    """A trial runs its script again up to here, for the functions that it defines."""
    if handover.defining:
        raise handover.Defined


def _is_name(objective: object) -> bool:
    return isinstance(objective, str) and re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", objective) is not None


def _first(study: Study) -> list[Entry]:
    body = {"name": study.name, **study.to_dict(), "levelbest": levelbest.__version__}
    return [Entry("study", body), Entry("environment", capture_environment(study.folder))]


def _session(study: Study, ledger: Ledger, engine: Engine, name: str) -> list[Entry]:
    """A session begins: what of the environment changed, and how this program was called, by its name alone."""
    entries, chain = [], ledger.chain
    if chain.n_sessions:
        now = capture_environment(study.folder)
        changed = {key: value for key, value in now.items() if chain.environment.get(key) != value}
        entries += [Entry("environment", changed)] if changed else []
    command = [os.path.basename(sys.argv[0]), *sys.argv[1:]] if sys.argv else []
    body = {"process": os.getpid(), "engine": name, "workers": engine.capacity, "command": command}
    return [*entries, Entry("session", body)]


def _job(study: Study, path: Path, workers: int | None) -> Job:
    functions = {
        f"family {family.name}": family.function
        for family in study.families
        if family.function is not None and not isinstance(family.function, str)
    }
    names = [family.function for family in study.families if isinstance(family.function, str)]
    resources = [family.resources for family in study.families]
    cpus = [needs.cpus for needs in resources if needs.cpus is not None]
    memory = [needs.memory for needs in resources if needs.memory is not None]
    limits = [family.time_limit for family in study.families]
    return Job(
        folder=study.folder.resolve(),
        logs=logs_folder(path.resolve()),
        functions=functions,
        names=tuple(dict.fromkeys(names)),
        workers=study.workers if workers is None else workers,
        resources=Resources(max(cpus, default=None), max(needs.gpus for needs in resources), max(memory, default=None)),
        time=None if None in limits else max(limit for limit in limits if limit is not None),
    )


def _check_commands(study: Study) -> None:
    """A program that does not exist is a mistake in the study, not fifty failed trials."""
    for family in study.families:
        program = family.command.arguments[0] if family.command else ""
        if not program or "{" in program:
            continue
        where = study.folder / program if os.path.dirname(program) else program
        if shutil.which(where, path=search_path(family.env.get("PATH"))) is None:
            raise InputError(
                f"family {family.name}: there is no program {program!r} to run; give its path, or install it where "
                "PATH finds it"
            )
