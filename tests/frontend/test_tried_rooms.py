"""Lists and arrays that grow by what nobody can count before: work lists, queues, refined grids."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import UnknownRoom, UnsupportedSyntax, UnsupportedType
from anadrome.frontend.drawing import FIRST_ROOM, MORE_ROOM
from tests.derivatives.agreement import agree, assert_same

X = np.random.default_rng(6).uniform(0.5, 1.5, size=20)


def sum_says_when(x):
    out = [x[0]]
    while sum(out) < 40.0:
        out.append(1.1 * out[-1])
    return out[-1] + out[len(out) // 3]


def stack_of_intervals(x):
    def bump(t):
        return np.exp(-x[0] * t * t)

    total, stack = 0.0, [(0.0, x[1] + 1.0)]
    while stack:
        low, high = stack.pop()
        middle = 0.5 * (low + high)
        rough = (high - low) * bump(middle)
        fine = 0.5 * (high - low) * (bump(0.5 * (low + middle)) + bump(0.5 * (middle + high)))
        if abs(fine - rough) < 1e-5:
            total += fine
        else:
            stack.append((low, middle))
            stack.append((middle, high))
    return total


def queue_by_a_place(x):
    queue, place = [x[0] * 40.0], 0
    while place < len(queue):
        if queue[place] > 1.0:
            queue.append(queue[place] * 0.5)
            queue.append(queue[place] * 0.25 * x[place % len(x)])
        place += 1
    return np.sum(np.array(queue) ** 2) + len(queue)


def queue_from_its_front(x):
    queue, total = [x[0] * 20.0], 0.0
    while queue:
        first = queue.pop(0)
        total += np.sin(first)
        if first > 1.0:
            queue.append(first * 0.5)
            queue.append(first * 0.4)
    return total


def two_lists(x):
    left, done = [3.0 * x[0]], []
    while left:
        value = left.pop()
        done.append(value)
        if value > 0.5:
            left.append(value * 0.5)
            left.append(value * 0.3)
    return np.sum(np.array(done) ** 2)


def list_of_arrays(x):
    left, total = [np.array([x[0], x[1]])], 0.0
    while left:
        pair = left.pop()
        total += pair[0] * pair[1]
        if pair[0] > 0.1:
            left.append(pair * 0.6)
            left.append(np.array([pair[0] * 0.3, pair[1]]))
    return total


@dataclass
class Box:
    low: float
    width: float


def list_of_objects(x):
    left, total = [Box(0.0, x[0])], 0.0
    while left:
        box = left.pop()
        if box.width < 0.1:
            total += box.width * np.cos(box.low)
        else:
            left.append(Box(box.low, box.width / 2))
            left.append(Box(box.low + box.width / 2, box.width / 2))
    return total


def one_for_each(x):
    total = 0.0
    for start in x:
        left = [start]
        while left:
            value = left.pop()
            total += value * value
            if value > 0.3:
                left.append(value * 0.6)
                left.append(value * 0.2)
    return total


def under_a_branch(x):
    left, total = [x[0]], 0.0
    if x[1] > 0.2:
        while left:
            value = left.pop()
            total += value
            if value > 0.1:
                left.append(value * 0.5)
    else:
        total = x[2]
    return total + len(left)


def as_many_as_data_say(x):
    left, total = [x[0] * 3.0], 0.0
    while left:
        value = left.pop()
        total += value
        if value > 1.0:
            left.extend([value * 0.4] * int(value + 1.0))
    return total


def counted_afterwards(x):
    left, total = [x[0] * 3.0], 0.0
    while left:
        value = left.pop()
        total += value
        if value > 1.0:
            left.append(value * 0.7)
    out = []
    for v in x:
        if v > 1.0:
            out.append(v * total)
    return sum(out)


def grows_twice(x):
    left = [x[0] * 4.0]
    while len(left) < 5:
        left.append(left[0] / len(left))
    while sum(left) > 1.0:
        left.append(left.pop() * 0.5)
        left[0] = left[0] * 0.5
        left[1] = left[1] * 0.3
        if left[2] > 0.1:
            left[2] = left[2] - 0.1
        left[3] = left[3] * 0.25
    return left[0] + left[-1] + len(left)


class Stack:
    def __init__(self):
        self.items = []

    def push(self, value):
        self.items.append(value)

    def __len__(self):
        return len(self.items)


def attribute_of_an_object(x):
    stack, total = Stack(), 0.0
    stack.push(x[0])
    while len(stack) > 0:
        value = stack.items.pop()
        total += value * value
        if value > 0.3:
            stack.push(value * 0.5)
            stack.push(value * 0.4 * x[1])
    return total


def appended_by_a_function(x):
    def expand(left, value):
        if value > 0.3:
            left.append(value * 0.6)
            left.append(value * 0.3 * x[2])

    left, other, total = [x[0]], None, 0.0
    other = left
    while left:
        value = other.pop()
        expand(left, value)
        total += value**2
    return total + len(other)


def shortest_ways(x):
    n = 5
    weight = np.outer(x[:n], x[n : 2 * n])
    far, left = [np.inf] * n, [(0.0, 0)]
    far[0] = 0.0
    while left:
        best = 0
        for k in range(len(left)):
            if left[k][0] < left[best][0]:
                best = k
        way, here = left.pop(best)
        if way > far[here]:
            continue
        for there in range(n):
            if (here + there) % 3 != 0 and way + weight[here, there] < far[there]:
                far[there] = way + weight[here, there]
                left.append((far[there], there))
    return far[1] + far[2] + far[3] + far[4]


def returned_from_inside(x):
    left, total = [x[0]], 0.0
    while left:
        value = left.pop(0)
        total += value
        if total > 3.0:
            return total + sum(left)
        if value > 0.01:
            left.append(value * 0.8)
            left.append(value * 0.1)
    return -total


def sorted_in_each_iteration(x):
    events, total, k = [x[0], x[0] * 0.7], 0.0, 0
    while events and k < 40:
        events.sort()
        first = events.pop(0)
        total += first * k
        events.append(first * 1.7 + 0.05)
        if k % 3 == 0:
            events.append(first * 2.0)
        k += 1
    return total + max(events)


def parts_of_it(x):
    left = [x[0]]
    while sum(left[-3:]) < 9.0:
        left.append(left[-1] * 1.3 + left[0] * 0.1)
    return sum(left[1:-1]) + left[::2][-1]


def put_in_between(x):
    left = [x[0], x[0] / 2]
    while len(left) < 20 and sum(left) < 30.0:
        left.insert(1, left[0] * 0.5 + left[-1])
        left[0] = left[0] * 1.01
        if left[1] > 5.0:
            del left[1]
            left.append(0.5)
    return sum(value * k for k, value in enumerate(left))


def for_whose_length_is_known(x):
    """Longest rising row: a search by halves in a list that one loop appends to."""
    ends = []
    for value in x:
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            if ends[middle] < value:
                low = middle + 1
            else:
                high = middle
        if low == len(ends):
            ends.append(value)
        else:
            ends[low] = value
    return sum(ends)


def array_that_says_when(x):
    v = np.array([x[0]])
    while np.sum(v) < 50.0:
        v = np.append(v, v[-1] * 1.05)
    return np.sum(v**2) + len(v)


def matrix_that_grows_by_rows(x):
    m = np.array([[x[0], 2 * x[1]]])
    while np.sum(m) < 300.0:
        m = np.vstack([m, m[-1] * 1.2])
    return np.sum(m[:, 0] * m[:, 1])


def matrix_that_grows_both_ways(x):
    a = np.eye(2) * x[0]
    while np.trace(a) < 30.0:
        k = a.shape[0]
        b = np.zeros((k + 1, k + 1))
        b[:k, :k] = a
        b[k, k] = a[k - 1, k - 1] * 1.1
        b[0, k] = x[1]
        a = b
    return np.sum(a)


def array_and_list(x):
    v, out = np.array([x[0]]), []
    while np.sum(v) < 100.0:
        v = np.append(v, 1.3 * v[-1])
        out.append(v[-1] * len(out))
    return sum(out) + v[0]


def complex_array(x):
    z = np.array([x[0] + 1j * x[1]])
    while np.sum(np.abs(z)) < 20.0:
        z = np.concatenate([z, z[-1:] * (0.9 + 0.3j)])
    return np.sum(np.abs(z) ** 2) + len(z)


def lists_made_anew(x):
    out = []
    for i in range(8):
        left = [x[0] * (i + 1) / 8]
        while len(left) < 3 + i and left[0] + left[-1] < 8.0:
            left.append(left[len(left) // 2] * 1.2 + 0.1)
        out.append(sum(left) / len(left))
    return sum(out)


def arrays_made_anew(x):
    total = 0.0
    for i in range(6):
        v = np.array([x[0] * (i + 1)])
        while np.sum(v) < 20.0 + i:
            v = np.append(v, v[-1] + 0.5)
        total += v[len(v) // 2] * len(v)
    return total


PROGRAMS = (
    sum_says_when,
    stack_of_intervals,
    queue_by_a_place,
    queue_from_its_front,
    two_lists,
    list_of_arrays,
    list_of_objects,
    one_for_each,
    under_a_branch,
    as_many_as_data_say,
    counted_afterwards,
    grows_twice,
    attribute_of_an_object,
    appended_by_a_function,
    shortest_ways,
    returned_from_inside,
    sorted_in_each_iteration,
    parts_of_it,
    put_in_between,
    for_whose_length_is_known,
    array_that_says_when,
    matrix_that_grows_by_rows,
    matrix_that_grows_both_ways,
    array_and_list,
    complex_array,
    lists_made_anew,
    arrays_made_anew,
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives_are_those_of_python(program) -> None:
    assert_same(ad.jit(program)(X), program(X))
    agree(program, X)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_stage_is_well_formed(program) -> None:
    config = ad.Config(threads=1, cache=False, verify=True)
    assert_same(ad.jit(program, config=config)(X), program(X))
    slopes = ad.jit(ad.grad(program), config=config)(X)
    assert slopes.shape == X.shape


# ---------------------------------------------------------------------------- how much room
def doubles(n, x):
    """n items of a list that is looked through, by no count that is known before."""
    items = [x]
    while items[len(items) // 2] * 0.0 + len(items) < n:
        items.append(x + len(items))
    return sum(items) + items[len(items) // 2] * x


def runs_of(program, *args):
    """The result of a call, and how often it ran."""
    made = program.program(args, {})[0]
    calls, executable = [], made.executable

    class Counted:
        def __call__(self, values):
            calls.append(values)
            return executable(values)

        def __getattr__(self, name):
            return getattr(executable, name)

    object.__setattr__(made, "executable", Counted())
    try:
        return program(*args), len(calls)
    finally:
        object.__setattr__(made, "executable", executable)


def test_a_call_runs_again_until_there_is_room_and_the_next_one_begins_with_that() -> None:
    program = ad.jit(doubles)
    few, many = FIRST_ROOM - 2, FIRST_ROOM * MORE_ROOM + 2  # with the item that is there
    found, runs = runs_of(program, few, 2.0)
    assert (found, runs) == (doubles(few, 2.0), 1)
    found, runs = runs_of(program, many, 2.0)
    assert (found, runs) == (doubles(many, 2.0), 3)
    found, runs = runs_of(program, many + 5, 2.0)
    assert (found, runs) == (doubles(many + 5, 2.0), 1)
    found, runs = runs_of(program, 1, 2.0)
    assert (found, runs) == (doubles(1, 2.0), 1)


@pytest.mark.parametrize("n", [1, *range(FIRST_ROOM - 1, FIRST_ROOM + 3), 4 * FIRST_ROOM + 3])
def test_every_length(n: int) -> None:
    assert ad.jit(doubles)(n, 2.0) == doubles(n, 2.0)
    slope = ad.grad(doubles, argnums=1)(n, 2.0)
    step = 1e-4
    np.testing.assert_allclose(slope, (doubles(n, 2 + step) - doubles(n, 2 - step)) / (2 * step), rtol=1e-6)


def test_derivatives_of_derivatives_and_batches() -> None:
    def energy(x):
        return stack_of_intervals(x) * x[0]

    small = X[:3]
    found = ad.hessian(energy)(small)
    step = 1e-5
    for k, row in enumerate(np.eye(3) * step):
        ahead, behind = (ad.grad(energy)(small + way * row) for way in (1, -1))
        np.testing.assert_allclose(found[k], (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-6)
    rows = np.stack([X, X[::-1], 1.2 * X])
    np.testing.assert_allclose(ad.vmap(two_lists)(rows), [two_lists(row) for row in rows])


def test_inside_of_another_compiled_function() -> None:
    inner = ad.jit(doubles)

    @ad.jit
    def outer(x):
        return np.sum(np.array([inner(100 + 30 * k, x[k]) for k in range(3)]))

    assert_same(outer(X), sum(doubles(100 + 30 * k, X[k]) for k in range(3)))


def test_what_is_explained_is_the_room_of_the_last_call() -> None:
    program = ad.jit(doubles)
    before = ad.explain(program, 5, 2.0).predicted
    program(5000, 2.0)
    after = ad.explain(program, 5, 2.0).predicted
    assert after >= 8 * 5000 > before


def test_draws_are_made_once() -> None:
    def noisy(rng, n, x):
        noise = rng.normal(size=3)
        return doubles(n, x) + noise[0] * x + noise[2]

    ours, theirs = np.random.default_rng(4), np.random.default_rng(4)
    for n in (10, 500):
        assert_same(ad.jit(noisy)(ours, n, 2.0), noisy(theirs, n, 2.0))
    assert ours.normal() == theirs.normal()


def test_arguments_that_are_given_away_are_kept_until_it_has_run() -> None:
    def spreads(y, n):
        y = y * 2.0
        return y + doubles(n, 1.0)

    given = np.ones(1000)
    found = ad.jit(spreads, donate_argnums=(0,))(given, 700)
    assert_same(found, spreads(np.ones(1000), 700))


def test_calls_of_several_threads() -> None:
    program = ad.jit(doubles)
    program(2, 1.0)
    found: dict[int, float] = {}

    def call(n: int) -> None:
        found[n] = program(n, 2.0)

    threads = [threading.Thread(target=call, args=(n,)) for n in (3, 70, 300, 1100, 5000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: doubles(n, 2.0) for n in found}
    assert len(found) == 5


# ---------------------------------------------------------------------------- what is refused, and what fails
def prints_and_grows(x):
    out = [x]
    print("from", x)
    while sum(out) < 10.0:
        out.append(2.0 * out[-1])
    return out[-1]


def takes_from_nothing(x):
    left = [x]
    while left[0] > 0.1:
        left.append(left.pop() * 0.5)
        if left[0] < 0.5:
            left.pop()
    return x


def arrays_of_sizes_of_its_own(x):
    left = [np.ones(1) * x]
    while np.sum(left[-1]) < 5:
        left.append(np.ones(len(left) + 1) * left[0][0])
    return sum(left[-1])


def takes_until_it_fails(x):
    left, total = [x], 0.0
    try:
        while True:
            value = left.pop()
            total += value
            if value > 0.2:
                left.append(value * 0.5)
    except IndexError:
        return total


def test_an_error_that_only_the_run_knows_is_not_handled() -> None:
    with pytest.raises(UnsupportedSyntax, match="except IndexError"):
        ad.jit(takes_until_it_fails)(1.5)


def test_a_program_that_prints_is_refused() -> None:
    with pytest.raises(UnknownRoom, match="would print again") as caught:
        ad.jit(prints_and_grows)(1.5)
    assert caught.value.diagnostic.span is not None


def test_what_fails_in_python_fails() -> None:
    with pytest.raises(IndexError):
        takes_from_nothing(1.0)
    with pytest.raises(IndexError):
        ad.jit(takes_from_nothing)(1.0)


def test_items_of_sizes_of_their_own_are_refused() -> None:
    with pytest.raises((UnknownRoom, UnsupportedType)):
        ad.jit(arrays_of_sizes_of_its_own)(1.5)
