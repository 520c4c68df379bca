"""The Python samples of the OpenAPI document are calls that the client accepts."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from perch_sdk import Perch

DOCUMENT = json.loads((Path(__file__).parents[2] / "packages/contract/openapi.json").read_text(encoding="utf-8"))
SAMPLES = {
    spec["operationId"]: sample["source"]
    for methods in DOCUMENT["paths"].values()
    for spec in methods.values()
    for sample in spec.get("x-codeSamples", [])
    if sample["lang"] == "python"
}


def test_every_operation_has_a_sample() -> None:
    operations = [spec["operationId"] for methods in DOCUMENT["paths"].values() for spec in methods.values()]
    assert len(operations) > 70
    assert sorted(SAMPLES) == sorted(operations)


def _call_of_client(source: str) -> ast.Call:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    [found] = [node for node in calls if ast.unparse(node.func).startswith("perch.")]
    return found


@pytest.mark.parametrize("operation", SAMPLES)
def test_the_client_has_the_method_and_takes_the_arguments(operation: str) -> None:
    call = _call_of_client(SAMPLES[operation])
    method: Any = Perch("perch_example", base_url="https://perch.example")
    for name in ast.unparse(call.func).split(".")[1:]:
        method = getattr(method, name)
    positional = [ast.literal_eval(argument) for argument in call.args]
    named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    inspect.signature(method).bind(*positional, **named)
