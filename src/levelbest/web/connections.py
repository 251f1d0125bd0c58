"""Idle connections are closed, so that clients without a token cannot lock out those that have one."""

from __future__ import annotations

import asyncio
import logging
import socket

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_log = logging.getLogger(__name__)
_HEADERS = 10.0
"""Seconds for the whole head of a request, however slowly it comes."""
_AT_ONCE, _IN_THE_KERNEL = 16, 128
"""Connections taken in one go, before any of them is counted, and those that may wait to be taken."""


_SORRY = b"this page has as many readers as it can serve; close one of them, and load it again"
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nretry-after: 10\r\n"
    b"cache-control: no-store\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(_SORRY), _SORRY)
)


def _most() -> int:
    """Connections at once: far fewer than the files that a process may open."""
    try:
        import resource
    except ImportError:  # Windows
        return 200
    return min(200, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


class Connection(H11Protocol):  # type: ignore[misc] # uvicorn has no types that mypy follows here
    """HTTP/1.1 with a time limit for each request's head; of too many connections the oldest idle one is closed."""

    most = _most()
    warned = False
    refused = False
    """Whether there was no room for this one."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Make room for it, and wait for its first request."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        self._expect()
        if len(self.connections) > self.most:
            if not Connection.warned:
                Connection.warned = True
                _log.warning("more than %d connections to the page at once: idle ones are closed", self.most)
            idle = [connection for connection in self.connections if connection.idle and connection is not self]
            if idle:
                min(idle, key=lambda connection: connection.since).transport.abort()
            else:  # all connections are active: the new client is refused
                self.refused = True

    @property
    def idle(self) -> bool:
        """Whether no whole request has come that is still to be answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect(self) -> None:
        if self.idle and self._deadline is None:
            self._deadline = self.loop.call_later(_HEADERS, self._too_late)

    def _too_late(self) -> None:
        self._deadline = None
        if self.idle:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came; the head of a request that is not whole yet has its time limit."""
        if self.refused:
            self.transport.write(_FULL)
            self.transport.close()
            return
        super().data_received(data)
        if not self.idle and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)


class PatientServer(uvicorn.Server):  # type: ignore[misc]
    """uvicorn with these connections, no access log (it would hold the token), and a prompt end."""

    def __init__(self, app: object) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                backlog=_AT_ONCE,
                log_level="error",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen; those not yet taken wait in the kernel, which has room for more than are taken at once."""
        asyncio.get_running_loop().set_exception_handler(_in_one_line)
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_IN_THE_KERNEL)


def _in_one_line(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    if isinstance(context.get("exception"), OSError):
        _log.warning("%s: %s", context.get("message"), context["exception"])
    else:
        loop.default_exception_handler(context)
