"""The actions of the client, for the logger ``perch_sdk``: never a body, a query or a key."""

from __future__ import annotations

import logging
import os
import re

from ._errors import without_keys

logger = logging.getLogger("perch_sdk")
_levels = {"debug": logging.DEBUG, "info": logging.INFO}


def read_log_level() -> None:
    """``PERCH_LOG=debug`` logs every attempt and every retry, ``info`` only the retries, without a line of code."""
    level = _levels.get(os.environ.get("PERCH_LOG", "").strip().lower())
    if level is None:
        return
    logger.setLevel(level)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
        logger.addHandler(handler)


def _plain(words: str) -> str:
    """Text of the server, which must not move the cursor or begin a line."""
    return re.sub(r"[^\x20-\x7e]", "?", words)


def log_attempt(method: str, path: str, outcome: str, duration_ms: float, correlation_id: str | None) -> None:
    """An attempt that got a response, or an error of the connection."""
    known = "" if correlation_id is None else f" correlation_id={_plain(correlation_id)}"
    logger.debug("%s %s: %s in %.0f ms%s", method, without_keys(path), outcome, duration_ms, known)


def log_retry(method: str, path: str, reason: str, delay_seconds: float, number: int) -> None:
    logger.info("%s %s: retry %d in %.2f s after %s", method, without_keys(path), number, delay_seconds, _plain(reason))
