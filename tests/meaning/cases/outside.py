"""State that outlives the call: arguments, globals, defaults and captured objects are read, and writes into
them are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SMALL = np.arange(5.0)
LARGE = np.arange(70.0)
NUMBERS = [1.0, 2.0, 3.0]
UNSORTED = [2.0, 3.0, 1.0]
EMPTY = np.zeros((0, 3))
WEIGHTS = {"w": np.arange(5.0), "s": 2.0}


@dataclass
class Model:
    w: Any
    steps: int = 0


MODEL = Model(np.arange(5.0))


def reads_small(x, n):
    return SMALL * 2.0, SMALL[1:].sum() + x[0], SMALL.T @ SMALL


def reads_large(x, n):
    return LARGE * 2.0, LARGE[::-1][0] + x[0]


def writes_where_nothing_is(x, n):
    EMPTY[:, 0] = x[0]
    EMPTY.T[...] *= 2.0
    np.copyto(EMPTY, 3.0)
    EMPTY.sort()
    a = EMPTY
    a += 1.0
    return a, EMPTY.T


def copies_then_writes(x, n):
    a = SMALL.copy()
    b = LARGE.copy()
    a += x[0]
    b[1:] *= 2.0
    return a, b, SMALL, LARGE[3]


def rebinds(x, n):
    a = SMALL
    a = a + x[0]
    a += 1.0
    return a, SMALL


def lists_and_dicts(x, n):
    numbers = NUMBERS[:]
    numbers.append(x[0])
    weights = dict(WEIGHTS)
    weights["s"] = 5.0
    return numbers, len(NUMBERS), weights["s"], WEIGHTS["s"]


def rows_of_an_argument(x, n):
    total = 0.0
    for v in x:
        v += 1.0
        total += v
    return total


def writes_a_name_of_a_small_array(x, n):
    a = SMALL
    a += x[0]
    return a


def writes_a_name_of_a_large_array(x, n):
    a = LARGE
    a *= x[0]
    return a


def writes_a_second_name(x, n):
    a = SMALL
    b = a
    b -= 1.0
    return a[0] + x[0]


def writes_an_element(x, n):
    SMALL[0] = x[0]
    return SMALL[0]


def writes_a_view(x, n):
    a = LARGE[1:]
    a += x[0]
    return a


def writes_through_transpose(x, n):
    SMALL.T[...] = x[0]
    return SMALL[0]


def writes_an_item(x, n):
    WEIGHTS["w"] *= x[0]
    return WEIGHTS["w"]


def writes_an_attribute(x, n):
    MODEL.w += x[0]
    MODEL.steps += 1
    return MODEL.w


def appends(x, n):
    NUMBERS.append(2.0)
    return x[0] + len(NUMBERS)


def extends_a_name(x, n):
    a = NUMBERS
    a += [2.0]
    return x[0] + len(NUMBERS)


def writes_the_argument(x, n):
    x += 1.0
    return x


def writes_a_view_of_the_argument(x, n):
    y = x[::-1]
    y[0] = 5.0
    return x[0]


def writes_a_reshape_of_the_argument(x, n):
    y = x.reshape(-1, 1)
    y[0] = 5.0
    return x[0]


def writes_in_a_callee(x, n):
    def f(v):
        v *= 2.0
        return v

    return f(x)


def writes_a_default(x, n, store=np.arange(3.0)):
    store += x[0]
    return store


def appends_to_a_default(x, n, store=[1.0]):
    store.append(2.0)
    return x[0] + len(store)


def writes_what_a_lambda_gives(x, n):
    f: Callable[[], Any] = lambda: SMALL
    a = f()
    a += x[0]
    return a


def sorts_the_argument(x, n):
    x.sort()
    return x


def adds_at_places_of_the_argument(x, n):
    np.add.at(x, np.array([0, 0]), 1.0)
    return x


def adds_into_a_global(x, n):
    np.add(SMALL, 1.0, out=SMALL)
    return SMALL * x[0]


def adds_into_a_global_in_a_branch(x, n):
    if x[0] < 0:
        np.add(SMALL, 1.0, out=SMALL)
    return SMALL * x[0]


def sorts_a_global(x, n):
    LARGE.sort()
    return LARGE[0] * x[0]


def fills_a_global(x, n):
    SMALL.fill(3.0)
    return SMALL * x[0]


def copies_into_a_global(x, n):
    np.copyto(SMALL, 5.0)
    return SMALL * x[0]


def puts_into_a_global(x, n):
    SMALL.put([0], 5.0)
    return SMALL * x[0]


def shuffles_a_global(x, n):
    np.random.default_rng(1).shuffle(SMALL)
    return SMALL * x[0]


def sorts_a_list_outside(x, n):
    UNSORTED.sort()
    return UNSORTED[0] * x[0]


RIGHT = (
    *(reads_small, reads_large, copies_then_writes, rebinds, lists_and_dicts, rows_of_an_argument),
    writes_where_nothing_is,
)
EITHER = ()
REFUSED = (
    *(
        writes_a_name_of_a_small_array,
        writes_a_name_of_a_large_array,
        writes_a_second_name,
        writes_an_element,
    ),
    *(writes_a_view, writes_through_transpose, writes_an_item, writes_an_attribute, appends, extends_a_name),
    *(writes_the_argument, writes_a_view_of_the_argument, writes_a_reshape_of_the_argument),
    *(writes_in_a_callee, writes_a_default, appends_to_a_default, writes_what_a_lambda_gives),
    *(sorts_the_argument, adds_at_places_of_the_argument, adds_into_a_global, adds_into_a_global_in_a_branch),
    *(sorts_a_global, fills_a_global, copies_into_a_global, puts_into_a_global, shuffles_a_global),
    sorts_a_list_outside,
)
"""Never run by Python: they would change what the other programs read."""
