"""Hydra's job folders: the configuration from .hydra, the scores from a metrics file that the program wrote.

Hydra records neither a score nor a duration: the user names the file with ``metrics``, or one of the usual names is
found. A job without that file did not finish and is a failed trial.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from levelbest.errors import InputError, named
from levelbest.readers.formats._rows import runs_table
from levelbest.readers.formats._searches import alike, search_family, together
from levelbest.readers.formats._tree import Tree, distinct_names, in_order, tool
from levelbest.readers.raw import RawTable, Reader

__all__ = ["READERS"]

_STEMS = ("metrics", "results", "result", "scores", "metric_dict", "eval", "summary")
_ENDINGS = (".json", ".jsonl", ".yaml", ".yml", ".csv")
_USUAL = [f"{stem}{ending}" for stem in _STEMS for ending in _ENDINGS]
_CONFIG = ".hydra/config.yaml"
_JOB_NAME = re.compile(r"^  job:\n(?:    .*\n)*?    name: (.+)$", re.MULTILINE)
_JOB_NUMBER = re.compile(r"(?:^|/)(\d{1,15})$")
_SWEEPER = re.compile(r"^  sweeper:\n(?:    .*\n)*", re.MULTILINE)


def _tool(files: Callable[[str], bool]) -> Reader:
    about = "Hydra multirun or output folder, with a metrics file in each job"
    what = f"Hydra job: no folder with {_CONFIG}"
    return tool("hydra", about, _tables, what, files=files, known=lambda name: name.endswith(_CONFIG))


def _read(path: Path, *, metrics: str | None = None) -> list[RawTable]:
    """The files of a folder cost nothing before they are opened; those of an archive are all read at once."""

    def wanted(name: str) -> bool:
        if path.is_dir() or "/.hydra/" in f"/{name}" or name.endswith(_ENDINGS):
            return True
        return metrics is not None and fnmatchcase(PurePosixPath(name).name, PurePosixPath(metrics).name)

    return _tool(wanted).read(path, metrics=metrics)


def _tables(tree: Tree, *, metrics: str | None = None) -> list[RawTable]:
    """One table per sweep, one row per job, or per step where the metrics file is a log.

    ``metrics`` is the file's name inside a job's folder, e.g. ``results.json`` or ``logs/*/metrics.csv``.
    """
    jobs = [name[: -len(_CONFIG)].rstrip("/") for name in tree.files if name.endswith(_CONFIG)]
    metrics, chosen = _chosen_files(tree, jobs, metrics)
    sweeps: dict[str, list[str]] = {}
    for job in jobs:
        sweeps.setdefault(str(PurePosixPath(job).parent) if job else "", []).append(job)
    names, programs, tables = distinct_names(sweeps, tree.name), set(), []
    for sweep, sweep_jobs in sweeps.items():
        program, sampler = _hydra(tree, sweep_jobs[0])
        programs.add(program)
        family = program if program and len(sweeps) == 1 else names[sweep]
        runs = [
            tree.run(family, job, _CONFIG, chosen[job] or "", under="config")
            for job in in_order(sweep_jobs, _JOB_NUMBER)
        ]
        facts = {"metrics": str(metrics)} | ({f"sampler:{family}": sampler} if sampler and len(sweep_jobs) > 1 else {})
        source, steps = PurePosixPath(sweep).name or tree.name, any(len(run.logged) > 1 for run in runs)
        tables.append(runs_table(source, runs, "sweep", "job", "Hydra job folders", steps=steps, facts=facts))
    _join_searches(tree, list(sweeps), programs, tables)
    begun = {folder.removesuffix(".hydra").rstrip("/") for folder in tree.folders if folder.split("/")[-1] == ".hydra"}
    for job in sorted(begun - set(jobs)):
        tree.skip(job or tree.name, f"a job without its {_CONFIG}")
    return tables


def _chosen_files(tree: Tree, jobs: list[str], metrics: str | None) -> tuple[str | None, dict[str, str | None]]:
    """The name of the metrics file, the commonest usual one where none is given; and the file of each job."""
    inside = _files_of(tree, jobs)
    chosen = {job: _metrics_file(files, metrics) for job, files in inside.items()}
    if jobs and not any(chosen.values()):
        raise InputError(_nothing_found(tree.name, inside, metrics))
    if jobs and metrics is None:
        metrics = Counter(name for name in chosen.values() if name).most_common(1)[0][0]
        chosen = {job: _metrics_file(files, metrics) for job, files in inside.items()}
    return metrics, chosen


def _hydra(tree: Tree, job: str) -> tuple[str, str]:
    """The program's name, and what chose the configurations: a sweeper that a plug-in brought, or its sampler."""
    name = str(PurePosixPath(job, ".hydra/hydra.yaml"))
    text = tree.text(name) if name in tree.files else ""
    program, block = _JOB_NAME.search(text), _SWEEPER.search(text)
    targets: list[str] = re.findall(r"_target_: (\S+)", block[0]) if block else []
    sampler = next((target for target in targets if "sampler" in target.lower()), targets[0] if targets else "")
    if targets and targets[0].endswith("BasicSweeper"):  # every combination of the values the user listed
        sampler = ""
    return program[1].strip() if program else "", sampler.rsplit(".", 1)[-1]


def _join_searches(tree: Tree, sweeps: list[str], programs: set[str], tables: list[RawTable]) -> None:
    """Sweeps of one program by a sampler that learns, in folders named by the time or a seed: one search run again."""
    samplers = {fact for table in tables for key, fact in table.facts.items() if key.startswith("sampler:")}
    if len(tables) < 2 or len(samplers) != 1 or len(programs) != 1:
        return
    labels = ["_".join(PurePosixPath(sweep).parts) or tree.name for sweep in sweeps]
    families = [search_family(label, *programs) for label in labels]
    if len(set(families)) < len(tables) and alike(tables, families):
        together(tables, families, labels, "sweep", reported=True)


def _files_of(tree: Tree, jobs: list[str]) -> dict[str, dict[str, str]]:
    """Job -> {path inside the job: path in the tree}, without Hydra's own files."""
    inside: dict[str, dict[str, str]] = {job: {} for job in jobs}
    known = set(jobs)
    for name in tree.files:
        parts = PurePosixPath(name).parts
        if ".hydra" in parts:
            continue
        for depth in range(len(parts) - 1, -1, -1):
            job = "/".join(parts[:depth])
            if job in known:
                inside[job]["/".join(parts[depth:])] = name
                break
    return inside


def _metrics_file(files: dict[str, str], wanted: str | None) -> str | None:
    """The path inside the job of its metrics file; the one nearest to the top where several fit."""
    patterns = _USUAL if wanted is None else [wanted]
    nearest = sorted(files, key=lambda name: (name.count("/"), name))
    for pattern in patterns:
        for name in nearest:
            if fnmatchcase(name, pattern) or (wanted is None and PurePosixPath(name).name == pattern):
                return name
    return None


def _nothing_found(source: str, inside: dict[str, dict[str, str]], metrics: str | None) -> str:
    seen = sorted({name for files in inside.values() for name in files if not name.endswith(".log")})
    there = f"; the jobs hold {', '.join(seen[:8])}{' ...' if len(seen) > 8 else ''}" if seen else ""
    if metrics is not None:
        return f"no job of {source} has a metrics file {metrics!r}{there}"
    return (
        f"Hydra stores no scores, and no job of {source} has a file of a usual name such as metrics.json{there}; name "
        f"it with {named('metrics')}"
    )


READERS = (replace(_tool(lambda _: True), read=_read),)
