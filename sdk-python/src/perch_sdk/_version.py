"""The version of this package, the same as of all of Perch."""

__version__ = "0.2.0"
