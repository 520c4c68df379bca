"""The log has attempts and retries, and never content."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from .conftest import FOLDER
from .mock_http import perch_that

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_key = "perch_" + "0" * 46


@pytest.fixture(autouse=True)
def logger(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    found = logging.getLogger("perch_sdk")
    monkeypatch.setattr("random.random", lambda: 0.0)
    yield found
    found.setLevel(logging.NOTSET)


def _busy_once() -> Callable[[httpx.Request], httpx.Response]:
    headers = {"x-correlation-id": "corr_1"}
    answers = [
        httpx.Response(503, json={"error": {"code": "unavailable", "message": "Away."}}, headers=headers),
        httpx.Response(200, json={"data": [], "pagination": {"has_more": False}}, headers=headers),
    ]
    return lambda _: answers.pop(0)


def test_each_attempt_and_each_retry_is_a_line_without_content(caplog: pytest.LogCaptureFixture) -> None:
    headers = {"x-token": "hidden"}
    with caplog.at_level(logging.DEBUG, "perch_sdk"), perch_that(_busy_once(), headers=headers) as client:
        client.logs.list(_key, contains="private").page()
    lines = [(record.levelname, re.sub(r"\d+ ms", "9 ms", record.getMessage())) for record in caplog.records]
    path = "GET /v1/agents/perch_***/logs"
    assert [line for line in lines if line[1].startswith("GET /v1")] == [
        ("DEBUG", f"{path}: 503 in 9 ms correlation_id=corr_1"),
        ("INFO", f"{path}: retry 1 in 0.00 s after 503 unavailable"),
        ("DEBUG", f"{path}: 200 in 9 ms correlation_id=corr_1"),
    ]
    own = " ".join(record.getMessage() for record in caplog.records if record.name == "perch_sdk")
    for content in ("private", "hidden", _key, "Away.", "Bearer"):
        assert content not in own


def test_no_word_of_the_server_moves_the_cursor(caplog: pytest.LogCaptureFixture) -> None:
    hostile = {"error": {"code": "\x1b[2J\ngone", "message": ""}}
    answers = [httpx.Response(503, json=hostile), httpx.Response(200, json={"data": {}})]
    with caplog.at_level(logging.INFO, "perch_sdk"), perch_that(lambda _: answers.pop(0)) as client:
        client.me()
    lines = [record.getMessage() for record in caplog.records if record.name == "perch_sdk"]
    assert lines == ["GET /v1/me: retry 1 in 0.00 s after 503 ?[2J?gone"]


_program = f"""
import httpx, random
from perch_sdk import Perch
random.random = lambda: 0.0
answers = [httpx.Response(503), httpx.Response(200, json={{"data": {{}}}})]
http = httpx.Client(transport=httpx.MockTransport(lambda _: answers.pop(0)))
Perch({_key!r}, base_url="https://perch.example", http_client=http).agents.invoke("bot", message="private")
"""


@pytest.mark.parametrize(("level", "lines"), [("debug", 3), ("DEBUG", 3), ("info", 1), ("", 0)])
def test_the_environment_turns_it_on_without_a_line_of_code(level: str, lines: int) -> None:
    environment = {"PYTHONPATH": str(FOLDER / "src"), "PERCH_LOG": level}
    ran = subprocess.run([sys.executable, "-c", _program], env=environment, capture_output=True, text=True, check=True)
    assert len(ran.stderr.splitlines()) == lines, ran.stderr
    assert ran.stdout == ""
    assert "private" not in ran.stderr
    assert _key not in ran.stderr


def test_a_program_that_logs_gets_each_line_once(monkeypatch: pytest.MonkeyPatch, logger: logging.Logger) -> None:
    monkeypatch.setenv("PERCH_LOG", "debug")
    before = list(logger.handlers)
    for _ in range(2):
        perch_that(_busy_once()).close()
    assert logger.level == logging.DEBUG
    # The tests have handlers of their own on the root logger.
    assert logger.handlers == before
