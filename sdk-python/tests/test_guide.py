"""The examples of the guide do what the guide says."""

from __future__ import annotations

import contextlib
import io
import re
from typing import TYPE_CHECKING, Any

from .conftest import FOLDER

if TYPE_CHECKING:
    import pytest

    from .conftest import Testbed

_guide = FOLDER.parent / "docs/guides/python-sdk.md"


def test_the_examples_of_the_guide_print_what_it_says(testbed: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERCH_API_KEY", testbed.guide_key)
    monkeypatch.setenv("PERCH_URL", testbed.url)
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", _guide.read_text("utf-8"), re.DOTALL)
    assert len(examples) == _guide.read_text("utf-8").count("```python")
    assert len(examples) >= 10
    names: dict[str, Any] = {}
    for code, expected in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(_guide), "exec"), names)
        assert printed.getvalue() == expected, code
    names["perch"].close()
