"""One program, four answers: the compiled value, forward mode, reverse mode, and NumPy's differences.

With x the floats among the arguments, v a random direction and w a random weight of the results,

    value:     the compiled function gives what the Python function gives on NumPy
    adjoint:   ⟨w, J v⟩ = ⟨Jᵀw, v⟩, to 1e-10
    numeric:   ⟨w, J v⟩ = (8 (φ(h) - φ(-h)) - (φ(2h) - φ(-2h))) / 12h,  φ(t) = ⟨w, f(x + t v)⟩

Order 2 asks the same of x ↦ Jᵀw, whose numeric derivative is that of the compiled one.
"""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import anadrome as ad
from anadrome.frontend.structures import joined

STEP = 2e-4


def agree(
    function: Callable[..., Any], *args: Any, order: int = 1, seed: int = 0, rtol: float = 1e-6
) -> None:
    """Assert that the answers agree, by all floats of the arguments at once."""
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = function(*copy.deepcopy(args))
        places = [place for place, arg in enumerate(args) if floats(arg)]
        if len(places) < len(args):
            assert_same(ad.jit(function)(*copy.deepcopy(args)), wanted)
        _compare(function, function, args, places, wanted, random, rtol)
        if order == 2:
            cotangents = conjugated(mapped(lambda leaf: _direction(leaf, random), wanted))

            def gradient(*arguments: Any) -> Any:
                return ad.vjp(_of(function, arguments, places), *[arguments[place] for place in places])[1](
                    cotangents
                )

            compiled = ad.jit(gradient)
            _compare(gradient, compiled, args, places, compiled(*args), random, 10 * rtol)


def _of(function: Callable[..., Any], args: Sequence[Any], places: Sequence[int]) -> Callable[..., Any]:
    """The function of the arguments at these places, the others being given."""

    def of_floats(*floats: Any) -> Any:
        given = list(args)
        for place, value in zip(places, floats):
            given[place] = value
        return function(*given)

    return of_floats


def _compare(
    function: Callable[..., Any],
    reference: Callable[..., Any],
    args: Sequence[Any],
    places: Sequence[int],
    wanted: Any,
    random: np.random.Generator,
    rtol: float,
) -> None:
    primals = tuple(args[place] for place in places)
    tangents = mapped(lambda leaf: _direction(leaf, random), primals)
    weights = mapped(lambda leaf: _direction(leaf, random), wanted)
    if len(places) == len(args):
        out, tangent = ad.jvp(function, primals, tangents)
        again, pull_back = ad.vjp(function, *primals)  # `again` is what `ad.jit` gives
        adjoints = conjugated(pull_back(conjugated(weights)))
    else:
        out, tangent = ad.jit(
            lambda given, along: ad.jvp(
                _of(function, given, places), [given[place] for place in places], along
            )
        )(args, tangents)
        again, adjoints = ad.jit(
            lambda given, weights: _pulled(
                _of(function, given, places), [given[place] for place in places], weights
            )
        )(args, conjugated(weights))
        adjoints = conjugated(adjoints)
    assert_same(out, wanted)
    assert_same(again, wanted)
    forward, reverse = inner(weights, tangent), inner(tangents, adjoints)
    size = sum(float(np.sum(np.abs(np.multiply(w, t)))) for w, t in zip(floats(weights), floats(tangent)))
    np.testing.assert_allclose(
        reverse, forward, rtol=1e-10, atol=1e-12 + 1e-10 * size, err_msg="reverse, forward"
    )

    def moved(step: float) -> float:
        supply = iter(zip(floats(primals), floats(tangents)))
        values = mapped(lambda leaf: _sum(*next(supply), step), primals)
        return inner(weights, _of(reference, copy.deepcopy(args), places)(*values))

    numeric = (8 * (moved(STEP) - moved(-STEP)) - (moved(2 * STEP) - moved(-2 * STEP))) / (12 * STEP)
    np.testing.assert_allclose(
        forward, numeric, rtol=rtol, atol=1e-8 + rtol * size, err_msg="forward, numeric"
    )


def _pulled(function: Callable[..., Any], primals: Sequence[Any], weights: Any) -> Any:
    out, pull_back = ad.vjp(function, *primals)
    return out, pull_back(weights)


def _sum(leaf: Any, direction: Any, step: float) -> Any:
    return leaf + step * direction


# ---------------------------------------------------------------------------- containers
def is_complex(leaf: Any) -> bool:
    """Whether a leaf is a complex number or array, which counts as its two parts."""
    return isinstance(leaf, complex) or getattr(getattr(leaf, "dtype", None), "kind", "") == "c"


def conjugated(tree: Any) -> Any:
    """The container with its complex numbers conjugated: how cotangents are shown, real pairs as x - iy."""
    whole = (leaf for leaf in _whole_leaves(tree) if is_complex(leaf) or is_float(leaf))
    signs = iter([sign for leaf in whole for sign in ((1, -1) if is_complex(leaf) else (1,))])
    return mapped(lambda leaf: leaf * next(signs), tree)


def floats(tree: Any) -> list[Any]:
    """The floats of a container, in order."""
    return [leaf for leaf in leaves(tree) if is_float(leaf)]


def is_float(leaf: Any) -> bool:
    """Whether a leaf is a float or an array of floats."""
    return isinstance(leaf, float) or getattr(getattr(leaf, "dtype", None), "kind", "") == "f"


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of a container, in order; of a complex number its parts."""
    for leaf in _whole_leaves(tree):
        yield from (leaf.real, leaf.imag) if is_complex(leaf) else (leaf,)


def _whole_leaves(tree: Any) -> Iterator[Any]:
    match tree:
        case None:
            return
        case tuple() | list():
            parts: Sequence[Any] = tree
        case dict():
            parts = list(tree.values())
        case _ if dataclasses.is_dataclass(tree):
            parts = [getattr(tree, field.name) for field in dataclasses.fields(tree)]
        case _:
            yield tree
            return
    for part in parts:
        yield from _whole_leaves(part)


def mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """The container with its floats changed."""
    match tree:
        case tuple() if hasattr(tree, "_fields"):
            return type(tree)(*[mapped(change, part) for part in tree])
        case tuple() | list():
            return type(tree)([mapped(change, part) for part in tree])
        case dict():
            return {name: mapped(change, part) for name, part in tree.items()}
        case _ if dataclasses.is_dataclass(tree):
            fields = [field.name for field in dataclasses.fields(tree)]
            return type(tree)(**{name: mapped(change, getattr(tree, name)) for name in fields})
        case _ if is_complex(tree):
            return joined(change(tree.real), change(tree.imag))
        case _:
            return change(tree) if is_float(tree) else tree


def inner(left: Any, right: Any) -> float:
    """The sum of the products of all floats."""
    return sum(
        float(np.sum(np.multiply(one, two))) for one, two in zip(floats(left), floats(right), strict=True)
    )


def _direction(leaf: Any, random: np.random.Generator) -> Any:
    drawn = random.normal(size=np.shape(leaf))
    return drawn.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else float(drawn)


def assert_same(got: Any, wanted: Any) -> None:
    """Equal in structure, shape, scalar type and value."""
    one, two = list(leaves(got)), list(leaves(wanted))
    assert len(one) == len(two)
    for left, right in zip(one, two):
        assert np.shape(left) == np.shape(right)
        assert np.asarray(left).dtype == np.asarray(right).dtype
        rtol = 2e-5 if np.asarray(right).dtype == np.float32 else 1e-11
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)
