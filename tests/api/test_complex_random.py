"""Random programs of complex numbers: the value is NumPy's, both modes agree with differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anadrome as ad

QUICK = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
Step = tuple[Callable[[Any, Any], Any], int, int]


def _chosen(a: Any, b: Any) -> Any:
    return np.where(a.real > b.imag, a * 1j, b + 0.5)


def _looped(a: Any, b: Any) -> Any:
    total = a * 0
    for k in range(3):
        total = total * b * 0.3 + a * 1j**k
    return total


def _written(a: Any, b: Any) -> Any:
    found = a.copy()
    found[0] = b[-1] * 2j
    found[1:] += b[:-1]
    found.imag[1] = 0.25
    return found


STEPS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b * 1j,
    lambda a, b: a - 0.5 * b,
    lambda a, b: 0.4 * a * b,
    lambda a, b: a / (3.0 + abs(b)),
    lambda a, b: a / (3.0 + 1j * b.real),
    lambda a, b: b.conj() * a.imag,
    lambda a, b: np.sin(0.3 * a) + b.real,
    lambda a, b: np.exp(0.2j * a) * b,
    lambda a, b: np.sqrt(4.0 + a * a.conj() + 1j * b.imag),
    lambda a, b: np.log(5.0 + abs(a) + 0.2j * abs(b)),
    lambda a, b: np.tanh(0.2 * a) * np.arctan(0.1 * b),
    lambda a, b: (2.0 + 0.1 * abs(a)) ** (0.3 * b / (1 + abs(b))),
    lambda a, b: np.cumsum(a) * 0.3 + np.roll(b, 1),
    lambda a, b: np.outer(a, b) @ b.conj() / (1 + np.sum(abs(b) ** 2)),
    lambda a, b: np.array([x * y.conj() for x, y in zip(a, b, strict=True)]),
    lambda a, b: np.concatenate((a[2:], b[:2])),
    _chosen,
    _looped,
    _written,
)


def _run(steps: Sequence[Step], z: Any, w: Any) -> Any:
    values = [z, w]
    for step, i, j in steps:
        values.append(step(values[i], values[j]))
    return values[-1], abs(values[-1]) ** 2


@st.composite
def programs(draw: st.DrawFn) -> list[Step]:
    """Steps, each of values before it."""
    count = draw(st.integers(1, 7))
    return [
        (draw(st.sampled_from(STEPS)), draw(st.integers(0, place + 1)), draw(st.integers(0, place + 1)))
        for place in range(count)
    ]


@QUICK
@given(programs(), st.integers(0, 1000))
def test_random_programs(steps: list[Step], seed: int) -> None:
    random = np.random.default_rng(seed)
    z, w = (random.normal(size=5) + 1j * random.normal(size=5) for _ in range(2))

    def program(z: Any, w: Any) -> Any:
        return _run(steps, z, w)

    found, wanted = ad.jit(program, config=ad.Config(verify=True, small_dimension=3))(z, w), program(z, w)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    ad.check_grads(program, (z, w), rtol=3e-5, atol=1e-6)
