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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._generated.models import Event


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float | None = 300.0,
) -> Event:
    """Returns the event of a delivery. Raises :class:`WebhookVerificationError` if its signature is invalid.

    :param body: The raw request body. Do not parse and serialise it first: the bytes would differ.
    :param headers: The request headers. Their case does not matter.
    :param secret: The webhook's secret, including ``whsec_``, or several during a rotation.
    :param tolerance_seconds: Maximum difference between the delivery's timestamp and now. None accepts any age, and
        also deliveries with only ``X-Service-Signature``, which has no timestamp and does not protect from replays.
    """
    raw = body.encode() if isinstance(body, str) else bytes(body)
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(secrets):
        raise ValueError("Give the secret of the webhook")
    named = {name.lower(): value for name, value in headers.items()}
    if "webhook-signature" in named:
        _check_standard(raw, named, secrets, tolerance_seconds)
    elif tolerance_seconds is None and "x-service-signature" in named:
        _check_plain(raw, named, secrets)
    else:
        raise WebhookVerificationError("The delivery has no signature")
    event: Event = json.loads(raw)
    return event


def _check_standard(raw: bytes, headers: Mapping[str, str], secrets: list[str], tolerance: float | None) -> None:
    """Standard Webhooks: HMAC of id, timestamp and body, keyed with the decoded secret after ``whsec_``."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit():
        raise WebhookVerificationError("The delivery has no time")
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + raw
    expected = [base64.b64encode(hmac.digest(_key(one), signed, hashlib.sha256)) for one in secrets]
    _must_match(expected, [part.removeprefix("v1,") for part in headers["webhook-signature"].split(" ")])
    if tolerance is not None and abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The delivery is too old, or a clock is wrong")


def _check_plain(raw: bytes, headers: Mapping[str, str], secrets: list[str]) -> None:
    expected = [hmac.new(one.encode(), raw, hashlib.sha256).hexdigest().encode() for one in secrets]
    names = ("x-service-signature", "x-service-signature-previous")
    _must_match(expected, [headers[name] for name in names if name in headers])


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("The secret of a webhook is whsec_ and base64") from error


def _must_match(expected: list[bytes], given: list[str]) -> None:
    # Compare all pairs in constant time.
    matches = [hmac.compare_digest(one, other.encode()) for one in expected for other in given]
    if not any(matches):
        raise WebhookVerificationError("The signature does not match")
