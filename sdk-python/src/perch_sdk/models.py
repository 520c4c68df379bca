"""The types of the objects that the service returns: ``from perch_sdk.models import Agent``."""

from ._generated.models import *  # noqa: F403
