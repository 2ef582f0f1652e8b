"""What tests give library operations: random matrices around which they are smooth."""

from __future__ import annotations

import numpy as np

from anadrome.library.record import Array


def drawn(random: np.random.Generator, *shape: int) -> Array:
    """Normally distributed elements."""
    return random.normal(size=shape)


def regular(random: np.random.Generator, n: int) -> Array:
    """A square matrix that is far from singular, and so are its triangles."""
    return drawn(random, n, n) + 3.0 * np.eye(n)


def definite(random: np.random.Generator, n: int) -> Array:
    """A symmetric positive definite matrix."""
    root = drawn(random, n, n)
    return root @ root.T + np.eye(n)


def apart(random: np.random.Generator, m: int, n: int) -> Array:
    """A matrix whose eigenvalues and singular values are far from one another."""
    found = 0.3 * drawn(random, m, n)
    short = np.arange(min(m, n))
    found[short, short] += 1.0 + 2.0 * short
    return found
