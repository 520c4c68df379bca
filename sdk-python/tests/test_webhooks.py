"""Only genuine deliveries pass, and real ones do."""

from __future__ import annotations

import base64
import hmac
import threading
import time
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
    event = perch.webhooks.verify(body, headers, made.secret)
    assert (event.type, event.data["response"]) == ("agent.completed", "Hello")
    assert webhooks.verify(body.decode(), headers, ["whsec_AAAA", made.secret]) == event
    plain = {name: text for name, text in headers.items() if name.lower() == "x-service-signature"}
    assert webhooks.verify(body, plain, made.secret, require_timestamp=False) == event
    old = {**headers, **{name: "1600000000" for name in headers if name.lower() == "webhook-timestamp"}}
    for bad_body, bad_headers, secret in (
        (body.replace(b"Hello", b"Hullo"), headers, made.secret),
        (body, headers, "whsec_" + "A" * 32),
        (body, old, made.secret),
        (body, plain, made.secret),  # without a time a replay cannot be told
        (body, {}, made.secret),
    ):
        with pytest.raises(WebhookVerificationError):
            webhooks.verify(bad_body, bad_headers, secret)
    with pytest.raises(WebhookVerificationError):
        webhooks.verify(body + b" ", plain, made.secret, require_timestamp=False)
    perch.webhooks.delete(made.id)


def test_while_a_secret_is_rotated_both_pass(perch: Perch, receiver: Deliveries) -> None:
    made = perch.webhooks.create(url=receiver.url, events=["agent.failed"])
    rotated = perch.webhooks.rotate_secret(made.id, overlap_seconds=3600)
    perch.webhooks.test(made.id)
    body, headers = receiver.next()
    for secret in (made.secret, rotated.secret):
        assert webhooks.verify(body, headers, secret).type == "webhook.test"
        plain = {name: text for name, text in headers.items() if name.lower().startswith("x-service-signature")}
        assert webhooks.verify(body, plain, secret, require_timestamp=False).type == "webhook.test"
    perch.webhooks.delete(made.id)


def test_a_genuine_but_old_delivery_is_refused_unless_any_age_is_taken(perch: Perch, receiver: Deliveries) -> None:
    made = perch.webhooks.create(url=receiver.url, events=["agent.failed"])
    perch.webhooks.test(made.id)
    body, headers = receiver.next()
    with pytest.raises(WebhookVerificationError, match="too old"):
        webhooks.verify(body, headers, made.secret, tolerance_seconds=-1)
    with pytest.raises(WebhookVerificationError, match="too old"):
        webhooks.verify(body, headers, made.secret, tolerance_seconds=float("nan"))
    assert webhooks.verify(body, headers, made.secret, tolerance_seconds=None)
    perch.webhooks.delete(made.id)


SECRET = "whsec_" + base64.b64encode(b"a secret of 24 bytes....").decode()
BODY = b'{"id":"evt_1","type":"webhook.test"}'


def signed(timestamp: str) -> dict[str, str]:
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signature = hmac.digest(key, f"evt_1.{timestamp}.".encode() + BODY, "sha256")
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }


PLAIN = {"x-service-signature": hmac.new(SECRET.encode(), BODY, "sha256").hexdigest()}


@pytest.mark.parametrize("tolerance", [300.0, None, float("inf")])
@pytest.mark.parametrize(
    ("headers", "missing"),
    [
        (PLAIN, "webhook-signature"),
        ({**PLAIN, "webhook-timestamp": str(int(time.time()))}, "webhook-signature"),
        ({name: text for name, text in signed("1").items() if name != "webhook-timestamp"}, "webhook-timestamp"),
        (signed(""), "webhook-timestamp"),
        (signed("now"), "webhook-timestamp"),
    ],
)
def test_without_a_signed_timestamp_it_is_refused_at_any_age(
    headers: dict[str, str], missing: str, tolerance: float | None
) -> None:
    with pytest.raises(WebhookVerificationError, match=f"{missing} is missing"):
        webhooks.verify(BODY, headers, SECRET, tolerance_seconds=tolerance)


def test_a_receiver_can_say_that_it_needs_no_timestamp() -> None:
    assert webhooks.verify(BODY, PLAIN, SECRET, require_timestamp=False).id == "evt_1"
    for headers in ({}, {"x-service-signature": "00"}, {"x-service-signature": "\udcff"}, signed("1600000000")):
        with pytest.raises(WebhookVerificationError):
            webhooks.verify(BODY, headers, SECRET, require_timestamp=False)
