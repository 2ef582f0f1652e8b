"""Lengths that are equal in the first call are one size of its program; other calls have one as well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import anadrome as ad
from anadrome.api.signature import equal_lengths
from anadrome.config import Config
from anadrome.errors import AnadromeError

PLAIN = Config(cache=False, threads=1)
N = "n"


def dot(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


def numbers(*lengths):
    return tuple(np.random.default_rng(0).normal(size=length) for length in lengths)


def agree(compiled, python, arguments, made):
    np.testing.assert_allclose(compiled(*arguments), python(*arguments), rtol=1e-13)
    assert compiled.compilations == made


def test_equal_lengths_in_order():
    assert equal_lengths([[20, 30], [20], [40, 30]]) == (1, 0, 1, 2, 0)
    assert equal_lengths([[20], [30]]) == equal_lengths([]) == ()


def test_dimensions_of_one_array_are_sizes_of_their_own():
    assert equal_lengths([[20, 20]]) == equal_lengths([[20, 20], [30, 30]]) == ()
    assert equal_lengths([[20, 20], [20, 20]]) == (1, 0, 1, 0)


def test_the_last_dimensions_go_together():
    assert equal_lengths([[20, 20], [20], [20]]) == (1, 0, 0, 0)
    assert equal_lengths([[20], [20, 20], [20]]) == (0, 1, 0, 0)
    assert equal_lengths([[20, 30], [20]]) == (1, 0, 1)


def test_equal_arguments_are_of_one_size_and_need_no_checks():
    text = ad.show(ad.grad(dot, argnums=(0, 1)), *numbers(20, 20))
    assert text.splitlines() == [
        "fn dot(x: f64[n], y: f64[n]) -> f64[n], f64[n] {",
        "  return y, x",
        "}",
    ]
    assert "check" in ad.show(dot, *numbers(20, 30))


def test_one_program_serves_all_calls_with_the_same_lengths_equal():
    compiled = ad.jit(dot, config=PLAIN)
    for length in (20, 30, 17):
        agree(compiled, dot, numbers(length, length), 1)


def test_other_lengths_have_one_program_more():
    compiled = ad.jit(dot, config=PLAIN)
    agree(compiled, dot, numbers(20, 20), 1)
    agree(compiled, dot, numbers(20, 30), 2)
    agree(compiled, dot, numbers(40, 50), 2)
    agree(compiled, dot, numbers(30, 30), 2)
    with pytest.raises(AnadromeError, match="index 20 is out of range"):
        compiled(*numbers(30, 20))


def test_a_program_for_different_lengths_serves_equal_ones():
    compiled = ad.jit(dot, config=PLAIN)
    agree(compiled, dot, numbers(20, 30), 1)
    agree(compiled, dot, numbers(30, 30), 1)


def test_no_more_than_two_programs():
    def total(a, b, c):
        return a.sum() * b.max() + c.sum()

    compiled = ad.jit(total, config=PLAIN)
    agree(compiled, total, numbers(20, 20, 30), 1)
    for lengths in ((20, 30, 30), (30, 20, 30), (20, 20, 20), (20, 30, 40)):
        agree(compiled, total, numbers(*lengths), 2)
    agree(compiled, total, numbers(50, 50, 60), 2)


def test_the_long_way_of_a_call_makes_the_same_choices():
    def total(parts, scale):
        return sum(p @ parts["c"][: len(p)] for p in (parts["a"], parts["b"])) * scale

    compiled = ad.jit(total, config=PLAIN)
    for lengths, made in (((20, 20, 20), 1), ((30, 30, 30), 1), ((20, 30, 40), 2), ((20, 40, 40), 2)):
        a, b, c = numbers(*lengths)
        np.testing.assert_allclose(
            compiled({"a": a, "b": b, "c": c}, scale=2.0), total({"a": a, "b": b, "c": c}, 2.0), rtol=1e-13
        )
        assert compiled.compilations == made


def test_lengths_of_rows_and_columns_may_be_equal():
    def centred(m):
        return np.sum((m - m.mean(axis=0)) ** 2) + m[0, -1]

    compiled = ad.jit(centred, config=PLAIN)
    rng = np.random.default_rng(1)
    for shape, made in (((30, 30), 1), ((30, 40), 1), ((40, 30), 1)):
        agree(compiled, centred, (rng.normal(size=shape),), made)


def test_lengths_that_differ_where_they_must_not_are_refused_in_both_programs():
    def product(x, y):
        return np.sum(x * y)

    for first in ((20, 20), (20, 30)):
        compiled = ad.jit(product, config=PLAIN)
        if first == (20, 20):
            compiled(*numbers(*first))
        with pytest.raises(AnadromeError, match=r"sizes 20 and 30 differ \(.*test_equal_lengths.py:"):
            compiled(*numbers(20, 30))


def test_annotated_dimensions_are_held_to_each_other():
    @ad.jit(config=PLAIN)
    def product(x: ad.f64[N], y: ad.f64[N]):
        return np.sum(x * y)

    product(*numbers(20, 20))
    with pytest.raises(AnadromeError, match="size 20 in dimension 0"):
        product(*numbers(20, 30))
    assert product(*numbers(30, 30)) == pytest.approx(np.sum(np.prod(numbers(30, 30), axis=0)))


SETTINGS = {"scale": 2.0}


def test_what_the_surroundings_change_keeps_the_lengths_equal(monkeypatch):
    def scaled(x, y):
        return SETTINGS["scale"] * np.sum(x * y)

    compiled = ad.jit(scaled, config=PLAIN)
    agree(compiled, scaled, numbers(20, 20), 1)
    monkeypatch.setitem(SETTINGS, "scale", 3.0)
    agree(compiled, scaled, numbers(20, 20), 2)
    assert "y: f64[n])" in ad.show(compiled, *numbers(20, 20))


def test_what_goes_is_forgotten():
    """A program that made room for others leaves nothing behind that chooses for later calls."""
    compiled = ad.jit(
        lambda x, y, k: x.sum() * y.max() * k, static_argnums=2, config=replace(PLAIN, programs=1)
    )
    for k in (1, 2, 1):
        compiled(*numbers(20, 20), k)
        assert "y: f64[n])" in ad.show(compiled, *numbers(20, 20), k)
    assert compiled.compilations == 3


def test_a_length_that_is_computed_inside_is_called_as_it_is_outside():
    """A part as long as an argument: derivatives of the derivative know its size."""

    def cell(h, c, w):
        n = len(h)
        forget, out = ((w @ h)[k * n : (k + 1) * n] for k in range(2))
        c = forget * c + out
        return out * np.tanh(c), c

    h, c = numbers(20, 20)
    w = np.random.default_rng(1).normal(size=(40, 20))

    def slope(*arguments):
        return ad.vjp(cell, *arguments)[1]((np.ones(20), np.ones(20)))

    found = ad.jit(lambda *arguments: ad.jvp(slope, arguments, arguments)[1], config=PLAIN)(h, c, w)
    step = 1e-6
    high, low = (slope(*(sign * value for value in (h, c, w))) for sign in (1 + step, 1 - step))
    for one, two, three in zip(found, high, low, strict=True):
        np.testing.assert_allclose(one, (two - three) / (2 * step), rtol=1e-6, atol=1e-8)
