"""`nonlocal`, `match`, names bound by `break` and `else`, `dataclasses.replace`, extrema of nothing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import FrontendError, Undefined, UnsupportedArgument, UnsupportedSyntax
from tests.frontend.oracle import agree

RANDOM = np.random.default_rng(8)
SHORT, LONG = RANDOM.normal(size=3), RANDOM.normal(size=20)


@dataclasses.dataclass
class Circle:
    radius: Any


@dataclasses.dataclass(frozen=True)
class Box:
    width: Any
    height: Any = 2.0

    @property
    def area(self) -> Any:
        return self.width * self.height


# ---------------------------------------------------------------------------- nonlocal
def summed_by_an_inner_function(x):
    total = 0.0

    def add(value):
        nonlocal total
        total += value * value

    for value in x:
        add(value)
    return total


def bound_in_a_while_under_a_branch(x):
    total, count, i = 0.0, 0, 0

    def add(value):
        nonlocal total, count
        total = total + value
        count += 1

    while i < len(x):
        if x[i] > 0.0:
            add(x[i])
        i += 1
    return total * count, count


def two_counters(x):
    def counter():
        count = 0.0

        def up(by):
            nonlocal count
            count += by
            return count

        return up

    one, other = counter(), counter()
    one(x[0])
    other(x[1])
    one(x[2])
    return one(1.0), other(x[0])


def two_deep(x):
    best = -math.inf

    def outer(values):
        def inner(value):
            nonlocal best
            best = max(best, value)

        inner(values[0])
        inner(values[1] * 3.0)
        return best

    first = outer(x)
    best = best + 1.0
    return first + outer(x[1:]), best


def array_and_function(x):
    y = np.zeros(2)
    step = abs

    def change(value):
        nonlocal y, step
        y += value

        def step(v):
            return v * 2.0

        return step(value)

    return change(x[0]) + step(x[1]), y


NONLOCAL = (
    summed_by_an_inner_function,
    bound_in_a_while_under_a_branch,
    two_counters,
    two_deep,
    array_and_function,
)


@pytest.mark.parametrize("function", NONLOCAL)
@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
def test_nonlocal(function: Callable[..., Any], x: np.ndarray) -> None:
    agree(function, x)
    ad.check_grads(function, (x,))


def in_a_branch_of_its_own(x):
    total = 0.0

    def add(value):
        nonlocal total
        if value > 0.0:
            total += value

    add(x[0])
    return total


def in_a_loop_of_its_own(x):
    total = 0.0

    def add_all(values):
        nonlocal total
        for value in values:
            total += value

    add_all(x)
    return total


def in_a_loop_of_another(x):
    total = 0.0

    def add(value):
        nonlocal total
        total += value

    def go(values):
        for value in values:
            add(value)

    go(x)
    return total


def in_a_comprehension(x):
    total = 0.0

    def add(value):
        nonlocal total
        total += value
        return value

    return sum(add(value) for value in x) + total


def in_an_operator(x):
    last = 0.0

    def operator(a, b):
        nonlocal last
        last = b
        return a + b

    return ad.reduce(operator, x, identity=0.0) + last


def in_what_is_differentiated(x):
    total = 0.0

    def square(value):
        nonlocal total
        total += value
        return value * value

    return ad.grad(square)(x[0]) + total


def by_a_walrus(x):
    total = 0.0

    def add(value):
        nonlocal total
        return (total := value) + 1.0

    return add(x[0]) + total


def of_a_function_around_it():
    total = 0.0

    def add(value):
        nonlocal total
        total += value
        return total

    return add


NOT_FOLLOWED = (
    *(in_a_branch_of_its_own, in_a_loop_of_its_own, in_a_loop_of_another, in_a_comprehension),
    *(in_an_operator, in_what_is_differentiated, by_a_walrus),
)


@pytest.mark.parametrize("function", NOT_FOLLOWED)
def test_nonlocal_names_that_are_not_followed(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedSyntax, match="nonlocal") as caught:
        ad.jit(function)(LONG)
    assert caught.value.diagnostic.span is not None


def test_nonlocal_of_a_function_that_is_not_compiled() -> None:
    with pytest.raises(UnsupportedSyntax, match="not compiled with this one"):
        ad.jit(of_a_function_around_it())(1.0)


# ---------------------------------------------------------------------------- match
def area(shape):
    match shape:
        case Circle(radius=r):
            return math.pi * r**2
        case Box(width=w, height=2.0):
            return 2.0 * w
        case Box(width=w, height=h) as box:
            return w * h + box.area
        case None:
            return 0.0
        case _:
            return -1.0


def areas(x):
    shapes = (Circle(x[0]), Box(x[1]), Box(x[1], x[2]), None, "other")
    return [area(shape) for shape in shapes]


def of_a_static_number(x):
    def chosen(k):
        match k:
            case 0 | 1:
                return x[k]
            case -1:
                return x[2] * 2.0
            case k if k > 5:
                return x[1] * k
        return x[0] ** 2

    return chosen(0), chosen(1), chosen(-1), chosen(7), chosen(3)


def of_a_number_found_at_run_time(x):
    count = 0
    for value in x:
        if value > 0.0:
            count += 1
    match count:
        case 0:
            y = x[0]
        case 1 | 2:
            y = x[1] ** 2
        case k if k > 9:
            y = x[2] * k
        case _:
            y = x[0] * x[1]
    return y


def of_pairs_in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        match i % 3, x[i] > 0.0:
            case 0, _:
                total += x[i] ** 2
            case (1, positive) if positive:
                total -= x[i]
            case [k, True]:
                total += k * x[i]
            case _:
                continue
        total += 0.5
    return total


def of_words(x):
    def apply(steps, value):
        for step in steps:
            match step:
                case "square":
                    value = value * value
                case ("scale", by):
                    value = value * by
                case (("shift", by), ("scale", more)):
                    value = (value + by) * more
        return value

    return apply(["square", ("scale", x[1]), (("shift", 1.0), ("scale", x[2]))], x[0])


def subject_is_evaluated_once(x):
    y = x.copy()

    def take():
        y[0] += 1.0
        return y[0]

    match take():
        case v if v > 5.0:
            return v
        case v:
            return v + y[0]


MATCHES = (
    *(areas, of_a_static_number, of_a_number_found_at_run_time, of_pairs_in_a_loop, of_words),
    subject_is_evaluated_once,
)


@pytest.mark.parametrize("function", MATCHES)
@pytest.mark.parametrize("x", [SHORT, LONG, -abs(LONG)], ids=["short", "long", "negative"])
def test_match(function: Callable[..., Any], x: np.ndarray) -> None:
    agree(function, x)
    ad.check_grads(function, (x,))


def with_a_rest(x):
    match (x[0], x[1], x[2]):
        case (first, *rest):
            return first * len(rest)


def of_a_mapping(x):
    match {"a": x[0]}:
        case {"a": a}:
            return a


def by_position(x):
    match Circle(x[0]):
        case Circle(r):
            return r


@pytest.mark.parametrize("function", [with_a_rest, of_a_mapping, by_position])
def test_patterns_that_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedSyntax, match="match"):
        ad.jit(function)(SHORT)


# ---------------------------------------------------------------------------- bound by break and by else
def bound_at_the_break(x):
    for value in x:
        if value > 0.5:
            found = value * value
            break
    else:
        found = -x[0]
    return found


def bound_in_every_iteration(x):
    for value in x:
        square = value * value
        if square > 0.9:
            break
    else:
        square = x[0]
    return square * 2.0


def bound_at_two_breaks(x):
    i = 0
    while i < len(x):
        if x[i] > 0.5:
            place, pair = i, np.array([x[i], 3.0])
            break
        if x[i] < -0.7:
            place, pair = -i, np.array([2.0, x[i]])
            break
        i += 1
    else:
        place, pair = -1, np.zeros(2)
    return np.sum(pair * pair) * (place + 1)


def bound_in_an_endless_loop(x):
    i = 0
    while True:
        value = x[i % len(x)] ** 2 * (i + 1)
        if value > 2.0:
            found = value * value
            break
        i += 1
    return found + i


def bound_or_returned(x):
    for value in x:
        if value > 0.5:
            if value > 0.8:
                found = value * 2.0
            else:
                found = value * 3.0
            break
        if value < -0.6:
            return value * 7.0
    else:
        found = 1.0
    return found * found


def bound_in_a_loop_in_a_loop(x):
    total = 0.0
    for i in range(3):
        for value in x:
            if value * i > 0.43:
                found = value * value
                break
        else:
            found = -x[1]
        total += found * (i + 1)
    return total


BOUND = (
    *(bound_at_the_break, bound_in_every_iteration, bound_at_two_breaks, bound_in_an_endless_loop),
    *(bound_or_returned, bound_in_a_loop_in_a_loop),
)
FOUR = np.array([0.1, -0.4, 0.61, 0.93])


@pytest.mark.parametrize("function", BOUND)
@pytest.mark.parametrize("x", [FOUR, -FOUR, 0.2 * FOUR, LONG, -LONG, 0.05 * LONG])
def test_bound_by_break_and_by_else(function: Callable[..., Any], x: np.ndarray) -> None:
    agree(function, x)
    ad.check_grads(function, (x,))


def one_break_does_not_bind(x):
    for value in x:
        if value > 0.5:
            found = value * value
            break
        if value < -9.0:
            break
    else:
        found = 1.0
    return found


def an_earlier_break_does_not_bind(x):
    for value in x:
        if value < -9.0:
            break
        if value > 0.5:
            found = value
            break
    else:
        found = 1.0
    return found


def nothing_binds_without_a_break(x):
    for value in x:
        if value > 0.5:
            found = value
            break
    return found


def read_where_the_loop_goes_on(x):
    total = 0.0
    for value in x:
        if value > 0.5:
            found = value
            break
        total += found
    else:
        found = 0.0
    return found + total


NOT_BOUND = (
    *(one_break_does_not_bind, an_earlier_break_does_not_bind, nothing_binds_without_a_break),
    read_where_the_loop_goes_on,
)


@pytest.mark.parametrize("function", NOT_BOUND)
@pytest.mark.parametrize("x", [FOUR, LONG], ids=["short", "long"])
def test_names_without_a_value_on_some_way(function: Callable[..., Any], x: np.ndarray) -> None:
    with pytest.raises(Undefined, match="found"):
        ad.jit(function)(x)


# ---------------------------------------------------------------------------- dataclasses.replace
def replaced(x):
    box = Box(x[0])
    wider = dataclasses.replace(box, width=x[1] * 2.0)
    higher = dataclasses.replace(wider, height=x[2])
    return box.area, wider.area, higher.area, dataclasses.replace(Circle(x[0])).radius


def replaced_in_a_loop(x):
    circle = Circle(x[0])
    for value in x:
        circle = dataclasses.replace(circle, radius=circle.radius * 0.5 + value)
    return circle.radius


@pytest.mark.parametrize("function", [replaced, replaced_in_a_loop])
@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
def test_replace(function: Callable[..., Any], x: np.ndarray) -> None:
    agree(function, x)
    ad.check_grads(function, (x,))


@pytest.mark.parametrize(
    "function", [lambda x: dataclasses.replace(Circle(x[0]), diameter=1.0), lambda x: dataclasses.replace(x)]
)
def test_replacing_what_is_not_there(function: Callable[..., Any]) -> None:
    with pytest.raises(FrontendError):
        ad.jit(function)(SHORT)


# ---------------------------------------------------------------------------- extrema of nothing
def with_defaults(x):
    above = max((v * v for v in x if v > 0.3), default=0.25)
    below = min((v for v in x if v < -9.0), default=x[0])
    return above, below, max([x[0], x[1]], default=3.0), max((v for v in x[:0]), default=-1.0)


@pytest.mark.parametrize("x", [SHORT, LONG, -abs(LONG)], ids=["short", "long", "negative"])
def test_defaults(x: np.ndarray) -> None:
    agree(with_defaults, x)
    ad.check_grads(with_defaults, (x,))


def with_initial_values(x):
    rows = np.max(x.reshape(-1, 1), axis=1, initial=0.1)
    return rows, np.min(x, initial=-0.2), np.max(x[:0], initial=0.5), x.max(initial=x[0] * 2.0)


@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
def test_initial_values(x: np.ndarray) -> None:
    agree(with_initial_values, x)
    ad.check_grads(with_initial_values, (x,))


EXTREMA: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "a default of two": (lambda x: max(x[0], x[1], default=0.0), UnsupportedArgument),
    "no number": (lambda x: max((v for v in x if v > 0.0), default=None), FrontendError),
    "nothing": (lambda x: max([v for v in x[:0]]), Exception),
    "an array": (lambda x: np.max(x, initial=x), UnsupportedArgument),
}


@pytest.mark.parametrize("first", [5.0, 45.0, -45.0])
def test_extrema_of_integers_that_begin_with_a_float(first: float) -> None:
    def extrema(x):
        places = np.arange(1, len(x))
        return np.max(places, initial=0.5 * x[0]), np.min(places, initial=0.5 * x[0])

    x = LONG.copy()
    x[0] = first
    for mine, numpys in zip(ad.jit(extrema)(x), extrema(x), strict=True):
        assert type(mine) is type(numpys) and mine == numpys


@pytest.mark.parametrize("name", EXTREMA)
def test_extrema_that_are_refused(name: str) -> None:
    program, kind = EXTREMA[name]
    with pytest.raises(kind):
        ad.jit(program)(LONG)
