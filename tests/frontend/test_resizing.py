"""Arrays that change their size in a run-time loop: what is carried, what it costs, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.nodes import Loop
from anadrome.errors.frontend import ChangesSize
from tests.derivatives.agreement import agree, assert_same
from tests.frontend.oracle import staged

X = np.linspace(0.9, 0.3, 40)


def averages(x):
    values = x * 1.0
    for i in range(len(x) - 1):
        values = 0.5 * (values[:-1] + values[1:])
    return values[0]


def averages_by_while(x):
    values = x * 1.0
    while len(values) > 1:
        values = 0.5 * (values[:-1] + values[1:])
    return values[0]


def appended(x):
    values = x[:1]
    for v in x:
        values = np.append(values, v * values[-1])
    return values


def multiplied(a, x, n):
    for _ in range(n):
        x = a @ x
        x = x / np.linalg.norm(x)
    return x


def loop_of(function, *args) -> Loop:
    (loop,) = [let.expr for let in staged(function, *args).function.body.lets if isinstance(let.expr, Loop)]
    return loop


@pytest.mark.parametrize("function", [averages, appended])
def test_a_length_that_changes_by_one_is_not_carried(function):
    assert [var.type.rank for var in loop_of(function, X).carried] == [1]


def test_a_length_that_the_run_decides_is_carried():
    assert sorted(var.type.rank for var in loop_of(averages_by_while, X).carried) == [0, 1]


def test_a_shrinking_array_needs_the_room_that_it_has():
    for function in (averages, averages_by_while):
        program = staged(function, X).function
        (loop,) = [let.expr for let in program.body.lets if isinstance(let.expr, Loop)]
        assert [var.type.shape for var in loop.carried if var.type.rank] == [program.params[-1].type.shape]


def test_sizes_that_may_have_two_names_are_compared_and_not_carried():
    a = np.eye(20) + 0.1
    loop = loop_of(multiplied, a, np.ones(20), 3)
    assert [var.type.rank for var in loop.carried] == [1]
    np.testing.assert_allclose(ad.jit(multiplied)(a, np.ones(20), 3), multiplied(a, np.ones(20), 3))
    with pytest.raises(ValueError, match="sizes"):
        ad.jit(multiplied)(np.ones((21, 20)), np.ones(20), 3)


def test_one_program_serves_every_size():
    compiled = ad.jit(averages)
    for size in (20, 21, 50):
        x = np.sin(np.arange(float(size)))
        np.testing.assert_allclose(compiled(x), averages(x), rtol=1e-12)


def test_memory_of_a_gradient_follows_from_what_is_overwritten():
    def squares(x):
        values = x * 1.0
        for i in range(len(x) - 1):
            values = 0.5 * (values[:-1] + values[1:]) ** 2
        return values[0]

    n = 400
    found = ad.explain(ad.grad(squares), np.linspace(0.1, 0.5, n), measure=True)
    assert found.measured < 1.1 * 8 * n * n / 2


def filled(x, n):
    values, other = x * 1.0, x * 2.0
    for _ in range(n):
        values, other = other, np.append(other, values)
    return values


def filled_in_all(x, n):
    return np.sum(filled(x, n) ** 2)


def test_two_arrays_that_grow_by_one_another():
    for count in (0, 1, 2, 7):
        assert_same(ad.jit(filled)(X, count), filled(X, count))
    agree(filled_in_all, X, 5)


def filled_and_told(x, n):
    print("from", len(x))
    return filled(x, n)


def test_what_grows_by_what_nobody_can_count_is_refused_in_a_program_that_prints():
    with pytest.raises(ChangesSize, match=r"`\w+` changes its size(.|\n)*would print again") as caught:
        ad.jit(filled_and_told)(X, 3)
    assert caught.value.diagnostic.span is not None


def shared(x, n):
    values = x * 1.0
    other = values
    for _ in range(n):
        values[0] = 3.0
        values = values[1:]
    return values, other


def test_views_across_iterations_are_right_or_refused():
    try:
        found = ad.jit(shared)(X, 3)
    except ad.AnadromeError as error:
        assert error.diagnostic.span is not None
        return
    for mine, wanted in zip(found, shared(X, 3), strict=True):
        np.testing.assert_array_equal(mine, wanted)
