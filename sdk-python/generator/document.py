"""The operations of openapi.json, and their names in Python."""

from __future__ import annotations

import json
import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

DOCUMENT = Path(__file__).parents[2] / "packages/contract/openapi.json"


def load() -> Json:
    document: Json = json.loads(DOCUMENT.read_text("utf-8"))
    return document


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower()


def pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def identifier(name: str) -> str:
    return f"{snake(name)}_" if keyword.iskeyword(snake(name)) else snake(name)


def path_argument(name: str) -> str:
    """A path's ``request_id`` is a run's."""
    return "run_id" if name == "request_id" else identifier(name)


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    spec: Json
    resource: str
    name: str

    @property
    def id(self) -> str:
        return str(self.spec["operationId"])

    def parameters(self, location: str) -> list[Json]:
        return [one for one in self.spec.get("parameters", []) if one["in"] == location]

    @property
    def body(self) -> Json | None:
        found: Json | None = self.spec.get("requestBody")
        return found and found["content"]["application/json"]["schema"]

    @property
    def takes_idempotency_key(self) -> bool:
        return any(one["name"] == "Idempotency-Key" for one in self.parameters("header"))

    @property
    def takes_if_match(self) -> bool:
        return any(one["name"] == "If-Match" for one in self.parameters("header"))

    @property
    def answer(self) -> Json:
        """Schema of the whole response body."""
        status = min(self.spec["responses"])
        schema: Json = self.spec["responses"][status]["content"]["application/json"]["schema"]
        return schema

    @property
    def events(self) -> Json | None:
        content: Json = self.spec["responses"].get("200", {}).get("content", {})
        return content["text/event-stream"]["schema"] if "text/event-stream" in content else None

    @property
    def is_list(self) -> bool:
        return self.method == "GET" and "pagination" in self.answer.get("properties", {})


#: The interface's invocation is called a run in everything that a person writes. The console has only sessions.
_RESOURCES = {"invocations": "runs", "console": "console_sessions"}
#: Resources of agents that can also be listed across all agents are one resource: ``list`` and ``list_all``.
_OF_ALL_AGENTS = {"deployments", "invocations", "metrics"}


def _resource(path: str, paths: Json) -> str:
    """``deployments`` for ``/v1/agents/{agent_id}/deployments``, which has a GET, else the first word after ``/v1``.

    ``agent_secrets`` for ``/v1/agents/{agent_id}/secrets``, because ``/v1/secrets`` are others.
    """
    words = path.split("/")[2:]
    below = "/".join(["", "v1", *words[:3]])
    is_below_another = len(words) > 2 and words[1].startswith("{") and "get" in paths.get(below, {})
    if not is_below_another:
        return snake(_RESOURCES.get(words[0], words[0]))
    is_elsewhere_too = "get" in paths.get(f"/v1/{words[2]}", {}) and words[2] not in _OF_ALL_AGENTS
    return snake(f"{_singular(words[0])}_{words[2]}" if is_elsewhere_too else _RESOURCES.get(words[2], words[2]))


def _method_name(spec: Json, path: str, resource: str, is_list: bool) -> str:
    words = snake(spec["operationId"]).split("_")
    wire = [on_wire for on_wire, own in _RESOURCES.items() if own == resource]
    nouns = [_singular(noun) for noun in [*resource.split("_"), *wire]]
    # Leaves out words that only repeat the resource: `list` of `listMemories`, in `memory`.
    verb, rest = words[0], [word for word in words[1:] if _singular(word) not in nouns]
    if not rest:
        return "list" if is_list else verb
    # `status` of `getMemoryStatus`, at `…/memory/status`, and `steps` of `listSteps`.
    is_part = verb in ("get", "list") and path.endswith("/" + "-".join(rest))
    return "_".join(rest if is_part else [verb, *rest])


def operations(document: Json) -> list[Operation]:
    paths = document["paths"]
    found = []
    for path, methods in paths.items():
        for method, spec in methods.items():
            resource = _resource(path, paths)
            plain = Operation(method.upper(), path, spec, resource, "")
            name = _method_name(spec, path, resource, plain.is_list)
            found.append(Operation(method.upper(), path, spec, resource, name))
    names = [(one.resource, one.name) for one in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"Two operations would have one name: {sorted(twice)}")
    return found
