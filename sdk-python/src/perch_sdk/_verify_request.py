"""Verifies that Perch sent a request."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import re
import time
from datetime import datetime, timezone
from inspect import isawaitable, iscoroutine
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ._errors import RequestVerificationError
from ._signed_components import Message, read_fields, signature_base
from ._structured_fields import bytes_of, integer_of, malformed, parse_dictionary, string_of
from ._verification_keys import import_keys, key_directory_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import httpx

    from ._replay import AsyncReplayStore, ReplayStore
    from ._signed_components import RequestHeaders
    from ._structured_fields import Item
    from ._verification_keys import VerificationKey

_LABEL = "perch"
_MAX_LIFETIME_SECONDS = 300
_SKEW_SECONDS = 30
_HEADERS_HINT = "Pass all headers of the request as they came."
_CLOCK_HINT = "Compare the clock of this machine with that of Perch."
_NONCE = re.compile("[A-Za-z0-9+/_=-]{16,128}")
_WHOLE_URL = re.compile("https?://[^/?#]+(.*)", re.IGNORECASE | re.DOTALL)
_ORGANISATION_ID = re.compile("org_[0-9a-z]+")
#: The default, if the caller does not restrict whose agents may call. None and an empty list are refused, because a
#: missing setting must not turn the check off.
_EVERYBODY: Sequence[str] = ("*",)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class VerifiedRequest(NamedTuple):
    """The facts that a request proved."""

    #: The run that the call belongs to (``X-Request-Id``); None while an agent is being checked.
    run_id: str | None
    #: The organisation whose agent called (``Perch-Organisation``); None if the request does not name it.
    organisation_id: str | None
    #: The agent that called (``Perch-Agent``); None if the request does not name it.
    agent_id: str | None
    #: The key that signed it.
    key_id: str
    #: When it was signed.
    created_at: datetime


class _Signature(NamedTuple):
    input: Item
    value: bytes
    key_id: str
    nonce: str
    created: int
    expires: int


class _Candidate(NamedTuple):
    """A request that passes every check that needs no key."""

    signature: _Signature
    base: bytes
    #: The organisations whose agents may call; None if all may.
    organisations: Collection[str] | None
    run_id: str | None
    organisation_id: str | None
    agent_id: str | None
    now: float


def _origin(text: str) -> str:
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
        is_origin = scheme in _DEFAULT_PORTS and parts.path in ("", "/") and "@" not in parts.netloc
    except ValueError:
        is_origin = False
    if not is_origin or not host or not host.isascii() or parts.query or parts.fragment:
        raise ValueError("Give the origin of this service, such as https://tools.example.com")
    name = f"[{ipaddress.IPv6Address(host).compressed}]" if ":" in host else host
    return f"{scheme}://{name}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{name}:{port}"


def _target_uri(url: str, origin: str) -> str:
    """The address that the sender signed. It is concatenated, because a parser could make two addresses one."""
    start = _origin(origin)
    whole = _WHOLE_URL.fullmatch(url)
    path = url if url.startswith("/") else whole[1] if whole else None
    if path is None:
        raise malformed("The address of the request is neither a path nor a URL. Pass it as it came.")
    return f"{start}{path}" if path.startswith("/") else f"{start}/{path}"


def _read_signature(message: Message) -> _Signature:
    inputs = parse_dictionary("signature-input", message.fields.get("signature-input", ""))
    signatures = parse_dictionary("signature", message.fields.get("signature", ""))
    if _LABEL not in inputs or _LABEL not in signatures:
        raise RequestVerificationError(
            "missing_signature",
            f"The request has no signature of Perch: Signature-Input or Signature lacks {_LABEL}. {_HEADERS_HINT}",
        )
    given = inputs[_LABEL].parameters
    value = bytes_of(signatures[_LABEL].value)
    key_id, nonce = string_of(given.get("keyid")), string_of(given.get("nonce"))
    created, expires = integer_of(given.get("created")), integer_of(given.get("expires"))
    is_complete = value is not None and len(value) == 64 and inputs[_LABEL].items is not None
    if not is_complete or value is None or key_id is None or created is None or expires is None:
        raise malformed(
            f"The signature is not one of Perch: it lacks a list, 64 bytes, keyid, created or expires. {_HEADERS_HINT}"
        )
    if string_of(given.get("alg")) != "ed25519":
        raise RequestVerificationError("wrong_algorithm", "The signature is not of the algorithm ed25519.")
    if string_of(given.get("tag")) != "web-bot-auth":
        raise RequestVerificationError("wrong_tag", "The signature is for something else: its tag is not web-bot-auth.")
    if nonce is None or not _NONCE.fullmatch(nonce):
        raise RequestVerificationError("invalid_nonce", "The signature has no nonce of 16 to 128 characters.")
    return _Signature(inputs[_LABEL], value, key_id, nonce, created, expires)


def _check_coverage(signature: _Signature, message: Message) -> None:
    """A component that is not covered could be changed on the way."""
    covered = {item.text for item in signature.input.items or ()}
    required = ['"@method"', '"@target-uri"', '"content-digest"']
    names = ("x-request-id", "perch-organisation", "perch-agent")
    required.extend(f'"{name}"' for name in names if name in message.fields)
    if "signature-agent" in message.fields:
        required.append(f'"signature-agent";key="{_LABEL}"')
    missing = [identifier for identifier in required if identifier not in covered]
    if missing:
        raise RequestVerificationError(
            "missing_component",
            f"The signature does not cover {', '.join(missing)}, so that may not be what Perch sent.",
        )


def _check_times(signature: _Signature, now: float) -> None:
    # Written so that a time that is not a number refuses everything.
    if not signature.created <= now + _SKEW_SECONDS:
        raise RequestVerificationError("not_yet_valid", f"The request was signed in the future. {_CLOCK_HINT}")
    if not now < signature.expires:
        raise RequestVerificationError("expired", f"The signature expired: the request may be a copy. {_CLOCK_HINT}")
    if not signature.expires - signature.created <= _MAX_LIFETIME_SECONDS + _SKEW_SECONDS:
        raise RequestVerificationError("lifetime_too_long", "The signature is valid for longer than Perch's are.")


def _check_digest(message: Message, body: bytes) -> None:
    digest = parse_dictionary("content-digest", message.fields.get("content-digest", "")).get("sha-256")
    given = bytes_of(digest.value) if digest else None
    if given is None or not hmac.compare_digest(given, hashlib.sha256(body).digest()):
        raise RequestVerificationError(
            "digest_mismatch",
            "The body is not the one that was signed. Pass its bytes as they came, not parsed JSON.",
        )


def _read_organisations(given: str | Sequence[str]) -> Collection[str] | None:
    if given is _EVERYBODY:
        return None
    ids = (given,) if isinstance(given, str) else tuple(given or ())
    if not ids or not all(isinstance(one, str) and _ORGANISATION_ID.fullmatch(one) for one in ids):
        raise ValueError(
            "Give the id of your organisation, such as org_01m7evf01ne8nv228qpt0msbq9: perch whoami shows it"
        )
    return ids


def _read_candidate(
    *,
    method: str,
    url: str,
    headers: RequestHeaders,
    body: bytes | str,
    origin: str,
    organisation: str | Sequence[str],
    now: float | None,
) -> _Candidate:
    organisations = _read_organisations(organisation)
    raw = body.encode() if isinstance(body, str) else bytes(body)
    moment = time.time() if now is None else now
    message = Message(method, _target_uri(url, origin), read_fields(headers))
    signature = _read_signature(message)
    _check_coverage(signature, message)
    _check_times(signature, moment)
    base = signature_base(message, signature.input)
    _check_digest(message, raw)
    found = message.fields.get
    return _Candidate(
        signature=signature,
        base=base,
        organisations=organisations,
        run_id=found("x-request-id"),
        organisation_id=found("perch-organisation"),
        agent_id=found("perch-agent"),
        now=moment,
    )


def _check_signature(candidate: _Candidate, key: VerificationKey | None) -> None:
    if key is None:
        raise RequestVerificationError(
            "unknown_key", "The signature is of a key that Perch does not list. Check directory, or update keys."
        )
    if not key.not_before - _SKEW_SECONDS <= candidate.now < key.expires + _SKEW_SECONDS:
        raise RequestVerificationError("key_not_valid", "The signature is of a key of Perch that is not in use now.")
    if not key.verifies(candidate.signature.value, candidate.base):
        raise RequestVerificationError(
            "signature_mismatch",
            "The signature does not match: something was changed, or origin is not the address that Perch called.",
        )


def _check_organisation(candidate: _Candidate) -> None:
    allowed, found = candidate.organisations, candidate.organisation_id
    if allowed is not None and found not in allowed:
        whose = "does not say whose agent calls" if found is None else f"is of {found}"
        raise RequestVerificationError(
            "wrong_organisation", f"The request {whose}, and may not call this service. Check organisation."
        )


def _forgettable_at(candidate: _Candidate) -> datetime:
    # The clocks of machines that share a store may differ.
    return datetime.fromtimestamp(candidate.signature.expires + _SKEW_SECONDS, timezone.utc)


def _accept(candidate: _Candidate, is_new: bool) -> VerifiedRequest:
    if not is_new:
        raise RequestVerificationError(
            "replayed", "This request came before. Perch signs every attempt anew, so it is a copy."
        )
    created_at = datetime.fromtimestamp(candidate.signature.created, timezone.utc)
    return VerifiedRequest(
        run_id=candidate.run_id,
        organisation_id=candidate.organisation_id,
        agent_id=candidate.agent_id,
        key_id=candidate.signature.key_id,
        created_at=created_at,
    )


def _check_options(directory: str | None, keys: Sequence[Mapping[str, Any]] | None) -> None:
    if (directory is None) == (keys is None):
        raise ValueError("Give either directory or keys")


def verify_request(
    *,
    method: str,
    url: str,
    headers: RequestHeaders,
    body: bytes | str,
    origin: str,
    directory: str | None = None,
    keys: Sequence[Mapping[str, Any]] | None = None,
    organisation: str | Sequence[str] = _EVERYBODY,
    replay_store: ReplayStore,
    http_client: httpx.Client | None = None,
    now: float | None = None,
) -> VerifiedRequest:
    """Verifies that Perch sent a request: this one, to this address, for your organisation, now, and not before.

    For tools, MCP servers and remote agents. Raises :class:`RequestVerificationError` otherwise; respond with its
    ``status``. Needs ``pip install 'perch-sdk[verify]'``.

    :param url: The path with the query, as it came, or the whole URL. The origin is taken from ``origin``.
    :param headers: All headers of the request.
    :param body: The raw body, empty if there is none. Do not parse and serialise it first: the bytes would differ.
    :param origin: By which Perch calls your service, such as ``https://tools.example.com``, whatever a proxy makes
        of it.
    :param directory: The origin of Perch, such as ``https://perch.example``. Its public keys are fetched from there
        and cached.
    :param keys: The public keys themselves (JWKs), in place of ``directory``.
    :param organisation: The id of the organisation whose agents may call, such as ``org_01m7evf01ne8nv228qpt0msbq9``,
        or several. Without it, agents of every organisation of the installation pass, because Perch signs for all
        of them.
    :param replay_store: Remembers requests, so that none passes twice, such as a :class:`MemoryReplayStore`.
    :param http_client: Fetches the keys. Give the same client every time, because keys are cached for each.
    :param now: The time now, in seconds; for tests.
    """
    _check_options(directory, keys)
    candidate = _read_candidate(
        method=method, url=url, headers=headers, body=body, origin=origin, organisation=organisation, now=now
    )
    key_id = candidate.signature.key_id
    if directory is None:
        key = import_keys(keys or ()).get(key_id)
    else:
        key = key_directory_of(directory, http_client).find(key_id, candidate.now, http_client)
    _check_signature(candidate, key)
    _check_organisation(candidate)
    # The last check, so that only requests that Perch signed can fill the store.
    is_new = replay_store.add(candidate.signature.nonce, _forgettable_at(candidate))
    if isawaitable(is_new):
        if iscoroutine(is_new):
            is_new.close()
        # It would count as true, and every copy would pass.
        raise TypeError("This replay store is asynchronous: use verify_request_async")
    return _accept(candidate, is_new)


async def verify_request_async(
    *,
    method: str,
    url: str,
    headers: RequestHeaders,
    body: bytes | str,
    origin: str,
    directory: str | None = None,
    keys: Sequence[Mapping[str, Any]] | None = None,
    organisation: str | Sequence[str] = _EVERYBODY,
    replay_store: AsyncReplayStore,
    http_client: httpx.Client | None = None,
    now: float | None = None,
) -> VerifiedRequest:
    """:func:`verify_request` for asyncio. Keys are fetched in a thread, and ``replay_store`` may be asynchronous."""
    _check_options(directory, keys)
    candidate = _read_candidate(
        method=method, url=url, headers=headers, body=body, origin=origin, organisation=organisation, now=now
    )
    key_id = candidate.signature.key_id
    if directory is None:
        key = import_keys(keys or ()).get(key_id)
    else:
        found = key_directory_of(directory, http_client)
        key = found.known(key_id, candidate.now)
        if key is None:
            key = await asyncio.to_thread(found.find, key_id, candidate.now, http_client)
    _check_signature(candidate, key)
    _check_organisation(candidate)
    is_new = replay_store.add(candidate.signature.nonce, _forgettable_at(candidate))
    return _accept(candidate, await is_new if isawaitable(is_new) else bool(is_new))
