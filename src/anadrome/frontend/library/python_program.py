"""Functions of libraries as the Python that they are, compiled like a user's: `operator`, the loops of
`functools.reduce` and `itertools.accumulate`, and `x.tolist`.

Errors in them name the line of their call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.frontend.iterables import unroll
from anadrome.frontend.library.ordered_program import ORDERED


# ---------------------------------------------------------------------------- loops
def reduced(function: Any, items: Any, total: Any) -> Any:
    """functools.reduce from a first value on."""
    for item in items:
        total = function(total, item)
    return total


def accumulated(function: Any, found: Any) -> Any:
    """itertools.accumulate of a new list of numbers, in its place."""
    for k in range(1, len(found)):
        found[k] = function(found[k - 1], found[k])
    return found


def accumulated_from(total: Any, function: Any, items: Any) -> Any:
    """itertools.accumulate from a first value on."""
    found = [total]
    for item in items:
        total = function(total, item)
        found.append(total)
    return found


def starred(function: Any, items: Any) -> Any:
    """itertools.starmap"""
    return (function(*item) for item in items)


def listed(kind: Any, items: Any) -> Any:
    """x.tolist() of a vector, whose elements are of a Python type."""
    found = []
    for item in items:
        found.append(kind(item))
    return found


def close_gap(items: Any, place: Any) -> None:
    """Let the items behind a place move up by one."""
    for k in range(place, len(items) - 1):
        items[k] = items[k + 1]


def insert(items: Any, place: Any, value: Any) -> None:
    """list.insert"""
    count = len(items)
    place = min(max(place + count if place < 0 else place, 0), count)
    items.append(value)
    for k in range(count, place, -1):
        items[k] = items[k - 1]
    items[place] = value


def enumerated(items: Any, place: Any) -> Any:
    """enumerate of a generator"""
    for item in items:
        yield place, item
        place += 1


def iterated(advance: Any, iterator: Any) -> Any:
    """The items of an iterator class."""
    while True:
        found = advance(iterator)
        if found is None:
            return
        yield found[0]


def taken(has_item: Any, take: Any, iterator: Any) -> Any:
    """The next item of an iterator in a tuple of its own, None behind the last one."""
    return (take(iterator),) if has_item(iterator) else None


def next_or(advance: Any, iterator: Any, default: Any) -> Any:
    """next with a default"""
    found = advance(iterator)
    return default if found is None else found[0]


def item_of(owner: Any, key: Any) -> Any:
    """The item at a key that is known."""
    return owner[key]


def item_if(asked: Any, owner: Any, key: Any, other: Any) -> Any:
    """The item at a key that is known where this one is asked for, or something else."""
    return owner[key] if asked == key else other


def is_any(is_found: Any, asked: Any, key: Any) -> Any:
    """Whether a key is the one that is asked for, or another was."""
    return is_found or asked == key


def put_at(owner: Any, keys: Any, key: Any, value: Any) -> None:
    """Store into that item of a dict whose key is equal to this one."""
    for known in unroll(keys):
        if key == known:
            owner[known] = value


def zipped_after(advance: Any, first: Any, *others: Any) -> Any:
    """zip of what is gone over in a loop and of iterators."""
    if not others:
        for item in first:
            yield (item,)
    else:
        for row in zipped_after(advance, first, *others[:-1]):
            found = advance(others[-1])
            if found is None:
                return
            yield *row, found[0]


# ---------------------------------------------------------------------------- by a key
def keys_of(values: Any, key: Any) -> Any:
    """What `key` makes of each value."""
    return [key(value) for value in values]


def sorted_by(values: Any, keys: Any, reverse: Any) -> Any:
    """sorted with a `key` of numbers: equal ones keep their order, also in reverse."""
    places = order_of(np.array(keys), reverse)
    return [values[places[k]] for k in range(len(places))]


def sorted_by_tuples(values: Any, keys: Any, width: Any, reverse: Any) -> Any:
    """sorted with a `key` of tuples: by their last numbers, then by those before, which decide."""
    places = np.arange(len(values))
    for column in unroll(range(width)):
        numbers = np.array([keys[places[k]][width - 1 - column] for k in range(len(places))])
        places = places[order_of(numbers, reverse)]
    return [values[places[k]] for k in range(len(places))]


def order_of(keys: Any, reverse: Any) -> Any:
    """The places of numbers in their order."""
    if reverse:
        return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
    return np.argsort(keys, kind="stable")


def least_by(values: Any, keys: Any) -> Any:
    """min with a `key` of numbers: the first of the least."""
    return values[np.argmin(np.array(keys))]


def greatest_by(values: Any, keys: Any) -> Any:
    """max with a `key` of numbers: the first of the greatest."""
    return values[np.argmax(np.array(keys))]


def least_by_tuples(values: Any, keys: Any) -> Any:
    """min with a `key` of tuples."""
    return first_by_tuples(values, keys, "min", operator.lt)


def greatest_by_tuples(values: Any, keys: Any) -> Any:
    """max with a `key` of tuples."""
    return first_by_tuples(values, keys, "max", operator.gt)


def first_of(items: Any, keys: Any, name: Any, is_better: Any) -> Any:
    """min and max of objects by keys that may be they: the first of the best."""
    if len(items) == 0:
        raise ValueError(name + "() arg is an empty sequence")
    best = (keys[0], items[0])
    for key, item in zip(keys[1:], items[1:], strict=True):
        if is_better(key, best[0]):
            best = (key, item)
    return best[1]


def sorted_by_comparing(items: Any, keys: Any, reverse: Any) -> Any:
    """sorted of a few objects by keys that may be they: neighbours are exchanged."""
    step = -1 if reverse else 1
    found = [(keys[k], items[k]) for k in unroll(range(len(items)))][::step]
    last: Any
    k: Any
    for last in unroll(range(len(items) - 1, 0, -1)):
        for k in unroll(range(last)):
            one, two = found[k], found[k + 1]
            is_behind = two[0] < one[0]
            found[k] = two if is_behind else one
            found[k + 1] = one if is_behind else two
    return [pair[1] for pair in found[::step]]


def first_by_tuples(values: Any, keys: Any, name: Any, is_better: Any) -> Any:
    """The first of the best."""
    if len(values) == 0:
        raise ValueError(name + "() arg is an empty sequence")
    best = 0
    for k in range(1, len(values)):
        if is_better(keys[k], keys[best]):
            best = k
    return values[best]


def rounded(x: float, scale: float, upper: float, lower: float) -> float:
    """round of a Python float to digits: of x·s the whole number that is nearest, by its exact value.

    x·s = p + e with the error e of the product [Dekker 1971]; s = upper + lower, each of 26 bits.
    """
    if not abs(x) < 4503599627370496.0:
        return x
    p = x * scale
    if not abs(p) < 9007199254740992.0:
        return x
    split = 134217729.0 * x
    high = split - (split - x)
    low = x - high
    error = ((high * upper - p) + high * lower + low * upper) + low * lower
    whole = np.rint(p)
    if abs(p - whole) == 0.5 and error != 0.0:
        whole = np.floor(p) + 1.0 if error > 0.0 else np.ceil(p) - 1.0
    if p == whole and abs(error) == 0.5 and whole % 2.0 == 1.0:
        whole = whole + 1.0 if error > 0.0 else whole - 1.0
    return float(whole / scale)


# ---------------------------------------------------------------------------- operator
def setitem(a: Any, b: Any, c: Any) -> None:
    """operator.setitem"""
    a[b] = c


def delitem(a: Any, b: Any) -> None:
    """operator.delitem"""
    del a[b]


def iadd(a: Any, b: Any) -> Any:
    """operator.iadd"""
    a += b
    return a


def isub(a: Any, b: Any) -> Any:
    """operator.isub"""
    a -= b
    return a


def imul(a: Any, b: Any) -> Any:
    """operator.imul"""
    a *= b
    return a


def itruediv(a: Any, b: Any) -> Any:
    """operator.itruediv"""
    a /= b
    return a


def ifloordiv(a: Any, b: Any) -> Any:
    """operator.ifloordiv"""
    a //= b
    return a


def imod(a: Any, b: Any) -> Any:
    """operator.imod"""
    a %= b
    return a


def ipow(a: Any, b: Any) -> Any:
    """operator.ipow"""
    a **= b
    return a


def imatmul(a: Any, b: Any) -> Any:
    """operator.imatmul"""
    a @= b
    return a


def iand(a: Any, b: Any) -> Any:
    """operator.iand"""
    a &= b
    return a


def ior(a: Any, b: Any) -> Any:
    """operator.ior"""
    a |= b
    return a


def ixor(a: Any, b: Any) -> Any:
    """operator.ixor"""
    a ^= b
    return a


def ilshift(a: Any, b: Any) -> Any:
    """operator.ilshift"""
    a <<= b
    return a


def irshift(a: Any, b: Any) -> Any:
    """operator.irshift"""
    a >>= b
    return a


PROGRAMS: dict[Callable[..., object], Callable[..., Any]] = {
    **ORDERED,
    operator.add: lambda a, b: a + b,
    operator.sub: lambda a, b: a - b,
    operator.mul: lambda a, b: a * b,
    operator.truediv: lambda a, b: a / b,
    operator.floordiv: lambda a, b: a // b,
    operator.mod: lambda a, b: a % b,
    operator.pow: lambda a, b: a**b,
    operator.matmul: lambda a, b: a @ b,
    operator.and_: lambda a, b: a & b,
    operator.or_: lambda a, b: a | b,
    operator.xor: lambda a, b: a ^ b,
    operator.lshift: lambda a, b: a << b,
    operator.rshift: lambda a, b: a >> b,
    operator.neg: lambda a: -a,
    operator.pos: lambda a: +a,
    operator.invert: lambda a: ~a,
    operator.inv: lambda a: ~a,
    operator.abs: lambda a: abs(a),
    operator.lt: lambda a, b: a < b,
    operator.le: lambda a, b: a <= b,
    operator.eq: lambda a, b: a == b,
    operator.ne: lambda a, b: a != b,
    operator.gt: lambda a, b: a > b,
    operator.ge: lambda a, b: a >= b,
    operator.is_: lambda a, b: a is b,
    operator.is_not: lambda a, b: a is not b,
    operator.truth: lambda a: bool(a),
    operator.not_: lambda a: not a,
    operator.contains: lambda a, b: b in a,
    operator.getitem: lambda a, b: a[b],
    operator.setitem: setitem,
    operator.delitem: delitem,
    operator.concat: lambda a, b: a + b,
    operator.iadd: iadd,
    operator.isub: isub,
    operator.imul: imul,
    operator.itruediv: itruediv,
    operator.ifloordiv: ifloordiv,
    operator.imod: imod,
    operator.ipow: ipow,
    operator.imatmul: imatmul,
    operator.iand: iand,
    operator.ior: ior,
    operator.ixor: ixor,
    operator.ilshift: ilshift,
    operator.irshift: irshift,
}
"""A function of Python's -> the text that is compiled in its place."""
