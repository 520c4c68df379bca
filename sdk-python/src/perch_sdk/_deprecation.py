"""Warns of operations that will go."""

from __future__ import annotations

import re
import warnings
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin

if TYPE_CHECKING:
    import httpx

#: Operations that were announced already, so that a loop that calls a deprecated operation does not fill a log.
_announced: set[str] = set()


def _since(deprecation: str) -> str | None:
    """The day in ``@1767225600`` of RFC 9745."""
    seconds = re.fullmatch(r"@(\d{1,11})", deprecation)
    return None if seconds is None else datetime.fromtimestamp(int(seconds[1]), timezone.utc).date().isoformat()


def _sunset(header: str) -> str | None:
    try:
        return parsedate_to_datetime(header).date().isoformat()
    except ValueError:
        return None


def warn_if_deprecated(response: httpx.Response) -> None:
    """Warns of an operation that will go, once for each in a process."""
    deprecation = response.headers.get("deprecation")
    if deprecation is None:
        return
    url = response.request.url
    # The link names the operation, whatever ids the path has.
    link = re.search(r'<([^>]*)>[^,]*rel="?deprecation"?', response.headers.get("link", ""))
    name = f"{response.request.method} {url.path}"
    identity = name if link is None else link[1]
    if identity in _announced:
        return
    _announced.add(identity)
    since, sunset = _since(deprecation), _sunset(response.headers.get("sunset", ""))
    message = f"{name} is deprecated"
    message += "" if since is None else f" since {since}"
    message += "" if sunset is None else f", and gone from {sunset} on"
    page = urljoin(str(url), "/docs" if link is None else link[1])
    # The caller's line is several frames up, and differs between the clients, so the message names the call.
    warnings.warn(f"{message}. What to use instead: {page}", DeprecationWarning, stacklevel=3)
