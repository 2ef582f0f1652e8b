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
