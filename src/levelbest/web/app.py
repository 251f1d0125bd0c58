"""The application behind ``levelbest serve``: five addresses to read from, none that changes anything."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

from levelbest.errors import DataError, InputError, LevelbestError, MissingExtra
from levelbest.report.page.html import page_policy
from levelbest.web.broadcast import Broadcaster
from levelbest.web.data import LiveData, NotFinished
from levelbest.web.guard import Guard
from levelbest.web.page import live_page

__all__ = ["LOOPBACK", "make_app"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


async def _apart(function: Callable[[], str], stopping: Callable[[], bool]) -> str:
    """Call a function that may take minutes, in a thread that neither the server nor the process waits for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def tell(settle: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the server ended meanwhile
            loop.call_soon_threadsafe(lambda: None if done.done() else settle())

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
    try:
        from starlette.applications import Starlette
        from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("starlette", "web") from None

    data = LiveData(ledger)
    broadcaster = Broadcaster(data.state, stopping, lambda: data.busy)
    text, policy = live_page(data.name)
    whole = text.encode()
    packed = gzip.compress(whole, mtime=0)  # once, for all readers

    async def page(request: Any) -> Any:
        small = re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", request.headers.get("accept-encoding", ""))
        headers = {"content-security-policy": policy, "vary": "accept-encoding"}
        return HTMLResponse(
            packed if small else whole, headers=headers | ({"content-encoding": "gzip"} if small else {})
        )

    async def events(_: Any) -> Any:
        return StreamingResponse(broadcaster.stream(), media_type="text/event-stream")

    async def state(_: Any) -> Any:
        return Response(await asyncio.to_thread(data.state), media_type="application/json")

    async def trial(request: Any) -> Any:
        family, number = request.query_params.get("family", ""), request.query_params.get("trial", "")
        if not re.fullmatch("[0-9]{1,9}", number):
            return PlainTextResponse("trial must be a number", status_code=400)
        try:
            found = await asyncio.to_thread(data.trial, family, int(number))
        except InputError as error:
            return PlainTextResponse(str(error), status_code=404)
        return Response(json.dumps(found, allow_nan=False), media_type="application/json")

    async def report(_: Any) -> Any:
        try:
            found = await _apart(data.report, stopping)
        except LevelbestError as error:
            return PlainTextResponse(str(error), status_code=409 if isinstance(error, NotFinished) else 500)
        return HTMLResponse(found, headers={"content-security-policy": f"{page_policy()}; frame-ancestors 'none'"})

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        polling = asyncio.create_task(broadcaster.run())
        try:
            yield
        finally:
            polling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await polling
            await asyncio.to_thread(data.close)

    reads = {"/": page, "/events": events, "/state": state, "/trial": trial, "/report": report}
    routes = [Route(path, function, methods=["GET"]) for path, function in reads.items()]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts, any_address=any_address)
