"""Arrays of which only the run knows which one they are: what a write to one does to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import anadrome as ad
from tests.frontend.oracle import agree


def alias_after_a_branch(x, t):
    a, b = x.copy(), x * 2
    if t > 0:
        a = b
    a[0] = 7.0
    b[1] = a[2] * 8.0
    return a, b


def exchanged_in_a_branch(x, t):
    a, b = x.copy(), x * 2
    both = [a, b]
    if t > 0:
        a, b = b, a
    a[0] = b[2] * 7.0
    b[1] = 8.0
    return a, b, both


def a_column_after_a_branch(x, t):
    a, m = x.copy(), np.outer(x, x)
    if t > 0:
        a = m.T[1]
    a += 1.0
    m[2] *= 3
    a[::2] *= 2
    return a, m


def written_in_a_loop(x, t):
    a, b = x.copy(), x * 2
    if t > 0:
        a = b
    for i in range(len(x) - 1):
        a[i + 1] += b[i] * 0.5
    return a, b


def chosen_of_chosen(x, t):
    a, b = x.copy(), x * 2
    if t > 0:
        a = b
    if t > -0.5:
        c = a
    else:
        c = b[:]
    c[0] = b[1] * 3.0
    a[1] = 200.0
    b[2] = c[0]
    return a, b, c


def made_on_one_way_under_two_names(x, t):
    if t > 0:
        a = b = x * 2
    else:
        a, b = x * 3, x * 4
    a[0] = 5.0
    b[1] += a[0] * b[0]
    return a, b


def exchanged_in_a_loop(x, t):
    a, b = x.copy(), x * 2
    for i in range(len(x)):
        if x[i] > 1.5:
            a, b = b, a
        a[i] += b[0]
        b[i] *= 2.0
    return a, b


def one_after_the_other(x, t):
    a, b = x.copy(), x * 2
    for _ in range(len(x)):
        a, b = b, a * 0.5
    a[0] = 3.0
    b[1] = a[2] * 4.0
    return a, b


def another_row_on_each_way(x, t):
    m = np.outer(x, x)
    if t > 0:
        v = m[1]
    else:
        v = m[:, 2]
    v *= 2
    return m, v


def one_array_after_a_loop(x, t):
    a, b = x.copy(), x * 2
    for _ in range(round(2 * t + 2)):
        a = b
    b[0] = x[1] ** 2
    return a, b


def one_array_in_a_loop(x, t):
    a, b = x.copy(), x * 2
    total = 0.0
    for i in range(round(2 * t + 2)):
        b[0] = i * x[1]
        total += a[0] * a[1]
        a = b
    return total


def alias_that_is_left(x, t):
    y = x.copy()
    z = y
    total = 0.0
    for i in range(len(x)):
        total += z[0]
        y[0] = i * x[0]
        y = y + 1
    return total


def the_same_in_every_iteration(x, t):
    a, b = x.copy(), x * 2
    for i in range(len(x)):
        a, b = b, b
        a[i] = b[0] + 1.0
    return a, b


def kept_in_a_dict(x, t):
    a, b = x.copy(), x * 2
    held = {"w": a}
    for i in range(len(x)):
        held["w"] = a if t > 0 else held["w"]
        a[i] += held["w"][0] * b[i]
    return held["w"], a


def turned_around(x, t):
    a = x.copy()
    for _ in range(round(t + 2)):
        a = a[::-1]
    row = a.ravel()
    row[0] = 100.0
    return row


FUNCTIONS = (
    *(alias_after_a_branch, exchanged_in_a_branch, a_column_after_a_branch, written_in_a_loop),
    *(chosen_of_chosen, made_on_one_way_under_two_names, exchanged_in_a_loop, one_after_the_other),
    *(another_row_on_each_way, one_array_after_a_loop, one_array_in_a_loop, alias_that_is_left),
    *(the_same_in_every_iteration, kept_in_a_dict, turned_around),
)
NAMES = [function.__name__ for function in FUNCTIONS]
SIZES = (4, 23)


def leaves(value: Any) -> list[Any]:
    """The arrays of a result."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("t", [1.0, -0.2, -1.0])
@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_means_what_python_means(function, t, size) -> None:
    agree(function, np.linspace(0.5, 3.0, size), t)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("t", [1.0, -0.2, -1.0])
@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_both_modes_give_the_derivative(function, t, size) -> None:
    x = np.linspace(0.5, 3.0, size)

    def loss(x: Any) -> Any:
        return sum(np.sum(np.sin(leaf)) for leaf in leaves(function(x, t)))

    direction = np.cos(np.arange(size))
    slope = (loss(x + 1e-6 * direction) - loss(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(ad.grad(loss)(x) @ direction, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(loss, (x,), (direction,))[1], slope, rtol=1e-6, atol=1e-7)


def turned_around_and_read(x, t):
    a = x.copy()
    for _ in range(round(t + 2)):
        a = a[::-1]
    row = a.ravel()
    row[0] = 100.0
    return a


def test_a_layout_that_only_the_run_knows_is_refused() -> None:
    x = np.arange(23.0)
    with pytest.raises(ad.errors.frontend.WritesThroughView):
        ad.jit(turned_around_and_read)(x, 1.0)


# ---------------------------------------------------------------------------- changed on one way of two
class Point:
    def __init__(self, a):
        self.a = a


@dataclass
class Pair:
    a: float


def list_changed(x, t):
    held = [x[0]]
    if t > 0.5:
        held = [x[1]]
    else:
        held[0] = 5.0
    return held[0]


def list_changed_first(x, t):
    held = [x[0]]
    if t > 0.5:
        held[0] = 7.0
    else:
        held = [x[2]]
    return held[0]


def dict_changed(x, t):
    held = {"a": x[0]}
    if t > 0.5:
        held = {"a": x[1]}
    else:
        held["a"] = 5.0 * x[2]
    return held["a"]


def instance_changed(x, t):
    held = Point(x[0])
    if t > 0.5:
        held = Point(x[1])
    else:
        held.a = 7.0
    return held.a


def dataclass_changed(x, t):
    held = Pair(x[0])
    if t > 0.5:
        held = Pair(x[1])
    else:
        held.a *= x[2]
    return held.a


def inner_list_changed(x, t):
    held = [x[0], [x[1]]]
    if t > 0.5:
        held = [x[1], [x[2]]]
    else:
        held[1][0] = 5.0
    return held[1][0] + held[0]


def two_names(x, t):
    held = [x[0]]
    other = held
    if t > 0.5:
        held = [x[2]]
    else:
        held[0] = 7.0
    return held[0] + 10.0 * other[0]


def changed_and_then_bound(x, t):
    held = [0.0]
    other = held
    if t > 0.5:
        held[0] = 1.0
        held = [3.0]
    else:
        held[0] = 2.0 * x[1]
    return held[0] + 10.0 * other[0]


def returned_on_both_ways(x, t):
    def choice():
        held = [x[0], x[1]]
        if t > 0.5:
            return [x[2], x[2]]
        held[1] = 4.0
        return held

    found = choice()
    return found[0] * found[1]


def grown(x, t):
    found = []
    for v in x:
        if v < 2.0:
            found.append(v)
    if t > 0.5:
        found = []
        for v in x:
            found.append(2.0 * v)
    else:
        found.append(5.0)
        found.append(6.0)
        found.pop()
    return sum(found) + len(found)


def below(x, limit):
    places, values = [], []
    for k in range(len(x)):
        if x[k] < limit:
            places.append(k)
            values.append(x[k] * 2.0)
    return places, values


def made_anew(x, t):
    places, values = below(x, 1.5)
    if t > 0.5:
        places, values = below(x + 0.5, 2.5)
    return sum(x[k] * v for k, v in zip(places, values, strict=True)) + len(values)


def given_and_grown(x, t):
    found = []
    for v in x:
        if v < 2.0:
            found.append(v)

    def passed(values):
        return values, 1.0

    other, _ = passed(found)
    other.append(t)
    return len(found) + sum(other)


@pytest.mark.parametrize("t", [0.0, 1.0])
@pytest.mark.parametrize(
    "function",
    [
        *(list_changed, list_changed_first, dict_changed, instance_changed, dataclass_changed),
        *(inner_list_changed, two_names, changed_and_then_bound, returned_on_both_ways, grown, made_anew),
        given_and_grown,
    ],
)
def test_changed_on_one_way_and_bound_on_the_other(function, t):
    x = np.linspace(1.0, 3.0, 9)
    agree(function, x, t)
    np.testing.assert_allclose(ad.jit(function)(x, t), function(x, t), rtol=1e-13)
    ad.check_grads(function, (x + 0.01, t))


# ---------------------------------------------------------------------------- what the run alone knows
def turned(x, t):
    one = [x[0], x[1]]
    two = one
    for _ in x:
        one, two = two, one
    return 1.0 if one is two else 2.0


def perhaps_bound(x, t):
    one, two = [x[0], x[1]], [x[1], x[0]]
    for v in x:
        if v > t:
            one = two
    return 1.0 if one is two else 2.0


def asked_in_the_loop(x, t):
    one, two, count = [x[0], x[1]], [x[1], x[0]], 0.0
    for v in x:
        if one is two:
            count += 1.0
        if v > t:
            one = two
    return count


def perhaps_changed_since(x, t):
    one = [x[0], x[1]]
    two = one
    if x[1] < 0.5:
        one = [t, 2.0]
    if t > 0.5:
        one = [1.0, 1.0]
    else:
        two[0] += 10.0
    return one[0]


def perhaps_changed_in_a_tuple(x, t):
    one = [x[0], x[1]]
    two = one
    if x[1] < 0.5:
        one = [t, 2.0]
    held = (one, 1.0)
    if t > 0.5:
        held = ([1.0, 1.0], 2.0)
    else:
        two[0] += 10.0
    return held[0][0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (turned, "whether they are one"),
        (perhaps_bound, "whether they are one"),
        (asked_in_the_loop, "whether they are one"),
        (perhaps_changed_since, "changed since"),
        (perhaps_changed_in_a_tuple, "changed since"),
    ],
)
def test_what_only_the_run_knows_of_objects_is_refused(function, words):
    with pytest.raises(ad.AnadromeError) as caught:
        ad.jit(function)(np.linspace(0.2, 2.0, 19), 0.3)
    assert words in str(caught.value)


# ---------------------------------------------------------------------------- never one, in any iteration
def exchanged(x, t):
    one, two, count = [x[0]], [x[1]], 0.0
    for v in x:
        if v > t:
            one, two = two, one
        if one is two:
            count += 1.0
    return count + one[0] + (3.0 if one is two else 0.0)


def the_one_before(x, t):
    last, count = [t], 0.0
    for v in x:
        now = [v]
        if last is now:
            count += 1.0
        last = now
    return count + last[0]


def in_two_loops(x, t):
    one, two, count = [x[0]], [x[1]], 0.0
    for _ in x:
        for w in x:
            if one is two:
                count += 1.0
            one, two = [w], one
    return count + one[0] - two[0]


@dataclass(frozen=True)
class Mass:
    x: float
    y: float


def each_with_others(x, t):
    points, count = [Mass(x[i], t) for i in range(3)], 0.0
    for v in x:
        count += sum(one.x * two.y for one in points for two in points if one is not two)
        points = [Mass(one.x + v, one.y) for one in points]
    return count


class Spot(NamedTuple):
    x: float
    y: float


def tuples_with_others(x, t):
    points, count = [Spot(x[i], t) for i in range(3)], 0.0
    for v in x:
        count += sum(one.x * two.y for one in points for two in points if one is not two)
        points = [Spot(one.x + v, one.y) for one in points]
    return count


def arrays_exchanged(x, t):
    one, two, count = x.copy(), x * 2.0, 0.0
    for _ in x:
        if one is two:
            count += 1.0
        one, two = two * t, one
    return count + one[0]


@pytest.mark.parametrize(
    "function",
    [exchanged, the_one_before, in_two_loops, each_with_others, tuples_with_others, arrays_exchanged],
)
def test_objects_that_no_iteration_makes_one_are_told_apart(function):
    arguments = (np.linspace(0.2, 2.0, 19), 0.7)
    np.testing.assert_allclose(ad.jit(function)(*arguments), function(*arguments), rtol=1e-14)


def one_after_an_iteration(x, t):
    one, two, count = [x[0]], [x[1]], 0.0
    for _ in x:
        if one is two:
            count += 1.0
        one = two
    return count


def one_from_the_start(x, t):
    one = two = [x[0]]
    count = 0.0
    for v in x:
        if one is two:
            count += 1.0
        one, two = [v], [t]
    return count


def one_of_the_loop_around(x, t):
    one, two, count = [x[0]], [x[1]], 0.0
    for _ in x:
        for w in x:
            if one is two:
                count += 1.0
            one = [w]
        two = one
    return count


def one_array_after_an_iteration(x, t):
    one, two, count = x[:2].copy(), x[2:4].copy(), 0.0
    for _ in x:
        if one is two:
            count += 1.0
        one = two
    return count


def one_tuple_after_an_iteration(x, t):
    one, two, count = (x[0],), (x[1],), 0.0
    for _ in x:
        if one is two:
            count += 1.0
        one = two
    return count


def one_tuple_on_a_way(x, t):
    one, two = (x[0],), (x[1],)
    if x[0] > t:
        one = two
    return 1.0 if one is two else 2.0


def asked_by_the_loop(x, t):
    one, two, k = [x[0]], [x[1]], 0
    while one is not two and k < len(x):
        if x[k] > t:
            one = two
        k += 1
    return 1.0 * k


@pytest.mark.parametrize(
    "function",
    [
        *(one_after_an_iteration, one_from_the_start, one_of_the_loop_around, asked_by_the_loop),
        *(one_array_after_an_iteration, one_tuple_after_an_iteration, one_tuple_on_a_way),
    ],
)
def test_objects_that_an_iteration_may_make_one_are_refused(function):
    with pytest.raises(ad.AnadromeError, match="whether they are one"):
        ad.jit(function)(np.linspace(0.2, 2.0, 19), 0.7)
