"""Only genuine deliveries pass, and real ones do."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from perch_sdk import WebhookVerificationError, webhooks

from .agents import scripted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perch_sdk import Perch


class Deliveries:
    def __init__(self) -> None:
        self._came = threading.Semaphore(0)
        self._all: list[tuple[bytes, dict[str, str]]] = []
        deliveries = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                deliveries._all.append((body, dict(self.headers.items())))
                self.send_response(204)
                self.end_headers()
                deliveries._came.release()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self) -> tuple[bytes, dict[str, str]]:
        assert self._came.acquire(timeout=20), "nothing came"
        return self._all[-1]


@pytest.fixture(scope="module")
def receiver() -> Iterator[Deliveries]:
    deliveries = Deliveries()
    yield deliveries
    deliveries.server.shutdown()
    deliveries.server.server_close()


def test_a_real_delivery_passes_and_a_changed_one_does_not(perch: Perch, receiver: Deliveries) -> None:
    name = scripted(perch, {"reply": "Hello"})
    made = perch.webhooks.create(url=receiver.url, events=["agent.completed"], agent_id=name)
    perch.agents.invoke(name, message="hi")
    body, headers = receiver.next()
    event = perch.webhooks.verify(body, headers, made["secret"])
    assert (event["type"], event["data"]["response"]) == ("agent.completed", "Hello")
    assert webhooks.verify(body.decode(), headers, ["whsec_AAAA", made["secret"]]) == event
    plain = {name: text for name, text in headers.items() if name.lower() == "x-service-signature"}
    assert webhooks.verify(body, plain, made["secret"], tolerance_seconds=None) == event
    old = {**headers, **{name: "1600000000" for name in headers if name.lower() == "webhook-timestamp"}}
    for bad_body, bad_headers, secret in (
        (body.replace(b"Hello", b"Hullo"), headers, made["secret"]),
        (body, headers, "whsec_" + "A" * 32),
        (body, old, made["secret"]),
        (body, plain, made["secret"]),  # without a time a replay cannot be told
        (body, {}, made["secret"]),
    ):
        with pytest.raises(WebhookVerificationError):
            webhooks.verify(bad_body, bad_headers, secret)
    with pytest.raises(WebhookVerificationError):
        webhooks.verify(body + b" ", plain, made["secret"], tolerance_seconds=None)
    perch.webhooks.delete(made["id"])


def test_while_a_secret_is_rotated_both_pass(perch: Perch, receiver: Deliveries) -> None:
    made = perch.webhooks.create(url=receiver.url, events=["agent.failed"])
    rotated = perch.webhooks.rotate_secret(made["id"], overlap_seconds=3600)
    perch.webhooks.test(made["id"])
    body, headers = receiver.next()
    for secret in (made["secret"], rotated["secret"]):
        assert webhooks.verify(body, headers, secret)["type"] == "webhook.test"
        plain = {name: text for name, text in headers.items() if name.lower().startswith("x-service-signature")}
        assert webhooks.verify(body, plain, secret, tolerance_seconds=None)["type"] == "webhook.test"
    perch.webhooks.delete(made["id"])


def test_a_genuine_but_old_delivery_is_refused_unless_any_age_is_taken(perch: Perch, receiver: Deliveries) -> None:
    made = perch.webhooks.create(url=receiver.url, events=["agent.failed"])
    perch.webhooks.test(made["id"])
    body, headers = receiver.next()
    with pytest.raises(WebhookVerificationError, match="too old"):
        webhooks.verify(body, headers, made["secret"], tolerance_seconds=-1)
    assert webhooks.verify(body, headers, made["secret"], tolerance_seconds=None)
    perch.webhooks.delete(made["id"])
