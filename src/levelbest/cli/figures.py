"""Options of a figure: published scores, and the scale of the budget."""

from __future__ import annotations

import click

from levelbest.errors import InputError


def _published(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
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


published_option = click.option(
    "--published",
    multiple=True,
    callback=_published,
    metavar="NAME=SCORE",
    help="A published score, drawn dashed; in a family's colour where NAME is its name. With --task: TASK/NAME=SCORE.",
)


log_option = click.option(
    "--log/--linear",
    default=None,
    help="Budgets on a log scale, or not; default: log where curves are longer than 30 trials, and over cost.",
)
