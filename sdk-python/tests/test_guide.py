"""The examples of the guides work as the guides describe."""

from __future__ import annotations

import contextlib
import io
import logging
import re
from typing import TYPE_CHECKING, Any

import pytest

from .conftest import FOLDER

if TYPE_CHECKING:
    from perch_sdk import Perch

    from .conftest import Testbed


@pytest.mark.parametrize(("page", "least"), [("docs/guides/python-sdk.md", 10), ("docs/guides/verify-calls.md", 1)])
def test_the_examples_of_a_guide_print_what_it_says(
    page: str, least: int, testbed: Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = FOLDER.parent / page
    monkeypatch.setenv("PERCH_API_KEY", testbed.guide_key)
    monkeypatch.setenv("PERCH_URL", testbed.url)
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    assert len(examples) == guide.read_text("utf-8").count("```python")
    assert len(examples) >= least
    names: dict[str, Any] = {}
    for code, expected in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(guide), "exec"), names)
        assert printed.getvalue() == expected, code
    if "perch" in names:
        names["perch"].close()
    logging.getLogger("perch_sdk").handlers.clear()
    logging.getLogger("perch_sdk").setLevel(logging.NOTSET)


def test_the_examples_of_the_readme_work(testbed: Testbed, perch: Perch) -> None:
    perch.agents.create(name="support-bot", model="perch/echo")
    text = (FOLDER / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 6
    code = "\n".join(blocks).replace("perch_…", testbed.key).replace("https://perch.example", testbed.url)
    printed = io.StringIO()
    names: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)
    finally:
        names["perch"].close()
        perch.agents.delete("support-bot")
        logging.getLogger("perch_sdk").setLevel(logging.NOTSET)
    for expected in ("Where is my order?", "Tell me more", "Take your time", "404 not_found corr_"):
        assert expected in printed.getvalue()
