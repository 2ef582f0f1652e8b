"""Fourier transforms beside NumPy's, and gradients through them beside the function and beside JAX.

    python benchmarks/fourier.py

*of NumPy* is the time of the compiled transform over that of NumPy's function. The gradient is that of
½ Σ |y - d|² for y the transform of the argument; *of value* is its time over that of the compiled value,
*of JAX* over that of JAX's compiled gradient, in double precision, where JAX is installed. Times are medians
of calls made in turn, ratios the medians of neighbours.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from bench.clock import paired  # noqa: E402 (the path is set above)

import anadrome as ad  # noqa: E402

COLUMNS = ("transform", "shape", "NumPy ms", "of NumPy", "value ms", "of value", "of JAX")
SHAPES = ((1000,), (1024,), (1009,), (1_000_000,), (1 << 20,), (1000, 256))
NAMES = ("fft", "ifft", "rfft")
ONE_THREAD = ad.Config(threads=1)


def loss(module: Any, name: str) -> Callable[[Any, Any], Any]:
    """½ Σ |y - d|² in NumPy or in what has its interface."""

    def program(x: Any, d: Any) -> Any:
        difference = getattr(np.fft, name)(x) - d
        return 0.5 * np.sum(difference.real**2 + difference.imag**2)

    def of_module(x: Any, d: Any) -> Any:
        difference = getattr(module.fft, name)(x) - d
        return 0.5 * module.sum(difference.real**2 + difference.imag**2)

    return program if module is np else of_module


def jax_gradient(name: str) -> Callable[[Any, Any], Any] | None:
    """JAX's compiled gradient; None where JAX is not installed."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(jax.grad(loss(jax.numpy, name)))
    return lambda x, d: jax.block_until_ready(compiled(x, d))


def measure(name: str, shape: tuple[int, ...]) -> None:
    """Print one line, and check that all agree."""
    random = np.random.default_rng(0)
    x = random.normal(size=shape)
    if name != "rfft":
        x = x + 1j * random.normal(size=shape)
    function = getattr(np.fft, name)
    wanted = function(x)
    d = wanted * random.uniform(size=wanted.shape)
    transform = ad.jit(function, config=ONE_THREAD)
    np.testing.assert_allclose(transform(x), wanted, atol=1e-12 * np.abs(wanted).max())
    ours = paired(lambda: function(x), lambda: transform(x))
    value = ad.jit(loss(np, name), config=ONE_THREAD)
    gradient = ad.grad(value)
    slopes = paired(lambda: value(x, d), lambda: gradient(x, d))
    other, beside = jax_gradient(name), ""
    if other is not None:
        found = gradient(x, d)
        np.testing.assert_allclose(found, other(x, d), atol=1e-11 * np.abs(found).max())
        beside = f"{paired(lambda: other(x, d), lambda: gradient(x, d)).ratio:.2f}"
    cells = (
        f"{1e3 * ours.first:.4f}",
        f"{ours.ratio:.2f}",
        f"{1e3 * slopes.first:.4f}",
        f"{slopes.ratio:.2f}",
    )
    print(row((name, " by ".join(map(str, shape)), *cells, beside)), flush=True)


def row(cells: tuple[str, ...]) -> str:
    """One line of the table."""
    return f"{cells[0]:<10}" + "".join(f"{cell:>13}" for cell in cells[1:])


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description="Fourier transforms beside NumPy's and JAX's.")
    parser.add_argument("--only", default="", help="transforms whose name begins so")
    options = parser.parse_args()
    print(row(COLUMNS))
    for name in NAMES:
        for shape in SHAPES:
            if name.startswith(options.only):
                measure(name, shape)


if __name__ == "__main__":
    main()
