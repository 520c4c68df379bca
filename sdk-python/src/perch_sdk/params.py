"""The types of the dictionaries that callers pass: ``from perch_sdk.params import McpToolParam``."""

from ._generated.params import *  # noqa: F403
