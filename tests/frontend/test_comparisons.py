"""Comparisons that the user's own classes define, of objects with run-time values, as Python makes them."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass, field

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend


class Weight:
    def __init__(self, x, tag=0):
        self.x, self.tag = x, tag

    def __eq__(self, other):
        return self.x == other.x if isinstance(other, Weight) else NotImplemented

    def __lt__(self, other):
        return self.x < other.x

    def __add__(self, other):
        return Weight(self.x + (other.x if isinstance(other, Weight) else other))

    def __mul__(self, other):
        return Weight(self.x * (other.x if isinstance(other, Weight) else other))

    __radd__ = __add__
    __rmul__ = __mul__


class Heavier(Weight):
    def __gt__(self, other):
        return self.x + 10.0 > other.x


@functools.total_ordering
class Total:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def __lt__(self, other):
        return self.x < other.x


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __iter__(self):
        return iter((self.x, self.y))

    def __eq__(self, other):
        return tuple(self) == tuple(other)


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __contains__(self, number):
        return self.low <= number < self.high


@dataclass(order=True)
class Point:
    x: float
    y: float = 1.0
    note: float = field(default=0.0, compare=False)


def equals(x, y):
    one, two = Weight(x), Weight(y)
    return one == two, one != two, one == one, one == 3, one != 3, Pair(x, y) == Pair(y, x)


def orders(x, y):
    return Weight(x) < Weight(y), Weight(x) > Weight(y), Weight(x) < Heavier(y), Heavier(x) > Weight(y)


def totals(x, y):
    one, two = Total(x), Total(y)
    return one < two, one > two, one <= two, one >= two, one == two, one != two


def dataclasses_compared(x, y):
    one, two = Point(x, y, 1.0), Point(y, x, 2.0)
    return one == two, one != two, one < two, one >= two, Point(x, 1.0, 1.0) == Point(x, 1.0, 2.0)


def inside_of_containers(x, y):
    return (
        (Weight(x), 1.0) < (Weight(y), 0.0),
        [Weight(x)] == [Weight(y)],
        {"a": x} == {"a": y},
        {"a": x} != {"b": y},
        Weight(x) in [Weight(y), Weight(x)],
        Weight(x) not in (Weight(y), Weight(2 * y)),
        x in Interval(0.0, y),
    )


@pytest.mark.parametrize("numbers", [(1.5, 2.5), (2.5, 1.5), (2.0, 2.0), (math.nan, 1.0)])
@pytest.mark.parametrize("function", [equals, orders, totals, dataclasses_compared, inside_of_containers])
def test_methods_that_compare_are_evaluated(function, numbers):
    assert ad.jit(function)(*numbers) == function(*numbers)


def extremes(x, y):
    objects = [Weight(x, 1), Weight(y, 2), Weight(x, 3), Weight(0.5 * (x + y), 4)]
    least, greatest = min(objects), max(Weight(x), Weight(y))
    return least.x * 3.0 + greatest.x + min(Point(x), Point(y, x)).y * x + least.tag


def extremes_by_keys(x, y):
    objects = [Weight(x, 1), Weight(y, 2), Weight(x * y, 3)]
    return max(objects, key=lambda w: (-w.x, w.tag)).x * x + max([x, y, x * y], key=Weight)


def ordered(x, y):
    objects = [Weight(x, 1), Weight(y, 2), Weight(x, 3), Weight(x - y, 4), Weight(y, 5)]
    up, down = sorted(objects), sorted(objects, reverse=True)
    points = sorted([Point(y, x), Point(x, y), Point(x, x)])
    objects.sort(key=lambda w: -w.x)
    weights = [k * (1.0 + w.tag) * w.x for k, w in enumerate([*up, *down, *objects])]
    return sum(weights) + points[1].y * points[2].x


def reduced(x, y):
    objects = [Weight(x), Weight(y), Weight(3.0)]
    product = functools.reduce(operator.mul, objects).x + operator.mul(objects[0], objects[1]).x
    return sum(objects).x * x + sum(objects, Weight(y)).x * product + math.prod(objects).x


@pytest.mark.parametrize("numbers", [(1.5, 2.5), (2.5, 1.5), (-2.0, 2.0), (2.0, 2.0)])
@pytest.mark.parametrize("function", [extremes, extremes_by_keys, ordered, reduced])
def test_functions_that_ask_methods(function, numbers):
    assert ad.jit(function)(*numbers) == pytest.approx(function(*numbers), rel=1e-14)


@pytest.mark.parametrize("function", [extremes, extremes_by_keys, ordered, reduced])
def test_their_derivatives(function):
    ad.check_grads(function, (1.3, 2.7), order=2)


def test_the_greatest_of_a_run_time_number_of_dataclasses():
    def greatest(xs):
        return max([Point(np.sin(v), v) for v in xs]).y * xs[0]

    xs = np.linspace(0.3, 5.0, 30)
    assert ad.jit(greatest)(xs) == greatest(xs)
    ad.check_grads(greatest, (xs,))


def test_many_static_objects_are_sorted_by_python():
    def tagged(x):
        objects = [Weight(float(k * 7 % 101), k) for k in range(200)]
        return x * sorted(objects)[57].tag

    assert ad.jit(tagged)(2.0) == tagged(2.0)


class Bare:
    def __init__(self, x):
        self.x = x


def found_in_lists(x, y):
    objects, points = [Weight(x), Weight(y), Weight(y)], [Point(x), Point(y), Point(x * y)]
    return objects.count(Weight(y)), points.index(Point(y)), min([Point(y), Point(x)], default=None).x


def the_same_object(x, y):
    one, two = Bare(x), Bare(x)
    return one == two, one == one, one != two, two in [one, two], two in [one]


@pytest.mark.parametrize("function", [found_in_lists, the_same_object])
def test_objects_are_found(function):
    assert ad.jit(function)(1.5, 2.5) == function(1.5, 2.5)


def chosen(x, y):
    one, two = Bare(1.0), Bare(2.0)
    either = one if x > y else two
    return either == two


def chosen_list(x, y):
    one, two = [1.0], [2.0]
    either = one if x > y else two
    return either is two


def test_which_object_the_run_has_chosen():
    for x, y in ((1.5, 2.5), (2.5, 1.5)):
        assert ad.jit(chosen)(x, y) == chosen(x, y)
    with pytest.raises(frontend.UnsupportedSyntax, match="only the run knows whether they are one"):
        ad.jit(chosen_list)(1.5, 2.5)


def without_an_order(x):
    return Pair(x, x) < Pair(x, 1.0)


def test_there_is_no_order_without_a_method():
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Pair' and 'Pair'"):
        ad.jit(without_an_order)(1.0)


def many_by_comparing(xs):
    return sorted([Point(v) for v in xs])[0].x


def generated(xs):
    return max(Weight(v) for v in xs).x


def test_what_is_refused_says_what_to_do():
    xs = np.arange(40.0)
    with pytest.raises(frontend.UnsupportedArgument, match="objects that compare themselves") as refused:
        ad.jit(many_by_comparing)(xs)
    assert "sorted(items, key=lambda item: item.value)" in str(refused.value)
    with pytest.raises(
        frontend.UnsupportedType, match=r"a list of objects alone: `max\(\[f\(x\) for x in xs\]\)`"
    ):
        ad.jit(generated)(xs)
