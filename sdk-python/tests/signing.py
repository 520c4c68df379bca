"""Signs requests as Perch does, with the test key of RFC 9421."""

from __future__ import annotations

import base64
import hashlib
import json
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from .conftest import FOLDER

_vectors = json.loads((FOLDER.parent / "spec/message-signatures/rfc-9421.json").read_text("utf-8"))
_private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(_vectors["key"]["d"] + "=="))
#: The public key, as a directory lists it.
KEY: dict[str, str] = {name: _vectors["key"][name] for name in ("kty", "crv", "x")}


def signed_headers(method: str, url: str, body: bytes, *, nonce: str, now: float | None = None) -> dict[str, str]:
    created = int(time.time() if now is None else now)
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    given = (
        f'("@method" "@target-uri" "content-digest");created={created};expires={created + 300}'
        f';nonce="{nonce}";keyid="{_vectors["thumbprint"]}";alg="ed25519";tag="web-bot-auth"'
    )
    lines = [
        f'"@method": {method}',
        f'"@target-uri": {url}',
        f'"content-digest": {digest}',
        f'"@signature-params": {given}',
    ]
    signature = base64.b64encode(_private.sign("\n".join(lines).encode())).decode()
    return {"Content-Digest": digest, "Signature-Input": f"perch={given}", "Signature": f"perch=:{signature}:"}
