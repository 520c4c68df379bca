"""All 18 operations of docs/specification.md, through both clients, against the real server."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from perch_sdk import NotFoundError, UnauthorizedError

from .both_clients import Kind, both, items, value, with_client

if TYPE_CHECKING:
    from .conftest import Testbed


async def _agents(client: Any, name: str) -> None:
    made = await value(client.agents.create(name=name, model="perch/echo"))
    listed = await value(client.agents.list(limit=5, offset=0, sort="-created_at").page())  # 2 List Agents
    first = listed.data[0]
    assert (first.id, first.name, first.status, first.created_at) == (made.id, name, made.status, made.created_at)
    assert (await value(client.agents.get(made.id))).name == name  # 3 Get Agent
    changed = await value(client.agents.update(name, model="perch/echo", temperature=0.2))  # 4 Update Agent
    assert changed.temperature == 0.2
    context = {"user_id": "ada", "session_id": "s-1"}
    result = await value(client.agents.invoke(name, message="Hello there", context=context))  # 1 Invoke Agent
    assert result.response == "Hello there"
    assert set(result.to_dict()) == {"response", "request_id", "tokens_used", "duration_ms"}


async def _deployments(client: Any, name: str) -> None:
    first = await value(client.deployments.create(name, environment="staging", version="v1"))  # 6 Create Deployment
    assert (first.version, first.status) == ("v1", "pending")
    live = await value(client.deployments.deploy_and_wait(name, environment="production", version="v1"))
    assert live.status == "active"
    await value(client.agents.update(name, temperature=0.3))
    second = await value(client.deployments.deploy_and_wait(name, environment="production", version="v2"))
    back = await value(client.deployments.rollback(name, second.id))  # 8 Rollback Deployment
    assert back.version == "v1"
    listed = await items(client.deployments.list(name, environment="production"))  # 7 List Deployments
    assert [one.version for one in listed] == ["v1", "v2", "v1"]


async def _observability(client: Any, name: str) -> None:
    logs = (await value(client.logs.list(name, level="info", limit=10).page())).data  # 9 Get Logs
    assert "Run completed" in [entry.message for entry in logs]
    assert logs[0].metadata["request_id"].startswith("req_")
    series = await value(client.metrics.get(name, metric="throughput", granularity="1h"))  # 10 Get Metrics
    assert (series.metric, series.granularity) == ("throughput", "1h")
    assert {"timestamp", "value", "unit"} <= set(series.values[0].to_dict())


async def _memory(client: Any, name: str) -> None:
    await value(client.memory.add(name, content="Ada is allergic to nuts.", user_id="ada"))
    found = await value(client.memory.search(name, query="allergic to nuts", limit=3))  # 11 Search Memory
    assert found.data[0].content == "Ada is allergic to nuts."
    cleared = await value(client.memory.clear(name))  # 12 Clear Memory
    assert cleared.status in {"running", "completed"}


async def _webhooks(client: Any, name: str) -> None:
    url, events = "https://example.com/hook", ["agent.completed", "agent.failed"]
    made = await value(client.webhooks.create(agent_id=name, url=url, events=events))  # 13 Create Webhook
    assert made.secret.startswith("whsec_")
    listed = await items(client.webhooks.list(agent_id=name))  # 14 List Webhooks
    assert [(one.id, one.events) for one in listed] == [(made.id, events)]
    deleted = await value(client.webhooks.delete(made.id))  # 15 Delete Webhook
    assert deleted.to_dict() == {"id": made.id, "deleted": True}


async def _keys(client: Any, name: str, kind: Kind, url: str) -> None:
    made = await value(client.keys.create(agent_id=name, name="ci", permissions=["read"]))  # 16 Create API Key
    listed = await items(client.keys.list(agent_id=name))  # 17 List API Keys
    assert [one.id for one in listed] == [made.id]
    other = kind(made.key, base_url=url)
    try:
        assert (await value(other.agents.get(name))).name == name
        revoked = await value(client.keys.revoke(made.id))  # 18 Revoke API Key
        assert revoked.id == made.id
        with pytest.raises(UnauthorizedError):
            await value(other.agents.get(name))
    finally:
        await value(other.close())


@both
def test_all_18_operations_of_the_interface_work(kind: Kind, testbed: Testbed) -> None:
    name = f"accepted-{uuid.uuid4().hex[:8]}"

    async def work(client: Any) -> None:
        await _agents(client, name)
        await _deployments(client, name)
        await _observability(client, name)
        await _memory(client, name)
        await _webhooks(client, name)
        await _keys(client, name, kind, testbed.url)
        deleted = await value(client.agents.delete(name))  # 5 Delete Agent
        assert deleted.deleted is True
        with pytest.raises(NotFoundError):
            await value(client.agents.get(name))

    with_client(kind, work, testbed.key, base_url=testbed.url)
