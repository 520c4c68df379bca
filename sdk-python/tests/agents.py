"""Agents of the tests."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perch_sdk import Perch


def scripted(perch: Perch, *steps: dict[str, Any]) -> str:
    """An agent that plays these steps. Returns its name."""
    name = f"bot-{uuid.uuid4().hex[:10]}"
    perch.agents.create(name=name, model="perch/script", instructions=json.dumps({"steps": list(steps)}))
    return name


def runs(perch: Perch, name: str) -> int:
    return len(list(perch.runs.list(name)))
