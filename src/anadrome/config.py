"""Every knob, in one frozen record that is passed where it is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, get_args

Mixed = Literal["auto", "reverse", "store", "recompute"]
"""How reverse mode may differentiate the scalar body of a parallel loop."""


@dataclass(frozen=True, slots=True)
class Config:
    """How programs are compiled. Each field is set from `ANADROME_<FIELD>` in upper case."""

    threads: int = 0
    """Workers of a parallel loop; 0 takes one per core this process may use."""
    checks: bool = True
    """Whether indices, sizes and `assert`s are checked at run time."""
    verify: bool = False
    """Whether the verifier runs, and the text is read back, after every pass; it blames the pass by name."""
    dump: str = ""
    """Comma-separated stages whose text is written to standard error."""
    cache: bool = True
    """Whether object code is kept on disk."""
    cache_dir: str = ""
    """Where object code is kept; empty means `$XDG_CACHE_HOME/anadrome` or `~/.cache/anadrome`."""
    cache_megabytes: int = 256
    """The size above which the least recently used object files are removed."""
    programs: int = 256
    """Programs kept for one function, each for other types, small dimensions or static values; above it the
    least recently used ones go, machine code and all."""
    small_dimension: int = 16
    """Array dimensions of at most this size are compile-time constants."""
    unroll_limit: int = 4
    """Parallel and sequential loops of at most this constant extent are unrolled into scalars."""

    measure_memory: bool = False
    """Whether compiled code counts the bytes it holds; `ad.explain(…, measure=True)` reads them."""
    mixed: Mixed = "auto"
    """How reverse mode differentiates scalar bodies of parallel loops: `auto` leaves it to the cost rule;
    `reverse` enters them as everything else; `store` and `recompute` take dual numbers, with the value or in
    the return sweep."""

    def __post_init__(self) -> None:
        if self.mixed not in get_args(Mixed):
            raise ValueError(f"`mixed` is one of {', '.join(get_args(Mixed))}, not {self.mixed!r}")

    @property
    def cache_path(self) -> Path:
        """The folder of the object cache."""
        if self.cache_dir:
            return Path(self.cache_dir)
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return Path(base) / "anadrome"

    @property
    def workers(self) -> int:
        """How many threads a parallel loop uses."""
        if self.threads:
            return self.threads
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def from_environment(environment: Mapping[str, str]) -> Config:
    """The default configuration with every `ANADROME_*` variable applied.

    >>> from_environment({"ANADROME_THREADS": "2", "ANADROME_CHECKS": "0"}).threads
    2
    """
    changes: dict[str, int | bool | str] = {}
    for field in fields(Config):
        text = environment.get(f"ANADROME_{field.name.upper()}")
        if text is None:
            continue
        default = field.default
        if isinstance(default, bool):
            changes[field.name] = text not in ("0", "", "false", "no")
        elif isinstance(default, int):
            changes[field.name] = int(text)
        else:
            changes[field.name] = text
    return replace(Config(), **changes)  # type: ignore[arg-type]
