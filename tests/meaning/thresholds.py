"""Every threshold below and above which a program may be compiled in another way."""

from __future__ import annotations

from dataclasses import fields, replace

from anadrome.config import Config

THRESHOLDS = ("small_dimension", "unroll_limit", "static_repeats", "literal_limit")
VALUES = (0, 64)

SETTABLE = tuple(name for name in THRESHOLDS if name in {field.name for field in fields(Config)})
"""Those that are fields of the configuration; the others cannot be set."""
FIXED = tuple(name for name in THRESHOLDS if name not in SETTABLE)


def configurations() -> dict[str, Config]:
    """The default, each threshold at either value, and all of them together."""
    found = {"default": Config()}
    for value in VALUES:
        for name in SETTABLE:
            found[f"{name}={value}"] = replace(Config(), **{name: value})
        found[f"all={value}"] = replace(Config(), **dict.fromkeys(SETTABLE, value))
    return found
