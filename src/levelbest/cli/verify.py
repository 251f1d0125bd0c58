"""``levelbest verify``: nothing deleted or edited in a ledger."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb


@click.command("verify", cls=Verb)
@click.argument("ledger", type=click.Path(path_type=Path))
@click.option("--head", help="A head that was published earlier; the ledger must still hold it.")
@options.as_json
def command(ledger: Path, head: str | None, as_json: bool) -> None:
    """Check that nothing in a ledger was deleted or edited, and print its head.

    Whoever knows the head of a ledger can tell whether it is still the same ledger: publish it with the results. Study
    code is never imported. Exit code 1 where the ledger is not whole.
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
