"""Objects of classes: attributes, methods, properties, and operators of one's own."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

Point = namedtuple("Point", ["p", "q"])


class Body:
    count = 0

    def __init__(self, x: Any, v: Any) -> None:
        self.x = x
        self.v = v

    def step(self, h: Any) -> Any:
        self.x += h * self.v
        return self

    def moved(self, h: Any) -> Any:
        return Body(self.x + h * self.v, self.v)

    @property
    def twice(self) -> Any:
        return 2.0 * self.x

    @property
    def place(self) -> Any:
        return self.x

    def __getitem__(self, i: Any) -> Any:
        return self.x[i]

    def __setitem__(self, i: Any, value: Any) -> None:
        self.x[i] = value

    def __iadd__(self, other: Any) -> Any:
        self.x += other
        return self

    def __add__(self, other: Any) -> Any:
        return Body(self.x + other, self.v)

    def __len__(self) -> int:
        return len(self.x)


class Fresh(Body):
    def __iadd__(self, other: Any) -> Any:
        return Fresh(self.x + other, self.v)


@dataclass
class Log:
    values: list[Any] = field(default_factory=list)
    last: float = 0.0

    def add(self, v: Any) -> None:
        self.values.append(v)
        self.last = v


@dataclass(frozen=True)
class Pair:
    a: Any
    b: Any


class Slots:
    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


class Shared:
    table: ClassVar[list[float]] = []


def attribute_is_the_array(x, n):
    a = x.copy()
    o = Body(a, x)
    o.x += 1.0
    a[0] = 50.0
    return a, o.x


def attribute_rebound(x, n):
    a = x.copy()
    o = Body(a, x)
    o.x = o.x + 1.0
    o.x[0] = 50.0
    return a, o.x


def two_names_of_an_object(x, n):
    o = Body(x.copy(), x)
    p = o
    p.v = np.ones(n)
    o.x[0] = 50.0
    return p.x, o.v


def method_writes(x, n):
    a = x.copy()
    o = Body(a, x)
    o.step(0.5).step(0.5)
    return a, o.x


def method_writes_in_loop(x, n):
    a = x.copy()
    o = Body(a, x)
    for i in range(n):
        o.step(0.5)
    return a, o.x


def number_attribute_in_loop(x, n):
    o = Body(x[0], x[1])
    for i in range(n):
        o.step(0.5)
    return o.x


def number_attribute_in_branch(x, n):
    o = Body(x[0], x[1])
    if x[0] > 0:
        o.step(0.5)
    return o.x


def objects_in_a_list(x, n):
    those = [Body(x.copy(), x), Body(2.0 * x, x)]
    first = those[0].x
    for o in those:
        o.step(1.0)
        o.v = o.v + 1.0
    return first, those[1].x, those[0].v


def one_object_twice_in_a_list(x, n):
    o = Body(x.copy(), x)
    those = [o, o]
    for p in those:
        p.step(1.0)
    return o.x


def new_object_by_method(x, n):
    o = Body(x.copy(), x)
    p = o.moved(1.0)
    p.x[0] = 50.0
    p.v = np.zeros(n)
    return o.x, o.v, p.x


def property_is_asked_each_time(x, n):
    o = Body(x.copy(), x)
    one = o.twice
    o.x += 1.0
    return one, o.twice


def property_gives_the_array(x, n):
    o = Body(x.copy(), x)
    o.place[0] = 50.0
    w = o.place
    w += 1.0
    return o.x


def items_of_ones_own(x, n):
    a = x.copy()
    o = Body(a, x)
    o[0] = 50.0
    o[1] += 5.0
    o[1:] *= 2.0
    return a, o[0], len(o)


def operator_in_place_of_ones_own(x, n):
    a = x.copy()
    o = Body(a, x)
    p = o
    o += 1.0
    return a, p.x, o is p


def operator_in_place_that_makes_another(x, n):
    a = x.copy()
    o = Fresh(a, x)
    p = o
    o += 1.0
    return a, p.x, o.x, o is p


def operator_without_in_place(x, n):
    o = Body(x.copy(), x)
    p = o
    o = o + 1.0
    o.x[0] = 50.0
    return p.x, o.x


def item_of_ones_own_in_a_container(x, n):
    d = {"o": Body(x.copy(), x)}
    o = d["o"]
    d["o"] += 1.0
    return o.x, d["o"] is o


def default_factory_makes_another_list(x, n):
    one, two = Log(), Log()
    one.add(x[0])
    one.add(2.0)
    two.add(5.0)
    return one.values, two.values, one.last


def frozen_pair_of_one_array(x, n):
    a = x.copy()
    p = Pair(a, a)
    p.a[0] = 50.0
    q = dataclasses.replace(p, a=x)
    q.b[1] = 70.0
    return p.b, q.a


def named_tuple_of_arrays(x, n):
    p = Point(x.copy(), 1.0)
    p.p[0] = 50.0
    q = p._replace(q=2.0)
    q.p[1] = 70.0
    return p.p, q.q


def slots(x, n):
    o = Slots(x.copy())
    a = o.v
    o.v *= 2.0
    return a


def class_attribute(x, n):
    o = Body(x.copy(), x)
    o.count += 1
    return o.count, Body.count


def list_of_the_class(x, n):
    """It would outlive the call."""
    Shared.table.append(1.0)
    return len(Shared.table) * x[0]


def bound_method_is_kept(x, n):
    o = Body(x.copy(), x)
    step = o.step
    step(1.0)
    o.v = np.zeros(n)
    step(1.0)
    return o.x


def partial_holds_the_array(x, n):
    a = x.copy()
    f = functools.partial(np.add, a)
    a[0] = 50.0
    return f(1.0)


def shallow_copy(x, n):
    o = Body(x.copy(), x)
    p = copy.copy(o)
    p.x += 1.0
    p.v = np.zeros(n)
    return o.x, o.v


def deep_copy(x, n):
    o = {"a": [x.copy()]}
    p = copy.deepcopy(o)
    p["a"][0] += 1.0
    return o["a"][0], p["a"][0]


def identity_of_objects(x, n):
    a = x.copy()
    o, p = Body(a, x), Body(a, x)
    return o is o, o is p, o.x is p.x, [a][0] is a, (a, a)[1] is a


def list_of_one_object(x, n):
    log = Log()
    those = [log] * 2
    those[0].add(x[0])
    those[1].add(2.0)
    return log.values, len(those[0].values)


def adam(x, n):
    state = {"m": np.zeros(n), "v": np.zeros(n), "t": 0}
    w = x.copy()
    for k in range(3):
        g = 2.0 * w
        state["t"] += 1
        state["m"] = 0.9 * state["m"] + 0.1 * g
        state["v"] *= 0.99
        state["v"] += 0.01 * g * g
        w -= 0.1 * state["m"] / (np.sqrt(state["v"]) + 1e-8)
    return w, state["m"], state["v"], state["t"]


def adam_in_run_time_loop(x, n):
    state = {"m": np.zeros(n), "v": np.zeros(n), "t": 0}
    w = x.copy()
    for k in range(n):
        g = 2.0 * w
        state["t"] += 1
        state["m"] = 0.9 * state["m"] + 0.1 * g
        state["v"] *= 0.99
        state["v"] += 0.01 * g * g
        w -= 0.1 * state["m"] / (np.sqrt(state["v"]) + 1e-8)
    return w, state["m"], state["v"], state["t"]


class Spot:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def moved(self, by):
        return Spot(self.a + by, self.b + by)


ORIGIN = Spot(0.5, 1.5)


def an_object_from_outside_on_one_way(x, n):
    spot = ORIGIN if x[0] > 2.0 else Spot(x[0], x[1])
    total = 0.0
    for i in range(n):
        if x[i] > 2.0:
            other = spot.moved(x[i])
        else:
            other = ORIGIN
        total += other.a * spot.b
    return spot.a, spot.moved(1.0).b, total


RIGHT = (
    an_object_from_outside_on_one_way,
    *(attribute_is_the_array, attribute_rebound, two_names_of_an_object, method_writes),
    *(method_writes_in_loop, number_attribute_in_loop, number_attribute_in_branch, objects_in_a_list),
    *(one_object_twice_in_a_list, new_object_by_method, property_is_asked_each_time),
    *(property_gives_the_array, items_of_ones_own, operator_in_place_of_ones_own),
    *(operator_in_place_that_makes_another, operator_without_in_place, item_of_ones_own_in_a_container),
    *(default_factory_makes_another_list, frozen_pair_of_one_array, named_tuple_of_arrays, slots),
    *(bound_method_is_kept, partial_holds_the_array, identity_of_objects, list_of_one_object, adam),
    *(adam_in_run_time_loop, class_attribute),
)
EITHER = (list_of_the_class, shallow_copy, deep_copy)
