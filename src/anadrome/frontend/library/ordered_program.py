"""`heapq` and `bisect` as the Python that they are, compiled like a user's.

A heap is laid out as CPython's is, item for item, since a program may look into it: an item that is taken out
leaves a hole that moves down to a leaf by way of the lesser children, and the last item moves up from there
(Knuth, The Art of Computer Programming, volume 3, 5.2.3).
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable
from typing import Any


# ---------------------------------------------------------------------------- heaps
def check(heap: Any) -> None:
    """Python's heaps are lists alone."""
    if not isinstance(heap, list):
        raise TypeError("heap argument must be a list")


def push(heap: Any, item: Any) -> None:
    """heapq.heappush"""
    check(heap)
    heap.append(item)
    move_up(heap, 0, len(heap) - 1)


def pop(heap: Any) -> Any:
    """heapq.heappop"""
    check(heap)
    last = heap.pop()
    return last if len(heap) == 0 else replace(heap, last)


def replace(heap: Any, item: Any) -> Any:
    """heapq.heapreplace"""
    check(heap)
    found = heap[0]
    heap[0] = item
    move_down(heap, 0)
    return found


def push_and_pop(heap: Any, item: Any) -> Any:
    """heapq.heappushpop"""
    check(heap)
    found = item
    if len(heap) > 0 and heap[0] < item:
        found = replace(heap, item)
    return found


def make_heap(items: Any) -> None:
    """heapq.heapify"""
    check(items)
    for k in range(len(items) // 2 - 1, -1, -1):
        move_down(items, k)


def move_up(heap: Any, first: Any, place: Any) -> None:
    """Let an item change places with those above it, down from `first`, that are greater."""
    item = heap[place]
    while place > first:
        above = (place - 1) // 2
        if not item < heap[above]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def move_down(heap: Any, place: Any) -> None:
    """Let the lesser of the items below move up, down to a leaf, and the item there move up again."""
    count, first, item = len(heap), place, heap[place]
    below = 2 * place + 1
    while below < count:
        if below + 1 < count and not heap[below] < heap[below + 1]:
            below += 1
        heap[place] = heap[below]
        place = below
        below = 2 * place + 1
    heap[place] = item
    move_up(heap, first, place)


def least(n: Any, iterable: Any, key: Any = None) -> Any:
    """heapq.nsmallest"""
    return sorted(iterable, key=key)[: max(n, 0)]


def greatest(n: Any, iterable: Any, key: Any = None) -> Any:
    """heapq.nlargest"""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


# ---------------------------------------------------------------------------- bisection
def place_before(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """bisect.bisect_left"""
    return place_of(a, x, lo, hi, key, False)


def place_behind(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """bisect.bisect_right"""
    return place_of(a, x, lo, hi, key, True)


def place_of(a: Any, x: Any, lo: Any, hi: Any, key: Any, is_behind: Any) -> Any:
    """The first place from which on items are greater than x, or also those equal to it."""
    if hi is None:
        hi = len(a)
    if lo < 0 or hi < 0:
        raise ValueError("lo and hi must be non-negative")
    while lo < hi:
        middle = (lo + hi) // 2
        item = a[middle] if key is None else key(a[middle])
        is_lower = not x < item if is_behind else item < x
        if is_lower:
            lo = middle + 1
        else:
            hi = middle
    return lo


def put_before(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """bisect.insort_left"""
    a.insert(place_before(a, x if key is None else key(x), lo, hi, key=key), x)


def put_behind(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """bisect.insort_right"""
    a.insert(place_behind(a, x if key is None else key(x), lo, hi, key=key), x)


ORDERED: dict[Callable[..., object], Callable[..., Any]] = {
    heapq.heappush: push,
    heapq.heappop: pop,
    heapq.heapreplace: replace,
    heapq.heappushpop: push_and_pop,
    heapq.heapify: make_heap,
    heapq.nsmallest: least,
    heapq.nlargest: greatest,
    bisect.bisect_left: place_before,
    bisect.bisect_right: place_behind,
    bisect.insort_left: put_before,
    bisect.insort_right: put_behind,
}
"""Functions and their texts."""
