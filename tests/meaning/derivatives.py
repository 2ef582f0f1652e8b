"""What has a derivative: every function of the tables, differentiated in both modes and by differences."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any

import numpy as np

import anadrome as ad
from anadrome.api import pytree
from anadrome.config import Config
from anadrome.errors.api import SizeUnknown
from tests.meaning.functions import VALUES
from tests.meaning.judge import Program, opened
from tests.meaning.productions import AROUND
from tests.meaning.recipes import Recipe

POINT = np.array([1.32, 2.17, 1.74, 2.61, 3.28])
EPS = 1e-6
PLAIN = Config(cache=False)

OWN_VALUES = {"z": "np.array(x[0])", "m": "np.stack([x, np.sin(x) + 2.5, x * x], axis=1)"}
"""Arrays that are more general than those of the search."""

FLOATS = "vumzsdqck"
"""The kinds of arrays that hold floats, from that which is tried first."""

MOST_CALLS = 8
"""Calls of one function that are tried."""

DIRICHLET = "([{a}[0], 1.0 - {a}[0]], [2.0, 3.0])"
BESSEL = ("jv", "yv", "iv", "ive", "kv", "kve")
WRITTEN_AT = ("add", "subtract", "multiply", "minimum", "maximum")

TELLING: dict[str, tuple[str, str]] = {
    **{f"np.{name}.at": ("v", f"[np.{name}.at({{a}}, [0, 1], {{a}}[2:4]), {{a}}][1]") for name in WRITTEN_AT},
    "np.bincount": ("v", "np.bincount([0, 1, 1], {a}[:3])"),
    "math.dist": ("v", "math.dist({a}, {a} * {a})"),
    "type(stats.dirichlet([1.0, 1.0])).logpdf": ("u", f"stats.dirichlet.logpdf{DIRICHLET}"),
    "type(stats.dirichlet([1.0, 1.0])).pdf": ("u", f"stats.dirichlet.pdf{DIRICHLET}"),
    **{f"special.{name}": ("v", f"special.{name}(2.0, {{a}})") for name in BESSEL},
    **{f"special.{name}.outer": ("v", f"special.{name}.outer(np.ones(2), {{a}})") for name in BESSEL},
}
"""Calls that say more of a derivative than those of the search."""


def program_of(recipe: Recipe) -> Program:
    """The call of a recipe as a function of the vector x."""
    value = {**VALUES, **OWN_VALUES}[recipe.kind]
    lines = ["def program(x, n):", "    t = 1.0", f"    a = {value}", f"    return {recipe.call}"]
    return Program(recipe.name, AROUND["State"] + "\n" + "\n".join(lines).replace("{a}", "a") + "\n", ())


def derivative(name: str, recipes: Iterable[Recipe]) -> str:
    """What the derivative of a function is, by calls of it.

    `yes`; `zero`; `none` where no result is a float; `refused` and `wrong` with what was found; `untried`
    where none of its arguments are floats.
    """
    ordered = sorted((one for one in recipes if one.kind in FLOATS), key=lambda one: FLOATS.index(one.kind))
    firsts = {one.kind: one for one in reversed(ordered)}
    telling = [Recipe(name, *TELLING[name])] if name in TELLING else []
    found: list[str] = []
    for one in dict.fromkeys([*telling, *sorted(firsts.values(), key=ordered.index), *ordered]):
        found.append(_of_call(one))
        if found[-1].startswith(("yes", "wrong")) or len(found) == MOST_CALLS:
            break
    for verdict in ("wrong", "yes", "refused", "zero", "none"):
        if any(one.startswith(verdict) for one in found):
            return next(one for one in found if one.startswith(verdict))
    return "untried"


def _of_call(recipe: Recipe) -> str:
    with opened(program_of(recipe)) as program, _quietly():
        compiled = ad.jit(partial(program, n=len(POINT)), config=PLAIN)
        try:
            differences = _differences(compiled.python)
            found = compiled(POINT)
        except Exception:  # what NumPy or the compiler refuses says nothing of derivatives
            return "untried"
        floats = _floats(found)
        if not floats or not differences:
            return "none"
        if not all(np.isfinite(one).all() for one in (*floats, *differences)):
            return "untried"
        try:
            tangent = _floats(ad.jvp(compiled, (POINT,), (DIRECTION,))[1])
            slope = ad.vjp(compiled, POINT)[1](_ones(found))[0]
        except SizeUnknown:
            return _of_call(Recipe(recipe.name, recipe.kind, f"np.sum({recipe.call})"))
        except ad.AnadromeError as error:
            return f"refused: {recipe.call}: {error}"
        return _verdict(recipe, differences, tangent, float(slope @ DIRECTION))


@contextmanager
def _quietly() -> Iterator[None]:
    """Without warnings, and without what the programs print."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


DIRECTION = np.array([0.61, -0.37, 0.83, 0.29, -0.54])


def _differences(call: Any) -> list[np.ndarray]:
    above, below = (_floats(call(POINT + sign * EPS * DIRECTION)) for sign in (1.0, -1.0))
    return [(one - other) / (2.0 * EPS) for one, other in zip(above, below, strict=True)]


def _ones(value: Any) -> Any:
    """The cotangent of the sum of all floats of a result, imaginary parts included."""
    leaves, structure = pytree.flatten(value)
    signs = [-1.0 if place else 1.0 for place in pytree.imaginary_places(structure)]
    ones = [
        sign * np.ones_like(leaf) if isinstance(leaf, float | np.ndarray | np.generic) else leaf
        for leaf, sign in zip(leaves, signs, strict=True)
    ]
    return pytree.unflatten(structure, ones)


def _floats(value: Any) -> list[np.ndarray]:
    """The float leaves of a result; complex ones as their parts."""
    leaves, _ = pytree.flatten(value)
    found = [np.asarray(leaf) for leaf in leaves if isinstance(leaf, float | np.ndarray | np.floating)]
    return [leaf for leaf in found if leaf.dtype.kind == "f"]


def _verdict(
    recipe: Recipe, differences: Sequence[np.ndarray], tangent: Sequence[np.ndarray], adjoint: float
) -> str:
    flat, ours = (np.concatenate([np.ravel(one) for one in parts]) for parts in (differences, tangent))
    is_single = any(one.dtype == np.float32 for one in tangent)
    rtol, atol = (0.1, 0.1) if is_single else (1e-4, 1e-5)
    if flat.shape != ours.shape or not np.allclose(flat, ours, rtol=rtol, atol=atol):
        return f"wrong: {recipe.call}: {ours} in forward mode, {flat} by differences"
    if not np.isclose(np.sum(ours), adjoint, rtol=1e-4 if is_single else 1e-8, atol=1e-8):
        return f"wrong: {recipe.call}: {adjoint} in reverse mode, {np.sum(ours)} in forward mode"
    return "yes" if np.any(np.abs(flat) > 1e-7) else "zero"
