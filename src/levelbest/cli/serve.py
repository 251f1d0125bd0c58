"""``levelbest serve``: the live page of a study."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli.help import Verb


@click.command("serve", cls=Verb)
@click.argument("ledger", metavar="STUDY.db", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to listen on (default: a free one).")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Answer requests for this host name too.")
def command(ledger: Path, host: str, port: int, allow_host: tuple[str, ...]) -> None:
    """A live page of a study, while it runs and after: progress, curves, failures, report.

    It only reads the ledger. Anyone who has the full URL, with its token, can read the page. Ctrl-C stops it; the
    study is not affected.
    """
    import contextlib
    import os

    from levelbest.web.server import Server

    server = Server(ledger, host=host, port=port, allow_hosts=allow_host)
    with contextlib.suppress(OSError):
        os.nice(10)  # beside trials on all cores, a tenth of one core at most
    click.echo(f"live page: {server.address}")
    click.echo("Ctrl-C stops the page; the study keeps running.", err=True)
    with contextlib.suppress(KeyboardInterrupt):  # raised or not, depending on where Ctrl-C found the server
        server.run()
    click.echo("levelbest: the page is closed", err=True)
