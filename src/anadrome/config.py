"""Every knob, in one frozen record that is passed where it is needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, get_args, get_type_hints

from anadrome.errors.config import UnsuitableSetting, variable_of
from anadrome.errors.tracebacks import Frames, door

Mixed = Literal["auto", "reverse", "store", "recompute"]
"""How reverse mode may differentiate the scalar body of a parallel loop."""

Functions = Literal["lanes", "library"]
"""Which elementary functions loops in lanes take."""

MOST_THREADS = 1024

MOST_LANES = 32

RANGES: Mapping[str, tuple[int, int]] = {"threads": (0, MOST_THREADS), "lanes": (0, MOST_LANES)}
"""The least and the greatest value of an integer setting; others are not negative."""

YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Config:
    """How programs are compiled. Each field is set from `ANADROME_<FIELD>` in upper case.

    >>> import anadrome as ad
    >>> f = ad.jit(lambda x: x * x, config=ad.Config(threads=1))
    >>> f(3.0)
    9.0
    """

    threads: int = 0
    """Workers of a parallel loop; 0 takes one per core this process may use."""
    lanes: int = 0
    """Numbers of 64 bits that a vector is taken to have, in whose lanes iterations of loops and threads of
    kernels run side by side; 0 takes what the machine has, 1 lets them run one after the other."""
    functions: Functions = "lanes"
    """Which elementary functions loops in lanes take: `lanes` those of whole vectors, within four units in
    the last place; `library` those of the C library, one number after the other, as all other code does."""
    fused: bool = True
    """Whether a product to which something is added may be rounded once with it (fused multiply-add)."""
    reordered: bool = True
    """Whether sums and products that leave their order open (`np.sum`, `ad.reduce`) are taken in the order
    that is fastest; else from the first element to the last, one after the other."""
    checks: bool = True
    """Whether indices, sizes and `assert`s are checked at run time."""
    verify: bool = False
    """Whether the verifier runs after every pass, and blames the pass by name; it also reads one program in
    four back from its text."""
    dump: str = ""
    """Comma-separated stages whose text is written to standard error."""
    cache: bool = True
    """Whether compiled programs are kept on disk."""
    cache_dir: str = ""
    """Where they are kept; empty means `$XDG_CACHE_HOME/anadrome` or `~/.cache/anadrome`."""
    cache_megabytes: int = 256
    """The size above which the least recently used files are removed."""
    programs: int = 256
    """Programs kept for one function, each for other types, small dimensions or static values; above it the
    least recently used ones go, machine code and all."""
    small_dimension: int = 16
    """Array dimensions of at most this size are compile-time constants."""
    unroll_limit: int = 4
    """Parallel and sequential loops of at most this constant extent are unrolled into scalars, but for loops
    of a program whose text would become long by it, with that of the functions they call."""
    static_repeats: int = 64
    """A `for` over a range known while compiling that needs its index then, or changes what a run-time loop
    cannot carry, is repeated if it is not longer. A longer NumPy array is a run-time sequence."""
    literal_limit: int = 64
    """Arrays around the program of at most this many elements are written into it; larger ones are passed."""

    measure_memory: bool = False
    """Whether compiled code counts the bytes it holds; `ad.explain(…, measure=True)` reads them."""
    mixed: Mixed = "auto"
    """How reverse mode differentiates scalar bodies of parallel loops: `auto` leaves it to the cost rule;
    `reverse` enters them as everything else; `store` and `recompute` take dual numbers, with the value or in
    the return sweep."""
    progress: bool = True
    """Whether a compilation of more than two seconds says on the terminal what it is doing."""
    traceback: Frames = "short"
    """Which frames the traceback of an error shows: `short` those of your code, `full` Anadrome's too."""

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            _check(name, getattr(self, name), kind)

    @property
    def cache_path(self) -> Path:
        """The folder of the object cache."""
        if self.cache_dir:
            return Path(os.path.expanduser(self.cache_dir))
        base = os.environ.get("XDG_CACHE_HOME")
        if base:
            return Path(base) / "anadrome"
        home = os.path.expanduser("~")
        if os.path.isabs(home):
            return Path(home) / ".cache" / "anadrome"
        return Path(tempfile.gettempdir()) / f"anadrome-{os.getuid()}"  # a user without a home

    @property
    def workers(self) -> int:
        """How many threads a parallel loop uses."""
        if self.threads:
            return self.threads
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


KINDS = {name: kind for name, kind in get_type_hints(Config).items() if name in Config.__dataclass_fields__}
"""The type of each setting."""

Config.__init__ = door(Config.__init__)  # type: ignore[method-assign]


def from_environment(environment: Mapping[str, str]) -> Config:
    """The default configuration with every `ANADROME_*` variable applied; an empty one counts as unset.

    Raises `UnsuitableSetting`, which names the variable and what it may be.

    >>> from_environment({"ANADROME_THREADS": "2", "ANADROME_CHECKS": "0"}).threads
    2
    """
    changes: dict[str, int | bool | str] = {}
    texts: dict[str, str] = {}
    for field in fields(Config):
        text = environment.get(variable_of(field.name), "")
        if text:
            texts[field.name] = text
            changes[field.name] = _value(text, field.default)
    try:
        _check_folder("cache_dir", texts.get("cache_dir", ""))
        return replace(Config(), **changes)  # type: ignore[arg-type]
    except UnsuitableSetting as error:
        raise UnsuitableSetting(error.setting, texts[error.setting], error.expected, True) from None


def _value(text: str, default: object) -> int | bool | str:
    """The value of a variable; a text that is none stays one, and is refused as such."""
    if isinstance(default, bool):
        return True if text.lower() in YES else False if text.lower() in NO else text
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _check(name: str, value: object, kind: object) -> None:
    """Refuse a value that a setting cannot have."""
    if kind is bool:
        fits, expected = isinstance(value, bool), "1 or 0 (True or False)"
    elif kind is int:
        least, most = RANGES.get(name, (0, 2**31 - 1))
        fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        expected = f"an integer from {least} to {most}"
    elif kind is str:
        fits, expected = isinstance(value, str), "a text"
    else:
        fits, expected = value in get_args(kind), f"one of {', '.join(map(str, get_args(kind)))}"
    if not fits:
        raise UnsuitableSetting(name, value, expected)


def _check_folder(name: str, value: str) -> None:
    """Refuse a folder that cannot be one, since a file is in its place. A program that names such a folder is
    compiled without; in the environment it is a mistake that nothing else would show."""
    if not value:
        return
    path = Path(os.path.expanduser(value)).absolute()
    there = next((one for one in (path, *path.parents) if os.path.lexists(one)), None)
    if there is not None and not there.is_dir():
        raise UnsuitableSetting(name, value, f"a folder that exists or can be made ({there} is a file)")
