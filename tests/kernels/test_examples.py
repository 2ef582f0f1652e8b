"""The programs of `examples/kernels/`: value against a reference that knows no kernels, gradient against
differences of that reference, and what they print.
"""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

import numpy as np
import pytest

import anadrome as ad

ACTIVE = {
    "arity": (0,),
    "attention": (0, 1, 2, 3),
    "axpy": (0, 1, 2),
    "bitonic": (0, 1),
    "bundle": (0, 1, 2),
    "dg": (0, 1, 2),
    "histogram": (0, 1),
    "hmlstm": (0, 1, 2, 3),
    "lbm": (0,),
    "lulesh": (0,),
    "nbody": (0, 1, 2),
    "product": (0, 1),
    "raymarch": (0,),
    "reduction": (0,),
    "rsbench": (0,),
    "scan": (0, 1),
    "softmax": (0,),
    "stencil": (0, 1, 2),
    "transpose": (0, 1),
    "xsbench": (0,),
}
"""Program -> the arguments that its `value_and_gradient` has adjoints of."""
STEPS = {"xsbench": 1e-8}
"""The step of differences where 1e-5 is too long: energies of a table may be close."""


def differences(program: Any, args: tuple[Any, ...], direction: dict[int, Any], step: float) -> float:
    """The derivative of the reference along a direction."""

    def at(length: float) -> float:
        moved = [arg + length * direction[k] if k in direction else arg for k, arg in enumerate(args)]
        return float(program.reference(*moved))

    return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step)


@pytest.mark.parametrize("name", ACTIVE)
def test_value_and_gradient(name: str) -> None:
    program = importlib.import_module(name)
    random = np.random.default_rng(3)
    args = program.sample(random)
    value, found = program.value_and_gradient(*args)
    np.testing.assert_allclose(value, program.reference(*args), rtol=1e-11)
    adjoints = dict(zip(ACTIVE[name], found if len(ACTIVE[name]) > 1 else (found,), strict=True))
    for _ in range(3):
        direction = {k: random.normal(size=np.shape(args[k])) for k in ACTIVE[name]}
        slope = sum(float(np.sum(direction[k] * adjoints[k])) for k in adjoints)
        expected = differences(program, args, direction, STEPS.get(name, 1e-5))
        scale = math.sqrt(sum(float(np.sum(np.square(adjoint))) for adjoint in adjoints.values()))
        assert abs(slope - expected) < 1e-7 * scale


@pytest.mark.parametrize("name", ACTIVE)
def test_main_prints_finite_numbers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(name).main()
    words = capsys.readouterr().out
    assert re.search(r"\d", words)
    assert not re.search(r"\b(nan|inf)\b", words)
    assert all(float(error) < 1e-9 for error in re.findall(r"largest error\D*([\d.]+e[+-]\d+)", words))


@pytest.mark.parametrize("name", ["bundle", "lbm", "nbody", "xsbench"])
def test_several_workers(name: str) -> None:
    program = importlib.import_module(name)
    args = program.sample(np.random.default_rng(3))
    config = ad.Config(threads=3, verify=True)
    loss = ad.jit(program.loss.python, config=config)
    value, found = ad.value_and_grad(loss, argnums=ACTIVE[name])(*args)
    expected, adjoints = program.value_and_gradient(*args)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    one, other = (adjoints, found) if len(ACTIVE[name]) > 1 else ((adjoints,), found)
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(right, left, rtol=1e-12, atol=1e-12 * np.max(np.abs(left)))


SLOW = {"attention", "dg", "lbm", "nbody", "rsbench", "scan", "softmax"}
"""Programs whose second derivatives take long to compile."""
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in ACTIVE]


@pytest.mark.parametrize("name", EACH)
def test_forward_mode_and_second_derivatives(name: str) -> None:
    """Forward mode is the gradient along a direction, forward over reverse the differences of gradients."""
    program = importlib.import_module(name)
    random = np.random.default_rng(5)
    args, active = program.sample(random), ACTIVE[name]

    def given(*moved: Any) -> tuple[Any, ...]:
        return tuple(dict(zip(active, moved, strict=True)).get(k, arg) for k, arg in enumerate(args))

    def gradient(*moved: Any) -> Any:
        return ad.grad(program.loss, argnums=active)(*given(*moved))

    start = tuple(args[k] for k in active)
    direction = tuple(like(one, lambda x: random.normal(size=np.shape(x))) for one in start)
    _, along = ad.jvp(lambda *moved: program.loss(*given(*moved)), start, direction)
    adjoints, sizes = flat(gradient(*start)), flat(direction)
    assert abs(along - adjoints @ sizes) < 1e-11 * np.linalg.norm(adjoints) * np.linalg.norm(sizes)
    step = STEPS.get(name, 1e-5) * 0.1
    _, curvature = ad.jvp(gradient, start, direction)
    above, below = (
        flat(
            gradient(
                *(like(x, lambda a, d: a + sign * step * d, d) for x, d in zip(start, direction, strict=True))
            )
        )
        for sign in (1.0, -1.0)
    )
    expected = (above - below) / (2.0 * step)
    np.testing.assert_allclose(flat(curvature), expected, rtol=0.0, atol=1e-6 * np.max(np.abs(expected)))


def like(value: Any, function: Any, *others: Any) -> Any:
    """What a function gives for each array of a tuple, or for one number or array."""
    if isinstance(value, tuple):
        return tuple(like(*one) for one in zip(value, [function] * len(value), *others, strict=True))
    found = function(value, *others)
    return found if np.shape(value) else float(found)


def flat(value: Any) -> np.ndarray:
    """All numbers of arrays in tuples."""
    if isinstance(value, tuple):
        return np.concatenate([flat(one) for one in value])
    return np.ravel(value)
