"""The application behind ``levelbest serve``: five read-only endpoints."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from importlib import resources
from pathlib import Path

from levelbest import __version__
from levelbest.errors import DataError, InputError, LevelbestError, MissingExtra
from levelbest.report.page.html import asset, own_policy, page_policy, page_style, wrapped
from levelbest.web.broadcast import Broadcaster
from levelbest.web.data import LiveData, NotFinished
from levelbest.web.guard import Guard

try:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Route
except ImportError:
    raise MissingExtra("starlette", "web") from None

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def live_page(title: str) -> tuple[str, str]:
    """The page and its Content-Security-Policy. It holds no results: they come as events, and are set as text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style = page_style() + _own("live.css")
    script = wrapped(asset("common.js"), asset("tape.js"), _own("live.js"))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page = environment.from_string(_own("live.html.j2")).render(
        title=title,
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        licence=asset("uPlot.LICENSE"),
    )
    return page, f"{own_policy(style, script)}; connect-src 'self'; frame-ancestors 'none'"


def _own(name: str) -> str:
    return resources.files("levelbest.web").joinpath("assets", name).read_text(encoding="utf-8")


async def _apart(function: Callable[[], str], stopping: Callable[[], bool]) -> str:
    """Call a function that may take minutes, in a thread that neither the server nor the process waits for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def tell(answer: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the server ended meanwhile
            loop.call_soon_threadsafe(lambda: None if done.done() else answer())

    def work() -> None:
        try:
            result = function()
        except Exception as error:
            failure = error
            tell(lambda: done.set_exception(failure))
        else:
            tell(lambda: done.set_result(result))

    threading.Thread(target=work, daemon=True).start()
    while not done.done():
        if stopping():
            raise DataError("the page is being closed")
        await asyncio.wait([done], timeout=0.25)
    return done.result()


class _Pages:
    """What is answered at each address."""

    def __init__(self, ledger: Path, stopping: Callable[[], bool]) -> None:
        self._data = LiveData(ledger)
        self._stopping = stopping
        self._broadcaster = Broadcaster(self._data.state, stopping, lambda: self._data.busy)
        text, self._policy = live_page(self._data.name)
        self._whole = text.encode()
        self._packed = gzip.compress(self._whole, mtime=0)  # once, for all readers

    def routes(self) -> list[Route]:
        reads = {"/": self.page, "/events": self.events, "/state": self.state, "/trial": self.trial}
        return [Route(path, answer, methods=["GET"]) for path, answer in {**reads, "/report": self.report}.items()]

    async def page(self, request: Request) -> Response:
        small = re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", request.headers.get("accept-encoding", ""))
        headers = {"content-security-policy": self._policy, "vary": "accept-encoding"}
        if small:
            return HTMLResponse(self._packed, headers={**headers, "content-encoding": "gzip"})
        return HTMLResponse(self._whole, headers=headers)

    async def events(self, _: Request) -> Response:
        return StreamingResponse(self._broadcaster.stream(), media_type="text/event-stream")

    async def state(self, _: Request) -> Response:
        return Response(await asyncio.to_thread(self._data.state), media_type="application/json")

    async def trial(self, request: Request) -> Response:
        family, number = request.query_params.get("family", ""), request.query_params.get("trial", "")
        if not re.fullmatch("[0-9]{1,9}", number):
            return PlainTextResponse("trial must be a number", status_code=400)
        try:
            about = await asyncio.to_thread(self._data.trial, family, int(number))
        except InputError as error:
            return PlainTextResponse(str(error), status_code=404)
        return Response(json.dumps(about, allow_nan=False), media_type="application/json")

    async def report(self, _: Request) -> Response:
        try:
            text = await _apart(self._data.report, self._stopping)
        except LevelbestError as error:
            return PlainTextResponse(str(error), status_code=409 if isinstance(error, NotFinished) else 500)
        return HTMLResponse(text, headers={"content-security-policy": f"{page_policy()}; frame-ancestors 'none'"})

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        polling = asyncio.create_task(self._broadcaster.run())
        try:
            yield
        finally:
            polling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await polling
            await asyncio.to_thread(self._data.close)


def make_app(
    ledger: Path,
    token: str,
    *,
    hosts: Iterable[str] = LOOPBACK,
    any_address: bool = False,
    stopping: Callable[[], bool] = lambda: False,
) -> Guard:
    """The page of a ledger, at ``/TOKEN/``, for requests that name one of these hosts.

    ``stopping`` says that the server is about to end, so that open streams end with it.
    """
    pages = _Pages(ledger, stopping)
    return Guard(Starlette(routes=pages.routes(), lifespan=pages.lifespan), token, hosts, any_address=any_address)
