"""The operations of the service. Made by generate.py from openapi.json: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import webhooks as webhook_signatures
from .._call import OMIT, Call, Omit, body_of, given, new_key, path_of
from .._pages import Pager
from .._streams import EventStream, RunStream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any, Literal

    from .._transport import Transport
    from . import models as m


class Agents:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        name: str,
        force: m.CreateAgent | None = None,
        model: str | None = None,
        temperature: float | Omit | None = OMIT,
        instructions: str | Omit | None = OMIT,
        tools: Sequence[m.McpTool | m.HttpTool] | Omit | None = OMIT,
        memory: m.MemorySettingsPatch | Omit | None = OMIT,
        limits: m.LimitsPatch | Omit | None = OMIT,
        logs: m.LogSettingsPatch | Omit | None = OMIT,
        fallback_models: Sequence[str] | Omit | None = OMIT,
        runtime: m.Runtime | Omit | None = OMIT,
        security: m.SecuritySettingsPatch | Omit | None = OMIT,
        auth: m.AgentAuth | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Agent:
        """Create agent.

        ``name`` never changes afterwards. ``model`` is required, except for a remote agent (``runtime.type`` is ``http``). Left out, the rest is ``{"temperature":null,"instructions":"","tools":[],"memory":{"recall":false,"recall_limit":5,"remember":false,"embedder":{"model":"perch/minilm","dimensions":384}},"limits":{"max_steps":20,"max_tokens":100000,"timeout_seconds":120,"history_messages":40,"max_concurrent_runs":100},"logs":{"messages":false},"fallback_models":[],"runtime":{"type":"model"},"security":{}}``. Setting ``security`` or ``auth`` also needs the permission ``manage``.
        Needs the permission ``write``.

        :param force: Lets you set ``security`` that refuses this very request: an address list without you in it, say.
        :param model: ``provider/model``. ``perch/echo`` needs no provider key.
        :param temperature: null leaves it to the model.
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
                security=security,
                auth=auth,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Agent = self._transport.send(call)[1]["data"]
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"] | None = None,
        timeout: float | None = None,
    ) -> Pager[m.AgentSummary]:
        """List agents.

        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param sort: Field to sort by; a leading ``-`` means descending.
        """
        call = Call(
            "GET",
            "/v1/agents",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        agent_id: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.Agent = self._transport.send(call)[1]["data"]
        return answer

    def update(
        self,
        agent_id: str,
        *,
        force: m.CreateAgent | None = None,
        model: str | None = None,
        temperature: float | Omit | None = OMIT,
        instructions: str | Omit | None = OMIT,
        tools: Sequence[m.McpTool | m.HttpTool] | Omit | None = OMIT,
        memory: m.MemorySettingsPatch | Omit | None = OMIT,
        limits: m.LimitsPatch | Omit | None = OMIT,
        logs: m.LogSettingsPatch | Omit | None = OMIT,
        fallback_models: Sequence[str] | Omit | None = OMIT,
        runtime: m.Runtime | Omit | None = OMIT,
        security: m.SecuritySettingsPatch | Omit | None = OMIT,
        auth: m.AgentAuth | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Agent:
        """Update agent.

        Changes the draft. ``memory``, ``limits`` and ``security`` merge field by field, everything else is replaced; null restores the default. Changing ``security`` or ``auth`` also needs the permission ``manage``, and is refused with ``conflict`` where it would refuse this very request, unless forced.
        Needs the permission ``write``.

        :param force: Lets you set ``security`` that refuses this very request: an address list without you in it, say.
        :param model: ``provider/model``. ``perch/echo`` needs no provider key.
        :param temperature: null leaves it to the model.
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
                security=security,
                auth=auth,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Agent = self._transport.send(call)[1]["data"]
        return answer

    def delete(
        self,
        agent_id: str,
        *,
        timeout: float | None = None,
    ) -> m.DeleteAgentResult:
        """Delete agent.

        The agent is gone at once and its name is free again. Keys that belong to it are revoked.
        Needs the permission ``delete``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/agents/{agent_id}",
                agent_id=agent_id,
            ),
            timeout=timeout,
        )
        answer: m.DeleteAgentResult = self._transport.send(call)[1]["data"]
        return answer

    def pause(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Agent:
        """Pause agent.

        A paused agent refuses new invocations with ``conflict``. Pausing twice is the same as once.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/pause",
                agent_id=agent_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Agent = self._transport.send(call)[1]["data"]
        return answer

    def resume(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
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
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Agent = self._transport.send(call)[1]["data"]
        return answer

    def invoke(
        self,
        agent_id: str,
        *,
        message: str,
        context: m.InvocationContext | None = None,
        wait_seconds: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.InvocationResult:
        """Run the agent and wait for its answer: ``wait_seconds`` at most, or until the run has ended."""
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
            timeout=timeout,
        )
        return self._transport.wait_for_run(call, wait_seconds)

    def start(
        self,
        agent_id: str,
        *,
        message: str,
        context: m.InvocationContext | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Run the agent in the background. Returns its ``request_id``, for ``invocations.follow``, say."""
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
            timeout=timeout,
        )
        return str(self._transport.send(call)[1]["data"]["request_id"])

    def invoke_stream(
        self,
        agent_id: str,
        *,
        message: str,
        context: m.InvocationContext | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> RunStream:
        """Invoke agent, as a stream that comes back by itself after a broken connection."""
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
            timeout=timeout,
        )
        return RunStream(self._transport, call)


class Invocations:
    def __init__(self, transport: Transport) -> None:
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
        timeout: float | None = None,
    ) -> Pager[m.InvocationSummary]:
        """List invocations.

        Newest first. ``total`` is counted up to 10,000; beyond that ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param start_time: From this time on.
        :param end_time: Before this time.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        agent_id: str,
        request_id: str,
        *,
        timeout: float | None = None,
    ) -> m.Invocation:
        """Get invocation.

        ``Accept: text/event-stream`` follows the run instead, from its beginning or after ``Last-Event-ID``, with the same events as invoke.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}",
                agent_id=agent_id,
                request_id=request_id,
            ),
            timeout=timeout,
        )
        answer: m.Invocation = self._transport.send(call)[1]["data"]
        return answer

    def follow(
        self,
        agent_id: str,
        request_id: str,
        *,
        timeout: float | None = None,
    ) -> RunStream:
        """Get invocation, as a stream that comes back by itself after a broken connection."""
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}",
                agent_id=agent_id,
                request_id=request_id,
            ),
            timeout=timeout,
        )
        return RunStream(self._transport, call)

    def cancel(
        self,
        agent_id: str,
        request_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Invocation:
        """Cancel invocation.

        The run stops before its next step and is recorded as ``cancelled``. A run that has ended stays as it is.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/agents/{agent_id}/invocations/{request_id}/cancel",
                agent_id=agent_id,
                request_id=request_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Invocation = self._transport.send(call)[1]["data"]
        return answer


class Deployments:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        agent_id: str,
        *,
        environment: str,
        version: str,
        traffic_percent: int | None = None,
        guards: m.NewGuards | None = None,
        redeploy: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Deployment:
        """Create deployment.

        Answers at once with ``pending``. Checks of the model, the tools and the limits follow; then it is ``active`` and live from the next request on, or ``failed`` with an ``error``, and what was live stays so.
        Needs the permission ``write``.

        :param traffic_percent: Less than 100 makes a canary beside the live deployment.
        :param redeploy: Deploys a version that exists as it is, though the agent's draft has changed since.
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
            timeout=timeout,
        )
        answer: m.Deployment = self._transport.send(call)[1]["data"]
        return answer

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        environment: str | None = None,
        status: m.DeploymentStatus | None = None,
        timeout: float | None = None,
    ) -> Pager[m.Deployment]:
        """List deployments.

        All there ever were: nothing is removed.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param sort: Field to sort by; a leading ``-`` means descending.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.Deployment = self._transport.send(call)[1]["data"]
        return answer

    def update(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        traffic_percent: int,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Deployment:
        """Adjust canary.

        Changes the share of a canary. Sessions that are on it stay on it when the share grows.
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
            timeout=timeout,
        )
        answer: m.Deployment = self._transport.send(call)[1]["data"]
        return answer

    def promote(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Deployment:
        """Promote canary.

        The canary becomes the live deployment, from the next request on.
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
            timeout=timeout,
        )
        answer: m.Deployment = self._transport.send(call)[1]["data"]
        return answer

    def abort(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Deployment:
        """Abort canary.

        The canary gets no request any more; the live deployment gets all.
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
            timeout=timeout,
        )
        answer: m.Deployment = self._transport.send(call)[1]["data"]
        return answer

    def rollback(
        self,
        agent_id: str,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Deployment:
        """Roll back deployment.

        The environment runs the version of this deployment again; if it is the live one, the version before it. Counts from the next request on, on every node. The answer is a new deployment; no record is removed. A canary is aborted.
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
            timeout=timeout,
        )
        answer: m.Deployment = self._transport.send(call)[1]["data"]
        return answer


class Versions:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        timeout: float | None = None,
    ) -> Pager[m.VersionSummary]:
        """List versions.

        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param sort: Field to sort by; a leading ``-`` means descending.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        agent_id: str,
        version: str,
        *,
        timeout: float | None = None,
    ) -> m.Version:
        """Get version.

        The whole definition, as it was when the label was first used. It never changes.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/versions/{version}",
                agent_id=agent_id,
                version=version,
            ),
            timeout=timeout,
        )
        answer: m.Version = self._transport.send(call)[1]["data"]
        return answer

    def diff(
        self,
        agent_id: str,
        version: str,
        *,
        to: str | None = None,
        timeout: float | None = None,
    ) -> m.VersionDiff:
        """Compare versions.

        What changes from this version to another one, or to the agent's draft.
        Needs the permission ``read``.

        :param to: A version's label, or ``draft``.
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
            timeout=timeout,
        )
        answer: m.VersionDiff = self._transport.send(call)[1]["data"]
        return answer


class Logs:
    def __init__(self, transport: Transport) -> None:
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
        timeout: float | None = None,
    ) -> Pager[m.LogEntry]:
        """Get logs.

        Newest first. ``total`` is counted up to 10,000; beyond that ``total_relation`` is ``gte``. ``Accept: text/event-stream`` follows new entries instead, with the same filters.
        Needs the permission ``read``.

        :param start_time: From this time on; the last 24 hours unless set.
        :param end_time: Before this time.
        :param limit: Entries on a page.
        :param offset: Entries to skip. ``cursor`` costs less.
        :param cursor: ``pagination.next_cursor`` of the page before.
        :param contains: In the message, in whatever case.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 1000)

    def follow(
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
        timeout: float | None = None,
    ) -> EventStream[m.LogEntry]:
        """Get logs, as a stream that comes back by itself after a broken connection.

        :param start_time: From this time on; the last 24 hours unless set.
        :param end_time: Before this time.
        :param limit: Entries on a page.
        :param offset: Entries to skip. ``cursor`` costs less.
        :param cursor: ``pagination.next_cursor`` of the page before.
        :param contains: In the message, in whatever case.
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
            timeout=timeout,
        )
        return EventStream(self._transport, call)

    def add(
        self,
        agent_id: str,
        *,
        entries: Sequence[m.NewLogEntry],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.AddLogsResult:
        """Add log entries.

        For remote agents and tools: what they did, beside what Perch saw.
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
            timeout=timeout,
        )
        answer: m.AddLogsResult = self._transport.send(call)[1]["data"]
        return answer


class Metrics:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(
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
        timeout: float | None = None,
    ) -> m.MetricSeries:
        """Get metrics.

        Every interval of the range has a value, also one without runs. ``response_time`` is in milliseconds, ``throughput`` in requests per minute, ``error_rate`` a share from 0 to 1, ``tokens`` and ``cost`` are sums; ``cost`` is in US dollars, as far as the operator set prices. Percentiles are true to within 6 %.
        Needs the permission ``read``.

        :param start_time: From the interval of this time on; 24 hours before the end unless set.
        :param end_time: Before this time; now unless set.
        :param statistic: Of response_time: avg unless set.
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
            timeout=timeout,
        )
        answer: m.MetricSeries = self._transport.send(call)[1]["data"]
        return answer


class Memory:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def search(
        self,
        agent_id: str,
        *,
        query: str,
        limit: int | None = None,
        mode: m.SearchMode | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        start_time: str | datetime | None = None,
        end_time: str | datetime | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> m.SearchMemoryResult:
        """Search memory.

        By meaning and by words at once: what only one of the two finds is found. Where no embedder answers, it goes by words alone and says so.
        Needs the permission ``read``.

        :param user_id: Memories of this user alone.
        :param session_id: Memories of this session alone.
        :param start_time: Last said at this time or later.
        :param end_time: Last said before this time.
        :param metadata: Memories whose metadata contain this.
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
                mode=given(mode),
                user_id=given(user_id),
                session_id=given(session_id),
                start_time=given(start_time),
                end_time=given(end_time),
                metadata=given(metadata),
            ),
            timeout=timeout,
        )
        answer: m.SearchMemoryResult = self._transport.send(call)[1]
        return answer

    def add(
        self,
        agent_id: str,
        *,
        content: str,
        user_id: str | None = None,
        session_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Memory:
        """Add memory.

        The same content of the same user is kept once: adding it again makes it the newest.
        Needs the permission ``write``.

        :param user_id: Whose it is. Without it, runs for every user may recall it.
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
            timeout=timeout,
        )
        answer: m.Memory = self._transport.send(call)[1]["data"]
        return answer

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        timeout: float | None = None,
    ) -> Pager[m.Memory]:
        """List memories.

        The one last said comes first.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def clear(
        self,
        agent_id: str,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        before: str | datetime | None = None,
        timeout: float | None = None,
    ) -> m.MemoryClear:
        """Clear memory.

        Memories and what was said in sessions. It is out of sight when this returns; a large clear goes on removing in the background, and answers 202. Records of runs and logs are not memory: they expire by themselves.
        Needs the permission ``delete``.

        :param user_id: Only what belongs to this user.
        :param session_id: Only what belongs to this session.
        :param before: Only what was last said before this time.
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
            timeout=timeout,
        )
        answer: m.MemoryClear = self._transport.send(call)[1]["data"]
        return answer

    def get_status(
        self,
        agent_id: str,
        *,
        timeout: float | None = None,
    ) -> m.MemoryStatus:
        """Get memory status.

        How much there is, and how far embedding has come after the embedder was changed.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/memory/status",
                agent_id=agent_id,
            ),
            timeout=timeout,
        )
        answer: m.MemoryStatus = self._transport.send(call)[1]["data"]
        return answer

    def get(
        self,
        agent_id: str,
        memory_id: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.Memory = self._transport.send(call)[1]["data"]
        return answer

    def delete(
        self,
        agent_id: str,
        memory_id: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.DeleteMemoryResult = self._transport.send(call)[1]["data"]
        return answer

    def get_clear(
        self,
        agent_id: str,
        clear_id: str,
        *,
        timeout: float | None = None,
    ) -> m.MemoryClear:
        """Get clear.

        How far a clear has come.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/agents/{agent_id}/memory/clears/{clear_id}",
                agent_id=agent_id,
                clear_id=clear_id,
            ),
            timeout=timeout,
        )
        answer: m.MemoryClear = self._transport.send(call)[1]["data"]
        return answer


class Webhooks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    verify = staticmethod(webhook_signatures.verify)

    def create(
        self,
        *,
        url: str,
        events: Sequence[m.CreateWebhookEventsItem],
        agent_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.WebhookWithSecret:
        """Create webhook.

        The answer holds the secret that signs deliveries, this once. ``X-Service-Signature`` is the HMAC-SHA-256 of the raw body in hex, keyed with the secret as it is shown; the headers of Standard Webhooks come besides.
        Needs the permission ``write``.

        :param url: HTTPS address that receives events. It must not be a private address.
        :param events: The names of the events it receives.
        :param agent_id: Id or name of the one agent whose events it receives; left out, those of all agents.
        """
        call = Call(
            "POST",
            "/v1/webhooks",
            body=body_of(
                url=url,
                events=events,
                agent_id=given(agent_id),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.WebhookWithSecret = self._transport.send(call)[1]["data"]
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        agent_id: str | None = None,
        status: m.WebhookStatus | None = None,
        timeout: float | None = None,
    ) -> Pager[m.Webhook]:
        """List webhooks.

        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param sort: Field to sort by; a leading ``-`` means descending.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.Webhook = self._transport.send(call)[1]["data"]
        return answer

    def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[m.CreateWebhookEventsItem] | None = None,
        enabled: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Webhook:
        """Update webhook.

        Counts from the next attempt on, also for deliveries that are pending.
        Needs the permission ``write``.

        :param url: HTTPS address that receives events. It must not be a private address.
        :param events: The names of the events it receives.
        :param enabled: false stops deliveries and cancels what is pending when its turn comes. true begins anew.
        """
        call = Call(
            "PATCH",
            path_of(
                "/v1/webhooks/{webhook_id}",
                webhook_id=webhook_id,
            ),
            body=body_of(
                url=given(url),
                events=given(events),
                enabled=given(enabled),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Webhook = self._transport.send(call)[1]["data"]
        return answer

    def delete(
        self,
        webhook_id: str,
        *,
        timeout: float | None = None,
    ) -> m.DeleteWebhookResult:
        """Delete webhook.

        Its pending deliveries are cancelled, and its delivery log is gone with it.
        Needs the permission ``delete``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/webhooks/{webhook_id}",
                webhook_id=webhook_id,
            ),
            timeout=timeout,
        )
        answer: m.DeleteWebhookResult = self._transport.send(call)[1]["data"]
        return answer

    def rotate_secret(
        self,
        webhook_id: str,
        *,
        overlap_hours: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.WebhookWithSecret:
        """Rotate webhook secret.

        Makes a new secret and shows it once. During the overlap both sign: ``webhook-signature`` holds one signature of each, ``X-Service-Signature`` is the new secret's and ``X-Service-Signature-Previous`` the old one's.
        Needs the permission ``write``.

        :param overlap_hours: How long the old secret signs beside the new one: up to 7 days, one day unless set.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/webhooks/{webhook_id}/rotate",
                webhook_id=webhook_id,
            ),
            body=body_of(
                overlap_hours=given(overlap_hours),
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.WebhookWithSecret = self._transport.send(call)[1]["data"]
        return answer

    def test(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Delivery:
        """Send test event.

        Delivers an event ``webhook.test`` to this webhook, whatever events it asks for.
        Needs the permission ``write``.
        """
        call = Call(
            "POST",
            path_of(
                "/v1/webhooks/{webhook_id}/test",
                webhook_id=webhook_id,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.Delivery = self._transport.send(call)[1]["data"]
        return answer

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        status: m.DeliveryStatus | None = None,
        event_type: m.EventType | None = None,
        timeout: float | None = None,
    ) -> Pager[m.Delivery]:
        """List deliveries.

        Newest first, kept for 30 days. ``total`` is counted up to 10,000; beyond that ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get_delivery(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> m.DeliveryWithAttempts:
        """Get delivery.

        With each attempt: when, how long, what was answered, and why it failed.
        Needs the permission ``read``.
        """
        call = Call(
            "GET",
            path_of(
                "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}",
                webhook_id=webhook_id,
                delivery_id=delivery_id,
            ),
            timeout=timeout,
        )
        answer: m.DeliveryWithAttempts = self._transport.send(call)[1]["data"]
        return answer

    def redeliver(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Delivery:
        """Redeliver one.

        A new delivery of the same event, with attempts of its own. The event keeps its id.
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
            timeout=timeout,
        )
        answer: m.Delivery = self._transport.send(call)[1]["data"]
        return answer

    def redeliver_failed(
        self,
        webhook_id: str,
        *,
        since: str | datetime,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.RedeliverFailedResult:
        """Redeliver all failed since a time.

        New deliveries for those that failed since then, and whose event has not been delivered or queued again meanwhile; the oldest 1,000 of them. ``more`` says whether some are left: ask again.
        Needs the permission ``write``.

        :param since: Deliveries created from this time on.
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
            timeout=timeout,
        )
        answer: m.RedeliverFailedResult = self._transport.send(call)[1]["data"]
        return answer


class Events:
    def __init__(self, transport: Transport) -> None:
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
        timeout: float | None = None,
    ) -> Pager[m.Event]:
        """List events.

        Newest first, kept for 30 days. ``total`` is counted up to 10,000; beyond that ``total_relation`` is ``gte``.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param agent_id: Only events of this agent (id or name).
        :param start_time: From this time on.
        :param end_time: Before this time.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        event_id: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.Event = self._transport.send(call)[1]["data"]
        return answer


class Keys:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        name: str,
        agent_id: str | None = None,
        permissions: Sequence[m.Permission] | None = None,
        role: m.Role | None = None,
        expires_at: str | datetime | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.CreatedApiKey:
        """Create API key.

        The answer holds the key itself, once: it is not kept and cannot be shown again. A key never gives more than its maker holds: not in permissions, not in agents, not in time.
        Needs the permission ``manage``.

        :param agent_id: Id or name of the one agent the key may reach; left out, it reaches all.
        :param permissions: Either this or ``role``.
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
            timeout=timeout,
        )
        answer: m.CreatedApiKey = self._transport.send(call)[1]["data"]
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        agent_id: str | None = None,
        status: m.KeyStatus | None = None,
        timeout: float | None = None,
    ) -> Pager[m.ApiKey]:
        """List API keys.

        Needs the permission ``manage``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param sort: Field to sort by; a leading ``-`` means descending.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def revoke(
        self,
        key_id: str,
        *,
        timeout: float | None = None,
    ) -> m.RevokeKeyResult:
        """Revoke API key.

        The key stops working at once. Revoking twice is the same as once.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/keys/{key_id}",
                key_id=key_id,
            ),
            timeout=timeout,
        )
        answer: m.RevokeKeyResult = self._transport.send(call)[1]["data"]
        return answer

    def update(
        self,
        key_id: str,
        *,
        name: str | None = None,
        permissions: Sequence[m.Permission] | None = None,
        role: m.Role | None = None,
        expires_at: str | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.ApiKey:
        """Update API key.

        Changes its name, what it may do or when it ends, from its next request on. Never to more than the caller holds.
        Needs the permission ``manage``.

        :param permissions: Either this or ``role``.
        :param expires_at: null: it never expires.
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
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.ApiKey = self._transport.send(call)[1]["data"]
        return answer

    def rotate(
        self,
        key_id: str,
        *,
        overlap_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.CreatedApiKey:
        """Rotate API key.

        Makes a new key with the same rights and shows it once. The old one ends when the overlap is over, at once if it is 0.
        Needs the permission ``manage``.

        :param overlap_seconds: How long the old key goes on working beside the new one: up to 7 days, one day unless set.
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
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.CreatedApiKey = self._transport.send(call)[1]["data"]
        return answer

    def revoke_leaked(
        self,
        *,
        key: str,
        timeout: float | None = None,
    ) -> m.RevokeLeakedKeyResult:
        """Revoke a leaked API key.

        Whoever finds a key may end it by presenting it: no other key is needed. Limited by address.
        Needs no API key.
        """
        call = Call(
            "POST",
            "/v1/keys/revoke-leaked",
            body=body_of(
                key=key,
            ),
            timeout=timeout,
        )
        answer: m.RevokeLeakedKeyResult = self._transport.send(call)[1]["data"]
        return answer


class Models:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        timeout: float | None = None,
    ) -> Pager[m.ModelEntry]:
        """List models.

        What an agent of this organisation can run on: built-in models, the server's providers and your own.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        """
        call = Call(
            "GET",
            "/v1/models",
            query={
                "limit": limit,
                "offset": offset,
            },
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)


class Providers:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        name: str,
        type: m.ProviderType,
        base_url: str | Omit | None = OMIT,
        models: Sequence[str] | None = None,
        api_key: str | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Provider:
        """Add model provider.

        Goes before a provider of the same name that the server has.
        Needs the permission ``manage``.

        :param name: The first half of ``provider/model``.
        :param type: Whose interface it speaks. ``openai-compatible`` is for vLLM, Ollama, gateways and the like.
        :param base_url: Where it answers; null is the provider's own address.
        :param models: The models that may be used; empty means any that the provider has.
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
            timeout=timeout,
        )
        answer: m.Provider = self._transport.send(call)[1]["data"]
        return answer

    def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        timeout: float | None = None,
    ) -> Pager[m.Provider]:
        """List model providers.

        Those of your organisation. What the server brings is in ``GET /v1/models``.
        Needs the permission ``read``.

        :param limit: Items on a page.
        :param offset: Items to skip.
        :param sort: Field to sort by; a leading ``-`` means descending.
        """
        call = Call(
            "GET",
            "/v1/providers",
            query={
                "limit": limit,
                "offset": offset,
                "sort": sort,
            },
            timeout=timeout,
        )
        return Pager(self._transport, call, 100)

    def get(
        self,
        provider_name: str,
        *,
        timeout: float | None = None,
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
            timeout=timeout,
        )
        answer: m.Provider = self._transport.send(call)[1]["data"]
        return answer

    def update(
        self,
        provider_name: str,
        *,
        base_url: str | Omit | None = OMIT,
        models: Sequence[str] | None = None,
        api_key: str | Omit | None = OMIT,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Provider:
        """Update model provider.

        Counts from the next model call on. A new address needs the API key anew, so that nobody can send it elsewhere.
        Needs the permission ``manage``.

        :param base_url: Where it answers; null is the provider's own address.
        :param models: The models that may be used; empty means any that the provider has.
        :param api_key: null takes it away. A new ``base_url`` needs it anew.
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
            timeout=timeout,
        )
        answer: m.Provider = self._transport.send(call)[1]["data"]
        return answer

    def delete(
        self,
        provider_name: str,
        *,
        timeout: float | None = None,
    ) -> m.DeleteProviderResult:
        """Remove model provider.

        Runs that need it fail from their next model call on, unless the server has a provider of that name.
        Needs the permission ``manage``.
        """
        call = Call(
            "DELETE",
            path_of(
                "/v1/providers/{provider_name}",
                provider_name=provider_name,
            ),
            timeout=timeout,
        )
        answer: m.DeleteProviderResult = self._transport.send(call)[1]["data"]
        return answer


class AuditLog:
    def __init__(self, transport: Transport) -> None:
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
        timeout: float | None = None,
    ) -> Pager[m.AuditEntry]:
        """Get audit log.

        Newest first, for 400 days. A key that belongs to one agent sees what was done to that agent. ``total`` is counted up to 10,000; beyond that ``total_relation`` is ``gte``.
        Needs the permission ``manage``.

        :param resource: An id such as agent_…, dep_…, key_…, or a provider's name.
        :param start_time: From this time on.
        :param end_time: Before this time.
        :param limit: Entries on a page.
        :param offset: Entries to skip. ``cursor`` costs less.
        :param cursor: ``pagination.next_cursor`` of the page before.
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
            timeout=timeout,
        )
        return Pager(self._transport, call, 1000)


class Mfa:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def enrol(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.MfaEnrolment:
        """Enrol a second factor.

        For the key that asks. Give ``otpauth_url`` to an authenticator, keep the recovery codes, then confirm with a code. Nothing counts before that.
        Any valid key will do.
        """
        call = Call(
            "POST",
            "/v1/mfa",
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.MfaEnrolment = self._transport.send(call)[1]["data"]
        return answer

    def confirm(
        self,
        *,
        code: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.ConfirmMfaResult:
        """Confirm the second factor.

        Any valid key will do.

        :param code: Six digits of the device, or a recovery code. Each counts once.
        """
        call = Call(
            "POST",
            "/v1/mfa/confirm",
            body=body_of(
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.ConfirmMfaResult = self._transport.send(call)[1]["data"]
        return answer

    def step_up(
        self,
        *,
        code: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.StepUpToken:
        """Get a step-up token.

        For scripts: a token for ``X-MFA-Code`` that counts for this key as a code does, for ten minutes.
        Any valid key will do.

        :param code: Six digits of the device, or a recovery code. Each counts once.
        """
        call = Call(
            "POST",
            "/v1/mfa/step-up",
            body=body_of(
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.StepUpToken = self._transport.send(call)[1]["data"]
        return answer

    def remove(
        self,
        *,
        code: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.RemoveMfaResult:
        """Remove the second factor.

        Any valid key will do.

        :param code: Six digits of the device, or a recovery code. Each counts once.
        """
        call = Call(
            "POST",
            "/v1/mfa/remove",
            body=body_of(
                code=code,
            ),
            idempotency_key=new_key(idempotency_key),
            timeout=timeout,
        )
        answer: m.RemoveMfaResult = self._transport.send(call)[1]["data"]
        return answer


class Operations:
    """The resources of the service."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.agents = Agents(transport)
        self.invocations = Invocations(transport)
        self.deployments = Deployments(transport)
        self.versions = Versions(transport)
        self.logs = Logs(transport)
        self.metrics = Metrics(transport)
        self.memory = Memory(transport)
        self.webhooks = Webhooks(transport)
        self.events = Events(transport)
        self.keys = Keys(transport)
        self.models = Models(transport)
        self.providers = Providers(transport)
        self.audit_log = AuditLog(transport)
        self.mfa = Mfa(transport)

    def me(
        self,
        *,
        timeout: float | None = None,
    ) -> m.Me:
        """Who am I.

        What the presented key is and may do.
        Any valid key will do.
        """
        call = Call(
            "GET",
            "/v1/me",
            timeout=timeout,
        )
        answer: m.Me = self._transport.send(call)[1]["data"]
        return answer
