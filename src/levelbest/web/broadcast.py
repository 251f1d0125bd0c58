"""One poll of the ledger serves all clients of the page: fifty cost little more than one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable

_log = logging.getLogger(__name__)
_POLL, _BEAT, _LONGEST = 1.0, 15.0, 10.0
_REST = 20
"""Pause this many times the CPU time of the last look: at most a twentieth of one core goes into the page."""


class Broadcaster:
    """Calls ``state`` while someone reads, and hands what it returns to all of them; the same object is no news."""

    def __init__(
        self,
        state: Callable[[], bytes],
        stopping: Callable[[], bool] = lambda: False,
        busy: Callable[[], bool] = lambda: True,
    ) -> None:
        """``busy``: whether there are trials to leave the machine to."""
        self._state, self._stopping, self._busy = state, stopping, busy
        self._latest = b""
        self._frame = b""
        self._version = 0
        self._readers = 0
        self._closed = False
        self._failure = ""
        self._wake = asyncio.Event()
        # One for each version, and no lock: a reader that leaves is cancelled wherever it waits, and must hold nothing.
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Poll until the server stops; nothing is read while no client is connected."""
        try:
            while not self._stopping():
                pause = _POLL
                if self._readers:
                    self._wake.clear()
                    try:
                        new, spent = await asyncio.to_thread(self._look)
                    except Exception as error:  # one bad look must not end the page for everyone
                        if repr(error) != self._failure:
                            self._failure = repr(error)
                            _log.warning("the page could not be brought up to date, and tries again: %s", self._failure)
                        await self._rest(pause)
                        continue
                    pause = min(max(_POLL, _REST * spent), _LONGEST) if self._busy() else _POLL
                    if new is not self._latest:
                        self._publish(new)
                await self._rest(pause)
        finally:
            self._closed = True
            self._news.set()

    def _look(self) -> tuple[bytes, float]:
        """The state, and the CPU seconds it took: on a busy machine wall time is not informative."""
        began = time.thread_time()
        new = self._state()
        return new, time.thread_time() - began

    async def _rest(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._stopping():
            if await _set_within(self._wake, min(left, 0.25)):
                return

    def _publish(self, new: bytes) -> None:
        self._latest = new
        self._version += 1
        self._frame = b"id: %d\ndata: %b\n\n" % (self._version, new)
        heard, self._news = self._news, asyncio.Event()
        heard.set()

    async def stream(self) -> AsyncIterator[bytes]:
        """Server-sent events: the state now, and every later one; a slow reader skips those it missed."""
        if self._readers == 0:  # nobody looked: what is known may be old
            self._wake.set()
        self._readers += 1
        seen = 0
        try:
            yield b"retry: 2000\n\n"
            while not self._closed:
                if self._version == seen and not await _set_within(self._news, _BEAT):
                    yield b": still here\n\n"  # a reader that is gone is noticed by writing to it
                elif self._version != seen:
                    seen = self._version
                    yield self._frame
        finally:
            self._readers -= 1


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    """Whether an event is set within this time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
