"""Signs requests as Perch does, with the test key of RFC 9421."""

from __future__ import annotations

import base64
import hashlib
import json
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from .conftest import FOLDER

_vectors = json.loads((FOLDER.parent / "packages/testkit/src/message-signatures/rfc-9421.json").read_text("utf-8"))
_private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(_vectors["key"]["d"] + "=="))
#: The public key, as a directory lists it.
KEY: dict[str, str] = {name: _vectors["key"][name] for name in ("kty", "crv", "x")}


def signed_headers(
    method: str, url: str, body: bytes, *, nonce: str, organisation: str | None = None, now: float | None = None
) -> dict[str, str]:
    created = int(time.time() if now is None else now)
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    whose = {} if organisation is None else {"Perch-Organisation": organisation}
    covered = ' "perch-organisation"' if whose else ""
    given = (
        f'("@method" "@target-uri" "content-digest"{covered});created={created};expires={created + 300}'
        f';nonce="{nonce}";keyid="{_vectors["thumbprint"]}";alg="ed25519";tag="web-bot-auth"'
    )
    lines = [
        f'"@method": {method}',
        f'"@target-uri": {url}',
        f'"content-digest": {digest}',
        *(f'"perch-organisation": {one}' for one in whose.values()),
        f'"@signature-params": {given}',
    ]
    signature = base64.b64encode(_private.sign("\n".join(lines).encode())).decode()
    signed = {"Signature-Input": f"perch={given}", "Signature": f"perch=:{signature}:"}
    return {"Content-Digest": digest, **whose, **signed}
