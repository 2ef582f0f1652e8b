"""Write docs/compiled.md: what of Python, NumPy and SciPy is compiled, what is refused and what to write.

Run from the root of the repository: `python -m tests.meaning.page`. A test holds the page true.
"""

from __future__ import annotations

import bisect
import builtins
import cmath
import functools
import heapq
import itertools
import math
import operator
import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence
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

from anadrome.frontend import draw_methods as draws
from anadrome.frontend import itertools_calls, library
from anadrome.frontend.builtin_calls import BUILTINS
from anadrome.frontend.complex_numbers.forms import OWN_CALLS
from anadrome.frontend.library import ATTRIBUTES, CALLS, METHODS
from anadrome.frontend.library.common import table_name
from anadrome.frontend.library.densities import DISTRIBUTIONS
from anadrome.frontend.library.python_program import PROGRAMS
from anadrome.frontend.parallel.ufuncs import UFUNC_METHODS
from tests.meaning import constructs
from tests.meaning.derivative_facts import NONE, ZERO
from tests.meaning.derivative_facts import REFUSED as REFUSED_DERIVATIVES
from tests.meaning.recipes import Recipe
from tests.meaning.special_recipes import all_recipes

PAGE = Path(__file__).parents[2] / "docs" / "compiled.md"
REFUSED = frozenset(
    {
        "np.linalg.slogdet",
        *(".put", ".resize"),
    }
)
"""What the tables hold only to refuse it in words of its own."""

SUBJECTS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("element by element", (library.elementwise,)),
    ("sums, extrema, statistics", (library.reductions, library.quantiles, library.prefixes, library.bins)),
    ("products and matrices", (library.contraction, library.linear)),
    ("new arrays", (library.creation,)),
    ("shapes", (library.shape,)),
    ("joining and editing", (library.joining, library.editing, library.padding)),
    ("order and places", (library.order, library.selecting)),
    ("written in place", (library.in_place,)),
    ("polynomials, functions of rows", (library.polynomials, library.row_functions)),
    ("everyday functions", (library.everyday,)),
)
"""The families of the front end that hold NumPy's functions."""

OTHERS = "types and others"

DRAWN: Mapping[str, str] = {
    **dict.fromkeys(("normal", "laplace", "logistic", "gumbel"), "location and scale"),
    **dict.fromkeys(("exponential", "rayleigh", "gamma"), "scale"),
    "lognormal": "mean and sigma",
    "uniform": "bounds",
    **dict.fromkeys(("gauss", "normalvariate"), "mean and deviation"),
    **dict.fromkeys(("choice", "permutation", "shuffle"), "the array"),
}
"""What a draw is differentiated by; others have parameters that are known before the program runs."""

METHODS_OF_OBJECTS = (
    *(scipy.interpolate.PPoly.__call__, scipy.interpolate.PPoly.integrate),
    *(np.vectorize.__call__, type(np.r_).__getitem__, type(np.mgrid).__getitem__),
    type(np.s_).__getitem__,
)
"""Methods of objects whose class stands on the page, or they themselves."""

HEAD = """# What is compiled, and what is refused

What a compiled function computes is what plain Python, NumPy and SciPy compute, or it is refused with its
line; [python.md](python.md) says how. This page is made of the front end's tables and of the tests: of the
programs by hand and the calls of each function in `tests/meaning`, and of the bad programs in `tests/errors`.
`python -m tests.meaning.page` writes it, and a test compares it.
"""

FUNCTIONS_HEAD = """## Functions: how to read the tables

* **takes**: the run-time values that the tests call it with. Values, scalar types and shapes are NumPy's.
* **derivative**: yes; 0 where it is zero wherever there is one; – where no result is a float; refused where
  the error says so. `tests/meaning/test_derivatives.py` compares both modes with differences.

An argument that a compiled form does not take is refused by its name, and complex numbers by what does not
list them. A function that is not here is evaluated inline where it has Python source, runs as plain Python
where no run-time value goes into it, and is refused with its line otherwise.
"""

DISTRIBUTION_HEAD = """### SciPy's distributions

By name (`scipy.stats.norm.logpdf(x, loc, scale)`), or with their parameters
(`scipy.stats.norm(loc, scale).logpdf(x)`), made inside of the function or outside.
"""

DRAWING_HEAD = """### Random numbers

Of a generator `rng` ([python.md](python.md)), or the functions of `np.random` and `random` of the same name.
"""

MODULES: tuple[tuple[str, str, ModuleType], ...] = (
    ("NumPy", "np.", np),
    ("NumPy", "np.lib.stride_tricks.", np.lib.stride_tricks),
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
    ("`heapq`", "heapq.", heapq),
    ("`bisect`", "bisect.", bisect),
    ("`statistics`", "statistics.", statistics),
    ("Builtins", "", builtins),
)


def page() -> str:
    """The text of the page."""
    parts = [HEAD, *constructs.sections(), FUNCTIONS_HEAD, DRAWING_HEAD, _draws()]
    known = _known()
    recipes = _recipes()
    for title, names in known.items():
        if title != "NumPy":
            parts.append(_section(title, names, recipes))
            continue
        for subject, those in _subjects(names).items():
            parts.append(_section(f"NumPy: {subject}", those, recipes))
    parts.append(_distributions())
    bound = {f"{table_name(one.__self__)}.{one.__name__}" for one in UFUNC_METHODS}  # type: ignore[attr-defined]
    parts.append(_section("Methods of NumPy's universal functions", bound, recipes))
    parts.append(_section("Methods of arrays", (f".{name}" for name in METHODS), recipes))
    parts.append(_section("Attributes of arrays", (f".{name}" for name in ATTRIBUTES), recipes))
    return "\n".join(parts)


def _known() -> dict[str, set[str]]:
    """The names in each section."""
    known: dict[str, set[str]] = {title: set() for title, _, _ in MODULES}
    known["NumPy"] |= {
        "np.r_",
        "np.c_",
        "np.mgrid",
        "np.ogrid",
        "np.s_",
        "np.index_exp",
        "np.ndindex",
        "np.ndenumerate",
    }
    known["`functools` and `itertools`"] |= {"functools.partial", *map(_iterating, itertools_calls.CALLS)}
    known["`operator`"] |= {f"operator.{name}" for name in ("attrgetter", "itemgetter", "methodcaller")}
    for function in (*CALLS, *OWN_CALLS, *PROGRAMS, math.prod):
        if not _is_method(function):
            title, name = _placed(function)
            known[title].add(name)
    known["Builtins"] |= {one.__name__ for one in BUILTINS if getattr(builtins, one.__name__, None) is one}
    return known


def _subjects(names: Iterable[str]) -> dict[str, set[str]]:
    """NumPy's functions by the families of the front end."""
    homes = {
        getattr(function, "__name__", ""): subject
        for subject, families in SUBJECTS
        for family in families
        for function in family.CALLS
    }
    found: dict[str, set[str]] = {subject: set() for subject in (*(one for one, _ in SUBJECTS), OTHERS)}
    for name in names:
        found[homes.get(name.rpartition(".")[2], OTHERS)].add(name)
    return found


def _recipes() -> dict[str, list[Recipe]]:
    """The calls of each name of the page."""
    found: dict[str, list[Recipe]] = {}
    for recipe in all_recipes():
        found.setdefault(page_name(recipe.name), []).append(recipe)
    return found


def page_name(name: str) -> str:
    """What the page calls the function of a recipe."""
    scipy_module = name.partition(".")[0] in ("special", "linalg", "fft", "interpolate", "stats", "sparse")
    return f"scipy.{name}" if scipy_module else name.partition("(")[0]


def _draws() -> str:
    rows = [(f"`rng.{name}`", "np.random.Generator", DRAWN.get(name, "–")) for name in sorted(draws.METHODS)]
    rows += [
        (f"`rng.{name}`", "np.random.RandomState", DRAWN.get(name, "–"))
        for name in sorted(draws.OLD_METHODS)
        if name not in draws.METHODS
    ]
    rows += [
        (f"`rng.{name}`", "random.Random", DRAWN.get(name, "–")) for name in sorted(draws.PYTHON_METHODS)
    ]
    refused = [(f"`rng.{name}`", "refused", words) for name, words in draws.REFUSED.items()]
    of = constructs.table(("method", "of", "derivative by"), rows)
    instead = constructs.table(("method", "", "what to write"), refused)
    return f"{of}\n{instead}"


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


def _section(title: str, names: Iterable[str], recipes: Mapping[str, Sequence[Recipe]]) -> str:
    rows = [
        (f"`{name}`", _takes(recipes.get(name, ())), _derivative(name))
        for name in sorted(set(names) - REFUSED)
    ]
    return f"### {title}\n\n{constructs.table(('function', 'takes', 'derivative'), rows)}"


TAKES = {
    **dict.fromkeys("vumzsdq", "floats"),
    "i": "integers",
    "b": "bools",
    **dict.fromkeys("ck", "complex"),
}
"""The kind of an array of the recipes -> what it holds."""


def _takes(recipes: Sequence[Recipe]) -> str:
    kinds = {TAKES[recipe.kind] for recipe in recipes}
    return ", ".join(kind for kind in ("floats", "integers", "bools", "complex") if kind in kinds)


def _derivative(name: str) -> str:
    for facts, words in ((ZERO, "0"), (NONE, "–"), (REFUSED_DERIVATIVES, "refused")):
        if name in facts:
            return words
    return "yes"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
