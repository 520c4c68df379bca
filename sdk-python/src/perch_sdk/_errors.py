"""Exceptions. Those of calls are subclasses of :class:`PerchError`, and none contains the API key."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._generated.models import Deployment, ErrorDetail


class Exchange(NamedTuple):
    """Which call an error is about."""

    method: str
    #: Without the query, which may hold what a user searched for.
    url: str
    idempotency_key: str | None


def without_keys(text: str) -> str:
    """A key that somebody passed in the place of an id is in the address, and in the server's answer."""
    return re.sub(r"perch_[0-9A-Za-z]{46}", "perch_***", text)


def _without_keys(detail: ErrorDetail) -> ErrorDetail:
    masked = {"field": without_keys(detail.field), "error": without_keys(detail.error)}
    return type(detail).from_dict({**detail.to_dict(), **masked})


class PerchError(Exception):
    """Base class of the exceptions of calls: the service refused one, a run failed, or no answer came.

    The message says what happened, in which request and run, and what to do next.
    """

    #: What to do next. Empty where the server's own message says it.
    _advice: ClassVar[str] = ""

    def __init__(
        self,
        short_message: str,
        *,
        code: str,
        status: int | None = None,
        details: Sequence[ErrorDetail] = (),
        correlation_id: str | None = None,
        retry_after_seconds: float | None = None,
        retryable: bool | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        #: What happened, in the server's words: the beginning of the message.
        self.short_message = without_keys(short_message)
        #: The HTTP status; None if there was no response.
        self.status = status
        #: The error code, such as ``not_found``.
        self.code = code
        #: The invalid fields.
        self.details: list[ErrorDetail] = [_without_keys(one) for one in details]
        #: Id of the exchange (``X-Correlation-Id``). Include it when you report a problem.
        self.correlation_id = correlation_id
        #: ``request_id`` of the run that the error is about: it failed, was cancelled, or has not ended yet.
        self.run_id = next((detail.error for detail in self.details if detail.field == "request_id"), None)
        #: Of a failed run: whether a new call, with a new idempotency key, can succeed without a change to the agent.
        self.retryable = retryable
        #: Seconds to wait before retrying, if the server gave them.
        self.retry_after_seconds = retry_after_seconds
        #: The method of the request.
        self.method = exchange.method if exchange else None
        #: The address of the request, without its query.
        self.url = without_keys(exchange.url) if exchange else None
        #: The key that the call was sent with: the same call with it takes effect once.
        self.idempotency_key = exchange.idempotency_key if exchange else None
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """What happened, in which request and run, and what to do next."""
        fields = "; ".join(f"{one.field}: {one.error}" for one in self.details if one.field != "request_id")
        facts = [
            f"{self.method} {self.url}" if self.url else "",
            f"{self.status or ''} {self.code}".strip(),
            f"run {self.run_id}" if self.run_id else "",
            f"correlation id {self.correlation_id}" if self.correlation_id else "",
        ]
        known = f"({', '.join(filter(None, facts))})"
        parts = [_sentence(self.short_message), _sentence(fields), known, self._next()]
        return without_keys(" ".join(filter(None, parts)))

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.__dict__)

    def _next(self) -> str:
        return self._advice


def _sentence(text: str) -> str:
    return text if text == "" or text.endswith((".", "!", "?")) else f"{text}."


def _restored(kind: type[PerchError], fields: dict[str, Any]) -> PerchError:
    """The exception as it came out of another process."""
    error = kind.__new__(kind)
    error.__dict__.update(fields)
    return error


class InvalidRequestError(PerchError):
    """400 ``invalid_request``: ``details`` names the fields."""

    _advice = "Correct the request."


class UnauthorizedError(PerchError):
    """401 ``unauthorized``: the API key is missing or not valid."""

    _advice = "Pass a valid api_key, or set PERCH_API_KEY."


class ForbiddenError(PerchError):
    """403 ``forbidden``: the API key may not do this."""

    _advice = "Use an API key that may do this: me() shows what this one may do."


class NotFoundError(PerchError):
    """404 ``not_found``: the resource does not exist, or the API key cannot access it."""

    _advice = "Check the id or the name, and whether the API key may access it."


class ConflictError(PerchError):
    """409 ``conflict``: the request conflicts with the state of the resource."""


class PreconditionFailedError(PerchError):
    """412 ``precondition_failed``: somebody changed the resource since you read it."""

    _advice = "Read it again, and send the change with its new tag."


class PayloadTooLargeError(PerchError):
    """413 ``payload_too_large``."""

    _advice = "Send less."


class _LaterError(PerchError):
    def _next(self) -> str:
        seconds = self.retry_after_seconds
        return "Try again later." if seconds is None else f"Try again in {seconds:g} s."


class RateLimitedError(_LaterError):
    """429 ``rate_limited``, even after all retries. See ``retry_after_seconds``."""


class ServerError(PerchError):
    """500 ``server_error``."""

    _advice = "Report it with the correlation id."


class UnavailableError(_LaterError):
    """503 ``unavailable``, even after all retries."""


class ConnectionError(PerchError, builtins.ConnectionError):
    """The connection could not be opened, or broke before the response was complete.

    The request may have been processed. It is safe to repeat the call with the same ``idempotency_key``.
    """

    _advice = "Check base_url and the network."


class TimeoutError(ConnectionError, builtins.TimeoutError):
    """There was no response, or a deployment was not decided, within ``timeout_seconds``."""

    _advice = "Try again, or allow more time with timeout_seconds."


class RunFailedError(PerchError):
    """The run failed: 422 ``run_failed``, or 500 ``server_error`` where Perch itself failed.

    The same idempotency key gets the same error.
    """

    run_id: str
    retryable: bool

    def __init__(self, short_message: str, *, retryable: bool | None = None, **fields: Any) -> None:
        super().__init__(short_message, retryable=bool(retryable), **fields)

    def _next(self) -> str:
        is_ours = self.code == "server_error"
        otherwise = "Report it with the run's id." if is_ours else "Change the agent, or what it calls, first."
        what = "A new call may succeed." if self.retryable else otherwise
        return f"{what} runs.steps shows what the run did."


class RunCancelledError(ConflictError):
    """The run was cancelled."""

    run_id: str


class StillRunningError(PerchError):
    """The wait is over and the run goes on: the answer was 504, even after all retries, or the time that it was given.

    ``runs.wait(agent_id, error.run_id)`` waits for its result, and so does the same call with ``idempotency_key``.
    """

    run_id: str
    _advice = "Wait for it with runs.wait."


class ActionRequiredError(PerchError):
    """409 ``action_required``: the run waits for a person.

    Decide with ``approvals.approve``, ``approvals.reject`` or ``approvals.answer``; then
    ``runs.wait(agent_id, error.run_id)`` gets the result.
    """

    run_id: str
    _advice = "approvals.get shows what it is about. After the decision, runs.wait gets the result."

    def __init__(self, short_message: str, **fields: Any) -> None:
        super().__init__(short_message, **fields)
        #: What the run waits for, for ``approvals.get``. Empty where it waits for its turn in the session.
        self.approval_ids: list[str] = [one.error for one in self.details if one.field == "approval_id"]


class DeploymentFailedError(PerchError):
    """The checks of a deployment failed: ``deployment.error`` names each of them. What was live is still live."""

    _advice = "Correct the agent and deploy it again. What was live is still live."

    def __init__(self, deployment: Deployment, exchange: Exchange) -> None:
        message = deployment.error or f"The deployment {deployment.id} is {deployment.status}"
        super().__init__(message, code="deployment_failed", exchange=exchange)
        #: The deployment as it ended.
        self.deployment = deployment


class WebhookVerificationError(Exception):
    """The signature of a webhook delivery is missing, invalid or too old. Respond with 401."""


#: Why a request did not pass ``verify_request``.
RequestVerificationReason = Literal[
    "missing_signature",
    "malformed",
    "missing_component",
    "unsupported_component",
    "wrong_algorithm",
    "wrong_tag",
    "invalid_nonce",
    "not_yet_valid",
    "expired",
    "lifetime_too_long",
    "digest_mismatch",
    "unknown_key",
    "key_not_valid",
    "directory_unavailable",
    "signature_mismatch",
    "wrong_organisation",
    "replayed",
]


class RequestVerificationError(Exception):
    """A request is not from Perch, is of another organisation, is too old, or came before. Respond with ``status``."""

    def __init__(self, reason: RequestVerificationReason, message: str) -> None:
        super().__init__(message)
        self.reason: RequestVerificationReason = reason

    @property
    def status(self) -> int:
        """401, or 503 if Perch's keys could not be fetched: Perch repeats a call that got 503."""
        return 503 if self.reason == "directory_unavailable" else 401
