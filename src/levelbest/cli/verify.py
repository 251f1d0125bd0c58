"""``levelbest verify``: check that nothing in a ledger was deleted or edited."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb


@click.command("verify", cls=Verb)
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option("--head", help="A head that was published earlier; the ledger must still contain it.")
@options.as_json
def command(ledger: Path, head: str | None, as_json: bool) -> None:
    """Check that nothing in a ledger was deleted or edited, and print its head.

    Anyone who knows the head of a ledger can check that it is still the same: publish it with the results. Study
    code is never imported. Exit code 1 if the ledger is not intact.
    """
    from levelbest.run.verify import verify_ledger

    verified = verify_ledger(ledger, head)
    if as_json:
        options.echo_json(verified.to_dict())
    else:
        from levelbest.report.terminal.console import print_lines

        print_lines(str(verified))
    if not verified.whole:
        click.get_current_context().exit(1)
