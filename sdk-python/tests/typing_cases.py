"""The types that mypy infers and the calls that it refuses. Nothing runs this file; mypy reports unused ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from typing_extensions import assert_type

    from perch_sdk import AsyncPageList, AsyncPerch, Page, PageList, Perch, RunFailedError, RunStream, models
    from perch_sdk.models import Agent, AgentSummary, Deployment, InvocationResult, McpTool
    from perch_sdk.params import RuntimeParam

    def an_agent_has_a_model_or_is_remote(perch: Perch, runtime: RuntimeParam) -> None:
        perch.agents.create(name="bot", model="perch/echo")
        perch.agents.create(name="bot", model="perch/echo", runtime=runtime)
        perch.agents.create(name="bot", runtime={"type": "http", "url": "https://agent.example"})
        perch.agents.create(name="bot")  # type: ignore[call-overload]
        perch.agents.create(name="bot", runtime={"type": "model"})  # type: ignore[call-overload]
        perch.agents.create(name="bot", runtime=runtime)  # type: ignore[arg-type]

    async def so_it_is_with_asyncio(perch: AsyncPerch) -> None:
        await perch.agents.create(name="bot")  # type: ignore[call-overload]

    def fields_have_types(perch: Perch, agent: Agent) -> None:
        assert_type(agent.limits.max_steps, int)
        assert_type(agent.created_at, datetime)
        assert_type(agent.warnings, "list[str] | None")
        agent.nmae  # type: ignore[attr-defined] # noqa: B018
        agent.name = "other"  # type: ignore[misc]
        agent["name"]  # type: ignore[index]
        if agent.status == "asleep":  # type: ignore[comparison-overlap]
            return
        for tool in agent.tools:
            if tool.type == "mcp":
                assert_type(tool, McpTool)
        assert_type(perch.runs.wait("bot", "req_1"), InvocationResult)
        assert_type(perch.deployments.deploy_and_wait("bot", environment="e", version="v1"), Deployment)

    def lists_and_streams_have_types(perch: Perch) -> None:
        assert_type(perch.agents.list(), PageList[AgentSummary])
        assert_type(perch.agents.list().page(), Page[AgentSummary])
        assert_type([agent.name for agent in perch.agents.list()], list[str])
        stream = perch.agents.invoke_stream("bot", message="hi")
        assert_type(stream, RunStream)
        for event in stream:
            if event.type == "token":
                assert_type(event.text, str)
            elif event.type == "done":
                assert_type(event.tokens_used, int)

    async def so_they_have_with_asyncio(perch: AsyncPerch) -> None:
        assert_type(perch.agents.list(), AsyncPageList[AgentSummary])
        assert_type([agent.name async for agent in perch.agents.list()], list[str])
        assert_type(await perch.runs.wait("bot", "req_1"), InvocationResult)

    def options_are_no_fields_and_names_are_checked(perch: Perch) -> None:
        perch.agents.list(limit=5, timeout_seconds=5)
        perch.agents.list(idempotency_key="key")  # type: ignore[call-arg]
        perch.agents.list({"limit": 5})  # type: ignore[call-arg,arg-type]
        perch.agents.update("bot", limits={"max_stpes": 5})  # type: ignore[arg-type]
        perch.agents.update("bot", logs="loud")  # type: ignore[arg-type]

    def objects_can_be_given_back(perch: Perch, agent: Agent) -> None:
        perch.agents.update("bot", limits=agent.limits, memory=agent.memory, tools=agent.tools, runtime=agent.runtime)
        perch.agents.update("bot", limits=agent.memory)  # type: ignore[arg-type]
        models.ErrorDetail(field="name")  # type: ignore[call-arg]

    def errors_have_types(error: RunFailedError) -> None:
        assert_type(error.run_id, str)
        assert_type(error.retryable, bool)
