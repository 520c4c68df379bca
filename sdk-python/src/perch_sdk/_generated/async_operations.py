"""The operations of the service. Made by generate.py from openapi.json: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from .. import webhooks as webhook_signatures
from .._call import OMIT, Call, Omit, body_of, given, new_key, path_of
from .._follow_events import follow_events_async
from .._pages import AsyncPageList
from .._streams import AsyncEventStream, AsyncRunStream
from .._waiting import deploy_and_wait_async, wait_for_response_async, wait_for_run_async
from . import models as m

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime
    from typing import Any, Literal

    from .._transport import AsyncTransport
    from . import params as p


class AsyncAgents:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    @overload
    async def create(
        self,
        *,
        name: str,
        model: str,
        force: bool | None = None,
        temperature: float | Omit | None = OMIT,
        instructions: str | Omit | None = OMIT,
        tools: Sequence[p.ToolParam] | Omit | None = OMIT,
        memory: p.MemorySettingsPatchParam | m.MemorySettings | Omit | None = OMIT,
        limits: p.LimitsPatchParam | m.Limits | Omit | None = OMIT,
        logs: m.LogSetting | Omit | None = OMIT,
        fallback_models: Sequence[str] | Omit | None = OMIT,
        runtime: p.RuntimeParam | Omit | None = OMIT,
        approvals: p.ApprovalSettingsParam | m.ApprovalSettings | Omit | None = OMIT,
        security: p.SecuritySettingsPatchParam | m.SecuritySettings | Omit | None = OMIT,
        auth: p.AgentAuthParam | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Agent: ...

    @overload
    async def create(
        self,
        *,
        name: str,
        runtime: p.RuntimeHttpParam | m.RuntimeHttp,
        force: bool | None = None,
        model: str | None = None,
        temperature: float | Omit | None = OMIT,
        instructions: str | Omit | None = OMIT,
        tools: Sequence[p.ToolParam] | Omit | None = OMIT,
        memory: p.MemorySettingsPatchParam | m.MemorySettings | Omit | None = OMIT,
        limits: p.LimitsPatchParam | m.Limits | Omit | None = OMIT,
        logs: m.LogSetting | Omit | None = OMIT,
        fallback_models: Sequence[str] | Omit | None = OMIT,
        approvals: p.ApprovalSettingsParam | m.ApprovalSettings | Omit | None = OMIT,
        security: p.SecuritySettingsPatchParam | m.SecuritySettings | Omit | None = OMIT,
        auth: p.AgentAuthParam | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Agent: ...

    async def create(
        self,
        *,
        name: str,
        force: bool | None = None,
        model: str | None = None,
        temperature: float | Omit | None = OMIT,
        instructions: str | Omit | None = OMIT,
        tools: Sequence[p.ToolParam] | Omit | None = OMIT,
        memory: p.MemorySettingsPatchParam | m.MemorySettings | Omit | None = OMIT,
        limits: p.LimitsPatchParam | m.Limits | Omit | None = OMIT,
        logs: m.LogSetting | Omit | None = OMIT,
        fallback_models: Sequence[str] | Omit | None = OMIT,
        runtime: p.RuntimeParam | Omit | None = OMIT,
        approvals: p.ApprovalSettingsParam | m.ApprovalSettings | Omit | None = OMIT,
        security: p.SecuritySettingsPatchParam | m.SecuritySettings | Omit | None = OMIT,
        auth: p.AgentAuthParam | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Agent:
        """Create agent.

        ``name`` cannot be changed later. ``model`` is required, except for a remote agent (``runtime.type`` is ``http``). The other fields default to ``{"temperature":null,"instructions":"","tools":[],"memory":{"recall":false,"recall_limit":5,"remember":false,"embedder":{"model":"perch/minilm","dimensions":384}},"limits":{"max_steps":20,"max_tokens":100000,"timeout_seconds":120,"max_history_messages":40,"max_concurrent_runs":100},"logs":"shapes","fallback_models":[],"runtime":{"type":"model"},"security":{}}``. Setting ``security`` or ``auth`` also needs the permission ``manage``.
        Needs the permission ``write``.

        :param force: Apply ``security`` settings even if they would refuse this request, such as an IP allow-list without your address.
        :param model: ``provider/model``. The built-in ``perch/echo`` needs no provider.
        :param temperature: null uses the model's default.
        """
        call = Call(
            "POST",
            "/v1/agents",
            query={
                "force": force,
            },
            body=body_of(
                name=name,
                model=given(model),
                temperature=temperature,
                instructions=instructions,
                tools=tools,
                memory=memory,
                limits=limits,
                logs=logs,
                fallback_models=fallback_models,
                runtime=runtime,
                approvals=approvals,
                security=security,
                auth=auth,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Agent)

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.AgentSummary]:
        """List agents.

        Id, name and status of every agent, whatever its settings.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        """
        call = Call(
            "GET",
            "/v1/agents",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.AgentSummary, 100)

    async def get(
        self,
        agent_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Agent:
        """Get agent.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}",
                agent_id=agent_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Agent)

    async def update(
        self,
        agent_id: str,
        *,
        force: bool | None = None,
        model: str | None = None,
        temperature: float | Omit | None = OMIT,
        instructions: str | Omit | None = OMIT,
        tools: Sequence[p.ToolParam] | Omit | None = OMIT,
        memory: p.MemorySettingsPatchParam | m.MemorySettings | Omit | None = OMIT,
        limits: p.LimitsPatchParam | m.Limits | Omit | None = OMIT,
        logs: m.LogSetting | Omit | None = OMIT,
        fallback_models: Sequence[str] | Omit | None = OMIT,
        runtime: p.RuntimeParam | Omit | None = OMIT,
        approvals: p.ApprovalSettingsParam | m.ApprovalSettings | Omit | None = OMIT,
        security: p.SecuritySettingsPatchParam | m.SecuritySettings | Omit | None = OMIT,
        auth: p.AgentAuthParam | Omit | None = OMIT,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Agent:
        """Update agent.

        Changes the draft. Fields that are left out stay as they are. ``memory``, ``limits`` and ``security`` are merged field by field; an object inside them, such as ``memory.embedder`` or ``security.hsts``, is replaced as a whole. Every other field is replaced. null restores a field's default, and removes a field of ``security``; ``model`` has no default and cannot be null. Changing ``security`` or ``auth`` also needs the permission ``manage``. Security settings that would refuse this request are rejected with ``conflict``, unless ``force`` is true. For one hour after a change of ``auth``, the key that made it can read and update the agent without a user's token, to take it back; ``warnings`` says so.
        Needs the permission ``write``.

        :param force: Apply ``security`` settings even if they would refuse this request, such as an IP allow-list without your address.
        :param model: ``provider/model``. The built-in ``perch/echo`` needs no provider.
        :param temperature: null uses the model's default.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/agents/{agent_id}",
                agent_id=agent_id,
            ),
            query={
                "force": force,
            },
            body=body_of(
                model=given(model),
                temperature=temperature,
                instructions=instructions,
                tools=tools,
                memory=memory,
                limits=limits,
                logs=logs,
                fallback_models=fallback_models,
                runtime=runtime,
                approvals=approvals,
                security=security,
                auth=auth,
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Agent)

    async def delete(
        self,
        agent_id: str,
        *,
        if_match: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.DeleteAgentResult:
        """Delete agent.

        Deletes the agent immediately; its name can be used again. Keys that are limited to this agent are revoked.
        Needs the permission ``delete``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/agents/{agent_id}",
                agent_id=agent_id,
            ),
            if_match=if_match,
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeleteAgentResult)

    async def pause(
        self,
        agent_id: str,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Agent:
        """Pause agent.

        A paused agent rejects new runs with ``conflict``. Pausing a paused agent changes nothing.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/pause",
                agent_id=agent_id,
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Agent)

    async def resume(
        self,
        agent_id: str,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Agent:
        """Resume agent.

        Resuming a running agent changes nothing.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/resume",
                agent_id=agent_id,
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Agent)

    async def invoke(
        self,
        agent_id: str,
        *,
        message: str,
        context: p.InvocationContextParam | None = None,
        wait_seconds: float | None = None,
        wait_for_decision: bool = False,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.InvocationResult:
        """Run the agent and wait for its response, for at most ``wait_seconds`` if given.

        Raises :class:`ActionRequiredError` if it waits for a person. With ``wait_for_decision`` it waits, for
        as long as that takes, and goes on after the decision.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/invoke",
                agent_id=agent_id,
            ),
            body=body_of(
                message=message,
                context=given(context),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await wait_for_response_async(self._transport, call, wait_seconds, wait_for_decision=wait_for_decision)

    async def invoke_in_background(
        self,
        agent_id: str,
        *,
        message: str,
        context: p.InvocationContextParam | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.StartedRun:
        """Start a run in the background. ``runs.wait``, ``get`` and ``follow`` take its ``request_id``."""
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/invoke",
                agent_id=agent_id,
            ),
            body=body_of(
                message=message,
                context=given(context),
            ),
            headers={"prefer": "respond-async"},
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.StartedRun)

    def invoke_stream(
        self,
        agent_id: str,
        *,
        message: str,
        context: p.InvocationContextParam | None = None,
        wait_for_decision: bool = False,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncRunStream:
        """Invoke agent, as a stream that reconnects by itself."""
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/invoke",
                agent_id=agent_id,
            ),
            body=body_of(
                message=message,
                context=given(context),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return AsyncRunStream(self._transport, call, None, wait_for_decision=wait_for_decision)

    async def check(
        self,
        agent_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.AgentCheck:
        """Check agent.

        Checks the agent's draft as a deployment would: its limits, its secrets, whether its models exist, and whether its tools or its remote agent answer within 5 seconds. Changes nothing, and calls no model. The answer lists every problem; the list is empty if a deployment of the draft would become active.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/check",
                agent_id=agent_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.AgentCheck)


class AsyncRuns:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        status: m.InvocationStatus | None = None,
        session_id: str | None = None,
        environment: str | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.InvocationSummary]:
        """List runs.

        Newest first. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param status: ``waiting``: for a person's decision or answer, or for an earlier run of its session that waits for one. The run goes on after it.
        :param start_time: Only runs created at this time or later.
        :param end_time: Only runs created before this time.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations",
                agent_id=agent_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
                "status": status,
                "session_id": session_id,
                "environment": environment,
                "start_time": start_time,
                "end_time": end_time,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.InvocationSummary, 100)

    def list_all(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        request_id: str | None = None,
        agent_id: str | None = None,
        status: m.InvocationStatus | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        environment: str | None = None,
        version: str | None = None,
        deployment_id: str | None = None,
        min_duration_ms: int | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.InvocationOfAnyAgent]:
        """List runs of all agents.

        Newest first, without runs of deleted agents. Nothing is counted, and a request reads a bounded number of runs, so it takes the same time however many are stored. Where a filter matches few of them, a page can be short or empty: ``next_cursor`` continues. A run can appear after newer ones, because some are stored when they end: to keep a list up to date, ask for its first page again.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param cursor: ``pagination.next_cursor`` of the previous page.
        :param agent_id: Only runs of this agent (id or name).
        :param status: ``waiting``: for a person's decision or answer, or for an earlier run of its session that waits for one. The run goes on after it.
        :param session_id: Only runs of this conversation. Fast together with ``agent_id``.
        :param version: Only runs of this version; ``draft`` for runs of a draft.
        :param min_duration_ms: Only runs that have ended and took at least this long.
        :param start_time: Only runs created at this time or later.
        :param end_time: Only runs created before this time.
        """
        call = Call(
            "GET",
            "/v1/invocations",
            query={
                "limit": limit,
                "cursor": cursor,
                "request_id": request_id,
                "agent_id": agent_id,
                "status": status,
                "user_id": user_id,
                "session_id": session_id,
                "environment": environment,
                "version": version,
                "deployment_id": deployment_id,
                "min_duration_ms": min_duration_ms,
                "start_time": start_time,
                "end_time": end_time,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.InvocationOfAnyAgent, 100)

    async def get(
        self,
        agent_id: str,
        run_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Invocation:
        """Get run.

        With ``Accept: text/event-stream`` the response is the run's event stream, from its start or after ``Last-Event-ID``, with the same events as Invoke agent.
        Needs the permission ``read``, or ``invoke`` for a run that the key itself started.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}",
                agent_id=agent_id,
                request_id=run_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Invocation)

    def follow(
        self,
        agent_id: str,
        run_id: str,
        *,
        last_event_id: str | None = None,
        wait_for_decision: bool = False,
        timeout_seconds: float | None = None,
    ) -> AsyncRunStream:
        """Get run, as a stream that reconnects by itself."""
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}",
                agent_id=agent_id,
                request_id=run_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return AsyncRunStream(
            self._transport, call, run_id, last_event_id=last_event_id, wait_for_decision=wait_for_decision
        )

    async def wait(
        self,
        agent_id: str,
        run_id: str,
        *,
        wait_for_decision: bool = False,
        timeout_seconds: float | None = None,
    ) -> m.InvocationResult:
        """Wait until a run has ended, and return the same as ``agents.invoke``.

        Raises :class:`RunFailedError` if it failed, :class:`RunCancelledError` if it was cancelled, and
        :class:`StillRunningError` if ``timeout_seconds`` are over; the run goes on.
        Raises :class:`ActionRequiredError` if it waits for a person. With ``wait_for_decision`` it waits, for
        as long as that takes, and goes on after the decision.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}",
                agent_id=agent_id,
                request_id=run_id,
            ),
        )
        return await wait_for_run_async(
            self._transport, call, run_id, timeout_seconds, wait_for_decision=wait_for_decision
        )

    async def cancel(
        self,
        agent_id: str,
        run_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Invocation:
        """Cancel run.

        The run stops before its next step and gets the status ``cancelled``. Cancelling a run that has ended changes nothing.
        Needs the permission ``write``, or ``invoke`` for a run that the key itself started.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}/cancel",
                agent_id=agent_id,
                request_id=run_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Invocation)

    def steps(
        self,
        agent_id: str,
        run_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.RunStep]:
        """List the steps of a run.

        Every attempt of every model call, tool call, listing of tools and recall of memories, in order: when, how long, with how many tokens, why it failed, its input and its output. Empty until the run ends or begins to wait; meanwhile its event stream has the same. Steps are kept as long as the log, at most 300 of a run or of each part between two waits, and their contents as the agent's ``logs`` says.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}/steps",
                agent_id=agent_id,
                request_id=run_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.RunStep, 100)


class AsyncApprovals:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: m.ApprovalStatus | None = None,
        kind: m.ApprovalKind | None = None,
        agent_id: str | None = None,
        request_id: str | None = None,
        tool: str | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        expires_within_seconds: int | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.ApprovalSummary]:
        """List approvals.

        Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and ``next_cursor`` continues. Decided ones are kept for 30 days, and at least until their run has ended.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param cursor: ``pagination.next_cursor`` of the previous page.
        :param status: ``answered``: the question was answered. ``expired``: no decision came in time, which counts as rejected. ``cancelled``: the run was cancelled, its agent deleted, or its user erased.
        :param kind: ``tool``: permission for a call. ``question``: an answer, which the agent asked for.
        :param agent_id: Only approvals of this agent (id or name).
        :param expires_within_seconds: Only open ones that expire within this time.
        """
        call = Call(
            "GET",
            "/v1/approvals",
            query={
                "limit": limit,
                "cursor": cursor,
                "status": status,
                "kind": kind,
                "agent_id": agent_id,
                "request_id": request_id,
                "tool": tool,
                "user_id": user_id,
                "session_id": session_id,
                "expires_within_seconds": expires_within_seconds,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.ApprovalSummary, 100)

    async def get(
        self,
        approval_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Approval:
        """Get approval.

        What the model wants to do, why a person is asked, and what the run did so far.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/approvals/{approval_id}",
                approval_id=approval_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Approval)

    async def approve(
        self,
        approval_id: str,
        *,
        digest: str | None = None,
        arguments: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Approval:
        """Approve a call.

        The call is made, and the run goes on once all calls of its reply are decided. With ``arguments`` the call is made with these instead; they are checked against the tool's schema. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
        Needs the permission ``approve``.

        :param digest: ``digest`` of what you looked at: if it has changed since, the answer is 409. Required where more than one must approve.
        :param arguments: Replaces the arguments of the call.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/approvals/{approval_id}/approve",
                approval_id=approval_id,
            ),
            body=body_of(
                digest=given(digest),
                arguments=given(arguments),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Approval)

    async def reject(
        self,
        approval_id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Approval:
        """Reject a call.

        The call is not made, and the model is told so, with the reason. A question can be rejected too. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
        Needs the permission ``approve``.

        :param reason: What the model is told.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/approvals/{approval_id}/reject",
                approval_id=approval_id,
            ),
            body=body_of(
                reason=given(reason),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Approval)

    async def answer(
        self,
        approval_id: str,
        *,
        answer: Any,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Approval:
        """Answer a question.

        The answer, which is checked against the schema in the agent's definition, is the result of the model's call. Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.
        Needs the permission ``approve``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/approvals/{approval_id}/answer",
                approval_id=approval_id,
            ),
            body=body_of(
                answer=answer,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Approval)


class AsyncConnections:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        agent_id: str,
        *,
        user_id: str,
        tool: str,
        return_url: str | None = None,
        environment: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.ConnectionWithLink:
        """Create connection.

        Gives a link with which one user consents that the agent uses an account of theirs with one tool. There is one connection for each user, tool and address that the tool leads to: if it exists, this gives a new link for it, and it works as before until the new consent is confirmed. The provider sends the browser back to Perch, and Perch sends it to ``return_url`` with ``connection_id`` and ``code``, or with ``error``. Runs use the account only after ``POST …/confirm``.
        Needs the permission ``write``.

        :param user_id: Your id for the user, as in ``context.user_id`` of an invoke.
        :param tool: Name of a tool of the agent that has a ``connection`` for users.
        :param return_url: One of the tool's ``return_urls``. The default is the first.
        :param environment: Where the tool's definition is taken from, as for an invoke: its live version, or the draft where nothing is deployed. The default is ``production``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/connections",
                agent_id=agent_id,
            ),
            body=body_of(
                user_id=user_id,
                tool=tool,
                return_url=given(return_url),
                environment=given(environment),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.ConnectionWithLink)

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        user_id: str | None = None,
        tool: str | None = None,
        status: m.ConnectionStatus | None = None,
        environment: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Connection]:
        """List connections.

        Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and ``next_cursor`` continues.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param cursor: ``pagination.next_cursor`` of the previous page.
        :param status: ``pending``: no consent has been confirmed yet. ``active``: runs of the user use the account. ``needs_reauth``: the provider no longer accepts the consent, so the user needs a new link. ``revoked``: no run uses it any more.
        :param environment: Only those that runs in this environment use, or would after a consent: for the tools, addresses and authorization servers of the live version, or of the draft where nothing is deployed, as for an invoke.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/connections",
                agent_id=agent_id,
            ),
            query={
                "limit": limit,
                "cursor": cursor,
                "user_id": user_id,
                "tool": tool,
                "status": status,
                "environment": environment,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Connection, 100)

    async def get(
        self,
        agent_id: str,
        connection_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Connection:
        """Get connection.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/connections/{connection_id}",
                agent_id=agent_id,
                connection_id=connection_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Connection)

    async def confirm(
        self,
        agent_id: str,
        connection_id: str,
        *,
        user_id: str,
        code: str,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Connection:
        """Confirm connection.

        Says that the user who returned is the user the link was created for: runs of that user use the account from now on. With another ``user_id`` it is refused, and the code is no longer valid. A code works once, within two minutes. While the provider does not answer, this is refused with 503, and the same code can be sent again.
        Needs the permission ``write``.

        :param user_id: The user who is signed in to your application in the browser that returned. Never take it from the address.
        :param code: ``code`` in the address that the browser returned to.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/connections/{connection_id}/confirm",
                agent_id=agent_id,
                connection_id=connection_id,
            ),
            body=body_of(
                user_id=user_id,
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Connection)

    async def revoke(
        self,
        agent_id: str,
        connection_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Connection:
        """Revoke connection.

        No run uses the account any more. The provider is asked to revoke the tokens, where it offers that, for three seconds at most; if it does not answer, it is asked again for a day. Revoking a revoked connection changes nothing. Kept for 30 days.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/connections/{connection_id}/revoke",
                agent_id=agent_id,
                connection_id=connection_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Connection)


class AsyncDeployments:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        agent_id: str,
        *,
        environment: str,
        version: str,
        traffic_percent: int | None = None,
        guards: p.NewGuardsParam | m.Guards | None = None,
        redeploy: bool | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Deployment:
        """Create deployment.

        Returns immediately with the status ``pending``. The model, the tools and the limits are checked; then the deployment is ``active`` and serves the next request, or it is ``failed`` with an ``error`` and the live deployment stays live.
        Needs the permission ``write``.

        :param traffic_percent: Share of requests. Less than 100 creates a canary beside the live deployment.
        :param redeploy: Deploy an existing version even though the agent's draft has changed since.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/deployments",
                agent_id=agent_id,
            ),
            body=body_of(
                environment=environment,
                version=version,
                traffic_percent=given(traffic_percent),
                guards=given(guards),
                redeploy=given(redeploy),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Deployment)

    async def deploy_and_wait(
        self,
        agent_id: str,
        *,
        environment: str,
        version: str,
        traffic_percent: int | None = None,
        guards: p.NewGuardsParam | m.Guards | None = None,
        redeploy: bool | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float = 300.0,
    ) -> m.Deployment:
        """Create a deployment and wait until its checks have passed, so that it is live.

        A canary is live beside what was live before. Raises :class:`DeploymentFailedError` if a check
        failed, and :class:`TimeoutError` if that took longer than ``timeout_seconds``; it goes on then.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/deployments",
                agent_id=agent_id,
            ),
            body=body_of(
                environment=environment,
                version=version,
                traffic_percent=given(traffic_percent),
                guards=given(guards),
                redeploy=given(redeploy),
            ),
            idempotency_key=new_key(idempotency_key),
        )
        return await deploy_and_wait_async(self._transport, call, timeout_seconds)

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        environment: str | None = None,
        status: m.DeploymentStatus | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Deployment]:
        """List deployments.

        Includes past deployments, as many as the tier keeps: beyond that, those that ended first are deleted.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/deployments",
                agent_id=agent_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
                "environment": environment,
                "status": status,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Deployment, 100)

    def list_all(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        agent_id: str | None = None,
        environment: str | None = None,
        status: m.DeploymentStatus | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.DeploymentOfAnyAgent]:
        """List deployments of all agents.

        Newest first, without deployments of deleted agents. Nothing is counted, and a request reads a bounded number of deployments. Where a filter matches few of them, a page can be short or empty: ``next_cursor`` continues.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param cursor: ``pagination.next_cursor`` of the previous page.
        :param agent_id: Only deployments of this agent (id or name).
        :param start_time: Only deployments created at this time or later.
        :param end_time: Only deployments created before this time.
        """
        call = Call(
            "GET",
            "/v1/deployments",
            query={
                "limit": limit,
                "cursor": cursor,
                "agent_id": agent_id,
                "environment": environment,
                "status": status,
                "start_time": start_time,
                "end_time": end_time,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.DeploymentOfAnyAgent, 100)

    async def get(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Deployment:
        """Get deployment.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/deployments/{deployment_id}",
                agent_id=agent_id,
                deployment_id=deployment_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Deployment)

    async def update(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        traffic_percent: int,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Deployment:
        """Adjust canary.

        Changes a canary's share of requests. When the share grows, sessions on the canary stay on it.
        Needs the permission ``write``.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/agents/{agent_id}/deployments/{deployment_id}",
                agent_id=agent_id,
                deployment_id=deployment_id,
            ),
            body=body_of(
                traffic_percent=traffic_percent,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Deployment)

    async def promote(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Deployment:
        """Promote canary.

        The canary becomes the live deployment and serves the next request.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/deployments/{deployment_id}/promote",
                agent_id=agent_id,
                deployment_id=deployment_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Deployment)

    async def abort(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Deployment:
        """Abort canary.

        The canary gets no more requests; the live deployment gets all of them.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/deployments/{deployment_id}/abort",
                agent_id=agent_id,
                deployment_id=deployment_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Deployment)

    async def rollback(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Deployment:
        """Roll back deployment.

        Creates a new deployment of this deployment's version in its environment. For the live deployment, the previous version is deployed instead; a canary is aborted. Takes effect with the next request, on every node.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/deployments/{deployment_id}/rollback",
                agent_id=agent_id,
                deployment_id=deployment_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Deployment)


class AsyncVersions:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.VersionSummary]:
        """List versions.

        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/versions",
                agent_id=agent_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.VersionSummary, 100)

    async def get(
        self,
        agent_id: str,
        version: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Version:
        """Get version.

        The agent's definition at the time the version was created. It never changes.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/versions/{version}",
                agent_id=agent_id,
                version=version,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Version)

    async def diff(
        self,
        agent_id: str,
        version: str,
        *,
        to: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.VersionDiff:
        """Compare versions.

        Changes from this version to another version, or to the agent's draft. The two may have 262,144 characters together; larger ones are refused with 409.
        Needs the permission ``read``.

        :param to: Label of a version, or ``draft``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/versions/{version}/diff",
                agent_id=agent_id,
                version=version,
            ),
            query={
                "to": to,
            },
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.VersionDiff)


class AsyncLogs:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        agent_id: str,
        *,
        level: m.LogLevel | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        limit: int | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        request_id: str | None = None,
        environment: str | None = None,
        version: str | None = None,
        contains: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.LogEntry]:
        """Get logs.

        Newest first. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``. A page ends early after 4 MiB, and a request with ``environment``, ``version`` or ``contains`` reads at most 20,000 entries, with up to 4 MiB of messages: then there may be more although few or none are shown, and ``next_cursor`` continues. With ``Accept: text/event-stream`` the response is a stream of new entries that match the same filters; with ``start_time`` it begins with those since then, and with all entries of runs that have ended since then.
        Needs the permission ``read``.

        :param start_time: Only entries at this time or later. The default is 24 hours ago.
        :param end_time: Only entries before this time.
        :param limit: Maximum number of entries to return.
        :param offset: Number of entries to skip. ``cursor`` is faster.
        :param cursor: ``pagination.next_cursor`` of the previous page.
        :param contains: Only entries whose message contains this text. Case is ignored. A long text is searched in fewer entries at a time.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/logs",
                agent_id=agent_id,
            ),
            query={
                "level": level,
                "start_time": start_time,
                "end_time": end_time,
                "limit": limit,
                "offset": offset,
                "cursor": cursor,
                "request_id": request_id,
                "environment": environment,
                "version": version,
                "contains": contains,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.LogEntry, 1000)

    def follow(
        self,
        agent_id: str,
        *,
        level: m.LogLevel | None = None,
        request_id: str | None = None,
        environment: str | None = None,
        version: str | None = None,
        contains: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncEventStream[m.LogEntry]:
        """Get logs, as a stream that reconnects by itself.

        :param contains: Only entries whose message contains this text. Case is ignored. A long text is searched in fewer entries at a time.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/logs",
                agent_id=agent_id,
            ),
            query={
                "level": level,
                "request_id": request_id,
                "environment": environment,
                "version": version,
                "contains": contains,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncEventStream(self._transport, call, m.LogEntry)

    async def add(
        self,
        agent_id: str,
        *,
        entries: Sequence[p.NewLogEntryParam],
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.AddLogsResult:
        """Add log entries.

        Lets remote agents and tools add their own entries to the agent's log.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/logs",
                agent_id=agent_id,
            ),
            body=body_of(
                entries=entries,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.AddLogsResult)


class AsyncMetrics:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get_all(
        self,
        *,
        metrics: str | None = None,
        agent_ids: str | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        granularity: m.Granularity | None = None,
        environment: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.AgentMetrics:
        """Get metrics of several agents.

        Returns a series for each agent and metric, with one value for every interval of the range, in the units of Get metrics. ``response_time`` is the average; Get metrics has percentiles.
        Needs the permission ``read``.

        :param metrics: Some of response_time, throughput, error_rate, tokens, cost, separated by commas.
        :param agent_ids: Up to 100 agents (ids or names), separated by commas. The default is the newest 100 that the key can read.
        :param start_time: Start of the range, rounded down to an interval. The default is 24 hours before the end.
        :param end_time: End of the range, exclusive. The default is now.
        """
        call = Call(
            "GET",
            "/v1/metrics",
            query={
                "metrics": metrics,
                "agent_ids": agent_ids,
                "start_time": start_time,
                "end_time": end_time,
                "granularity": granularity,
                "environment": environment,
            },
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.AgentMetrics)

    async def get(
        self,
        agent_id: str,
        *,
        metric: Literal["response_time", "throughput", "error_rate", "tokens", "cost"],
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        granularity: m.Granularity | None = None,
        statistic: Literal["avg", "p50", "p95", "p99"] | None = None,
        environment: str | None = None,
        version: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.MetricSeries:
        """Get metrics.

        Returns one value for every interval of the range, including intervals without runs. ``response_time`` is in milliseconds, ``throughput`` in requests per minute, ``error_rate`` is a fraction from 0 to 1. ``tokens`` and ``cost`` are sums; ``cost`` is in US dollars and covers models whose price the operator has set. Percentiles are accurate to within 6 %.
        Needs the permission ``read``.

        :param start_time: Start of the range, rounded down to an interval. The default is 24 hours before the end.
        :param end_time: End of the range, exclusive. The default is now.
        :param statistic: Statistic of response_time. The default is avg.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/metrics",
                agent_id=agent_id,
            ),
            query={
                "metric": metric,
                "start_time": start_time,
                "end_time": end_time,
                "granularity": granularity,
                "statistic": statistic,
                "environment": environment,
                "version": version,
            },
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.MetricSeries)


class AsyncMemory:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def search(
        self,
        agent_id: str,
        *,
        query: str,
        limit: int | None = None,
        offset: int | None = None,
        mode: m.SearchMode | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        metadata: dict[str, Any] | None = None,
        timeout_seconds: float | None = None,
    ) -> m.SearchMemoryResult:
        """Search memory.

        Merges the 100 memories that are nearest by meaning and the 100 that match best by words, best first: these are the results, at most 200, and ``total`` is their number. If the embedder is not available, only the words are searched, and ``search.notice`` says so. An ``Idempotency-Key`` is ignored: a search changes nothing.
        Needs the permission ``read``.

        :param limit: Maximum number of results to return.
        :param offset: Number of results to skip.
        :param user_id: Only memories of this user.
        :param session_id: Only memories of this session.
        :param start_time: Only memories last stored at this time or later.
        :param end_time: Only memories last stored before this time.
        :param metadata: Only memories whose metadata contains these values.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/memory/search",
                agent_id=agent_id,
            ),
            body=body_of(
                query=query,
                limit=given(limit),
                offset=given(offset),
                mode=given(mode),
                user_id=given(user_id),
                session_id=given(session_id),
                start_time=given(start_time),
                end_time=given(end_time),
                metadata=given(metadata),
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch_whole(call, m.SearchMemoryResult)

    async def add(
        self,
        agent_id: str,
        *,
        content: str,
        user_id: str | None = None,
        session_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Memory:
        """Add memory.

        The same content of the same user is stored once. Adding it again makes it the newest.
        Needs the permission ``write``.

        :param user_id: The user that the memory belongs to. Without it, runs for all users can recall the memory.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/memory",
                agent_id=agent_id,
            ),
            body=body_of(
                content=content,
                user_id=given(user_id),
                session_id=given(session_id),
                metadata=given(metadata),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Memory)

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Memory]:
        """List memories.

        Most recently stored first. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/memory",
                agent_id=agent_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
                "user_id": user_id,
                "session_id": session_id,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Memory, 100)

    async def clear(
        self,
        agent_id: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        before: str | datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> m.MemoryClear:
        """Clear memory.

        Deletes memories and session messages. They are hidden as soon as this returns; a large clear answers 202 and goes on deleting in the background. Records of runs and logs are not deleted: they expire.
        Needs the permission ``delete``.

        :param user_id: Only memories and messages of this user.
        :param session_id: Only memories and messages of this session.
        :param before: Only memories and messages last stored before this time.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/agents/{agent_id}/memory",
                agent_id=agent_id,
            ),
            query={
                "user_id": user_id,
                "session_id": session_id,
                "before": before,
            },
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.MemoryClear)

    async def status(
        self,
        agent_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.MemoryStatus:
        """Get memory status.

        Number of memories, and the progress of embedding them.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/memory/status",
                agent_id=agent_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.MemoryStatus)

    async def get(
        self,
        agent_id: str,
        memory_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Memory:
        """Get memory.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/memory/{memory_id}",
                agent_id=agent_id,
                memory_id=memory_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Memory)

    async def delete(
        self,
        agent_id: str,
        memory_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.DeleteMemoryResult:
        """Delete memory.

        Needs the permission ``delete``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/agents/{agent_id}/memory/{memory_id}",
                agent_id=agent_id,
                memory_id=memory_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeleteMemoryResult)

    async def get_clear(
        self,
        agent_id: str,
        clear_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.MemoryClear:
        """Get memory clear.

        Progress of a clear that runs in the background.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/memory/clears/{clear_id}",
                agent_id=agent_id,
                clear_id=clear_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.MemoryClear)


class AsyncWebhooks:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    verify = staticmethod(webhook_signatures.verify)

    async def create(
        self,
        *,
        url: str,
        events: Sequence[m.SubscribableEventType],
        agent_id: str | None = None,
        headers: dict[str, Any] | None = None,
        approval_links: bool | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.WebhookWithSecret:
        """Create webhook.

        The response contains the signing secret, which is shown only once. The header ``X-Service-Signature`` of a delivery is the hex-encoded HMAC-SHA-256 of the raw body, keyed with the whole secret as shown. Deliveries also carry the headers of Standard Webhooks.
        Needs the permission ``write``.

        :param url: HTTPS URL that receives events. It must not resolve to a private address.
        :param events: Names of the events to deliver.
        :param agent_id: Id or name of the only agent whose events are delivered. The default is all agents.
        :param headers: Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``.
        :param approval_links: Whether deliveries of ``agent.action_required`` have a link, ``data.link``, with which anyone who opens it can decide once. The default is false. Needs ``manage``, and ``approve`` if the organisation has ``manage_grants_approve: false``.
        """
        call = Call(
            "POST",
            "/v1/webhooks",
            body=body_of(
                url=url,
                events=events,
                agent_id=given(agent_id),
                headers=given(headers),
                approval_links=given(approval_links),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.WebhookWithSecret)

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        agent_id: str | None = None,
        status: m.WebhookStatus | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Webhook]:
        """List webhooks.

        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        :param agent_id: Only webhooks of this agent (id or name).
        """
        call = Call(
            "GET",
            "/v1/webhooks",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
                "agent_id": agent_id,
                "status": status,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Webhook, 100)

    async def get(
        self,
        webhook_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Webhook:
        """Get webhook.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/webhooks/{webhook_id}",
                webhook_id=webhook_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Webhook)

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        headers: dict[str, Any] | None = None,
        events: Sequence[m.SubscribableEventType] | None = None,
        approval_links: bool | None = None,
        enabled: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Webhook:
        """Update webhook.

        Takes effect with the next attempt, also for pending deliveries. A webhook with ``approval_links`` is changed, and gets a new secret, only with ``manage``, and with ``approve`` too if the organisation has ``manage_grants_approve: false``; ``approval_links: false`` needs only ``manage``.
        Needs the permission ``write``.

        :param url: HTTPS URL that receives events. It must not resolve to a private address.
        :param headers: Headers to send. A value may refer to secrets: ``Bearer {{secret.github_token}}``.
        :param events: Names of the events to deliver.
        :param approval_links: Whether deliveries of ``agent.action_required`` have a link, ``data.link``, with which anyone who opens it can decide once. The default is false. false makes delivered links void.
        :param enabled: false stops deliveries; pending ones are cancelled when they are due. true enables the webhook again.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/webhooks/{webhook_id}",
                webhook_id=webhook_id,
            ),
            body=body_of(
                url=given(url),
                headers=given(headers),
                events=given(events),
                approval_links=given(approval_links),
                enabled=given(enabled),
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Webhook)

    async def delete(
        self,
        webhook_id: str,
        *,
        if_match: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.DeleteWebhookResult:
        """Delete webhook.

        Cancels pending deliveries and deletes the webhook's delivery log.
        Needs the permission ``delete``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/webhooks/{webhook_id}",
                webhook_id=webhook_id,
            ),
            if_match=if_match,
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeleteWebhookResult)

    async def rotate_secret(
        self,
        webhook_id: str,
        *,
        overlap_seconds: int | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.WebhookWithSecret:
        """Rotate webhook secret.

        Creates a new secret and shows it once. During the overlap, deliveries are signed with both secrets: ``webhook-signature`` contains both signatures, ``X-Service-Signature`` is made with the new secret and ``X-Service-Signature-Previous`` with the old one.
        Needs the permission ``write``.

        :param overlap_seconds: How long deliveries are signed with the old secret too: up to 7 days. The default is one day.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/webhooks/{webhook_id}/rotate",
                webhook_id=webhook_id,
            ),
            body=body_of(
                overlap_seconds=given(overlap_seconds),
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.WebhookWithSecret)

    async def test(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Delivery:
        """Send test event.

        Delivers a ``webhook.test`` event to this webhook, whether or not it is subscribed to it.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/webhooks/{webhook_id}/test",
                webhook_id=webhook_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Delivery)

    async def redeliver_failed(
        self,
        webhook_id: str,
        *,
        since: str | datetime,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.RedeliverFailedResult:
        """Redeliver failed deliveries.

        Creates new deliveries for those that failed since a given time and whose event has not been delivered or queued again. Handles the oldest 1,000; if ``has_more`` is true, call it again.
        Needs the permission ``write``.

        :param since: Only deliveries created at this time or later.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/webhooks/{webhook_id}/redeliver",
                webhook_id=webhook_id,
            ),
            body=body_of(
                since=since,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.RedeliverFailedResult)


class AsyncDeliveries:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        webhook_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        status: m.DeliveryStatus | None = None,
        event_type: m.EventType | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Delivery]:
        """List deliveries.

        Newest first. Deliveries are kept for 30 days. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/webhooks/{webhook_id}/deliveries",
                webhook_id=webhook_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
                "status": status,
                "event_type": event_type,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Delivery, 100)

    async def get(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.DeliveryWithAttempts:
        """Get delivery.

        Includes all attempts: when they were made, how long they took, the response, and why they failed.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}",
                webhook_id=webhook_id,
                delivery_id=delivery_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeliveryWithAttempts)

    async def redeliver(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Delivery:
        """Redeliver.

        Creates a new delivery of the same event. The event keeps its id.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
                webhook_id=webhook_id,
                delivery_id=delivery_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Delivery)


class AsyncEvents:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        type: m.EventType | None = None,
        agent_id: str | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Event]:
        """List events.

        Newest first. Events are kept for 30 days. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param agent_id: Only events of this agent (id or name).
        :param start_time: Only events created at this time or later.
        :param end_time: Only events created before this time.
        """
        call = Call(
            "GET",
            "/v1/events",
            query={
                "limit": limit,
                "offset": offset,
                "type": type,
                "agent_id": agent_id,
                "start_time": start_time,
                "end_time": end_time,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Event, 100)

    def follow(
        self,
        *,
        type: m.EventType | None = None,
        agent_id: str | None = None,
        since: datetime | None = None,
        interval_seconds: float = 2.0,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[m.Event]:
        """New events, each once, without end. It polls, so that Perch need not be able to reach you.

        :param since: Events at this time or later. The default is now.
        """

        def list_events(**position: Any) -> AsyncPageList[m.Event]:
            return self.list(type=type, agent_id=agent_id, timeout_seconds=timeout_seconds, **position)

        return follow_events_async(list_events, since, interval_seconds)

    async def get(
        self,
        event_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Event:
        """Get event.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/events/{event_id}",
                event_id=event_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Event)


class AsyncKeys:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        *,
        name: str,
        agent_id: str | None = None,
        permissions: Sequence[m.Permission] | None = None,
        role: m.Role | None = None,
        expires_at: str | datetime | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.CreatedApiKey:
        """Create API key.

        The response contains the key. No other operation shows it. A key cannot have more permissions, access more agents or last longer than the key that creates it. ``approve`` is the exception: a key with ``manage`` may give it without having it, unless the organisation forbids it (``manage_grants_approve``).
        Needs the permission ``manage``.

        :param agent_id: Id or name of the only agent that the key can access. The default is all agents.
        :param permissions: Give either ``permissions`` or ``role``.
        """
        call = Call(
            "POST",
            "/v1/keys",
            body=body_of(
                name=name,
                agent_id=given(agent_id),
                permissions=given(permissions),
                role=given(role),
                expires_at=given(expires_at),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.CreatedApiKey)

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        agent_id: str | None = None,
        status: m.KeyStatus | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.ApiKey]:
        """List API keys.

        Needs the permission ``manage``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        :param agent_id: Only keys of this agent (id or name).
        """
        call = Call(
            "GET",
            "/v1/keys",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
                "agent_id": agent_id,
                "status": status,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.ApiKey, 100)

    async def get(
        self,
        key_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.ApiKey:
        """Get API key.

        What the list shows of one key. The key itself is never shown again.
        Needs the permission ``manage``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/keys/{key_id}",
                key_id=key_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.ApiKey)

    async def revoke(
        self,
        key_id: str,
        *,
        if_match: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.RevokeKeyResult:
        """Revoke API key.

        The key stops working immediately. Revoking a revoked key changes nothing.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/keys/{key_id}",
                key_id=key_id,
            ),
            if_match=if_match,
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.RevokeKeyResult)

    async def update(
        self,
        key_id: str,
        *,
        name: str | None = None,
        permissions: Sequence[m.Permission] | None = None,
        role: m.Role | None = None,
        expires_at: str | datetime | Omit | None = OMIT,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.ApiKey:
        """Update API key.

        Changes the key's name, permissions or expiry. Takes effect with the key's next request. The key cannot get more than the calling key has, but for ``approve``, which a key with ``manage`` may give without having it, unless the organisation forbids it.
        Needs the permission ``manage``.

        :param permissions: Give either ``permissions`` or ``role``.
        :param expires_at: null: the key never expires.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/keys/{key_id}",
                key_id=key_id,
            ),
            body=body_of(
                name=given(name),
                permissions=given(permissions),
                role=given(role),
                expires_at=expires_at,
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.ApiKey)

    async def rotate(
        self,
        key_id: str,
        *,
        overlap_seconds: int | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.CreatedApiKey:
        """Rotate API key.

        Creates a new key with the same permissions and shows it once. The old key stops working after the overlap, or immediately if the overlap is 0. The caller must be allowed to give the key's permissions, as if it created the key.
        Needs the permission ``manage``.

        :param overlap_seconds: How long the old key keeps working: up to 7 days. The default is one day.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/keys/{key_id}/rotate",
                key_id=key_id,
            ),
            body=body_of(
                overlap_seconds=given(overlap_seconds),
            ),
            if_match=if_match,
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.CreatedApiKey)

    async def begin_mfa(
        self,
        key_id: str,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.MfaEnrolmentToken:
        """Begin the enrolment of a second factor.

        Returns a token with which the holder of this key can enrol a second factor: ``POST /v1/mfa`` with the token in ``X-MFA-Code``. Where the security settings demand a second factor, no key can enrol one without a token, and the calling key must have a second factor itself. The token is not kept: a retry with the same ``Idempotency-Key`` is 409.
        Needs the permission ``manage``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/keys/{key_id}/begin-mfa",
                key_id=key_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.MfaEnrolmentToken)

    async def revoke_leaked(
        self,
        *,
        key: str,
        timeout_seconds: float | None = None,
    ) -> m.RevokeLeakedKeyResult:
        """Revoke a leaked API key.

        Revokes the key in the request body. Needs no other key, so that anyone who finds a leaked key can revoke it. Rate-limited by address.
        Needs no API key.
        """
        call = Call(
            "POST",
            "/v1/keys/revoke-leaked",
            body=body_of(
                key=key,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.RevokeLeakedKeyResult)


class AsyncOrganisation:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(
        self,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Organisation:
        """Get organisation.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            "/v1/organisation",
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Organisation)

    async def update(
        self,
        *,
        manage_grants_approve: bool | None = None,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Organisation:
        """Update organisation.

        With ``manage_grants_approve: false``, a key with ``approve`` is created, changed or rotated only by a caller that has ``approve`` too, and so are webhooks with ``approval_links``. It applies at once to all callers, and takes nothing from keys and webhooks that exist: revoke those that should not decide. Setting it does not need ``approve``, so an organisation in which no key has it can lock itself out. The operator then makes a key with ``perch-server create-key --approve``, and sets it to true again with ``perch-server set-organisation --manage-grants-approve on``; this operation answers 403 to that. A key of one agent cannot use this operation.
        Needs the permission ``manage``.

        :param manage_grants_approve: false: only a caller that has ``approve`` gives it. Only the operator can set it to true again.
        """
        call = Call(
            "PATCH",
            "/v1/organisation",
            body=body_of(
                manage_grants_approve=given(manage_grants_approve),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Organisation)


class AsyncModels:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.ModelEntry]:
        """List models.

        Models that agents of this organisation can use: built-in models, and models of the server's and your own providers.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        """
        call = Call(
            "GET",
            "/v1/models",
            query={
                "limit": limit,
                "offset": offset,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.ModelEntry, 100)


class AsyncProviders:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        *,
        name: str,
        type: m.ProviderType,
        base_url: str | Omit | None = OMIT,
        models: Sequence[str] | None = None,
        api_key: str | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Provider:
        """Create model provider.

        Takes precedence over a provider of the same name in the server's configuration.
        Needs the permission ``manage``.

        :param name: The part before the slash in ``provider/model``.
        :param type: Which API the provider has. ``openai-compatible`` is for vLLM, Ollama, gateways and others with OpenAI's API.
        :param base_url: URL of the provider's API. null uses the provider's public API.
        :param models: Models that agents may use. Empty: all models of the provider.
        """
        call = Call(
            "POST",
            "/v1/providers",
            body=body_of(
                name=name,
                type=type,
                base_url=base_url,
                models=given(models),
                api_key=api_key,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Provider)

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Provider]:
        """List model providers.

        Providers of your organisation. For models of the server's providers see ``GET /v1/models``.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        """
        call = Call(
            "GET",
            "/v1/providers",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Provider, 100)

    async def get(
        self,
        provider_name: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Provider:
        """Get model provider.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/providers/{provider_name}",
                provider_name=provider_name,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Provider)

    async def update(
        self,
        provider_name: str,
        *,
        base_url: str | Omit | None = OMIT,
        models: Sequence[str] | None = None,
        api_key: str | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Provider:
        """Update model provider.

        Takes effect with the next model call. Changing ``base_url`` requires ``api_key`` too, so that a stored key cannot be sent to another address.
        Needs the permission ``manage``.

        :param base_url: URL of the provider's API. null uses the provider's public API.
        :param models: Models that agents may use. Empty: all models of the provider.
        :param api_key: null removes the key. Required when ``base_url`` changes, unless it is a secret.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/providers/{provider_name}",
                provider_name=provider_name,
            ),
            body=body_of(
                base_url=base_url,
                models=given(models),
                api_key=api_key,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Provider)

    async def delete(
        self,
        provider_name: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.DeleteProviderResult:
        """Delete model provider.

        Runs that use the provider fail at their next model call, unless the server has a provider of the same name.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/providers/{provider_name}",
                provider_name=provider_name,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeleteProviderResult)


class AsyncSecrets:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        *,
        name: str,
        value: str,
        hosts: Sequence[str],
        approval: Literal["required"] | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Secret:
        """Create secret.

        For all agents of the organisation. An agent's own secret of the same name takes precedence.
        Needs the permission ``manage``.

        :param name: The name by which requests refer to the secret: ``{{secret.github_token}}``.
        :param value: Stored encrypted and never returned.
        :param hosts: The only hosts that the secret is sent to: ``api.github.com`` stands for HTTPS and port 443, ``tools.example:8443`` for another port, ``http://127.0.0.1:3000`` for HTTP. There are no wildcards.
        :param approval: ``required``: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides.
        """
        call = Call(
            "POST",
            "/v1/secrets",
            body=body_of(
                name=name,
                value=value,
                hosts=hosts,
                approval=approval,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Secret)

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Secret]:
        """List secrets.

        Secrets for all agents of the organisation, without their values.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        """
        call = Call(
            "GET",
            "/v1/secrets",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Secret, 100)

    async def get(
        self,
        secret_name: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Secret:
        """Get secret.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/secrets/{secret_name}",
                secret_name=secret_name,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Secret)

    async def update(
        self,
        secret_name: str,
        *,
        value: str | None = None,
        hosts: Sequence[str] | None = None,
        approval: Literal["required"] | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Secret:
        """Update secret.

        Takes effect with the next call on every worker. A new host needs ``value`` again, so that a stored secret cannot be sent to another host without it.
        Needs the permission ``manage``.

        :param value: Stored encrypted and never returned.
        :param hosts: Replaces the hosts. A host that is new needs ``value`` again.
        :param approval: ``required``: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/secrets/{secret_name}",
                secret_name=secret_name,
            ),
            body=body_of(
                value=given(value),
                hosts=given(hosts),
                approval=approval,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Secret)

    async def delete(
        self,
        secret_name: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.DeleteSecretResult:
        """Delete secret.

        Calls that refer to the secret are refused from then on.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/secrets/{secret_name}",
                secret_name=secret_name,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeleteSecretResult)


class AsyncAgentSecrets:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        agent_id: str,
        *,
        name: str,
        value: str,
        hosts: Sequence[str],
        approval: Literal["required"] | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Secret:
        """Create secret of an agent.

        For this agent alone. It takes precedence over the organisation's secret of the same name.
        Needs the permission ``manage``.

        :param name: The name by which requests refer to the secret: ``{{secret.github_token}}``.
        :param value: Stored encrypted and never returned.
        :param hosts: The only hosts that the secret is sent to: ``api.github.com`` stands for HTTPS and port 443, ``tools.example:8443`` for another port, ``http://127.0.0.1:3000`` for HTTP. There are no wildcards.
        :param approval: ``required``: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/secrets",
                agent_id=agent_id,
            ),
            body=body_of(
                name=name,
                value=value,
                hosts=hosts,
                approval=approval,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Secret)

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Secret]:
        """List secrets of an agent.

        The agent's own secrets, without their values. It can use the organisation's too.
        Needs the permission ``read``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        :param sort: Field to sort by. A leading ``-`` sorts in descending order.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/secrets",
                agent_id=agent_id,
            ),
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Secret, 100)

    async def get(
        self,
        agent_id: str,
        secret_name: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Secret:
        """Get secret of an agent.

        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/secrets/{secret_name}",
                agent_id=agent_id,
                secret_name=secret_name,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Secret)

    async def update(
        self,
        agent_id: str,
        secret_name: str,
        *,
        value: str | None = None,
        hosts: Sequence[str] | None = None,
        approval: Literal["required"] | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.Secret:
        """Update secret of an agent.

        Takes effect with the next call on every worker. A new host needs ``value`` again, so that a stored secret cannot be sent to another host without it.
        Needs the permission ``manage``.

        :param value: Stored encrypted and never returned.
        :param hosts: Replaces the hosts. A host that is new needs ``value`` again.
        :param approval: ``required``: only HTTP tools use the secret, and a person approves every call of them, whatever a version of an agent says. null: the agent decides.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/agents/{agent_id}/secrets/{secret_name}",
                agent_id=agent_id,
                secret_name=secret_name,
            ),
            body=body_of(
                value=given(value),
                hosts=given(hosts),
                approval=approval,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Secret)

    async def delete(
        self,
        agent_id: str,
        secret_name: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.DeleteAgentSecretResult:
        """Delete secret of an agent.

        Calls that refer to the secret are refused from then on.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/agents/{agent_id}/secrets/{secret_name}",
                agent_id=agent_id,
                secret_name=secret_name,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.DeleteAgentSecretResult)


class AsyncAuditLog:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        key_id: str | None = None,
        operation: str | None = None,
        resource: str | None = None,
        outcome: Literal["changed", "refused"] | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        limit: int | None = None,
        offset: int | None = None,
        cursor: str | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.AuditEntry]:
        """Get audit log.

        Newest first. Entries are kept for 400 days. A key that is limited to one agent sees only that agent's entries. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``.
        Needs the permission ``manage``.

        :param resource: Id of the resource, such as ``agent_…``, ``dep_…`` or ``key_…``, or the name of a provider.
        :param start_time: Only entries at this time or later.
        :param end_time: Only entries before this time.
        :param limit: Maximum number of entries to return.
        :param offset: Number of entries to skip. ``cursor`` is faster.
        :param cursor: ``pagination.next_cursor`` of the previous page.
        """
        call = Call(
            "GET",
            "/v1/audit-log",
            query={
                "key_id": key_id,
                "operation": operation,
                "resource": resource,
                "outcome": outcome,
                "start_time": start_time,
                "end_time": end_time,
                "limit": limit,
                "offset": offset,
                "cursor": cursor,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.AuditEntry, 1000)


class AsyncUsers:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def erase(
        self,
        user_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Erasure:
        """Erase a user's data.

        Removes what is stored about one user of your organisation, in all its agents and those that were deleted: memories, sessions, texts of runs, logs, steps, streams and kept answers. Runs of the user that are under way are cancelled. It goes on in the background; ``GET /v1/erasures/{erasure_id}`` says when it has completed, with a receipt. While an erasure of the same user is running, the answer is that one. What is accepted after the request is not erased. A key that is limited to one agent is refused.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/users/{user_id}/data",
                user_id=user_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Erasure)


class AsyncErasures:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.Erasure]:
        """List erasures.

        Newest first. Erasures are kept for 400 days after their completion. ``total`` is exact up to 10,000; above that, ``total_relation`` is ``gte``.
        Needs the permission ``manage``.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        """
        call = Call(
            "GET",
            "/v1/erasures",
            query={
                "limit": limit,
                "offset": offset,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.Erasure, 100)

    async def get(
        self,
        erasure_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Erasure:
        """Get erasure.

        Needs the permission ``manage``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/erasures/{erasure_id}",
                erasure_id=erasure_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Erasure)


class AsyncMfa:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def enrol(
        self,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.MfaEnrolment:
        """Enrol a second factor.

        Enrols a second factor for the calling key. Add ``otpauth_url`` to an authenticator app, store the recovery codes, then confirm with a code. The second factor is active once it is confirmed. Where the security settings demand a second factor, this needs a token from ``POST /v1/keys/{key_id}/begin-mfa`` in ``X-MFA-Code``. The answer is not kept: a retry with the same ``Idempotency-Key`` is 409.
        Needs any valid API key.
        """
        call = Call(
            "POST",
            "/v1/mfa",
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.MfaEnrolment)

    async def confirm(
        self,
        *,
        code: str,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.ConfirmMfaResult:
        """Confirm the second factor.

        Needs any valid API key.

        :param code: Six-digit code from the authenticator app, or a recovery code. Each code works once.
        """
        call = Call(
            "POST",
            "/v1/mfa/confirm",
            body=body_of(
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.ConfirmMfaResult)

    async def step_up(
        self,
        *,
        code: str,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.StepUpToken:
        """Get a step-up token.

        Exchanges a code for a token that scripts can send as ``X-MFA-Code``. It is valid for the calling key for ten minutes. The token is not kept: a retry with the same ``Idempotency-Key`` is 409.
        Needs any valid API key.

        :param code: Six-digit code from the authenticator app, or a recovery code. Each code works once.
        """
        call = Call(
            "POST",
            "/v1/mfa/step-up",
            body=body_of(
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.StepUpToken)

    async def remove(
        self,
        *,
        code: str,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.RemoveMfaResult:
        """Remove the second factor.

        Needs any valid API key.

        :param code: Six-digit code from the authenticator app, or a recovery code. Each code works once.
        """
        call = Call(
            "POST",
            "/v1/mfa/remove",
            body=body_of(
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.RemoveMfaResult)


class AsyncConsoleSessions:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def sign_in_methods(
        self,
        *,
        timeout_seconds: float | None = None,
    ) -> m.SignInMethods:
        """List sign-in methods.

        How a browser can sign in to the console. A person is signed in by the OpenID Connect issuer of the installation, if it has one: the browser goes to ``/console/oidc/start``, with ``return_to``, a path of the console, and ``organisation``, if the person is in several. Needs no key.
        Needs no API key.
        """
        call = Call(
            "GET",
            "/v1/console/sign-in-methods",
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.SignInMethods)

    async def create(
        self,
        *,
        api_key: str | None = None,
        link: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.CreatedConsoleSession:
        """Sign in to the console.

        For browsers: exchanges an API key or a one-time link for a session, whose token is set as a cookie that scripts cannot read. The session may do what the key may do, for 12 hours at most, and ends with the key. A change with the cookie needs the header ``X-CSRF-Token``. Requests from other sites are refused, and so is plain HTTP unless it is on this machine. Signing in ends the session that the browser had. Rate-limited by address, and with the other requests of the organisation.
        Needs no API key.

        :param api_key: Give either ``api_key`` or ``link``.
        :param link: What follows ``#link=`` in the address that ``POST /v1/console/links`` answered. It works once.
        """
        call = Call(
            "POST",
            "/v1/console/sessions",
            body=body_of(
                api_key=given(api_key),
                link=given(link),
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.CreatedConsoleSession)

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncPageList[m.ConsoleSession]:
        """List console sessions.

        Sessions that have not ended, newest first: those of the calling key or person, and with the permission ``manage`` all of the organisation, or of the agent that the key belongs to.
        Needs any valid API key.

        :param limit: Maximum number of items to return.
        :param offset: Number of items to skip.
        """
        call = Call(
            "GET",
            "/v1/console/sessions",
            query={
                "limit": limit,
                "offset": offset,
            },
            timeout_seconds=timeout_seconds,
        )
        return AsyncPageList(self._transport, call, m.ConsoleSession, 100)

    async def create_link(
        self,
        *,
        idempotency_key: str | None = None,
        timeout_seconds: float | None = None,
    ) -> m.ConsoleLink:
        """Create a sign-in link.

        Answers an address at which a browser signs in as the calling key, once, within 5 minutes. The secret is in the fragment, which browsers do not send to servers. Needs an API key: a session cannot make another one.
        Needs any valid API key.
        """
        call = Call(
            "POST",
            "/v1/console/links",
            idempotency_key=new_key(idempotency_key),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.ConsoleLink)

    async def end(
        self,
        session_id: str,
        *,
        timeout_seconds: float | None = None,
    ) -> m.EndConsoleSessionResult:
        """End a console session.

        Ends a session at once: your own, and with the permission ``manage`` any of the organisation. The id ``current`` is the session of the request, so this is how to sign out.
        Needs any valid API key.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/console/sessions/{session_id}",
                session_id=session_id,
            ),
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.EndConsoleSessionResult)


class AsyncInstallation:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(
        self,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Installation:
        """Get installation.

        The health of the installation as the node that answers sees it: its parts, what they hold, and the releases with the runs that can end only there. It says nothing about any organisation. Needs the permission ``operate``, which is in no role: the operator gives it with ``perch-server create-key --operate``. Answers within 3 seconds, also if parts are silent.
        Needs the permission ``operate``.
        """
        call = Call(
            "GET",
            "/v1/installation",
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Installation)


class AsyncOperations:
    """The resources of the service."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.agents = AsyncAgents(transport)
        self.runs = AsyncRuns(transport)
        self.approvals = AsyncApprovals(transport)
        self.connections = AsyncConnections(transport)
        self.deployments = AsyncDeployments(transport)
        self.versions = AsyncVersions(transport)
        self.logs = AsyncLogs(transport)
        self.metrics = AsyncMetrics(transport)
        self.memory = AsyncMemory(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.deliveries = AsyncDeliveries(transport)
        self.events = AsyncEvents(transport)
        self.keys = AsyncKeys(transport)
        self.organisation = AsyncOrganisation(transport)
        self.models = AsyncModels(transport)
        self.providers = AsyncProviders(transport)
        self.secrets = AsyncSecrets(transport)
        self.agent_secrets = AsyncAgentSecrets(transport)
        self.audit_log = AsyncAuditLog(transport)
        self.users = AsyncUsers(transport)
        self.erasures = AsyncErasures(transport)
        self.mfa = AsyncMfa(transport)
        self.console_sessions = AsyncConsoleSessions(transport)
        self.installation = AsyncInstallation(transport)

    async def me(
        self,
        *,
        timeout_seconds: float | None = None,
    ) -> m.Me:
        """Get current key.

        The API key or the session of this request, its organisation, and what the organisation has and may have.
        Needs any valid API key.
        """
        call = Call(
            "GET",
            "/v1/me",
            timeout_seconds=timeout_seconds,
        )
        return await self._transport.fetch(call, m.Me)
