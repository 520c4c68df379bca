"""The ``ETag`` of what a method returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx


class _Tagged(dict[str, Any]):
    """An agent, a webhook or a key, with the tag that the response had."""

    etag: str


def tagged_body(response: httpx.Response) -> Any:
    """The body of a response. Its ``data`` keeps the tag, if there is one."""
    body = response.json()
    etag = response.headers.get("etag")
    if etag is None or not isinstance(body, dict) or not isinstance(body.get("data"), dict):
        return body
    data = _Tagged(body["data"])
    data.etag = etag
    return {**body, "data": data}


def etag_of(answer: Mapping[str, object]) -> str | None:
    """The ``ETag`` of an agent, a webhook or a key that a method returned, for ``if_match``.

    None for anything else, and for copies.
    """
    return answer.etag if isinstance(answer, _Tagged) else None
