"""The remote agent in examples/remote-agent/server.py answers its organisation's agents, and no other caller."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from .conftest import FOLDER
from .signing import KEY, signed_headers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perch_sdk import Perch
    from perch_sdk.params import InvocationContextParam

    from .conftest import Testbed

# The first call fetches the keys, and loads the modules for that, which takes seconds on a busy machine.
_TIMEOUT = 60.0
_ORGANISATION = "org_01m7evf00ae8nv228b2d9gj1xw"
_STRANGER = "org_01m7evf00be8nv2290e6zkb9p3"
_EXAMPLE = FOLDER.parent / "examples/remote-agent/server.py"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(400):
        assert process.poll() is None, "the example has stopped"
        with contextlib.suppress(httpx.TransportError):
            httpx.get(url)
            return
        time.sleep(0.05)
    raise AssertionError("the example does not answer")


@contextlib.contextmanager
def _example(perch_url: str, organisation: str) -> Iterator[str]:
    port = _free_port()
    settings = {"PORT": str(port), "PERCH_URL": perch_url, "PERCH_ORGANISATION": organisation}
    env = {**os.environ, **settings, "PYTHONPATH": str(FOLDER / "src")}
    with subprocess.Popen([sys.executable, str(_EXAMPLE)], env=env, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}/"
            _wait_until_up(url, process)
            yield url
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def key_directory() -> Iterator[str]:
    """A Perch that only has its keys. The test signs the calls."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"keys": [KEY]}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def direct(key_directory: str) -> Iterator[str]:
    with _example(key_directory, _ORGANISATION) as url:
        yield url


def _body(message: str) -> bytes:
    context = {"user_id": None, "session_id": None, "environment": "production"}
    return json.dumps({"message": message, "context": context, "history": []}).encode()


_count = iter(range(1000))


def _signed(url: str, body: bytes, key: str, organisation: str = _ORGANISATION) -> dict[str, str]:
    nonce = f"nonce-of-16-or-more-{next(_count)}"
    return {"Idempotency-Key": key, **signed_headers("POST", url, body, nonce=nonce, organisation=organisation)}


def _send(url: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
    return httpx.post(url, content=body, headers=headers, timeout=_TIMEOUT)


def _call(url: str, body: bytes, key: str) -> httpx.Response:
    return _send(url, body, _signed(url, body, key))


def test_it_is_an_agent_that_knows_who_speaks_and_what_was_said_before(perch: Perch, testbed: Testbed) -> None:
    with _example(testbed.url, perch.me().organisation.id) as url:
        perch.agents.create(name="python-example", runtime={"type": "http", "url": url})
        context: InvocationContextParam = {"user_id": "ada", "session_id": "chat-7"}
        answers = [
            perch.agents.invoke("python-example", message=message, context=context).response
            for message in ("hello", "goodbye")
        ]
    perch.agents.delete("python-example")
    assert answers == ["Turn 1: ada said hello", "Turn 2: ada said goodbye"]


def test_asked_again_with_the_same_key_it_answers_the_same(direct: str) -> None:
    first = _call(direct, _body("hello"), "direct-1")
    again = _call(direct, _body("something else"), "direct-1")
    assert first.json() == again.json() == {"response": "Turn 1: a user said hello", "tokens_used": 6}


def test_it_forgets_what_failed_and_lives_on(direct: str) -> None:
    for wrong in (b"no JSON", b"{}"):
        with pytest.raises(httpx.RemoteProtocolError):
            _call(direct, wrong, "direct-2")
    assert _call(direct, _body("still there?"), "direct-2").status_code == 200


def test_it_answers_nobody_but_perch(direct: str) -> None:
    body = _body("hello")
    headers = _signed(direct, body, "direct-3")
    assert _send(direct, body, {"Idempotency-Key": "direct-3"}).status_code == 401
    assert _send(direct, body + b" ", headers).status_code == 401
    assert _send(direct, body, headers).status_code == 200
    copy = _send(direct, body, headers)
    assert (copy.status_code, "came before" in copy.json()["error"]) == (401, True)


def test_it_answers_no_agent_of_another_organisation_though_perch_signs_for_that_too(direct: str) -> None:
    body = _body("hello")
    refused = _send(direct, body, _signed(direct, body, "direct-4", _STRANGER))
    assert (refused.status_code, _STRANGER in refused.json()["error"]) == (401, True)
