"""`class` statements inside a program: plain classes, dataclasses, inheritance, names of the function."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size * self.size

    def twice(self):
        return 2 * self.area()


def a_plain_class(x, n):
    class Scaled:
        factor = 3

        def __init__(self, v):
            self.v = v

        def square(self):
            return self.v * self.v * self.factor

    return Scaled(x[0]).square() + Scaled(2.0).square()


def methods_over_names_of_the_function(x, n):
    scale = x[1]

    class Number:
        def __init__(self, v):
            self.v = v

        def scaled(self):
            return self.v * scale + x[2]

        def __add__(self, other):
            return Number(self.v + other.v)

    scale = scale * 2.0
    return (Number(x[0]) + Number(x[2])).scaled()


def changed_in_a_loop(x, n):
    class Mean:
        def __init__(self):
            self.total, self.count = 0.0, 0

        def add(self, v):
            self.total += v * v
            self.count += 1

        def value(self):
            return self.total / self.count

    mean = Mean()
    for v in x:
        mean.add(v)
    return mean.value()


def a_dataclass(x, n):
    @dataclass
    class Pair:
        a: float
        b: float = 2.0
        seen: list = field(default_factory=list)

        def product(self):
            return self.a * self.b

    first, second = Pair(x[0]), Pair(x[1], b=x[2])
    first.seen.append(x[1])
    return first.product() + second.product() + len(first.seen) - len(second.seen)


def descriptors_of_a_frozen_dataclass(x, n):
    @dataclass(frozen=True)
    class Value:
        a: float

        @property
        def double(self):
            return self.a * 2

        @staticmethod
        def above(v):
            return v + 1

        @classmethod
        def made(cls, v):
            return cls(v)

    return Value.made(x[0]).double + Value.above(x[1])


def inheritance_from_outside(x, n):
    class Circle(Shape):
        def __init__(self, r):
            super().__init__(r)
            self.__pi = 3.0

        def area(self):
            return self.__pi * super().area()

    class Larger(Circle):
        def area(self):
            return 2 * Circle.area(self)

    return Circle(x[0]).twice() + Larger(x[1]).twice()


def enumeration(x, n):
    class Kind(enum.Enum):
        SMALL = 1
        LARGE = 2

    kinds = [Kind.LARGE, Kind["SMALL"]]
    return sum(x[0] * 2 if kind is Kind.LARGE else x[1] for kind in kinds)


def named_tuple(x, n):
    class Point(NamedTuple):
        x: float
        y: float = 1.0

        def norm(self):
            return self.x**2 + self.y**2

    return Point(x[0]).norm() + Point(x[1], x[2]).norm()


def empty_and_exception(x, n):
    class Bag:
        pass

    class Failed(ValueError):
        pass

    bag = Bag()
    bag.v, bag.w = x[0], 2.0
    try:
        raise Failed("as expected")
    except Failed:
        bag.w = 3.0
    return bag.v * bag.w


def special_methods(x, n):
    class Polynomial:
        def __init__(self, *coefficients):
            self.coefficients = coefficients

        def __call__(self, t):
            total = 0.0
            for c in reversed(self.coefficients):
                total = total * t + c
            return total

        def __len__(self):
            return len(self.coefficients)

        def __getitem__(self, i):
            return self.coefficients[i]

    p = Polynomial(1.0, x[0], x[1])
    return p(x[2]) + len(p) + p[1]


def gone_over(x, n):
    class Products:
        def __init__(self, v):
            self.v = v

        def __iter__(self):
            for i in range(len(self.v) - 1):
                yield self.v[i] * self.v[i + 1]

    total = 0.0
    for p in Products(x):
        total += p
    return total


def made_on_one_way(x, n):
    if x[0] > 0.0:

        class Doubled:
            def value(self, v):
                return v * 2

        return Doubled().value(x[1])
    return x[0]


def statements_in_the_body(x, n):
    class Body:
        count = 4
        parts = (1.0, 2.0)
        if count > 3:

            def f(self):
                return self.count + sum(self.parts)
        else:

            def f(self):
                return 0.0

        g = lambda self, v: v * self.count
        h = f

    body = Body()
    return body.f() * x[0] + body.g(x[1]) + body.h()


def names_of_the_body_are_its_own(x, n):
    factor = x[1]

    class Body:
        factor = 100.0

        def f(self):
            return factor * 2

    return Body().f() + Body.factor


def a_property_that_is_set(x, n):
    class Doubling:
        def __init__(self, v):
            self._v = v

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, w):
            self._v = w * 2

    d = Doubling(x[0])
    d.v = x[1]
    d.v += 1.0
    return d.v


def made_in_every_iteration(x, n):
    total = 0.0
    for i in range(n):

        class Step:
            def __init__(self, v):
                self.v = v * x[i]

        total += Step(x[i]).v
    return total


def nonlocal_of_a_method(x, n):
    calls = 0

    class Counting:
        def f(self, v):
            nonlocal calls
            calls += 1
            return v * 2

    c = Counting()
    return c.f(x[0]) + c.f(x[1]) + calls


def type_of_an_object(x, n):
    class A:
        def __init__(self, v):
            self.v = v

    class B(A):
        pass

    b = B(x[0])
    return b.v * (2 if isinstance(b, A) else 3) + len(type(b).__name__)


def attribute_of_the_class_that_the_run_knows(x, n):
    class A:
        v = x[0] * 2

    return A.v


def attribute_of_the_class_set_later(x, n):
    class A:
        count = 0

    A.count += 1
    return A.count * x[0]


RIGHT = [
    a_plain_class,
    methods_over_names_of_the_function,
    changed_in_a_loop,
    a_dataclass,
    descriptors_of_a_frozen_dataclass,
    inheritance_from_outside,
    enumeration,
    named_tuple,
    empty_and_exception,
    special_methods,
    gone_over,
    made_on_one_way,
    statements_in_the_body,
    names_of_the_body_are_its_own,
    a_property_that_is_set,
    made_in_every_iteration,
    nonlocal_of_a_method,
    type_of_an_object,
]
EITHER = [attribute_of_the_class_that_the_run_knows, attribute_of_the_class_set_later]
