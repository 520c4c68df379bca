"""A stream gives every token once, however often its connection breaks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from perch_sdk import AsyncPerch, Perch, RunDone, RunFailedError, RunStepEvent, RunToken, RunTool

from .agents import runs, scripted
from .both_clients import Kind, both, items, value, with_client
from .flaky_proxy import Answer, Cut, FlakyProxy, LoseAnswer, Refuse

if TYPE_CHECKING:
    from .conftest import Testbed

_words = " ".join(f"word{number}" for number in range(40))


def _replayed(events: list[Any]) -> str:
    text = ""
    for event in events:
        if isinstance(event, RunToken):
            text = text[: event.offset] + event.text
    return text


@both
def test_a_stream_that_is_cut_three_times_gives_the_full_text_once(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"reply": _words, "word_delay_ms": 40})
    proxy.plan(Cut(700), Cut(700), Cut(700))

    async def work(client: Any) -> list[Any]:
        return await items(client.agents.invoke_stream(name, message="go"))

    events = with_client(kind, work, testbed.key, base_url=proxy.url)
    assert proxy.is_done
    assert len(proxy.seen) == 4
    tokens = [event for event in events if isinstance(event, RunToken)]
    assert "".join(token.text for token in tokens) == _words  # each piece once, and in order
    assert isinstance(events[-1], RunDone)
    assert events[-1].response == _words
    resumed = proxy.header("last-event-id")
    assert resumed[0] is None
    assert all(resumed[1:])
    assert runs(perch, name) == 1


@both
def test_a_stream_whose_beginning_is_lost_starts_one_run(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"reply": "Hello you", "word_delay_ms": 10})
    proxy.plan(Refuse(), LoseAnswer(), Answer(200, "{}"))

    async def work(client: Any) -> Any:
        return await value(client.agents.invoke_stream(name, message="go").text())

    assert with_client(kind, work, testbed.key, base_url=proxy.url) == "Hello you"
    assert proxy.is_done
    assert runs(perch, name) == 1


@both
def test_tools_and_steps_are_told_and_characters_stay_whole(kind: Kind, testbed: Testbed, perch: Perch) -> None:
    call = {"name": "perch_echo", "arguments": {"order": 42}}
    answer = "Order 42 🚚 is on its way 🎉."
    name = scripted(perch, {"reply": "One moment 🙂.", "tool_calls": [call]}, {"reply": answer, "word_delay_ms": 10})

    async def work(client: Any) -> None:
        stream = client.agents.invoke_stream(name, message="Where is it?")
        events = await items(stream)
        calls = [event for event in events if isinstance(event, RunTool)]
        assert [(one.name, one.status) for one in calls] == [("perch_echo", "started"), ("perch_echo", "completed")]
        assert calls[0].arguments == {"order": 42}
        assert calls[1].output == {"characters": 12}
        steps = [(event.step, event.kind, event.status) for event in events if isinstance(event, RunStepEvent)]
        assert steps == [(n, "model", status) for n in (1, 2) for status in ("started", "completed")]
        for step, text in ((1, "One moment 🙂."), (2, answer)):
            assert _replayed([one for one in events if isinstance(one, RunToken) and one.step == step]) == text
        assert stream.text_so_far == answer
        assert (await value(stream.result())).response == answer

    with_client(kind, work, testbed.key, base_url=testbed.url)


@both
def test_a_started_run_can_be_followed_from_its_beginning(kind: Kind, testbed: Testbed, perch: Perch) -> None:
    name = scripted(perch, {"reply": "Slow but sure", "word_delay_ms": 100})

    async def work(client: Any) -> None:
        run_id = (await value(client.agents.invoke_in_background(name, message="go"))).request_id
        followed = await items(client.runs.follow(name, run_id))
        assert _replayed(followed) == "Slow but sure"
        assert followed[-1].request_id == run_id

    with_client(kind, work, testbed.key, base_url=testbed.url)


@both
def test_a_run_that_fails_raises_what_waiting_for_it_would_have_raised(
    kind: Kind, testbed: Testbed, perch: Perch
) -> None:
    name = scripted(perch, {"fail": "permanent"})

    async def work(client: Any) -> None:
        with pytest.raises(RunFailedError) as failed:
            await items(client.agents.invoke_stream(name, message="go"))
        assert failed.value.run_id
        assert (failed.value.status, failed.value.code, failed.value.retryable) == (422, "run_failed", False)

    with_client(kind, work, testbed.key, base_url=testbed.url)


@both
def test_logs_are_followed_without_a_gap_also_after_a_broken_connection(
    kind: Kind, testbed: Testbed, perch: Perch, proxy: FlakyProxy
) -> None:
    name = scripted(perch, {"reply": "ok"})
    proxy.plan(Cut(400), Refuse(), Refuse())
    is_over = threading.Event()

    def write() -> None:
        number = 0
        while not is_over.is_set():
            perch.logs.add(name, entries=[{"message": f"{number}", "level": "warn"}])
            number += 1
            time.sleep(0.1)

    async def work(client: Any) -> list[int]:
        entries = client.logs.follow(name, level="warn")
        heard: list[int] = []
        # The connection breaks, two attempts fail, and it is opened again.
        while len(proxy.seen) < 4 or len(heard) < 12:
            entry = await anext(entries) if kind is AsyncPerch else next(entries)
            heard.append(int(entry.message))
        await value(entries.close())
        return heard

    writer = threading.Thread(target=write)
    writer.start()
    try:
        heard = with_client(kind, work, testbed.key, base_url=proxy.url)
    finally:
        is_over.set()
        writer.join()
    assert heard == list(range(heard[0], heard[0] + len(heard)))
