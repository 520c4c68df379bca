"""Nothing is done twice and no answer is lost, whatever the network does."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from perch_sdk import (
    AsyncPerch,
    ConflictError,
    ConnectionError,
    Perch,
    RateLimitedError,
    RunFailedError,
    StillRunningError,
    TimeoutError,
    UnavailableError,
)

from .agents import runs, scripted
from .both_clients import Kind, both, items, value, with_client
from .flaky_proxy import Answer, Cut, Delay, FlakyProxy, LoseAnswer, Refuse

if TYPE_CHECKING:
    from .conftest import Testbed

_busy = '{"success":false,"error":{"code":"rate_limited","message":"Too many.","retry_after":1}}'
_unfinished = (
    '{"success":false,"error":{"code":"still_running","message":"Goes on.",'
    '"details":[{"field":"request_id","error":"req_1"}]}}'
)
_away = '{"success":false,"error":{"code":"unavailable","message":"Away.","retry_after":0}}'


@both
def test_drops_delays_cuts_and_busy_answers_make_one_run_and_lose_no_answer(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"reply": "Done: {message}", "delay_ms": 300})
    proxy.plan(Refuse(), Answer(429, _busy), LoseAnswer(), Cut(20), Delay(0.5))

    async def work(client: Any) -> Any:
        return await value(client.agents.invoke(name, message="once"))

    began = time.monotonic()
    result = with_client(kind, work, testbed.key, base_url=proxy.url)
    assert time.monotonic() - began > 1  # retry_after was waited for
    assert result.response == "Done: once"
    assert proxy.is_done
    keys = proxy.header("idempotency-key")
    assert len(keys) == 5
    assert len(set(keys)) == 1
    assert runs(perch, name) == 1


@both
def test_a_creation_whose_answer_is_lost_three_times_is_made_once(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = f"made-{uuid.uuid4().hex[:10]}"
    proxy.plan(LoseAnswer(), Cut(30), Answer(502))

    async def work(client: Any) -> Any:
        return await value(client.agents.create(name=name, model="perch/echo"))

    made = with_client(kind, work, testbed.key, base_url=proxy.url)
    assert made == perch.agents.get(name)


@both
def test_a_run_that_outlasts_the_wait_goes_on_and_the_same_key_joins_it(
    kind: Kind, testbed: Testbed, perch: Perch
) -> None:
    name = scripted(perch, {"reply": "At last.", "delay_ms": 2500})

    async def work(client: Any) -> Any:
        with pytest.raises(StillRunningError) as still:
            await value(client.agents.invoke(name, message="hi", wait_seconds=0.5))
        key = still.value.idempotency_key
        result = await value(client.agents.invoke(name, message="hi", idempotency_key=key))
        assert result.request_id == still.value.run_id
        return result

    assert with_client(kind, work, testbed.key, base_url=testbed.url).response == "At last."
    assert runs(perch, name) == 1


@both
def test_a_failed_run_is_raised_at_once_and_not_tried_again(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"fail": "permanent"})

    async def work(client: Any) -> Any:
        with pytest.raises(RunFailedError) as failed:
            await value(client.agents.invoke(name, message="hi"))
        return failed.value

    error = with_client(kind, work, testbed.key, base_url=proxy.url)
    assert (error.status, error.code, error.retryable) == (422, "run_failed", False)
    assert error.run_id.startswith("req_")
    assert len(proxy.seen) == 1


@both
def test_a_request_whose_wait_is_over_is_repeated_with_the_same_key(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"reply": "At last."})
    proxy.plan(Answer(504, _unfinished), Answer(504, _unfinished))

    async def work(client: Any) -> Any:
        return await value(client.agents.invoke(name, message="hi"))

    assert with_client(kind, work, testbed.key, base_url=proxy.url).response == "At last."
    assert len(set(proxy.header("idempotency-key"))) == 1
    assert runs(perch, name) == 1


@both
def test_what_is_refused_for_good_is_not_tried_again(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"reply": "ok"})

    async def work(client: Any) -> Any:
        with pytest.raises(ConflictError) as refused:
            await value(client.agents.create(name=name, model="perch/echo"))
        return refused.value

    error = with_client(kind, work, testbed.key, base_url=proxy.url)
    assert error.correlation_id
    assert (error.status, error.code) == (409, "conflict")
    assert len(proxy.seen) == 1


@both
def test_after_the_last_try_the_last_error_is_raised(kind: Kind, testbed: Testbed, proxy: FlakyProxy) -> None:
    proxy.plan(Answer(503, _away), Answer(503, _away), Refuse(), Refuse(), Delay(3.0), Delay(3.0))

    async def work(client: Any) -> None:
        with pytest.raises(UnavailableError):
            await value(client.me())
        with pytest.raises(ConnectionError):
            await value(client.me())
        with pytest.raises(TimeoutError, match="in time"):
            await value(client.me(timeout_seconds=0.3))

    with_client(kind, work, testbed.key, base_url=proxy.url, max_retries=1)
    assert len(proxy.seen) == 6


@both
def test_a_retry_after_of_minutes_is_raised_at_once(kind: Kind, testbed: Testbed, proxy: FlakyProxy) -> None:
    proxy.plan(Answer(429, _busy.replace('"retry_after":1', '"retry_after":600')))

    async def work(client: Any) -> Any:
        with pytest.raises(RateLimitedError) as refused:
            await value(client.me())
        return refused.value

    assert with_client(kind, work, testbed.key, base_url=proxy.url).retry_after_seconds == 600


def test_past_the_real_rate_limit_every_call_is_answered_in_the_end(testbed: Testbed) -> None:
    async def work() -> list[Any]:
        async with AsyncPerch(testbed.free_key, base_url=testbed.url) as client:
            return await asyncio.gather(*(client.me() for _ in range(103)))

    assert {answer.organisation.name for answer in asyncio.run(work())} == {"Small"}


@both
def test_lists_turn_their_own_pages_by_offset_and_by_cursor(kind: Kind, testbed: Testbed, perch: Perch) -> None:
    name = scripted(perch, {"reply": "ok"})
    entries = [{"message": f"entry {number}"} for number in range(25)]

    async def work(client: Any) -> None:
        await value(client.logs.add(name, entries=entries))
        found = await items(client.logs.list(name, limit=10))
        assert {one.message for one in found} == {one["message"] for one in entries}
        assert len(found) == 25
        await value(client.deployments.create(name, environment="production", version="v1"))
        for version in ("v2", "v3"):
            await value(client.agents.update(name, instructions=f'{{"steps": [{{"reply": "{version}"}}]}}'))
            await value(client.deployments.create(name, environment="production", version=version))
        pages = await items(client.versions.list(name, limit=2).pages())
        assert [len(page.data) for page in pages] == [2, 1]
        assert pages[0].pagination.to_dict() == {"limit": 2, "offset": 0, "total": 3, "has_more": True}

    with_client(kind, work, testbed.key, base_url=testbed.url)
