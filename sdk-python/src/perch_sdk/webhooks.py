"""Verifies the signatures of webhook deliveries."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING

from ._errors import WebhookVerificationError
from ._generated.models import Event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_TIMESTAMP = "The delivery has no signed timestamp: {} is missing or malformed. Pass all headers of the request."


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float | None = 300.0,
    require_timestamp: bool = True,
) -> Event:
    """Returns the event of a delivery.

    Raises :class:`WebhookVerificationError` if its signature or timestamp is invalid.

    :param body: The raw request body. Do not parse and serialise it first: the bytes would differ.
    :param headers: All headers of the request. Their case does not matter.
    :param secret: The webhook's secret, including ``whsec_``, or several during a rotation.
    :param tolerance_seconds: Maximum difference between the signed timestamp and now. None accepts any age.
    :param require_timestamp: If False, only ``X-Service-Signature`` is needed. It covers no timestamp, so it cannot
        detect an old delivery that is sent again. Perch always sends both signatures.
    """
    raw = body.encode() if isinstance(body, str) else bytes(body)
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(secrets):
        raise ValueError("Give the secret of the webhook")
    named = {name.lower(): value for name, value in headers.items()}
    if "webhook-signature" in named:
        _check_standard(raw, named, secrets, tolerance_seconds)
    elif require_timestamp:
        raise WebhookVerificationError(_NO_TIMESTAMP.format("webhook-signature"))
    else:
        _check_plain(raw, named, secrets)
    return Event.from_dict(json.loads(raw))


def _check_standard(raw: bytes, headers: Mapping[str, str], secrets: list[str], tolerance: float | None) -> None:
    """Standard Webhooks: HMAC of id, timestamp and body, keyed with the decoded secret after ``whsec_``."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        raise WebhookVerificationError(_NO_TIMESTAMP.format("webhook-timestamp"))
    signed = _bytes(f"{headers.get('webhook-id', '')}.{timestamp}.") + raw
    expected = [base64.b64encode(hmac.digest(_key(one), signed, hashlib.sha256)) for one in secrets]
    _must_match(expected, [part.removeprefix("v1,") for part in headers["webhook-signature"].split(" ")])
    # Written so that a tolerance that is not a number refuses everything.
    if tolerance is not None and not abs(time.time() - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("The delivery is too old, or a clock is wrong")


def _check_plain(raw: bytes, headers: Mapping[str, str], secrets: list[str]) -> None:
    expected = [hmac.new(one.encode(), raw, hashlib.sha256).hexdigest().encode() for one in secrets]
    names = ("x-service-signature", "x-service-signature-previous")
    _must_match(expected, [headers[name] for name in names if name in headers])


def _bytes(header: str) -> bytes:
    # Some servers decode headers with lone surrogates, which do not encode. Such a header must only fail to match.
    return header.encode(errors="replace")


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("The secret of a webhook is whsec_ and base64") from error


def _must_match(expected: list[bytes], given: list[str]) -> None:
    # Compare all pairs in constant time.
    matches = [hmac.compare_digest(one, _bytes(other)) for one in expected for other in given]
    if not any(matches):
        raise WebhookVerificationError("The signature does not match")
