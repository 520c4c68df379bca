"""A proxy that produces a list of network failures in order. After that it passes everything on."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Refuse:
    """Hangs up before the server gets the request."""


@dataclass(frozen=True)
class LoseAnswer:
    """The server handles the request, and the caller gets no answer."""


@dataclass(frozen=True)
class Cut:
    """Resets the connection after so many bytes of the answer's body."""

    body_bytes: int


@dataclass(frozen=True)
class Delay:
    seconds: float


@dataclass(frozen=True)
class Answer:
    """Answers itself; the server gets nothing."""

    status: int
    body: str = "<html>busy</html>"
    headers: tuple[str, ...] = ()


Fault = Refuse | LoseAnswer | Cut | Delay | Answer


class FlakyProxy:
    """Takes one request for each connection, and sees each of them."""

    def __init__(self, upstream: str) -> None:
        place = urlsplit(upstream)
        self._upstream = (str(place.hostname), int(place.port or 80))
        self._plan: deque[Fault] = deque()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        #: The heads of all requests, as they came.
        self.seen: list[str] = []

    def plan(self, *faults: Fault) -> None:
        self._plan.extend(faults)

    @property
    def is_done(self) -> bool:
        return not self._plan

    def header(self, name: str) -> list[str | None]:
        """One header of each request."""
        lines = ([line.split(": ", 1) for line in head.split("\r\n")[1:] if line] for head in self.seen)
        return [{key.lower(): value for key, value in head}.get(name) for head in lines]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):  # one of them left
            self._pass_on(client)

    def _pass_on(self, client: socket.socket) -> None:
        head, body = _read_request(client)
        if not head:
            return
        self.seen.append(head)
        fault = self._plan.popleft() if self._plan else None
        if isinstance(fault, Refuse):
            _reset(client)
            return
        if isinstance(fault, Answer):
            client.sendall(_answer(fault))
            return
        if isinstance(fault, Delay):
            time.sleep(fault.seconds)
        with socket.create_connection(self._upstream) as server:
            server.sendall(_closing(head).encode() + body)
            if isinstance(fault, LoseAnswer):
                while server.recv(65536):
                    pass
                _reset(client)
            else:
                _copy(server, client, fault.body_bytes if isinstance(fault, Cut) else None)


def _read_request(client: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = client.recv(65536)
        if not chunk:
            return "", b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    text = head.decode("latin-1")
    lengths = [line.split(":")[1] for line in text.split("\r\n") if line.lower().startswith("content-length:")]
    while len(body) < int(lengths[0] if lengths else 0):
        body += client.recv(65536)
    return text, body


def _closing(head: str) -> str:
    kept = [line for line in head.split("\r\n") if not line.lower().startswith("connection:")]
    return "\r\n".join([*kept, "Connection: close"]) + "\r\n\r\n"


def _answer(fault: Answer) -> bytes:
    body = fault.body.encode()
    lines = [f"HTTP/1.1 {fault.status} Planned", f"Content-Length: {len(body)}", "Connection: close", *fault.headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _copy(server: socket.socket, client: socket.socket, body_bytes: int | None) -> None:
    head_done, left = False, body_bytes
    held = b""
    while chunk := server.recv(65536):
        if left is None:
            client.sendall(chunk)
            continue
        if not head_done:
            held += chunk
            if b"\r\n\r\n" not in held:
                continue
            head, _, chunk = held.partition(b"\r\n\r\n")
            client.sendall(head + b"\r\n\r\n")
            head_done = True
        client.sendall(chunk[:left])
        left -= len(chunk[:left])
        if left == 0:
            time.sleep(0.05)  # or the reset overtakes what was sent
            _reset(client)
            return


def _reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
