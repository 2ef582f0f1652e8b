"""The form of a call: it tells apart what `signature` tells apart, and calls of one form run one program."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anadrome as ad
from anadrome.api.forms import form_of, general, parts_of_complex
from anadrome.api.signature import Static, signature_of
from anadrome.errors.kernels_launch import SameArrayTwice

SMALL = 4
Pair = namedtuple("Pair", "first second")


@dataclass
class Layer:
    weight: Any
    bias: Any = None


@dataclass(frozen=True)
class Settings:
    name: str
    scale: float = 1.0


LEAVES: tuple[object, ...] = (
    *(1, 1.0, True, np.float32(1), 1j, None, "tanh", len),
    *(np.zeros(3), np.zeros(9), np.zeros(8), np.zeros(0), np.zeros(()), np.zeros(3, np.float32)),
    *(np.zeros((2, 3)), np.zeros((3, 2)).T, np.zeros((9, 8)), np.zeros((9, 9)), np.zeros((8, 9)).T),
    *(np.zeros(3) * 1j, Settings("a"), Static("tanh"), Static(Settings("a")), Static(Settings("a", 1))),
    *(Static((1, 0.0)), Static((1.0, 0.0)), Static((1, -0.0)), Static((True, 0.0))),
    *(Static(frozenset([1])), Static(frozenset([1.0]))),
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Containers of what there is."""
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        pair.map(lambda both: Pair(*both)),
        pair.map(lambda both: Layer(*both)),
        pair.map(lambda both: {"a": both[0], "b": both[1]}),
        pair.map(lambda both: {"b": both[0], "a": both[1]}),
        *(inner.map(lambda one, key=key: {key: one}) for key in (1, 1.0, True, "a")),
    )


VALUES = st.recursive(st.sampled_from(LEAVES), containers, max_leaves=4)
NAMED = st.dictionaries(st.sampled_from(("x", "y")), VALUES, max_size=2)
CALLS = st.tuples(
    st.lists(VALUES, max_size=2), st.dictionaries(st.sampled_from(("x", "y")), VALUES, max_size=2)
)


@given(CALLS, CALLS, st.booleans())
def test_forms_tell_apart_what_signatures_tell_apart(one, other, is_one):
    if is_one:
        other = one
    signatures = [signature_of("f", args, kwargs, (), SMALL)[0] for args, kwargs in (one, other)]
    found = [form_of(args, kwargs) for args, kwargs in (one, other)]
    assert None not in found
    forms = [form for form, _ in found]
    assert (general(forms[0], SMALL) == general(forms[1], SMALL)) == (signatures[0] == signatures[1])
    if forms[0] == forms[1]:
        assert signatures[0] == signatures[1]
        assert hash(tuple(forms[0])) == hash(tuple(forms[1]))


@given(CALLS)
def test_leaves_are_those_of_the_signature(call):
    leaves = parts_of_complex(form_of(*call)[1])
    expected = signature_of("f", *call, (), SMALL)[1]
    assert len(leaves) == len(expected)
    for one, other in zip(leaves, expected, strict=True):
        assert one is other or np.array_equal(one, other)


def test_what_cannot_be_an_argument_has_no_form():
    cycle: list[object] = []
    cycle.append(cycle)
    for value in ({1, 2}, cycle, bytearray(b"ab"), np.ma.zeros(3)):
        assert form_of((value,), {}) is None


# ---------------------------------------------------------------------------- calls
def total(tree):
    if isinstance(tree, dict):
        return sum([total(part) for part in tree.values()], 0.0)
    if isinstance(tree, (list, tuple)):
        return sum([total(part) for part in tree], 0.0)
    if isinstance(tree, Layer):
        return total(tree.weight) + 2.0 * total(tree.bias)
    return np.sum(tree) * 1.0


TREES = (
    lambda k: [k * np.ones(3), (k * 2.0, np.ones((2, 2)))],
    lambda k: {"w": k * np.ones(3), "b": [k, np.float32(k)]},
    lambda k: Layer(k * np.ones(3), k),
    lambda k: Pair(Layer(k * np.ones(9), 1), [Layer(k * np.ones(8), 2.0)]),
    lambda k: [k * np.ones(3) * (1 + 0j), k * 1j],
)


@pytest.mark.parametrize("make", TREES)
def test_later_calls_with_containers(make):
    @ad.jit
    def f(tree):
        return total(tree)

    for k in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(f(make(k)), total(make(k)), rtol=1e-12)
        np.testing.assert_allclose(f(tree=make(k)), total(make(k)), rtol=1e-12)
    assert f.compilations == 2  # by position and by name


def test_names_count_whatever_their_order():
    @ad.jit
    def f(x, y):
        return x - y

    for _ in range(3):
        assert f(x=3.0, y=1.0) == f(y=1.0, x=3.0) == f(3.0, y=1.0) == 2.0


def test_nothing_is_no_leaf():
    @ad.jit
    def f(first, x, last=None):
        return x * 2.0 if first is last else x

    for _ in range(3):
        assert f(None, 1.5) == f(None, 1.5, None) == 3.0
        assert f(1j, 1.5) == 1.5


def test_static_texts_choose_the_program():
    @ad.jit
    def f(x, kind):
        return np.sin(x) if kind == "sin" else np.cos(x)

    for _ in range(3):
        assert f(1.0, "sin") == np.sin(1.0)
        assert f(1.0, "cos") == np.cos(1.0)
    assert f.compilations == 2


def changed(x):
    y = 2.0 * x
    z = y.reshape(-1)
    z[1] = 50.0
    return y.sum()


def test_the_layout_of_an_argument_counts():
    f = ad.jit(changed)
    rows = np.arange(6.0).reshape(3, 2)
    assert f(rows) == f(rows) == changed(rows) == 78.0
    columns = np.asfortranarray(rows)
    assert changed(columns) == 30.0
    with pytest.raises(ad.AnadromeError):  # the copy that NumPy makes there is not known while compiling
        f(columns)
    assert f(rows) == 78.0


class Around:
    """What programs read around them."""

    array = np.arange(6.0).reshape(3, 2)
    whole: frozenset[float] = frozenset([2])


def test_the_layout_of_a_small_array_around_counts(monkeypatch):
    f = ad.jit(lambda: changed(Around.array))
    assert f() == 78.0
    with monkeypatch.context() as patch:
        patch.setattr(Around, "array", np.asfortranarray(Around.array))
        with pytest.raises(ad.AnadromeError):
            f()
        with pytest.raises(ad.AnadromeError):
            ad.jit(lambda b: changed(Around.array * b))(1.0)
    assert f() == 78.0


def test_equal_sets_around_of_other_numbers(monkeypatch):
    f = ad.jit(lambda x: [k * x for k in Around.whole])
    assert f(np.arange(3))[0].dtype == np.int64
    monkeypatch.setattr(Around, "whole", frozenset([2.0]))
    assert f(np.arange(3))[0].dtype == np.float64


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((2, 1), (2.0, 1)),
        ((1, 1), (True, 1)),
        (((0.0,),), ((-0.0,),)),
        (0.0, -0.0),
        (Settings("a", 0.0), Settings("a", -0.0)),
        (Settings("a", 1), Settings("a", 1.0)),
    ],
)
def test_equal_static_values_that_are_not_the_same(one, other):
    def f(x, value):
        while isinstance(value, tuple):
            value = value[0]
        number = value.scale if isinstance(value, Settings) else value
        with np.errstate(all="ignore"):
            return (x * number, x / number if isinstance(number, float) else x)

    found = ad.jit(f, static_argnums=1)
    x = np.arange(1, 4)
    for value in (one, other, one, other):
        with np.errstate(all="ignore"):
            expected = f(x, value)
        for got, want in zip(found(x, value), expected, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
    assert found.compilations == 2


@dataclass(eq=False)
class Linked:
    """An object that is equal to itself alone."""

    factor: float


def test_static_objects_that_are_equal_to_themselves_alone():
    one, two = Linked(2.0), Linked(3.0)
    f = ad.jit(lambda x, linked: x * linked.factor, static_argnums=1)
    for _ in range(2):
        assert f(1.5, one) == 3.0
        assert f(1.5, two) == 4.5
    assert f.compilations == 2


def test_equal_keys_that_are_not_the_same():
    def f(x, named):
        return [key * x for key in named]

    found = ad.jit(f)
    x = np.arange(3)
    for named in ({2: 1.0}, {2.0: 1.0}, {True: 1.0}, {1: 1.0}, {1.0: 1.0}):
        for _ in range(2):
            assert found(x, named)[0].dtype == f(x, named)[0].dtype


def test_launches_look_at_their_arrays_each_time():
    @ad.kernel
    def double(x, y):
        i = ad.grid(1)
        y[i] = 2.0 * x[i]

    x, y = np.arange(4.0), np.zeros(4)
    for _ in range(2):
        double[1, 4](x, y)
        np.testing.assert_array_equal(y, 2.0 * x)
    with pytest.raises(SameArrayTwice):
        double[1, 4](x, x)
    with pytest.raises(SameArrayTwice):
        double[1, 4](x, x)
