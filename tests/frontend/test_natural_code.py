"""Code as people write it: imports and settings inside, private names, slices of lists, `del`."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend
from tests.derivatives.agreement import agree, assert_same

X = np.random.default_rng(11).normal(size=20)


class Account:
    def __init__(self, start):
        self.__held = start
        self._Account__other = 1.0

    def __put(self, amount):
        self.__held = self.__held + amount
        self.__held *= 1.01

    def after(self, amounts):
        for amount in amounts:
            self.__put(amount)
        return (lambda: self.__held)() * self.__other


def private(xs):
    return Account(xs[0]).after(xs)


def imports(xs):
    import math
    import os.path as path
    from math import exp as e
    from math import sqrt

    import numpy.linalg

    return e(xs[0]) + sqrt(abs(xs[1])) + math.pi * numpy.linalg.norm(xs) + len(path.join("a", "b"))


def settings(xs):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = xs / (xs + 3.0)
    return ratio.sum()


def early_out_of_settings(xs):
    for x in xs:
        with np.errstate(all="ignore"):
            if x > 1.0:
                return x
    return xs[0]


def in_order(xs):
    down = sorted(xs, reverse=True)
    up = sorted([xs[2], xs[0], xs[1]])
    return down[0] * 2.0 - down[3] + up[0] * up[2] + len(down)


def copied_slice(xs):
    items = [xs[0], xs[1], xs[2]]
    others = items[1:]
    others.append(xs[3])
    others[0] = others[0] * 2.0
    del items[0], others[1]
    return items[0] + 10.0 * others[0] + 100.0 * others[1] + len(items)


def without_a_key(xs):
    table = {"a": xs[0], "b": xs[1]}
    del table["a"]
    return sum(table.values())


def equal_before(xs):
    a, b = 1.0, 2.0
    if xs[0] > 0.0:
        b = a
    else:
        b = a
    return b * xs[1]


@pytest.mark.parametrize(
    "program",
    [
        private,
        imports,
        settings,
        early_out_of_settings,
        in_order,
        copied_slice,
        without_a_key,
        equal_before,
    ],
)
@pytest.mark.parametrize("xs", [X[:5], X], ids=len)
def test_means_what_it_means_in_python(program, xs) -> None:
    assert_same(ad.jit(program)(xs), program(xs))
    agree(program, xs)


def opens(xs):
    with open("numbers.txt") as file:
        return xs[0] + len(file.read())


def imports_nothing(xs):
    import no_module_of_this_name

    return no_module_of_this_name.f(xs)


@pytest.mark.parametrize(
    ("program", "error"), [(opens, frontend.UnsupportedCall), (imports_nothing, frontend.StaticCallFailed)]
)
def test_is_refused(program, error) -> None:
    with pytest.raises(error) as caught:
        ad.jit(program)(X)
    assert caught.value.diagnostic.span is not None
