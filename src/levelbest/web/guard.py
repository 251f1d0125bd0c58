"""Access control of the page: a token in the URL, a check of the Host header, and security headers."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
"""What ASGI passes about: its values are of many kinds."""
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"x-frame-options": b"DENY",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}
_NOTHING = b"default-src 'none'; frame-ancestors 'none'"


class Guard:
    """An ASGI application around another: requests that lack the token or name another host stop here.

    The token is the first part of the path, so that relative addresses keep it and no cookie is needed.
    """

    def __init__(self, app: App, token: str, hosts: Iterable[str], *, any_address: bool = False) -> None:
        self._app, self._token = app, token.encode()
        self._hosts, self._any_address = frozenset(host.lower() for host in hosts), any_address

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Check, then hand over the rest of the path."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                more = {**_HEADERS, b"content-security-policy": _NOTHING}
                message["headers"] = [*message["headers"], *((k, v) for k, v in more.items() if k not in given)]
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        name = host_of(hosts[0].decode("latin-1")) if len(hosts) == 1 else ""
        # A page of another site whose name was pointed at this machine sends its own name (DNS rebinding).
        if not allowed_host(name, self._hosts, self._any_address):
            await _refuse(with_headers, 403, b"this host name is not served here")
            return
        given, slash, rest = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self._token) or not slash:
            await _refuse(with_headers, 403, b"use the whole address that levelbest serve printed, with its token")
            return
        if scope["method"] not in ("GET", "HEAD"):
            await _refuse(with_headers, 405, b"this page only reads", (b"allow", b"GET, HEAD"))
            return
        await self._app({**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}, receive, with_headers)


def host_of(header: str) -> str:
    """The host of a Host header, without port and brackets. A tunnel may change the port, so it is not compared."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def allowed_host(name: str, hosts: frozenset[str], any_address: bool) -> bool:
    """Whether a request may name this host; with ``any_address`` every numeric address may (no name, no rebinding)."""
    if name in hosts:
        return True
    if not any_address:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(send: Send, status: int, why: bytes, *headers: tuple[bytes, bytes]) -> None:
    fields = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(why)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": why})
