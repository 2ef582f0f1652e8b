"""Functions, closures, methods, objects: what a program may call and build."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.frontend.oracle import agree

rng = np.random.default_rng(4)
VECTOR = rng.normal(size=9)
TABLE = np.arange(6.0) ** 2
BIG_TABLE = rng.normal(size=100)
SCALE = 3.0

Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class Model:
    weight: float
    bias: float = 1.0
    history: list = field(default_factory=list)

    def __call__(self, x):
        return self.weight * x + self.bias

    def twice(self, x):
        return self(self(x))

    @property
    def total(self):
        return self.weight + self.bias


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def norm(self):
        return math.hypot(self.x, self.y)


class Counter:
    def __init__(self, start):
        self.value = start

    def step(self, by=1.0):
        self.value = self.value + by
        return self.value


class Layer:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return x * self.scale


LAYERS = [Layer(2.0), Layer(0.5), math.sqrt]


def helper(a, b=2.0, *rest, c, d=4.0, **more):
    return a + 10 * b + 100 * sum(rest) + c * d + more.get("e", 0.0)


def signatures(x):
    return (
        helper(x, c=1.0),
        helper(x, 3.0, 4.0, 5.0, c=x, d=2.0, e=7.0),
        helper(*(x, 1.0), c=2.0),
        helper(b=x, a=1.0, c=0.0),
    )


def lambdas(x):
    f, g = lambda v: v + 1, lambda v, w=x: v * w
    return f(x), g(2.0), (lambda: x)(), (lambda *a: sum(a))(x, x)


def closures(x):
    def make(k):
        def inner(v):
            return v * k + x

        return inner

    late = [make(k) for k in (1, 2, 3)]
    x = x + 1
    return [f(x) for f in late]


def dataclasses_and_tuples(x):
    model = Model(x)
    point = Point(x, 2.0)
    pair = Pair(x, right=x * 2)
    left, right = pair
    return model(2.0), model.twice(x), model.total, point.norm(), pair.left + pair[1], left * right, model


def objects(x):
    counter = Counter(x)
    counter.step()
    counter.step(by=x)
    return counter.value


def layers(x):
    for layer in LAYERS:
        x = layer(x)
    return functools.partial(helper, x, c=2.0)(3.0)


def static_recursion(x, n=5):
    return x if n == 0 else x * static_recursion(x, n - 1)


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@decorate
def decorated(x, y=1.0):
    return x + y


def calls_decorated(x):
    return decorated(x), decorated(x, y=3.0)


def table_of_surroundings(x, i):
    return x * TABLE[i] + TABLE[2] + BIG_TABLE[i] + np.sum(BIG_TABLE * x), x * SCALE


def lists(x):
    values = [x, 2 * x]
    values.append(3 * x)
    values += [1.0]
    values[0] = values[1] + 1
    first, *middle, last = values
    return values, first, middle, last, len(values), values[1:], [0.0] * 2 + values


def conversions(x, i):
    return (
        float(i),
        int(x * 10),
        bool(i),
        abs(-x),
        round(x * 3),
        divmod(i, 3),
        pow(x, 2),
        x**3,
        i // 2,
        -i % 3,
    )


def questions(x, a):
    return (
        isinstance(x, float),
        isinstance(a, np.ndarray),
        isinstance(x, int),
        hasattr(a, "shape"),
        type(x) is float,
    )


def powers(x):
    return x**0.5, x**-1, 2.0**x, x**x, x**0, x**1


def walrus(x):
    if (y := x * 2) > 1:
        return y + 1
    return y


def docstring_and_pass(x):
    """A docstring is no statement."""
    x: float = x + 1
    del_me = x
    del del_me
    return x


def unpack_arrays(a):
    x, y, z = a[0:3]
    (p, q), r = (a[3:5], a[5])
    return x * y * z + p - q * r


def integers(i, j):
    return i << 2, i >> 1, i & j, i | j, i ^ j, ~i, i // -j, i % -j, i / j


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (signatures, (1.5,)),
        (lambdas, (1.5,)),
        (closures, (1.5,)),
        (dataclasses_and_tuples, (1.5,)),
        (objects, (1.5,)),
        (layers, (1.5,)),
        (static_recursion, (1.5,)),
        (calls_decorated, (1.5,)),
        (table_of_surroundings, (1.5, 3)),
        (lists, (1.5,)),
        (conversions, (1.57, 7)),
        (questions, (1.5, VECTOR)),
        (powers, (1.5,)),
        (walrus, (1.5,)),
        (walrus, (0.2,)),
        (docstring_and_pass, (1.5,)),
        (unpack_arrays, (VECTOR,)),
        (integers, (13, 5)),
        (Model(2.0).twice, (1.5,)),
        (Layer(3.0), (1.5,)),
        (functools.partial(helper, c=2.0), (1.5,)),
        (lambda x: x * SCALE, (1.5,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_agrees_with_python(function, args):
    agree(function, *args)


def test_two_lambdas_on_one_line_are_told_apart():
    f, g = (lambda x: x + 1), (lambda x: x * 5)
    agree(f, 2.0)
    agree(g, 2.0)


def test_lambdas_on_one_line_whose_code_is_shorter_than_their_text():
    # fmt: off
    several = (lambda x: x * 2 if False else x * 3), (lambda x: x * 5), (lambda: 7), (lambda x: x if 1 else 0)
    nested = (lambda x: (lambda y: y * 2 if True else x)(x + 1)), (lambda x: lambda y: y - x)
    # fmt: on
    for function in (several[0], several[1], several[3], nested[0]):
        agree(function, 2.5)
    agree(lambda x: several[2]() * x + nested[1](x)(3.0), 2.5)


def surroundings_carried(x, n):
    y = TABLE
    z = BIG_TABLE
    for i in range(n):
        y = y + x
        z = z * x
    w = TABLE if x > 0 else TABLE * 2
    return y, z, w, TABLE


def test_arrays_of_the_surroundings_are_carried_and_merged():
    agree(surroundings_carried, 1.5, 3)
    agree(surroundings_carried, -1.5, 0)
