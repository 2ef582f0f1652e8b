"""The page `docs/errors.md`, made of the error classes and the corpus: `python -m tests.errors.catalogue`."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

from anadrome.errors import (
    AnadromeError,
    ad,
    api,
    config,
    frontend,
    ir,
    kernels,
    kernels_launch,
    objects,
    parallel,
    runtime,
    sparse,
    targets,
    tools,
)
from anadrome.errors.codes import CODES
from tests.errors.corpus import EXPECTED, NAMES

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

ROOMS: tuple[tuple[str, ModuleType], ...] = (
    ("While a function is compiled", frontend),
    ("While a program is differentiated", ad),
    ("In calls of compiled functions and transforms", api),
    ("In parallel operations", parallel),
    ("In sparse derivatives", sparse),
    ("While a program runs", runtime),
    ("Of objects that only the run knows, or that lists copy", objects),
    ("In kernels, and in launches of them", kernels_launch),
    ("While kernels are run to find their faults", kernels),
    ("Of this machine", targets),
    ("On the command line", tools),
    ("In the settings", config),
    ("Bugs of Anadrome itself", ir),
)

FAMILIES = (frontend.StaticCallFailed, runtime.RaisedError)
"""Classes whose subclasses differ in nothing but the builtin class they are an instance of."""

BASES = (frontend.FrontendError, api.CallError, sparse.PatternError, runtime.RuntimeCheckError)

INTRODUCTION = """\
# Errors

Every error that Anadrome raises on purpose is an `anadrome.AnadromeError` and an instance of a built-in
exception, where possible of the one that plain Python raises: `except IndexError` catches an index out of
bounds. Its text names the file, line and column, shows the line with a caret under the words in question, and
says what was expected, what was found and what to do. After an error the next call works.

A traceback ends at your call of a compiled function or transform. `ANADROME_TRACEBACK=full` in the
environment, or `ad.Config(traceback="full")` for one function, shows the frames of Anadrome as well. An
exception of any other class that arises inside Anadrome is a bug: it shows all frames, and a note says so.

Each kind of error has a code, `error.code`, which stays when its words change. The classes are in
`anadrome.errors`, in one module for each part of the compiler. The examples below are the expected texts of
`tests/errors`; `python -m tests.errors.catalogue` writes this page, and a test compares it.

NaN and infinities are not errors: they propagate as IEEE 754 says. `max` and `min` of an array, a list or a
generator are NaN where an item is, as `np.max` and `np.min` are; Python's own `max` and `min`, which compare
the items one by one, ignore a NaN that is not the first. Integers wrap at their width, and an integer divided
by 0 is 0, as in NumPy arrays.

What a signal handler raises while a program runs, `KeyboardInterrupt` after Ctrl-C, passes through the call
unchanged. There is one warning, `anadrome.errors.targets.UntrustedCache`: another user could have written to
the folder in which compiled code is kept.
"""


def classes_of(module: ModuleType) -> list[type[AnadromeError]]:
    """The error classes a module defines, in the order of its text."""
    found = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, AnadromeError) and kind.__module__ == module.__name__
    ]
    return [
        kind for kind in found if not any(issubclass(kind, base) and kind is not base for base in FAMILIES)
    ]


def builtins_of(kind: type) -> str:
    """The builtin classes that errors of this class are instances of."""
    return ", ".join(
        f"`{base.__name__}`"
        for base in kind.__mro__
        if base.__module__ == "builtins"
        and base not in (Exception, BaseException, object)
        and not any(
            issubclass(other, base) and other is not base
            for other in kind.__bases__
            if other.__module__ == "builtins"
        )
    )


def examples() -> dict[str, str]:
    """The first text in the corpus of every class that occurs there, under the class's name."""
    found: dict[str, str] = {}
    for name in NAMES:
        first, _, words = (EXPECTED / f"{name}.txt").read_text(encoding="utf-8").partition("\n\n")
        found.setdefault(first.partition(" ")[0], words.rstrip("\n"))
    return found


def page() -> str:
    """The whole page."""
    known = examples()
    parts = [INTRODUCTION]
    for title, module in ROOMS:
        parts.append(f"## {title}\n\n`{module.__name__}`\n")
        for kind in classes_of(module):
            parts.append(_entry(kind, known))
    return "\n".join(parts)


def _entry(kind: type[AnadromeError], known: dict[str, str]) -> str:
    family = [kind, *kind.__subclasses__()] if kind in FAMILIES else [kind]
    lines = [f"### {CODES[kind.__name__]} {kind.__name__}\n", inspect.getdoc(kind) or "", ""]
    if kind in FAMILIES:
        members = (f"`{one.__name__}` ({builtins_of(one)})" for one in family[1:])
        lines += [f"Its kinds: {', '.join(members)}.", ""]
    elif builtins_of(kind):
        lines += [f"Also: {builtins_of(kind)}.", ""]
    if kind in BASES:
        return "\n".join(lines)
    text = next((known[one.__name__] for one in family if one.__name__ in known), None)
    return "\n".join(lines + (["```text", text, "```", ""] if text else []))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
