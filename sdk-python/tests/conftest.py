"""A real server with a real engine, once for all tests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from perch_sdk import Perch

from .flaky_proxy import FlakyProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1]


class Testbed(NamedTuple):
    url: str
    key: str
    free_key: str
    guide_key: str


def _needs_testbed(item: pytest.Item) -> bool:
    return "testbed" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need no server run while it starts."""
    items.sort(key=_needs_testbed)


@pytest.fixture(scope="session", autouse=True)
def testbed_process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes] | None]:
    if not any(_needs_testbed(item) for item in request.session.items):
        yield None
        return
    command = [os.environ.get("TEST_NODE", "node"), str(FOLDER / "testbed.ts")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER) as process:
        yield process
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 0


@pytest.fixture(scope="session")
def testbed(testbed_process: subprocess.Popen[bytes]) -> Testbed:
    assert testbed_process.stdout
    line = testbed_process.stdout.readline()
    assert line, "The testbed did not start: are the services up?"
    told = json.loads(line)
    return Testbed(told["url"], told["key"], told["freeKey"], told["guideKey"])


@pytest.fixture(scope="session")
def perch(testbed: Testbed) -> Iterator[Perch]:
    with Perch(testbed.key, base_url=testbed.url) as client:
        yield client


@pytest.fixture
def proxy(testbed: Testbed) -> Iterator[FlakyProxy]:
    with FlakyProxy(testbed.url) as running:
        yield running
