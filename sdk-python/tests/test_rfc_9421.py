"""The examples of RFC 9421 pass, and requests that it forbids do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perch_sdk import RequestVerificationError
from perch_sdk._signed_components import Message, read_fields, signature_base
from perch_sdk._structured_fields import bytes_of, parse_dictionary
from perch_sdk._verification_keys import import_keys

from .conftest import FOLDER

VECTORS: dict[str, Any] = json.loads(
    (FOLDER.parent / "packages/testkit/src/message-signatures/rfc-9421.json").read_text("utf-8")
)


def _title(vector: dict[str, Any]) -> str:
    return f"{vector['section']} {vector['title']}"


def _message(request: dict[str, Any]) -> Message:
    return Message(request["method"], request["target_uri"], read_fields(request["headers"]))


def test_the_key_is_named_by_its_thumbprint() -> None:
    assert list(import_keys([VECTORS["key"]])) == [VECTORS["thumbprint"]]


@pytest.mark.parametrize("vector", VECTORS["bases"], ids=_title)
def test_the_signature_base_is_that_of_the_rfc(vector: dict[str, Any]) -> None:
    item = parse_dictionary("signature-input", f"sig={vector['input']}")["sig"]
    assert signature_base(_message(vector["request"]), item).decode().split("\n") == vector["base"]


@pytest.mark.parametrize("vector", VECTORS["unsupported"], ids=_title)
def test_what_cannot_be_checked_is_refused_not_guessed(vector: dict[str, Any]) -> None:
    item = parse_dictionary("signature-input", f"sig={vector['input']}")["sig"]
    with pytest.raises(RequestVerificationError) as raised:
        signature_base(_message(vector["request"]), item)
    assert raised.value.reason == "unsupported_component"


@pytest.mark.parametrize("vector", VECTORS["signatures"], ids=_title)
def test_signatures_verify_as_the_rfc_says(vector: dict[str, Any]) -> None:
    message = _message(vector["request"])
    label = vector["label"]
    item = parse_dictionary("signature-input", message.fields["signature-input"])[label]
    signature = bytes_of(parse_dictionary("signature", message.fields["signature"])[label].value)
    (key,) = import_keys([VECTORS["key"]]).values()
    assert signature is not None
    assert key.verifies(signature, signature_base(message, item)) is vector["verifies"]
