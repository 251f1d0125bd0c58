"""One poll of the ledger for all readers of the page: fifty of them cost what one does, and a little more."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

__all__ = ["Broadcaster"]

_POLL, _BEAT, _LONGEST = 1.0, 15.0, 10.0
_REST = 20
"""Pause this many times as long as the last look took: at most a twentieth of one core goes into the page."""


class Broadcaster:
    """Calls ``state`` while someone reads, and hands what it returns to all of them; the same object is no news."""

    def __init__(self, state: Callable[[], bytes], stopping: Callable[[], bool] = lambda: False) -> None:
        self._state, self._stopping = state, stopping
        self._latest = b""
        self._version = 0
        self._readers = 0
        self._wake = asyncio.Event()
        self._changed = asyncio.Condition()
        self._closed = False

    async def run(self) -> None:
        """Poll until the server stops. Nothing is read while nobody reads."""
        try:
            while not self._stopping():
                pause = _POLL
                if self._readers:
                    began = time.monotonic()
                    new = await asyncio.to_thread(self._state)
                    pause = min(max(_POLL, _REST * (time.monotonic() - began)), _LONGEST)
                    if new is not self._latest:
                        await self._publish(new)
                await self._rest(pause)
        finally:
            self._closed = True
            async with self._changed:
                self._changed.notify_all()

    async def _rest(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._stopping():
            try:
                await asyncio.wait_for(self._wake.wait(), min(left, 0.25))
            except TimeoutError:
                continue
            self._wake.clear()
            return

    async def _publish(self, new: bytes) -> None:
        async with self._changed:
            self._latest = new
            self._version += 1
            self._changed.notify_all()

    async def stream(self) -> AsyncIterator[bytes]:
        """Server-sent events: the state now, and every later one; a slow reader skips those it missed."""
        if self._readers == 0:  # nobody looked: what is known may be old
            self._wake.set()
        self._readers += 1
        seen = 0
        try:
            yield b"retry: 2000\n\n"
            while not self._closed:
                async with self._changed:
                    if self._version == seen and not self._closed:
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(self._changed.wait(), _BEAT)
                if self._version == seen:
                    yield b": still here\n\n"  # a reader that is gone is noticed by writing to it
                    continue
                seen = self._version
                yield b"id: %d\ndata: %b\n\n" % (seen, self._latest)
        finally:
            self._readers -= 1
