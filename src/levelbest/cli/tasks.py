"""Several tasks or data sets: their options, and the step from files to one table for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.options import load_trials, together

if TYPE_CHECKING:
    from levelbest.trials import Trials


def _directions(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    directions = {}
    for given in value:
        task, _, direction = given.rpartition("=")
        if not task or direction not in ("max", "min"):
            raise click.BadParameter(f"{given!r} is not a task and its direction; write perplexity=min", ctx, param)
        directions[task] = direction
    return directions


task_options = together(
    click.option("--task", metavar="COL", help="Tasks or data sets: each by itself, and all of them together."),
    click.option(
        "--task-direction",
        "task_directions",
        multiple=True,
        callback=_directions,
        metavar="TASK=max|min",
        help="The direction of a task that differs from --direction.",
    ),
)


def load_tasks(files: tuple[str, ...], options: dict[str, Any]) -> dict[str, Trials]:
    """The trials of each task that the options name."""
    from levelbest.designs.tasks import split_tasks

    return split_tasks(load_trials(files, options | {"group": options["task"]}), options["task_directions"])
