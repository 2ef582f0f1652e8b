"""Three derivatives of one IR function that must agree: forward, reverse, central differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function

STEP = 1e-6


def is_float(value: object) -> bool:
    return np.issubdtype(np.asarray(value).dtype, np.floating)


def inner(left: Sequence[object], right: Sequence[object]) -> float:
    pairs = zip(left, right, strict=True)
    return float(sum(np.sum(np.asarray(a, float) * np.asarray(b, float)) for a, b in pairs))


def direction(rng: np.random.Generator, values: Sequence[object]) -> list[object]:
    return [
        np.float64(rng.standard_normal()) if np.ndim(v) == 0 else rng.standard_normal(np.shape(v))
        for v in values
    ]


def shifted(
    args: Sequence[object], active: Sequence[bool], tangents: Sequence[object], step: float
) -> list[object]:
    moved, rest = [], iter(tangents)
    for arg, is_active in zip(args, active, strict=True):
        moved.append(np.asarray(arg) + step * np.asarray(next(rest)) if is_active else arg)
    return [np.float64(m) if np.ndim(m) == 0 and is_float(m) else m for m in moved]


def assert_derivatives(
    fn: Function, args: Sequence[object], *, tolerance: float = 1e-6, order: int = 1
) -> None:
    """Forward, reverse and central differences agree in random directions, also of the vjp up to `order`."""
    check(fn)
    rng = np.random.default_rng(7)
    active = tuple(is_float(arg) for arg in args)
    floats = [arg for arg in args if is_float(arg)]
    tangents = direction(rng, floats)
    results = run(fn, args).results
    outputs = [value for value in results if is_float(value)]
    cotangents = direction(rng, outputs)

    forward = jvp(fn, active)
    check(forward)
    pushed = run(forward, [*args, *tangents]).results
    for again, value in zip(pushed[: len(results)], results, strict=True):
        np.testing.assert_allclose(again, value, rtol=1e-12)
    tangent = inner(cotangents, pushed[len(results) :])

    backward = vjp(fn, active)
    check(backward)
    pulled = run(backward, [*args, *cotangents]).results
    for again, value in zip(pulled[: len(results)], results, strict=True):
        np.testing.assert_allclose(again, value, rtol=1e-12)
    adjoint = inner(pulled[len(results) :], tangents)
    np.testing.assert_allclose(adjoint, tangent, rtol=1e-10, atol=1e-12)

    ahead = [v for v in run(fn, shifted(args, active, tangents, STEP)).results if is_float(v)]
    behind = [v for v in run(fn, shifted(args, active, tangents, -STEP)).results if is_float(v)]
    difference = (inner(cotangents, ahead) - inner(cotangents, behind)) / (2 * STEP)
    np.testing.assert_allclose(tangent, difference, rtol=tolerance, atol=tolerance)
    if order > 1:
        assert_derivatives(backward, [*args, *cotangents], tolerance=tolerance, order=order - 1)
