"""Write docs/functions.md: the functions, methods and attributes that the front end's tables hold.

Run from anywhere: `python scripts/list_functions.py`. A test holds the page true.
"""

from __future__ import annotations

import builtins
import cmath
import functools
import itertools
import math
import operator
import statistics
import textwrap
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import scipy.special

from anadrome.frontend import itertools_calls
from anadrome.frontend.builtin_calls import BUILTINS
from anadrome.frontend.complex_numbers.forms import (
    COMPLEX_ATTRIBUTES,
    COMPLEX_CALLS,
    COMPLEX_METHODS,
    OWN_CALLS,
)
from anadrome.frontend.library import ATTRIBUTES, CALLS, METHODS
from anadrome.frontend.library.common import table_name
from anadrome.frontend.library.densities import DISTRIBUTIONS
from anadrome.frontend.library.python_program import PROGRAMS
from anadrome.frontend.parallel.ufuncs import UFUNC_METHODS

PAGE = Path(__file__).parents[1] / "docs" / "functions.md"
REFUSED = frozenset(
    {
        "np.linalg.slogdet",
        *(".put", ".resize"),
    }
)
"""What the tables hold only to refuse it in words of its own."""

METHODS_OF_OBJECTS = (
    *(scipy.interpolate.PPoly.__call__, scipy.interpolate.PPoly.integrate),
    *(np.vectorize.__call__, type(np.r_).__getitem__),
)
"""Methods of objects whose class stands on the page, or they themselves."""

HEAD = """# Functions

What a compiled function may call on run-time numbers and arrays. Values, scalar types and shapes are NumPy's;
an argument that a compiled form does not take is refused by its name. A function that is not here is
evaluated inline where it has Python source, runs as plain Python where no run-time value goes into it, and is
refused with its line otherwise.

`python scripts/list_functions.py` writes this page from the tables, and a test compares it.
"""

DISTRIBUTION_HEAD = """## SciPy's distributions

By name (`scipy.stats.norm.logpdf(x, loc, scale)`), or with their parameters
(`scipy.stats.norm(loc, scale).logpdf(x)`), made inside of the function or outside.
"""

COMPLEX = """# Complex numbers

What of the above takes complex numbers and arrays; everything else refuses them with its line.
"""

MODULES: tuple[tuple[str, str, ModuleType], ...] = (
    ("NumPy", "np.", np),
    ("NumPy's linear algebra", "np.linalg.", np.linalg),
    ("NumPy's Fourier transforms", "np.fft.", np.fft),
    ("SciPy's Fourier transforms", "scipy.fft.", scipy.fft),
    ("SciPy's linear algebra", "scipy.linalg.", scipy.linalg),
    ("SciPy's interpolation", "scipy.interpolate.", scipy.interpolate),
    ("SciPy's special functions", "scipy.special.", scipy.special),
    ("SciPy's sparse matrices", "scipy.sparse.", scipy.sparse),
    ("SciPy's sparse systems", "scipy.sparse.linalg.", scipy.sparse.linalg),
    ("`math`", "math.", math),
    ("`cmath`", "cmath.", cmath),
    ("`operator`", "operator.", operator),
    ("`functools` and `itertools`", "", itertools),
    ("`statistics`", "statistics.", statistics),
    ("Builtins", "", builtins),
)


def page() -> str:
    """The text of the page."""
    known: dict[str, set[str]] = {title: set() for title, _, _ in MODULES}
    known["NumPy"] |= {"np.r_", "np.c_"}
    known["`functools` and `itertools`"] |= {"functools.partial", *map(_iterating, itertools_calls.CALLS)}
    known["`operator`"] |= {f"operator.{name}" for name in ("attrgetter", "itemgetter", "methodcaller")}
    for function in (*CALLS, *OWN_CALLS, *PROGRAMS, math.prod):
        if not _is_method(function):
            title, name = _placed(function)
            known[title].add(name)
    built = {one.__name__ for one in BUILTINS if getattr(builtins, one.__name__, None) is one}
    built |= known.pop("Builtins")
    parts = [HEAD]
    parts += [_section(title, names) for title, names in known.items()]
    bound = {f"{table_name(one.__self__)}.{one.__name__}" for one in UFUNC_METHODS}  # type: ignore[attr-defined]
    parts.append(_distributions())
    parts.append(_section("Methods of NumPy's universal functions", bound))
    parts.append(_section("Builtins", built))
    parts.append(_section("Methods of arrays", (f".{name}" for name in METHODS)))
    parts.append(_section("Attributes of arrays", (f".{name}" for name in ATTRIBUTES)))
    parts.append(COMPLEX)
    forms = {_placed(function)[1] for function in COMPLEX_CALLS}
    parts.append(_section("Functions of complex numbers", forms))
    parts.append(_section("Methods of complex arrays", (f".{name}" for name in COMPLEX_METHODS)))
    parts.append(_section("Attributes of complex arrays", (f".{name}" for name in COMPLEX_ATTRIBUTES)))
    return "\n".join(parts)


def _is_method(function: Any) -> bool:
    """Whether a function is a method of objects that stand on the page."""
    home = str(getattr(function, "__module__", ""))
    return home.startswith("scipy.stats") or function in METHODS_OF_OBJECTS


def _iterating(function: Any) -> str:
    """The name of a function of `functools` or `itertools`."""
    if function is functools.reduce:
        return "functools.reduce"
    return f"itertools.{function.__qualname__}"


def _distributions() -> str:
    """The distributions with their methods, those of the same methods together."""
    several: dict[tuple[str, ...], list[str]] = {}
    for name, own in DISTRIBUTIONS.items():
        several.setdefault(own.methods(), []).append(name)
    for name in ("multivariate_normal", "dirichlet"):
        several.setdefault(("logpdf", "pdf"), []).append(name)
    lines = [DISTRIBUTION_HEAD]
    for methods, names in several.items():
        listed = ", ".join(f"`scipy.stats.{name}`" for name in sorted(names))
        calls = ", ".join(f"`{method}`" for method in methods)
        lines += textwrap.wrap(f"* {listed}: {calls}", 108, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join([*lines, ""])


def _placed(function: Any) -> tuple[str, str]:
    """The section a function stands in, and what a user calls it."""
    name = function.__name__
    for title, prefix, module in MODULES:
        if getattr(module, name, None) is function:
            return title, f"{prefix}{name}"
    raise LookupError(f"{function!r} stands in no section")


def _section(title: str, names: Iterable[str]) -> str:
    lines = [f"## {title}", ""]
    line = ""
    for word in (f"`{name}`" for name in sorted(set(names) - REFUSED)):
        if line and len(line) + len(word) + 2 > 109:
            lines.append(f"{line},")
            line = word
        else:
            line = f"{line}, {word}" if line else word
    return "\n".join([*lines, line, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
