"""The server of the live page: its socket, token and shutdown."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Iterable
from pathlib import Path

from levelbest.errors import InputError, MissingExtra, named
from levelbest.web.app import LOOPBACK, make_app


class Server:
    """Serves one ledger. Bound when made, so that the address is known; ``run`` serves until ``stop`` or Ctrl-C."""

    def __init__(
        self, ledger: str | Path, *, host: str = "127.0.0.1", port: int = 0, allow_hosts: Iterable[str] = ()
    ) -> None:
        try:
            import uvicorn  # noqa: F401 - where it is absent, what needs it is not imported either

            from levelbest.web.connections import PatientServer
        except ImportError:
            raise MissingExtra("uvicorn", "web") from None
        self.token = secrets.token_urlsafe(24)
        everywhere = _is_any(host)
        names = {*LOOPBACK, host, *allow_hosts} | ({socket.gethostname()} if everywhere else set())
        app = make_app(
            Path(ledger), self.token, hosts=names, any_address=everywhere, stopping=lambda: self._server.should_exit
        )
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        shown = socket.gethostname() if everywhere else host
        self.address = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/{self.token}/"
        self._server = PatientServer(app)

    def run(self) -> None:
        """Serve until stopped."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Ask the server to end; streams are closed first."""
        self._server.should_exit = True


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(128)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise InputError(
            f"nothing can listen on {host} port {port}: {error.strerror or error}; choose another "
            f"{named('port')} (0 takes a free one) or {named('host')}"
        ) from error
    return bound
