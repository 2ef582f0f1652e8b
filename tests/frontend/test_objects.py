"""Objects asked for their truth, `super`, dict comprehensions, and sizes that loops must keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend


class Signed:
    """An object whose truth is a run-time value."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value > 0

    def scaled(self, factor):
        return self.value * factor


class Held:
    """An object whose truth is its length."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)


class Doubled(Signed):
    def __init__(self, value, extra):
        super().__init__(2.0 * value)
        self.extra = extra

    def scaled(self, factor):
        return super().scaled(factor) + super(Doubled, self).scaled(self.extra)  # noqa: UP008


@dataclass
class Base:
    first: float

    def total(self):
        return self.first


@dataclass
class Pair(Base):
    second: float

    def total(self):
        return super().total() * self.second


def truths(x):
    total = 1.0 if Signed(x) else 2.0
    if not Signed(x):
        total += 10.0
    if Signed(x - 1) and Signed(x):
        total += 100.0
    if Signed(x - 1) or x < -1:
        total += 1000.0
    while Signed(x):
        x = x - 1.0
    assert not Signed(x)
    return total * x + (1.0 if bool(Signed(x + 0.5)) else 0.0) + sum(y for y in (1.0, 2.0) if Signed(y - 1.5))


def inherits(x):
    return Doubled(x, 3.0 * x).scaled(x) + Pair(x, x).total()


@pytest.mark.parametrize("x", [-1.5, -0.3, 0.5, 3.25])
@pytest.mark.parametrize("function", [truths, inherits])
def test_objects_are_asked_inline(function, x):
    assert ad.jit(function)(x) == pytest.approx(function(x))


def test_super_is_differentiated():
    assert ad.grad(inherits)(1.5) == pytest.approx(2.0 * 1.5 * 9.0)


@pytest.mark.parametrize("size", [0, 30])
def test_truth_may_be_a_length(size):
    def function(x):
        return (1.0 if Held(x) else 2.0) + len(Held(x))

    assert ad.jit(function)(np.ones(size)) == function(np.ones(size))


@pytest.mark.parametrize("x", [1.0, 3.0])
def test_an_object_may_be_chosen_at_run_time(x):
    def function(x):
        return (Signed(x - 1) and Signed(x)).value * x

    assert ad.jit(function)(x) == function(x)


def keyed(x):
    table = {k: x[k] for k in range(3)}
    twice = {k: 2.0 * v for k, v in table.items() if k != 1}
    products = {(i, j): x[i] * x[j] for i in range(3) for j in range(i)}
    return sum(table.values()) + twice[2] + products[2, 1] + len({k % 2 for k in range(5)})


def test_dict_and_set_comprehensions():
    x = np.arange(1.0, 6.0)
    assert ad.jit(keyed)(x) == keyed(x)
    np.testing.assert_allclose(ad.grad(keyed)(x), [1.0, 4.0, 5.0, 0.0, 0.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: {k: 1.0 for k in range(3) if x > 0},
        lambda x: {x * k: 1.0 for k in range(3)},
        lambda x: {x * k for k in range(3)},
    ],
)
def test_run_time_keys_are_refused(function):
    with pytest.raises(frontend.StaticRequired) as caught:
        ad.jit(function)(1.0)
    assert caught.value.diagnostic.span is not None


def turned(x, steps):
    values = x * 1.0
    for _ in range(steps):
        values = np.concatenate([values[1:], values[:1]])
    return values[0]


def test_a_loop_keeps_sizes():
    assert ad.jit(turned)(np.arange(20.0), 3) == 3.0


def columns(x):
    total = 0.0
    for k in range(x.shape[1]):
        total += np.max(x - x[:, k : k + 1])
    for k in range(len(x) - 2):
        total += np.sum(x[k : k + 3, 0] * np.array([1.0, 2.0, 3.0]))
    return total


def test_a_slice_of_known_length_broadcasts():
    x = np.random.default_rng(0).normal(size=(20, 19))
    assert ad.jit(columns)(x) == pytest.approx(columns(x))
