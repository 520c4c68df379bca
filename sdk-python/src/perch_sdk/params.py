"""Types of what callers give as dictionaries: ``from perch_sdk.params import McpToolParam``."""

from ._generated.params import *  # noqa: F403
