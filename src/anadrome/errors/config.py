"""Errors of the configuration: a setting that has another value than it may have."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic
from anadrome.errors.tools import shortened


class UnsuitableSetting(AnadromeError, ValueError):
    """A field of `Config`, or its environment variable, with a value it cannot have."""

    def __init__(self, setting: str, value: object, expected: str, is_variable: bool = False) -> None:
        self.setting = setting
        self.expected = expected
        name = variable_of(setting) if is_variable else setting
        super().__init__(
            Diagnostic(
                f"error: the setting `{name}` must be {expected}, and is {shortened(repr(value))}",
                help=f"set `{name}` to such a value, or leave it out"
                if name == setting
                else f"set the environment variable to such a value, or remove it: `unset {name}`",
            )
        )


def variable_of(setting: str) -> str:
    """The environment variable of a field.

    >>> variable_of("cache_dir")
    'ANADROME_CACHE_DIR'
    """
    return f"ANADROME_{setting.upper()}"
