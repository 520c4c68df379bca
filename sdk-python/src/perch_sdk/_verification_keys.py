"""The public keys of Perch, and the directory that lists them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx

from ._errors import RequestVerificationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_PATH = "/.well-known/http-message-signatures-directory"
_TIMEOUT_SECONDS = 5.0
_MAX_BYTES = 262_144
_DEFAULT_MAX_AGE = 300.0
# A lower bound for the server's setting, so that calls do not each wait for the directory.
_MIN_MAX_AGE = 60.0
_MAX_MAX_AGE = 86_400.0
# Any caller can name keys that do not exist, which must not make the client ask more often.
_UNKNOWN_KEY_PAUSE = 60.0
_FAILURE_PAUSE = 5.0
# Keys that are known outlive a failure of the directory by this much.
_MAX_STALE = 3600.0
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=([0-9]{1,9})", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]+){3}|::1")


class VerificationKey(NamedTuple):
    key: Ed25519PublicKey
    not_before: float
    expires: float

    def verifies(self, signature: bytes, base: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra of the package

        try:
            self.key.verify(signature, base)
        except InvalidSignature:
            return False
        return True


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _thumbprint(x: str) -> str:
    """By which a signature names its key (RFC 7638): whatever the list calls it, nothing else is that key."""
    text = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return _base64url(hashlib.sha256(text.encode()).digest())


def _public_key(data: bytes) -> Ed25519PublicKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - an extra of the package
            Ed25519PublicKey,
        )
    except ImportError as error:
        raise ImportError(
            "To verify requests, install the extra that has cryptography: pip install 'perch-sdk[verify]'"
        ) from error
    return Ed25519PublicKey.from_public_bytes(data)


def _is_time(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _import_key(jwk: Mapping[str, Any]) -> tuple[str, VerificationKey] | None:
    """The key with its thumbprint; None for a key of another kind, which a list may have too."""
    x, nbf, exp = jwk.get("x"), jwk.get("nbf"), jwk.get("exp")
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519" or not (_is_time(nbf) and _is_time(exp)):
        return None
    try:
        data = base64.urlsafe_b64decode(f"{x}==") if isinstance(x, str) else b""
    except (binascii.Error, ValueError):
        return None
    if len(data) != 32 or _base64url(data) != x:
        return None
    expires = float("inf") if exp is None else exp
    return _thumbprint(x), VerificationKey(_public_key(data), 0 if nbf is None else nbf, expires)


def import_keys(jwks: Iterable[Mapping[str, Any]]) -> dict[str, VerificationKey]:
    imported = (_import_key(jwk) for jwk in jwks if isinstance(jwk, Mapping))
    return dict(entry for entry in imported if entry)


def _directory_url(installation: str) -> str:
    """The address of the directory. Over plain HTTP an attacker on the way could insert a key of their own."""
    parts = urlsplit(installation)
    is_loopback = _LOOPBACK.fullmatch(parts.hostname or "") is not None
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback)
    if not is_safe or not parts.hostname or "@" in parts.netloc or parts.path not in ("", "/") or parts.query:
        raise ValueError(
            "Give the origin of Perch as directory, with https, such as https://perch.example; or give keys"
        )
    return f"{parts.scheme}://{parts.netloc}{_PATH}"


def _max_age(headers: httpx.Headers) -> float:
    asked = _MAX_AGE.search(headers.get("cache-control", ""))
    age = headers.get("age", "0")
    seconds = (float(asked[1]) if asked else _DEFAULT_MAX_AGE) - (float(age) if age.isdecimal() else 0.0)
    return min(max(seconds, _MIN_MAX_AGE), _MAX_MAX_AGE)


def _fetch_keys(url: str, client: httpx.Client | None) -> tuple[dict[str, VerificationKey], float]:
    get = client.get if client else httpx.get
    # A redirect could lead to keys of another server.
    response = get(url, headers={"accept": "application/json, */*"}, follow_redirects=False, timeout=_TIMEOUT_SECONDS)
    if response.status_code != 200 or len(response.content) > _MAX_BYTES:
        raise ValueError(f"{url} answered {response.status_code} with {len(response.content)} bytes")
    body = json.loads(response.content)
    keys = body.get("keys") if isinstance(body, dict) else None
    if not isinstance(keys, list):
        raise ValueError(f"{url} is not a list of keys")
    return import_keys(keys), _max_age(response.headers)


class KeyDirectory:
    """Caches the keys of an installation. Threads that need them at the same time wait for the same answer."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._keys: dict[str, VerificationKey] | None = None
        self._fresh_until = 0.0
        self._asked_at = float("-inf")
        self._failure: Exception | None = None

    def known(self, key_id: str, now: float) -> VerificationKey | None:
        """The key, if nothing has to be fetched for it."""
        return self._keys.get(key_id) if self._keys and now < self._fresh_until else None

    def find(self, key_id: str, now: float, client: httpx.Client | None) -> VerificationKey | None:
        """The key with this id; None if Perch does not list it."""
        with self._lock:
            pause = _UNKNOWN_KEY_PAUSE if self._failure is None else _FAILURE_PAUSE
            if not self.known(key_id, now) and now - self._asked_at >= pause:
                self._ask(now, client)
            if self._keys is None or now >= self._fresh_until + _MAX_STALE:
                raise RequestVerificationError(
                    "directory_unavailable",
                    f"The keys of Perch could not be fetched from {self._url}. "
                    "Check that this service can reach it; the call will be repeated.",
                ) from self._failure
            return self._keys.get(key_id)

    def _ask(self, now: float, client: httpx.Client | None) -> None:
        self._asked_at = now
        try:
            self._keys, max_age = _fetch_keys(self._url, client)
        except (httpx.HTTPError, ValueError) as failure:
            self._failure = failure
        else:
            self._fresh_until = now + max_age
            self._failure = None


_directories: dict[str, KeyDirectory] = {}
# By client, so that a test with its own does not see the keys of another.
_directories_by_client: WeakKeyDictionary[httpx.Client, dict[str, KeyDirectory]] = WeakKeyDictionary()


def key_directory_of(installation: str, client: httpx.Client | None) -> KeyDirectory:
    """One directory for all calls that name the same installation, because it caches the keys."""
    url = _directory_url(installation)
    known = _directories if client is None else _directories_by_client.setdefault(client, {})
    return known.setdefault(url, KeyDirectory(url))
