"""The settings that a client accepts, and those that it never shows."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from perch_sdk import OMIT, InvalidRequestError, NotFoundError, Perch, PerchError, UnauthorizedError

from .agents import scripted

if TYPE_CHECKING:
    from .conftest import Testbed
    from .flaky_proxy import FlakyProxy

_key = "perch_" + "0" * 46


def test_a_refusal_has_status_code_details_and_correlation_id(perch: Perch) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        perch.agents.create(name="Not A Name", model="perch/echo")
    error = refused.value
    assert (error.status, error.code) == (400, "invalid_request")
    assert error.details[0].field == "name"
    assert error.correlation_id is not None
    assert error.correlation_id.startswith("corr_")
    assert error.correlation_id in str(error)
    assert isinstance(error, PerchError)


def test_no_error_and_no_description_holds_the_key(testbed: Testbed) -> None:
    with Perch(_key, base_url=testbed.url) as client:
        with pytest.raises(UnauthorizedError) as refused:
            client.me()
        assert _key not in f"{refused.value!r} {refused.value} {client!r} {client._transport.settings!r}"


def test_key_and_address_come_from_the_environment(testbed: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERCH_API_KEY", testbed.key)
    monkeypatch.setenv("PERCH_URL", testbed.url)
    with Perch() as client:
        assert client.me().organisation.name == "Acme"
        with client.with_options(timeout_seconds=5, max_retries=0) as quick:
            assert quick.request("GET", "/v1/me")["success"] is True
        assert client.me()  # the one that was made of it closed nothing


@pytest.mark.parametrize(("key", "url"), [("", "http://a.test"), ("a b", "http://a.test"), ("key", "a.test")])
def test_a_client_without_key_or_address_is_not_made(key: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERCH_API_KEY", raising=False)
    with pytest.raises(ValueError, match="Give"):
        Perch(key, base_url=url)


def test_null_is_sent_and_what_is_left_out_is_not(perch: Perch) -> None:
    name = scripted(perch, {"reply": "ok"})
    assert perch.agents.update(name, temperature=0.5).temperature == 0.5
    assert perch.agents.update(name, temperature=OMIT, instructions="x").temperature == 0.5
    assert perch.agents.update(name, temperature=None).temperature is None


def test_times_may_be_datetimes_with_a_zone(perch: Perch) -> None:
    name = scripted(perch, {"reply": "ok"})
    now = datetime.now(timezone.utc)
    assert perch.logs.list(name, end_time=now).page().data == []
    with pytest.raises(ValueError, match="zone"):
        perch.logs.list(name, end_time=now.replace(tzinfo=None)).page()


def test_headers_of_the_caller_go_with_every_request(testbed: Testbed, proxy: FlakyProxy) -> None:
    with Perch(testbed.key, base_url=proxy.url, headers={"x-tenant": "a"}) as client:
        client.with_options(headers={"x-correlation-id": "mine"}).me()
        client.me()
    assert proxy.header("x-tenant") == ["a", "a"]
    assert proxy.header("x-correlation-id") == ["mine", None]


def test_an_id_cannot_lead_to_another_path(perch: Perch) -> None:
    with pytest.raises(NotFoundError):
        perch.agents.get("../keys")
    for empty in ("", ".", ".."):
        with pytest.raises(ValueError, match="agent_id"):
            perch.agents.get(empty)
    with pytest.raises(ValueError, match="idempotency_key"):
        perch.agents.invoke("bot", message="hi", idempotency_key="two words")
