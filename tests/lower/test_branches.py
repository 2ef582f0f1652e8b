"""Branches that update an array in place: one of them may still read it while it writes."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import assert_same


def taken_out(x, is_sequential, places):
    """In the second branch one parfor gathers from the array that it scatters into."""
    rest = x * 2.0
    if is_sequential > 0:
        found = np.zeros(len(places))
        for i in range(len(places)):
            found[i] = rest[places[i]]
            rest[places[i]] = 0.0
    else:
        found = rest[places]
        rest[places] = 0.0
    return found, rest


@pytest.mark.parametrize("is_sequential", [0, 1])
def test_gather_and_scatter_of_one_array(is_sequential: int) -> None:
    x, places = np.arange(1.0, 21.0), np.arange(40) % 3
    arguments = (x, is_sequential, places)
    assert_same(ad.jit(taken_out)(*arguments), taken_out(*arguments))


def test_adjoint_of_two_scatters() -> None:
    def program(x):
        y = np.outer(x, x)
        y[:, np.array([0, 1, 0])] = x[:3]
        y[:4] = x
        return y

    x, w = np.linspace(0.5, 1.5, 20), np.sin(np.arange(400.0)).reshape(20, 20)
    (adjoint,) = ad.vjp(program, x)[1](w)
    forward = [np.sum(w * ad.jvp(program, (x,), (e,))[1]) for e in np.eye(20)]
    np.testing.assert_allclose(adjoint, forward, rtol=1e-12, atol=1e-12)
