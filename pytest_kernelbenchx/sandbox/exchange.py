"""One question and one answer with a process that may be slow, dead, silent or hostile: never past the deadline.

Nothing here blocks: a request that the other side does not read, an answer of which half arrives, and a flood of
output on the other pipe all end at the deadline.
"""

import contextlib
import os
import select
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pytest_kernelbenchx.sandbox.wire import ProtocolError, Reader, clean

OUTPUT_LIMIT = 64 << 10
_TAIL = OUTPUT_LIMIT // 4
_PIECE = 64 << 10
_TICK = 0.1


class LateError(Exception):
    """The deadline has passed without a whole answer."""


class Output:
    """Drains a pipe; keeps the first 48 KiB and the last 16, since a crash report comes last."""

    def __init__(self, descriptor: int):
        self.descriptor = descriptor
        self._head, self._tail, self._lost = bytearray(), bytearray(), 0
        os.set_blocking(descriptor, False)

    def drain(self, pieces: int = 1) -> bool:
        """Read what is there, at most `pieces` times 64 KiB; False at the end of the pipe."""
        for _ in range(pieces):
            try:
                data = os.read(self.descriptor, _PIECE)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._keep(data)
        return True

    def _keep(self, data: bytes) -> None:
        room = OUTPUT_LIMIT - _TAIL - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = max(0, len(self._tail) - _TAIL)
        del self._tail[:excess]
        self._lost += excess

    def text(self) -> str:
        gap = f"\n... {self._lost} bytes left out ...\n".encode() if self._lost else b""
        kept = bytes(self._head + gap + self._tail)
        return clean(kept.decode("utf-8", "replace"), OUTPUT_LIMIT + 100)


class Exchange:
    """The judge's ends of a child's channel and output pipe, both non-blocking."""

    def __init__(self, channel: socket.socket, output: Output):
        self.channel, self.output = channel, output
        channel.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._selector.register(output.descriptor, selectors.EVENT_READ)
        self._open_output = True

    def unsolicited(self) -> bool:
        """Whether bytes wait in the channel that no request asked for. Raises EOFError if the other end is closed."""
        try:
            if not self.channel.recv(1, socket.MSG_PEEK):
                raise EOFError
        except BlockingIOError:
            return False
        return True

    def ask(self, pieces: Sequence[Any], deadline: float, limit: int, watch: Callable[[], float]) -> Reader:
        """Send the pieces of a request and return the answer's reader.

        Args:
            pieces: buffers, from `wire.frame`.
            deadline: on the clock of time.monotonic.
            limit: bytes that the answer's payload may have.
            watch: called about every 0.1 s while waiting; it may raise to end the wait, and returns the seconds until
                the next call.

        Raises:
            LateError: the deadline passed.
            ProtocolError: what arrived is no message, or more than one.
            EOFError, ConnectionError: the other end is closed.
        """
        pending = deque(memoryview(piece) for piece in pieces if len(piece))
        reader, done = Reader(limit), False
        next_watch = time.monotonic() + _TICK
        while not done:
            now = time.monotonic()
            if now >= deadline:
                raise LateError
            if now >= next_watch:
                next_watch = now + max(_TICK, watch())
            self._send(pending)
            events = self._selector.select(max(0.0, min(deadline, next_watch) - now))
            for key, mask in events:
                if key.fd == self.output.descriptor:
                    self._drain()
                elif mask & selectors.EVENT_READ:
                    done = self._receive(reader)
        with contextlib.suppress(EOFError):  # it ended after its answer: the next question will find out
            if pending or self.unsolicited():
                raise ProtocolError("an answer came before the question was read, or more than one answer came")
        return reader

    def _send(self, pending: deque[memoryview]) -> None:
        """Send what the socket takes, and ask to be woken for the rest."""
        try:
            while pending:
                sent = self.channel.send(pending[0])
                pending[0] = pending[0][sent:]
                if not len(pending[0]):
                    pending.popleft()
        except BlockingIOError:
            pass
        writing = selectors.EVENT_WRITE if pending else 0
        self._selector.modify(self.channel, selectors.EVENT_READ | writing)

    def _receive(self, reader: Reader) -> bool:
        try:
            while not reader.read(self.channel):
                pass
        except BlockingIOError:
            return False
        return True

    def wait_output(self, seconds: float) -> bool:
        """Whether output comes within so many seconds; it is taken."""
        came = self._open_output and bool(select.select([self.output.descriptor], [], [], seconds)[0])
        if came:
            self._drain()
        return came

    def _drain(self) -> None:
        if self._open_output and not self.output.drain():
            self._selector.unregister(self.output.descriptor)
            self._open_output = False

    def close(self) -> None:
        """Take the output that is left, at most 4 MiB, and close both ends."""
        self.output.drain(64)
        self._selector.close()
        self.channel.close()
        os.close(self.output.descriptor)
