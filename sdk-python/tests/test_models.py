"""The results of methods: objects with attributes that lose nothing of the service's answer."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from generator.document import Json, Operation, load, operations
from perch_sdk import Model, Unrecognised, models

from .mock_http import perch_that

_document = load()
_answers = [one for one in operations(_document) if one.id != "invokeAgent"]
_time = "2026-01-31T12:00:00.123Z"
_free = {"free": ["form"]}


def _sample(schema: Json) -> Any:  # noqa: PLR0911 - one line for each kind of schema
    """A value that the schema allows, with every field."""
    while "$ref" in schema:
        schema = _document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _sample(schema[union][0])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][-1]
    if schema.get("format") == "date-time":
        return _time
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties", False) is not False:
        return _free  # whatever fields: no class
    if kind == "object":
        return {name: _sample(inner) for name, inner in schema.get("properties", {}).items()} or _free
    if kind == "array":
        return [_sample(schema["items"])] * 2
    return {"string": "text", "integer": 7, "number": 0.5, "boolean": True}.get(str(kind))


def _returned(operation: Operation, body: Json) -> Any:
    """The result of the operation's method for a response."""
    with perch_that(lambda _: httpx.Response(200, json=body)) as client:
        method: Any = client.me if operation.id == "getMe" else getattr(client, operation.resource)
        method = method if operation.id == "getMe" else getattr(method, operation.name)
        needed = [one["name"] for one in operation.parameters("path")]
        result = method(*["x" for _ in needed], **_required(operation))
        return result.page().data[0] if operation.is_list else result


def _required(operation: Operation) -> Json:
    schema = operation.body or {}
    while "$ref" in schema:
        schema = _document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    query = [one["name"] for one in operation.parameters("query") if one["required"]]
    return dict.fromkeys([*schema.get("required", []), *query], "x")


def _all_models(value: Any) -> list[Model]:
    if isinstance(value, list):
        return [found for one in value for found in _all_models(one)]
    if not isinstance(value, Model):
        return []
    return [value, *(found for one in vars(value).values() for found in _all_models(one))]


@pytest.mark.parametrize("operation", _answers, ids=lambda one: one.id)
def test_every_answer_is_objects_all_the_way_down_and_goes_back_as_it_came(operation: Operation) -> None:
    body = _sample(operation.answer)
    answer = _returned(operation, body)
    is_data = operation.is_list or set(operation.answer["properties"]) == {"success", "data"}
    sent = (body["data"][0] if operation.is_list else body["data"]) if is_data else body
    assert answer.to_dict() == sent
    found = _all_models(answer)
    assert found
    assert not any(one.unknown_fields or isinstance(one, Unrecognised) for one in found if one is not answer)
    # Neither a time nor an object that the document describes is left as JSON.
    values = [part for one in found for value in vars(one).values() for part in _parts(value)]
    assert _time not in values
    assert all(value == _free for value in values if isinstance(value, dict))
    assert len(repr(answer)) < 300


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _agent(**changes: Any) -> Json:
    schema = {"$ref": "#/components/schemas/Agent"}
    return {**_sample(schema), **changes}


def test_fields_are_attributes_with_times_in_utc_and_names_that_python_allows() -> None:
    agent = models.Agent.from_dict(_agent())
    assert agent.limits.max_steps == 7
    assert agent.tools[0].type == "mcp"
    assert agent.created_at == datetime(2026, 1, 31, 12, 0, 0, 123000, timezone.utc)
    assert agent.created_at.utcoffset() == timedelta(0)
    assert agent.security.ip_whitelist is not None
    assert agent.security.ip_whitelist.addresses == ["text", "text"]
    assert models.VersionDiff.from_dict({"from": "v1", "to": "v2"}).from_ == "v1"
    assert models.SecuritySettings.from_dict({}).ip_whitelist is None  # left out


def test_what_a_newer_server_adds_is_kept_and_reachable() -> None:
    data = _agent(region="eu", limits={"max_steps": 1, "max_cost": 5}, status="sleeping", created_at="soon")
    data["tools"] = [{"type": "grpc", "address": "tools:443"}]
    agent = models.Agent.from_dict(data)
    assert agent.unknown_fields == {"region": "eu"}
    assert agent.limits.unknown_fields == {"max_cost": 5}
    tool: Any = agent.tools[0]
    assert type(tool) is Unrecognised
    assert (tool.type, tool.address) == ("grpc", "tools:443")
    assert not hasattr(tool, "url")
    assert (str(agent.status), str(agent.created_at)) == ("sleeping", "soon")
    assert agent.to_dict() == data


def test_a_field_that_the_response_left_out_is_none_and_another_name_is_an_error() -> None:
    agent: Any = models.Agent.from_dict({"id": "agent_1"})
    assert agent.id == "agent_1"
    assert agent.name is None  # required
    assert agent.created_at is None
    assert agent.to_dict() == {"id": "agent_1"}
    assert repr(agent) == "Agent(id='agent_1')"
    for copied in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):  # noqa: S301
        assert copied == agent
    with pytest.raises(AttributeError, match="Agent has no field nmae"):
        agent.nmae  # noqa: B018


def test_objects_are_equal_by_value_and_cannot_be_changed() -> None:
    one, same, other = (models.Agent.from_dict(_agent(name=name)) for name in ("a", "a", "b"))
    assert one == same
    assert one != other
    assert one != one.to_dict()
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    with pytest.raises(AttributeError, match="cannot be changed"):
        one.name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot be changed"):
        del one.name


def test_a_description_is_short_and_shows_no_credential() -> None:
    key = models.ApiKey.from_dict({"id": "key_1", "role": None, "permissions": ["read"], "created_at": _time, "new": 1})
    assert repr(key) == f"ApiKey(id='key_1', permissions=['read'], created_at={_time}, unknown=<1 fields>)"
    assert repr(models.VersionDiff.from_dict({"changes": [{"path": "a"}]})) == "VersionDiff(changes=<1 items>)"
    agent = models.Agent.from_dict(_agent(instructions="Be kind. " * 1000))
    assert repr(agent).startswith("Agent(id='text', name='text', ")
    assert len(repr(agent)) < 300
    secret = "perch_" + "0" * 46
    for kind, field in (
        (models.CreatedApiKey, "key"),
        (models.WebhookWithSecret, "secret"),
        (models.MfaEnrolment, "secret"),
        (models.StepUpToken, "token"),
        (models.MfaEnrolmentToken, "token"),
    ):
        found = kind.from_dict({field: secret, "name": "ci"})
        assert secret not in f"{found!r} {found}"
        assert "<hidden>" in repr(found)
        assert getattr(found, field) == secret


def test_an_object_can_be_made_by_hand() -> None:
    detail = models.ErrorDetail(field="name", error="Too long.")
    assert detail == models.ErrorDetail.from_dict({"field": "name", "error": "Too long."})
    wrong: list[dict[str, str]] = [{"field": "name"}, {"field": "name", "error": "", "other": ""}]
    for fields, message in zip(wrong, ("needs error", "has no field other"), strict=True):
        with pytest.raises(TypeError, match=message):
            models.ErrorDetail(**fields)


def test_objects_and_times_can_be_given_back() -> None:
    agent = models.Agent.from_dict(_agent())
    sent: list[Json] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"success": True, "data": {}})

    with perch_that(answer) as client:
        client.agents.update(
            "bot",
            limits=agent.limits,
            tools=[*agent.tools, {"type": "mcp", "name": "more", "url": "https://mcp.example"}],
            memory={"embedder": agent.memory.embedder},
        )
        client.logs.add("bot", entries=[{"message": "then", "timestamp": agent.created_at}])
    assert sent[0]["limits"] == agent.limits.to_dict()
    assert [tool["name"] for tool in sent[0]["tools"]] == ["text", "text", "more"]
    assert sent[0]["memory"] == {"embedder": agent.memory.embedder.to_dict()}
    assert sent[1]["entries"] == [{"message": "then", "timestamp": _time}]


@pytest.mark.parametrize(
    ("connection", "kind"),
    [
        ({"account": "user", "return_urls": ["https://app.example/connected"]}, models.ToolConnectionUser),
        ({"account": "agent", "client_id": "bot", "client_secret": "{{secret.client}}"}, models.ToolConnectionAgent),
    ],
)
def test_the_account_of_a_tool_is_of_the_class_that_its_account_says(connection: Json, kind: type[Model]) -> None:
    tool = models.HttpTool.from_dict({"type": "http", "name": "list_mail", "connection": connection})
    assert isinstance(tool.connection, kind)
    assert tool.to_dict()["connection"] == connection
