"""The loops over coefficients of polynomials, the highest first: programs compiled like a user's."""

from __future__ import annotations

from typing import Any


def multiplied(found: Any, roots: Any) -> Any:
    """The product of x - r for every root r, in place of 1, 0, …, 0."""
    for k in range(len(roots)):
        found[1:] = found[1:] - roots[k] * found[:-1]
    return found


def divided(quotient: Any, rest: Any, divisor: Any, steps: Any) -> Any:
    """Long division, in place of zeros and of the dividend."""
    scale = 1.0 / divisor[0]
    for k in range(steps):
        factor = scale * rest[k]
        quotient[k] = factor
        rest[k : k + len(divisor)] -= factor * divisor
    return quotient, rest
