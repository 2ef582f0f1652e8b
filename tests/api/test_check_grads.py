"""`check_grads`: what agrees passes, what does not is named."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import GradientMismatch


def energy(state, scale, count):
    total = 0.0
    for i in range(count):
        total = total + np.sum(np.sin(state["x"] * i) * scale)
    return total, {"extra": state["x"] ** 2, "count": count}


STATE = {"x": np.linspace(-1.0, 1.0, 5), "kind": "k", "n": np.arange(3)}


@pytest.mark.parametrize("order", [1, 2])
def test_agreement(order: int) -> None:
    ad.check_grads(energy, (STATE, 1.5, 4), order=order)
    ad.check_grads(ad.jit(energy), (STATE, 1.5, 4), order=order)
    ad.check_grads(ad.grad(lambda x: np.sum(x**3)), (np.ones(3),), order=order)


def test_single_modes_and_precision() -> None:
    ad.check_grads(energy, (STATE, 1.5, 4), modes=("fwd",))
    ad.check_grads(energy, (STATE, 1.5, 4), modes=("rev",))
    ad.check_grads(lambda x: np.sum(x * x), (np.ones(4, np.float32),), eps=1e-2, rtol=1e-3)


def test_a_difference_is_named() -> None:
    def stopped(x, y):
        return np.sum(x * ad.stop_gradient(y))

    with pytest.raises(
        GradientMismatch, match=r"order 1 by argument `y`.*forward mode gives 0.*finite differences"
    ):
        ad.check_grads(stopped, (np.ones(3), np.ones(3)))


def test_a_kink_is_seen() -> None:
    with pytest.raises(GradientMismatch, match="by argument `x`"):
        ad.check_grads(lambda x: max(x, 0.0), (0.0,))


def test_a_setting_that_would_check_nothing_is_refused() -> None:
    for modes in ((), ("forward",), "fwd"):
        with pytest.raises(ValueError, match="`modes` must be"):
            ad.check_grads(energy, (STATE, 1.5, 4), modes=modes)
    with pytest.raises(ValueError, match="`order` must be 1 or 2, got 3"):
        ad.check_grads(energy, (STATE, 1.5, 4), order=3)
    with pytest.raises(TypeError, match="`args` must be the tuple"):
        ad.check_grads(lambda x: np.sum(x), np.ones(3))
    for name, value in (("eps", 0.0), ("eps", float("nan")), ("eps", "a"), ("rtol", -1.0), ("atol", None)):
        with pytest.raises(ValueError, match=f"`{name}` must be a positive number"):
            ad.check_grads(energy, (STATE, 1.5, 4), **{name: value})
    for args in ((), (3,), (np.arange(3), "a"), (bytearray(8),)):
        with pytest.raises(ValueError, match="`args` must be a tuple with floats"):
            ad.check_grads(lambda *xs: 1.0, args)
