"""Random kernels with barriers, warp operations, branches, loops and mutable numbers: machine code and the
scheduled program against the kernels themselves."""

from __future__ import annotations

import numpy as np
import pytest
from generate import kernel_text
from launching import compiled, scheduled

from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.text import parse

pytestmark = pytest.mark.usefixtures("several_workers_pay")


def agree(seed: int, workers: int = 2) -> None:
    """The kernel of a seed gives the same in three ways."""
    text, n = kernel_text(seed)
    args = [n, 2, 0.75, np.random.default_rng(seed).normal(size=192)]
    (expected,) = run(parse(text), args)
    (found,) = compiled(text, workers)(args)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    (interpreted,) = run(scheduled(text, workers), args, workers)
    np.testing.assert_allclose(interpreted, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_random_kernels(seed: int) -> None:
    agree(seed, 1 + seed % 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 1000))
def test_many_random_kernels(seed: int) -> None:
    agree(seed, 1 + seed % 3)
