"""The captured output of a trial: its end in memory, its beginning and end on disk. Standard library only."""

from __future__ import annotations

import hashlib
import os
from collections import deque


class Tail:
    """The last bytes of a stream."""

    def __init__(self, most: int) -> None:
        self._most, self._size, self._chunks = most, 0, deque[bytes]()

    def add(self, data: bytes) -> None:
        """Take down what came next."""
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) > self._most:
            self._size -= len(self._chunks.popleft())

    def content(self) -> bytes:
        """What is kept."""
        return b"".join(self._chunks)[-self._most :]


class Log:
    """A trial's output on the disk: its beginning, and where it is too long, its end. No output, no file."""

    def __init__(self, path: str, limit: int) -> None:
        self._path, self._file = path, -1
        self._first = limit - limit // 4
        self._last = Tail(max(1, limit // 4))
        self._hash = hashlib.sha256()
        self.seen = 0
        self.error: str | None = None

    @property
    def left_out(self) -> int:
        """Bytes between the beginning and the end."""
        return max(0, self.seen - self._first - len(self._last.content()))

    def add(self, data: bytes) -> None:
        """Take down what came next."""
        if not data:
            return
        room = self._first - self.seen
        self.seen += len(data)
        if room > 0:
            self._write(data[:room])
        if room < len(data):
            self._last.add(data[max(0, room) :])

    def _write(self, data: bytes) -> None:
        try:
            if self._file < 0 and self.error is None:
                os.makedirs(os.path.dirname(self._path), exist_ok=True)
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            while data and self.error is None:
                size = os.write(self._file, data)
                self._hash.update(data[:size])
                data = data[size:]
        except OSError as error:
            self.error = f"its log could not be written: {error.strerror}"

    def close(self) -> None:
        """Write the end, where there is one apart from the beginning."""
        if self.seen > self._first:
            if self.left_out:
                self._write(f"\n[levelbest: {self.left_out} bytes left out here]\n".encode())
            self._write(self._last.content())
        if self._file >= 0:
            os.close(self._file)

    @property
    def digest(self) -> str:
        """SHA-256 of what is in the file."""
        return self._hash.hexdigest()
