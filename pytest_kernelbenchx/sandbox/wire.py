"""Messages between the judge and a candidate's process: framing, and the checks that every reader shares.

A message is a u32 header length, the header (a JSON object in UTF-8), a u64 payload length and the payload; both
lengths are little-endian and checked before memory is taken. Whatever is off raises ProtocolError and nothing else.
"""

import json
import re
import socket
from collections.abc import Sequence
from typing import Any

HEADER_LIMIT = 1 << 20
PAYLOAD_LIMIT = 256 << 20
NODE_LIMIT = 100_000
CHANNEL_LOST = 97  # exit code of a child that found its channel closed or replaced
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")


class ProtocolError(ValueError):
    """What arrived is no message of this protocol, or what was to be sent is no value of it."""


def as_list(value: Any, what: str, limit: int = NODE_LIMIT) -> list:
    if type(value) is not list or len(value) > limit:
        raise ProtocolError(f"{what} is no list of at most {limit} entries")
    return value


def natural(value: Any, what: str, limit: int) -> int:
    if type(value) is not int or not 0 <= value <= limit:
        raise ProtocolError(f"{what} is no whole number from 0 to {limit}")
    return value


def text(value: Any, what: str, limit: int) -> str:
    """A checked text, made safe to print and cut to `limit` characters."""
    if type(value) is not str:
        raise ProtocolError(f"{what} is no text")
    return clean(value, limit)


def clean(value: str, limit: int) -> str:
    """Text with control characters and terminal escapes written out; the middle goes when it is too long."""
    if len(value) > limit:
        value = f"{value[: limit // 2]} ... {value[-(limit // 2) :]}"
    if value.isprintable():
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in value)


def frame(header: dict, buffers: Sequence[Any] = ()) -> list[Any]:
    """The pieces of one message, to be sent one after the other. Raises ProtocolError for a header over the limit."""
    body = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(body) > HEADER_LIMIT:
        raise ProtocolError(f"the header has {len(body)} bytes, {HEADER_LIMIT} are allowed")
    size = sum(len(buffer) for buffer in buffers)
    return [len(body).to_bytes(4, "little") + body + size.to_bytes(8, "little"), *buffers]


def parse_header(body: bytes | bytearray) -> dict:
    """The JSON object in `body`. Raises ProtocolError."""
    if _SURROGATE.search(body):
        raise ProtocolError("the header has half a character")
    try:
        header = json.loads(body.decode("utf-8"), parse_constant=_no_constant, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("the header is no JSON") from error
    if type(header) is not dict:
        raise ProtocolError("the header is no object")
    return header


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _integer(digits: str) -> int:
    if len(digits) > 21:
        raise ValueError("an integer is too long")
    return int(digits)


class Reader:
    """Takes one message from a socket, piece by piece and never a byte more.

    After `read` returned True, `header` is the message's object and `payload` its bytes.
    """

    def __init__(self, limit: int = PAYLOAD_LIMIT):
        self.header: dict = {}
        self.payload = bytearray()
        self._limit, self._step = limit, 0
        self._buffer, self._filled = bytearray(4), 0

    def read(self, channel: socket.socket) -> bool:
        """Receive once. Raises ProtocolError, EOFError at the end of the stream, and the socket's own errors."""
        received = channel.recv_into(memoryview(self._buffer)[self._filled :])
        if not received:
            raise EOFError
        self._filled += received
        while self._step < 4 and self._filled == len(self._buffer):
            self._next()
        return self._step == 4

    def _next(self) -> None:
        """One piece is whole: length, header, length and payload follow each other."""
        piece, size = self._buffer, 0
        if self._step == 0:
            size = int.from_bytes(piece, "little")
            if not 2 <= size <= HEADER_LIMIT:
                raise ProtocolError(f"a header of {size} bytes was announced, {HEADER_LIMIT} are allowed")
        elif self._step == 1:
            self.header, size = parse_header(piece), 8
        elif self._step == 2:
            size = int.from_bytes(piece, "little")
            if size > self._limit:
                raise ProtocolError(f"a payload of {size} bytes was announced, {self._limit} are allowed")
        else:
            self.payload = piece
        self._step += 1
        self._buffer, self._filled = bytearray(size), 0
