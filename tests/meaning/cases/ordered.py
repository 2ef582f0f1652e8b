"""Heaps, bisection, and items put into and taken out of lists at places that only the run knows."""

from __future__ import annotations

import bisect
import heapq

import numpy as np


def heap_of_numbers(x, n):
    heap, total = [], 0.0
    for v in x:
        heapq.heappush(heap, -v)
    while heap:
        total = total * 0.5 + heapq.heappop(heap)
    return total


def heap_of_tuples(x, n):
    heap, total = [], 0.0
    for i, v in enumerate(x):
        heapq.heappush(heap, (np.sin(v), i))
    while len(heap) > 1:
        v, i = heapq.heappop(heap)
        total = total * 0.5 + v * i
    return total


def layout_of_a_heap(x, n):
    heap = [np.sin(3.0 * v) for v in x]
    heapq.heapify(heap)
    first = sum(i * v for i, v in enumerate(heap))
    one = heapq.heapreplace(heap, 0.1)
    two = heapq.heappushpop(heap, -2.0) + heapq.heappushpop(heap, 0.2)
    return first, one, two, sum(i * v for i, v in enumerate(heap))


def equal_keys_in_a_heap(x, n):
    heap, order, key = [], 0, 0.0
    for i in range(n):
        heapq.heappush(heap, (float(int(x[i]) % 3), n - i))
    for _ in range(n):
        key, i = heapq.heappop(heap)
        order = (order * 7 + i) % 1009
    return order + key * x[0]


def least_and_greatest(x, n):
    values = [np.sin(v) for v in x]
    return sum(heapq.nsmallest(2, values)), heapq.nlargest(2, values)[-1], heapq.nlargest(1, x)[0]


def shortest_way(x, n):
    distance = np.full(n, np.inf)
    distance[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, i = heapq.heappop(heap)
        if d > distance[i]:
            continue
        for j in (i + 1, i + 2):
            if j < n:
                other = d + x[j] * (1.0 if j == i + 1 else 1.5)
                if other < distance[j]:
                    distance[j] = other
                    heapq.heappush(heap, (other, j))
    return distance[n - 1]


def places_by_bisection(x, n):
    values = [v for v in x]
    left, right = bisect.bisect_left(values, 2.0), bisect.bisect_right(values, 2.0)
    return left + 10 * right + 100 * bisect.bisect(values, 2.5, 1), x[bisect.bisect_left(x, 1.5)]


def kept_in_order(x, n):
    values = []
    for v in x:
        bisect.insort(values, np.sin(v))
    return sum(i * v for i, v in enumerate(values))


def inserted_at_a_place(x, n):
    values, k = [v for v in x], int(x[1])
    values.insert(k, 10.0)
    return values[k] + values[-1] * 3.0 + len(values)


def inserted_into_a_known_list(x, n):
    values = [x[0], x[1], x[2]]
    values.insert(int(x[0]), 9.0)
    return sum(i * v for i, v in enumerate(values))


def deleted_from_a_known_list(x, n):
    values = [x[0], x[1], x[2]]
    del values[int(x[0])]
    return sum(i * v for i, v in enumerate(values))


def taken_from_a_known_list(x, n):
    values = [x[0], x[1], x[2]]
    taken = values.pop(int(x[0]))
    return taken, sum(i * v for i, v in enumerate(values)), len(values)


def removed_from_a_known_list(x, n):
    values = [x[0], x[1], x[2]]
    values.remove(x[1])
    return sum(i * v for i, v in enumerate(values))


RIGHT = [
    heap_of_numbers,
    heap_of_tuples,
    layout_of_a_heap,
    equal_keys_in_a_heap,
    least_and_greatest,
    shortest_way,
    places_by_bisection,
    kept_in_order,
    inserted_at_a_place,
    inserted_into_a_known_list,
    deleted_from_a_known_list,
    taken_from_a_known_list,
    removed_from_a_known_list,
]
EITHER: list[object] = []
