"""Only requests that Perch signed pass, and each of them once. The TypeScript SDK is tested with the same requests."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
from datetime import datetime, timedelta, timezone
from email.message import Message
from typing import Any

import pytest

from perch_sdk import (
    MemoryReplayStore,
    RequestVerificationError,
    VerifiedRequest,
    verify_request,
    verify_request_async,
)

from .conftest import FOLDER

Case = dict[str, Any]

CASES: list[Case] = json.loads(
    subprocess.check_output([os.environ.get("TEST_NODE", "node"), str(FOLDER / "request-cases.ts")])
)
INTACT = CASES[0]


def _arguments(case: Case, **changes: Any) -> dict[str, Any]:
    options = {name: case[name] for name in ("origin", "now", "keys", "organisation") if name in case}
    return {**case["request"], **options, "replay_store": MemoryReplayStore(), **changes}


def _judge(case: Case) -> str | None:
    """None if it passes, or why it does not."""
    arguments = _arguments(case)
    try:
        for _ in range(2 if case.get("repeated") else 1):
            verify_request(**arguments)
    except RequestVerificationError as error:
        return error.reason
    return None


async def _judge_async(case: Case) -> str | None:
    arguments = _arguments(case)
    try:
        for _ in range(2 if case.get("repeated") else 1):
            await verify_request_async(**arguments)
    except RequestVerificationError as error:
        return error.reason
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['title']}: {case['reason'] or 'passes'}")
def test_a_request_is_judged_as_the_table_says(case: Case) -> None:
    assert _judge(case) == case["reason"]


def test_with_asyncio_it_is_judged_alike() -> None:
    async def judge_all() -> list[str | None]:
        return [await _judge_async(case) for case in CASES]

    assert len(CASES) > 100
    assert asyncio.run(judge_all()) == [case["reason"] for case in CASES]


def _change(text: str, chance: random.Random) -> str:
    """One character added, removed or changed."""
    at = chance.randrange(len(text) + 1)
    inserted = chance.choice(["", chr(chance.randrange(0x20, 0x7F)), chr(chance.randrange(0x20, 0x7F))])
    return text[:at] + inserted + text[at + chance.randrange(2) :]


def _mutate(case: Case, chance: random.Random) -> Case:
    request = dict(case["request"])
    covered = ["content-digest", "x-request-id", "perch-organisation", "perch-agent", "signature-agent"]
    field = chance.choice([*covered, "signature-input", "signature", "method", "url", "body"])
    if field == "url":
        request["url"] = "/" + _change(request["url"][1:], chance)
    elif field in request:
        request[field] = _change(request[field], chance)
    else:
        request["headers"] = [
            [name, _change(value, chance) if name == field else value] for name, value in request["headers"]
        ]
    return {**case, "request": request}


def _meaning(case: Case) -> list[Any]:
    """Space in a header means nothing, so a request that differs only in that is the same."""
    request = case["request"]
    headers = [[name, value.replace(" ", "")] for name, value in request["headers"]]
    return [request["method"], request["url"], request["body"], headers]


def test_10000_random_changes_to_a_request_are_all_refused() -> None:
    chance = random.Random(9421)
    reasons: list[str] = []
    while len(reasons) < 10_000:
        changed = _mutate(INTACT, chance)
        if chance.randrange(4) == 0:
            changed = _mutate(changed, chance)
        if _meaning(changed) == _meaning(INTACT):
            continue
        reason = _judge(changed)
        assert reason is not None, changed["request"]
        reasons.append(reason)
    assert len(set(reasons)) > 8, "they reach every check, not the first alone"
    assert reasons.count("signature_mismatch") > 1000


def test_it_says_which_run_of_whose_agent_the_call_is_of_which_key_signed_it_and_when() -> None:
    assert verify_request(**_arguments(INTACT)) == VerifiedRequest(
        run_id="req_01m7evf01ne8nv228qpt0msbq9",
        organisation_id="org_01m7evf00ae8nv228b2d9gj1xw",
        agent_id="agent_01m7evf009e8nv2284kww951qd",
        key_id="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
        created_at=datetime(2100, 1, 1, tzinfo=timezone.utc),
    )


def test_headers_are_taken_as_servers_have_them() -> None:
    pairs = [(name, value) for name, value in INTACT["request"]["headers"]]
    message = Message()
    for name, value in pairs:
        message[name] = value
    asgi = [(name.encode(), value.encode()) for name, value in pairs]
    for headers in (dict(pairs), {name: [value] for name, value in pairs}, message, asgi, iter(pairs)):
        assert verify_request(**_arguments(INTACT, headers=headers)).run_id
    message["Signature"] = "perch=:AAAA:"
    with pytest.raises(RequestVerificationError, match="twice"):
        verify_request(**_arguments(INTACT, headers=message))
    body = INTACT["request"]["body"].encode()
    assert verify_request(**_arguments(INTACT, body=body)).run_id


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "tools.example.com"},
        {"origin": "https://tools.example.com/weather"},
        {"origin": "https://tools.example.com:port"},
        {"origin": "https://tööls.example.com"},
        # The value of a missing setting, which must not allow every caller.
        {"organisation": None},
        {"organisation": ""},
        {"organisation": []},
        {"organisation": ["org_01m7evf00ae8nv228b2d9gj1xw", ""]},
        {"organisation": "org_01m7evf00ae8nv228b2d9gj1xw,org_01m7evf00be8nv2290e6zkb9p3"},
        {"keys": None},
        {"directory": "https://perch.example"},
        {"keys": None, "directory": "http://perch.example"},
        {"keys": None, "directory": "https://perch.example/v1"},
        {"keys": None, "directory": "https://user@perch.example"},
    ],
)
def test_a_wrong_use_is_a_value_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Give"):
        verify_request(**_arguments(INTACT, **wrong))


def test_an_origin_may_be_an_address() -> None:
    for origin in ("http://127.0.0.1:8801", "https://[2001:DB8:0::1]:8443"):
        with pytest.raises(RequestVerificationError, match="does not match"):
            verify_request(**_arguments(INTACT, origin=origin))


class _Asked:
    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.nonces: list[tuple[str, datetime]] = []

    def add(self, nonce: str, expires_at: datetime, /) -> bool:
        self.nonces.append((nonce, expires_at))
        return self.answer


class _AsyncAsked(_Asked):
    async def add(self, nonce: str, expires_at: datetime, /) -> bool:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().add(nonce, expires_at)


def test_the_store_is_asked_last_so_nobody_but_perch_can_fill_it() -> None:
    store = _Asked(True)
    for case in CASES:
        if case["reason"] not in {None, "replayed"}:
            with pytest.raises(RequestVerificationError):
                verify_request(**_arguments(case, replay_store=store))
    assert store.nonces == []
    verify_request(**_arguments(INTACT, replay_store=store))
    # Half a minute longer than the signature, because clocks differ.
    until = datetime(2100, 1, 1, 0, 5, 30, tzinfo=timezone.utc)
    assert store.nonces == [("cbBo1uvRIkZ0NQ7VzLXWz5Q0JzEwX6v2xY9nN3kq0aE", until)]


def test_a_nonce_that_a_shared_store_has_seen_is_refused() -> None:
    with pytest.raises(RequestVerificationError) as raised:
        verify_request(**_arguments(INTACT, replay_store=_Asked(False)))
    assert (raised.value.reason, raised.value.status) == ("replayed", 401)
    with pytest.raises(RequestVerificationError, match="came before"):
        asyncio.run(verify_request_async(**_arguments(INTACT, replay_store=_AsyncAsked(False))))
    assert asyncio.run(verify_request_async(**_arguments(INTACT, replay_store=_AsyncAsked(True)))).run_id


def test_an_asynchronous_store_is_refused_where_nobody_would_wait_for_it() -> None:
    store: Any = _AsyncAsked(False)
    with pytest.raises(TypeError, match="verify_request_async"):
        verify_request(**_arguments(INTACT, replay_store=store))


def test_the_memory_store_takes_a_nonce_once_until_it_expires() -> None:
    later = datetime.now(timezone.utc) + timedelta(minutes=1)
    past = datetime.fromtimestamp(0, timezone.utc)
    store = MemoryReplayStore()
    assert [store.add("a", later), store.add("a", later), store.add("b", later)] == [True, False, True]
    assert [store.add("c", past), store.add("d", later)] == [True, True]
    small = MemoryReplayStore(max_size=2)
    assert [small.add("a", past), small.add("b", later), small.add("c", later)] == [True, True, True]
    with pytest.raises(RuntimeError, match="full with 2 requests"):
        small.add("d", later)
    assert small.add("b", later) is False
