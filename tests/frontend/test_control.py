"""Loops, branches and early exits: the staged program does what Python does."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.text import show
from tests.frontend.oracle import agree, compiled, staged

rng = np.random.default_rng(1)
VECTOR = rng.normal(size=9)
POSITIVE = np.abs(VECTOR) + 0.1
MATRIX = rng.normal(size=(6, 5))


def logistic(x, n):
    for _ in range(n):
        x = 3.7 * x * (1 - x)
    return x


def used_before_and_after(x, n):
    a = math.exp(x)
    s = 0.0
    for i in range(n):
        s = s + a * i
    return s * a


def squared_accumulator(xs):
    s = 0.0
    for x in xs:
        s += x
    return s * s


def reciprocal(s):
    return 1.0 / s


def reciprocal_in_call(xs):
    s = 1.0
    for x in xs:
        s = s + reciprocal(s) * x * x
    return s


def running_max(xs):
    best = -math.inf
    for x in xs:
        if x <= best:
            continue
        best = x
    return best


def newton(a):
    x = a
    while abs(x * x - 2) > 1e-12:
        x = x - (x * x - 2) / (2 * x)
    return x


def sum_until_negative(xs):
    s = 0.0
    for x in xs:
        if x < 0:
            break
        s += x
    else:
        s = s + 100.0
    return s


def first_above(xs, bound):
    for i in range(len(xs)):
        if xs[i] > bound:
            return xs[i] * 2
    return -1.0


def first_above_or(xs, bound):
    position = -1
    for i, x in enumerate(xs):
        if x > bound:
            position = i
            break
    return position


def nested_break(a):
    total = 0.0
    for row in a:
        for x in row:
            if x > 0.8:
                break
            total += x
        else:
            total += 10.0
    return total


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def endless(x):
    n = 0
    while True:
        x = x * 0.5
        n += 1
        if x < 0.01:
            return n, x


def endless_break(x):
    while True:
        x = x * 0.5
        if x < 0.01:
            break
    return x


def while_else(x):
    n = 0
    while n < 10:
        if x > 3.0:
            break
        x = x * 1.3
        n += 1
    else:
        x = -x
    return x, n


def swap(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def elif_chain(x):
    if x < -1:
        y = -x
    elif x < 0:
        y = x * x
    elif x < 1:
        y = x
    else:
        y = math.sqrt(x)
    return y


def early_return_chain(x):
    if x < 0:
        return -x
    if x < 1:
        return x * x
    y = x + 1
    if y > 3:
        return y
    return y * 2


def return_in_nested_loops(a, bound):
    count = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > bound:
                return i, j, count
            count += 1
    return -1, -1, count


def continue_and_break(xs):
    s, n = 0.0, 0
    for x in xs:
        if x < 0:
            continue
        n += 1
        if n > 3:
            break
        s += x
    return s, n


def conditional(x):
    return x * 2 if x > 0 else -x / (x - 1)


def bool_operators(x, y):
    return (x > 0 and y > 0) or not x < y, x and y, x or y


def chained(x):
    return -1 < x < 1, 0 < x <= 2 < 3


def step_range(xs):
    s = 0.0
    for i in range(1, len(xs) - 1, 2):
        s += xs[i] - xs[i + 1]
    for i in range(len(xs) - 1, -1, -1):
        s = s * 0.5 + xs[i]
    return s


def static_unrolled(x):
    layers = [2.0, 3.0, 4.0]
    for i in range(3):
        x = x * layers[i] + i
    for scale, shift in zip(layers, (1, 2, 3), strict=True):
        x = x * scale - shift
    return x


def static_index_in_long_range(x):
    layers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    for i in range(6):
        x = x * layers[i]
    return x


def zip_of_arrays(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys, strict=True):
        s += x * y
    for i, (x, y) in enumerate(zip(xs, ys, strict=False)):
        s += i * x - y
    for x in reversed(xs):
        s = s / 2 + x
    return s


def last_value(xs):
    for i in range(5):
        y = xs[i] * 2
    return y


def merged_in_branches(x):
    if x > 0:
        a, b = x, 1
    else:
        a, b = -x, 2
    return a * b


def flag(xs):
    found = False
    for x in xs:
        if x > 1:
            found = True
    return found


def int_or_float(x):
    if x > 0:
        y = 1
    else:
        y = 0.5
    return x * y


def static_while(x):
    stack = [1.0, 2.0, 3.0]
    while stack:
        x = x + stack.pop()
    return x


def temporary_of_two_sizes(xs):
    s = 0.0
    for i in range(len(xs)):
        t = xs[i:] * 2
        s += np.sum(t)
    for i in range(len(xs)):
        t = xs[:i] * 3
        s += np.sum(t)
    return s


def unrolled_with_break(x, items):
    for item in (1.0, 2.0, 3.0):
        if x * item > 2.5:
            break
        x = x + item
    else:
        x = x + 50.0
    return x


def unrolled_with_return(x):
    for item in (1.0, 2.0, 3.0):
        if x * item > 2.5:
            return x * item
        x = x + item
    return -x


def in_static_tuple(n):
    return n in (1, 2, 3), n not in (1, 4)


def array_carried(x, n):
    y = x
    for _ in range(n):
        y = y * 0.5 + x
    return y


def loop_in_branch(x, n):
    if x > 0:
        for i in range(n):
            x = x + i
    else:
        while x < 5:
            x = x + 1.5
    return x


def assertion(x):
    assert x > 0, f"x is {x}"
    if x > 100:
        raise ValueError("too large")
    return math.sqrt(x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (logistic, (0.3, 6)),
        (logistic, (0.3, 0)),
        (used_before_and_after, (0.3, 4)),
        (squared_accumulator, (VECTOR,)),
        (reciprocal_in_call, (VECTOR,)),
        (running_max, (VECTOR,)),
        (newton, (1.0,)),
        (sum_until_negative, (VECTOR,)),
        (sum_until_negative, (POSITIVE,)),
        (first_above, (VECTOR, 0.5)),
        (first_above, (VECTOR, 50.0)),
        (first_above_or, (VECTOR, 0.5)),
        (first_above_or, (VECTOR, 50.0)),
        (nested_break, (MATRIX,)),
        (collatz, (27,)),
        (endless, (1.0,)),
        (endless_break, (1.0,)),
        (while_else, (1.0,)),
        (while_else, (0.001,)),
        (swap, (12,)),
        (elif_chain, (-2.0,)),
        (elif_chain, (-0.5,)),
        (elif_chain, (0.5,)),
        (elif_chain, (7.0,)),
        (early_return_chain, (-2.0,)),
        (early_return_chain, (0.5,)),
        (early_return_chain, (1.5,)),
        (early_return_chain, (7.0,)),
        (return_in_nested_loops, (MATRIX, 0.9)),
        (return_in_nested_loops, (MATRIX, 90.0)),
        (continue_and_break, (VECTOR,)),
        (continue_and_break, (POSITIVE,)),
        (conditional, (1.5,)),
        (conditional, (-1.5,)),
        (chained, (0.5,)),
        (chained, (1.5,)),
        (step_range, (VECTOR,)),
        (static_unrolled, (1.5,)),
        (static_index_in_long_range, (1.5,)),
        (zip_of_arrays, (VECTOR, POSITIVE)),
        (last_value, (VECTOR,)),
        (merged_in_branches, (1.5,)),
        (merged_in_branches, (-1.5,)),
        (flag, (VECTOR,)),
        (flag, (VECTOR - 9,)),
        (int_or_float, (-2.0,)),
        (static_while, (1.0,)),
        (temporary_of_two_sizes, (VECTOR,)),
        (unrolled_with_break, (1.0, None)),
        (unrolled_with_break, (-10.0, None)),
        (unrolled_with_return, (1.0,)),
        (unrolled_with_return, (-10.0,)),
        (in_static_tuple, (2,)),
        (in_static_tuple, (4,)),
        (array_carried, (VECTOR, 3)),
        (array_carried, (VECTOR[:3], 3)),
        (loop_in_branch, (1.0, 4)),
        (loop_in_branch, (-1.0, 4)),
        (assertion, (2.0,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_agrees_with_python(function, args):
    agree(function, *args)


def pairs_of_cells(grid, x):
    total = 0.0
    for row in range(4):
        for column in range(4):
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    near = grid[(row + down) % 4, (column + right) % 4]
                    own = grid[row, column]
                    for k in range(len(x)):
                        distance = (x[k] - near) ** 2 + (x[k] - own) ** 2 + 0.01 * row * column
                        if distance < 1.0 and near > own:
                            total += own * near / distance + np.sqrt(distance)
                        elif distance > 2.0:
                            total -= own * np.log(distance) * near
    return total


def product_of_small_matrices(a, b):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                out[i, j] += a[i, k] * b[k, j]
    return out


def test_short_loops_in_one_another_are_written_out_as_far_as_the_text_stays_short():
    grid, x = np.linspace(-1.0, 1.0, 16).reshape(4, 4) ** 3, np.linspace(0.0, 2.0, 7)
    assert ad.show(pairs_of_cells, grid, x, stage="array").count("loop (") == 2 + 9
    agree(pairs_of_cells, grid, x)
    a, b = grid[:3, :3].copy(), grid[1:, 1:].copy()
    assert "loop (" not in ad.show(product_of_small_matrices, a, b, stage="array")
    agree(product_of_small_matrices, a, b)


def test_short_circuit_has_the_value_of_the_operand():
    for x, y in ((1.0, 2.0), (-1.0, 2.0), (3.0, -2.0)):
        one, two, three = compiled(bool_operators, x, y)
        wanted = bool_operators(x, y)
        assert bool(one) == wanted[0]
        assert float(two) == float(wanted[1])
        assert float(three) == float(wanted[2])


@pytest.mark.parametrize("kind", [float, int, np.float32, np.float64, np.int8, np.int32, np.int64])
def test_a_number_is_moved_where_it_is_negative(kind):
    """As indices are; of every type, by a branch and by `np.where`."""

    def branch(v, m):
        return v + m if v < 0 else v

    def where(v, m):
        return np.where(v < 0, v + m, v)

    for f in (branch, where):
        for v in (-3, 0, 3):
            assert ad.jit(f)(kind(v), kind(10)) == f(kind(v), kind(10))


def unwrapped(x, held):
    while isinstance(held, tuple):
        held = held[0]
    else:
        x = x + 1.0
    return x * held


@pytest.mark.parametrize("held", [2.0, (2.0,), ((2.0,),), VECTOR])
def test_while_whose_condition_is_known_to_fail_at_first(held):
    np.testing.assert_allclose(ad.jit(unwrapped)(3.0, held), unwrapped(3.0, held))


def halvings(x):
    if len(x) <= 2:
        return x * 2.0
    return np.concatenate((halvings(x[: len(x) // 2]), np.sin(x[len(x) // 2 :])))


def cycles(x):
    for _ in range(3):
        x = halvings(x)
    return x


def small_steps(x):
    def step(y):
        return y * 0.5 + np.sin(y)

    for _ in range(3):
        x = step(x)
    return x


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


def of_objects(x):
    double = Scaled(2.0)
    jitted = ad.jit(small_steps)
    for _ in range(2):
        x = jitted(double(x))
    return x


@pytest.mark.parametrize(("function", "is_loop"), [(cycles, True), (small_steps, False), (of_objects, False)])
def test_short_loops_are_loops_where_what_they_call_is_much(function, is_loop):
    x = np.linspace(0.1, 1.0, 8)
    agree(function, x, small=8)
    np.testing.assert_allclose(ad.jit(function)(x), function(x), rtol=1e-12)
    assert ("= loop (" in show(staged(function, x, small=8).function)) == is_loop
