"""Instances of plain classes that loops exchange, that lists of run-time length hold, and that are copied:
which of them is one object with another, and who sees a change."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)


class Slotted:
    __slots__ = ("first", "rest")

    def __init__(self, first, rest):
        self.first, self.rest = first, rest


class World:
    def __init__(self, gravity):
        self.gravity, self.steps = gravity, 0


class Ball:
    def __init__(self, world, place, speed):
        self.world, self.place, self.speed = world, place, speed

    def moved(self, h):
        self.world.steps += 1
        falling = Point(0.0, -self.world.gravity)
        return Ball(self.world, self.place + self.speed * h, self.speed + falling * h)


class Linked:
    def __init__(self, value):
        self.value, self.itself = value, self


class Copied:
    def __init__(self, value):
        self.value = value

    def __copy__(self):
        return Copied(self.value * 2)

    def __deepcopy__(self, memo):
        return Copied(self.value * 3)


@dataclass
class Pair:
    x: object
    y: object


ORIGIN = Point(0.0, 0.0)
START = Point(np.ones(3), np.arange(3.0))


# ---------------------------------------------------------------------------- exchanged in a loop
def made_anew(x, n):
    q = Point(x[0], 1.0)
    for i in range(n):
        q = Point(q.x * 0.9 + q.y, q.y - 0.1 * i)
    return q.x, q.y


def from_around_the_program(x, n):
    q, r = ORIGIN, START
    for i in range(n):
        q, r = q + Point(x[0], i), r * x[1]
    return q.norm(), r.x, r.y


def with_a_world_that_all_share(x, n):
    ball = Ball(World(9.8), Point(0.0, x[0]), Point(x[1], 1.0))
    for _ in range(n):
        ball = ball.moved(0.1)
        ball.world.gravity *= 0.9
    return ball.place.x, ball.place.y, ball.speed.y, ball.world.steps, ball.world.gravity


def of_slots_and_lists(x, n):
    s = Slotted(x[0], [x[1], 2.0])
    for _ in range(n):
        s = Slotted(s.rest[0] * x[0], [s.first, s.rest[1] + 1])
    return s.first, s.rest


def exchanged_with_each_other(x, n):
    a, b = Point(x[0], 1.0), Point(2.0, x[1])
    for _ in range(n):
        a, b = b, a + b * 0.1
    return a.x, b.y


def the_best_so_far(x, n):
    best = None
    for i in range(n):
        found = Point(np.sin(x[1] * i), x[0] * i)
        if best is None or found.x > best.x:
            best = found
    return 0.0 if best is None else best.y


def until_it_is_large(x, n):
    q, k = Point(x[0], 1.0), 0
    while q.norm() < 50.0 and k < n:
        q = q * 1.5 + Point(1.0, x[0])
        k += 1
    return q.x, k


def with_an_array_that_is_written(x, n):
    q = Point(x[0], np.zeros(3))
    for i in range(n):
        q = Point(q.x * 0.5, q.y + 1)
        q.y[i % 3] += q.x
    return q.y, q.x


def an_array_that_two_of_them_hold(x, n):
    q = Point(x[0], np.zeros(3))
    first = q.y
    for _ in range(n):
        q = Point(q.x + 1, first)
        q.y[0] += q.x
    return first, q.y


def in_a_list_and_in_a_dict(x, n):
    pair, named = [Point(x[0], 1.0), Point(1.0, x[1])], {"p": Point(x[0], 1.0)}
    for _ in range(n):
        pair = [pair[1], pair[0] + pair[1] * 0.1]
        named["p"] = named["p"] + Point(1.0, x[0])
    return pair[0].x, pair[1].y, named["p"].y


def returned_from_the_loop(x, n):
    def first_large():
        for i in range(n):
            q = Point(x[0] + i, 1.0)
            if q.x > 4.0:
                return q
        return Point(0.0, 0.0)

    return first_large().norm()


def is_one_of_two(x, n):
    q = Point(x[0], 1.0)
    p, same = q, 0
    for i in range(n):
        r = Point(q.x + 1, q.y)
        same += (r is q) + 10 * (r is r) + 100 * (r == q)
        q = r
    return same, p.x


def changed_where_it_was_made(x, n):
    q = Point(x[0], 1.0)
    for _ in range(n):
        q = Point(q.x + 1, q.y * 0.9)
        q.x += x[1]
    return q.x, q.y


# ---------------------------------------------------------------------------- in lists of run-time length
def a_list_of_them(x, n):
    points = [Point(x[0] * i, 1.0 + i) for i in range(n)]
    moved = [p + Point(1.0, x[1]) for p in points]
    return sum(p.norm() for p in points), moved[-1].y, len(moved)


def appended(x, n):
    points = [Point(x[0], 1.0)]
    for i in range(n):
        points.append(points[-1] * 0.9 + Point(x[1], i))
    return sum(p.x * p.y for p in points)


def each_with_each_other(x, n):
    points, total = [Point(x[0] * i, 1.0 + i) for i in range(n)], 0.0
    for p in points:
        for q in points:
            if p is not q:
                total += (p.x - q.x) ** 2 + p.y * q.y
    return total


def all_that_differ(x, n):
    points, total = [Pair(x[0] * i, 1.0 + i) for i in range(n)], 0.0
    for i, p in enumerate(points):
        for q in points:
            total += p.x * q.y if p is points[i] and q is not p else 0.5
    return total


def with_lists_and_objects_in_them(x, n):
    balls = [Ball(Point(x[0], i), [x[1] * i, 1.0], np.ones(2) * i) for i in range(n)]
    return sum(b.world.x * b.place[0] + b.world.y for b in balls), balls[1].speed


def the_largest(x, n):
    points = [Point(np.sin(x[1] * i), i) for i in range(n)]
    best = points[0]
    for p in points:
        if p.x > best.x:
            best = p
    return best.x, best.y, max(points, key=lambda p: p.x).y


def a_history(x, n):
    history, q = [], Point(x[0], 0.0)
    for _ in range(n):
        q = Point(q.x * 0.9 + q.y, q.y - 0.1 * q.x)
        history.append(q)
    return sum(p.x**2 for p in history) + history[-1].y


# ---------------------------------------------------------------------------- copies
def copies(x, n):
    p = Point(x[0], [x[1], 1.0])
    q, r = copy.copy(p), copy.deepcopy(p)
    q.x, r.x, q.y[0], r.y[1] = 5.0, 6.0, 7.0, 8.0
    return p.x, p.y, q.x, q.y, r.x, r.y


def copies_in_a_loop(x, n):
    q = Point(x[0], np.zeros(2))
    for i in range(n):
        q = copy.copy(q)
        q.x += x[1]
        q.y = q.y + i
    return q.x, q.y


def copies_as_their_class_says(x, n):
    pair = [Copied(x[0])] * 2
    made = copy.deepcopy(pair)
    return copy.copy(pair[0]).value, made[0].value, made[0] is made[1]


def a_copy_of_what_holds_itself(x, n):
    p = Linked(x[0])
    q = copy.deepcopy(p)
    q.itself.value = 3.0
    return p.value, q.value


def a_copy_of_what_is_around(x, n):
    p, q = copy.copy(ORIGIN), copy.deepcopy(START)
    p.x = x[0]
    q.y[0] = x[1]
    return p.x + ORIGIN.x, q.y, START.y


def copies_of_containers(x, n):
    whole = (x[0], [x[1]], {"k": [x[0]]})
    same, apart = copy.copy(whole), copy.deepcopy(whole)
    same[1][0], apart[2]["k"][0] = 3.0, 4.0
    return whole[1], whole[2]["k"], apart[1], apart[2]["k"]


def copies_put_into_a_list(x, n):
    p, kept = Pair(x[0], [0.0, 1.0]), []
    for i in range(n):
        kept.append((copy.copy(p), list(p.y), replace(p)))
        p = Pair(p.x + 1, [p.y[1], i])
    return sum(a.x + b[0] + c.x for a, b, c in kept), p.x


# ---------------------------------------------------------------------------- changed under another name
def a_chosen_one_of_chosen(x, n):
    a, b, c = Point(x[0], 1.0), Point(x[1], 1.0), Point(0.0, 1.0)
    q = a if x[0] > 0.5 else b
    r = q if x[1] > 0.0 else c
    a.x = 50.0
    return r.x


def put_into_rows(x, n):
    p = Pair(x[0], [1.0, 2.0])
    rows = [(p, i) for i in range(n)]
    p.x = 5.0
    return sum(q.x for q, _ in rows)


def a_list_in_rows(x, n):
    row = [x[0], 1.0]
    rows = [(row, i) for i in range(n)]
    row[0] = 4.0
    return sum(q[0] for q, _ in rows)


def a_row_or_another(x, n):
    row = [x[0], 1.0]
    rows = [row if i > 1 else [0.0, 2.0] for i in range(n)]
    row[1] = 3.0
    return sum(r[1] for r in rows)


def one_object_in_every_row(x, n):
    p = Point(x[0], 1.0)
    points = [p] * n
    p.x = 5.0
    return sum(q.x for q in points)


def changed_before_it_is_appended(x, n):
    p, kept = Point(x[0], 1.0), []
    for i in range(n):
        p.x += 1.0
        kept.append((p, i))
    return sum(q.x for q, _ in kept)


def one_of_two_appended(x, n):
    p, kept = Point(x[0], 1.0), []
    for i in range(n):
        q = p if i % 2 else Point(x[1], 1.0)
        kept.append(q)
        p.x += 1.0
    return sum(q.x for q in kept)


def extended_with_it(x, n):
    p, kept = Point(x[0], 1.0), []
    kept.extend((p, i) for i in range(n))
    p.x = 3.0
    return sum(q.x for q, _ in kept)


def a_list_that_grows_by_exchange(x, n):
    a = [x[0]]
    b = a
    for _ in range(n - 3):
        a = a + [x[1]]  # noqa: RUF005
    a[0] = 7.0
    return sum(a), sum(b)


def its_other_name_is_changed(x, n):
    a = [x[0]]
    b = a
    for _ in range(n - 3):
        a = a + [x[1]]  # noqa: RUF005
    b[0] = 7.0
    return sum(a), sum(b)


def changed_as_a_row(x, n):
    points = [Point(x[0] * i, i) for i in range(n)]
    for p in points:
        p.x += 1.0
    return sum(p.x for p in points)


def a_chosen_key(x, n):
    a, b = Point(x[0], 1.0), Point(x[1], 2.0)
    q = a if x[0] > 0.5 else b
    return {a: 1.0, b: 2.0}[q], len({a, b, q}), hash(q) == hash(a), q in {a}


def a_part_changed_and_put_back(x, n):
    holder = Point([x[0], x[1]], 1.0)
    for _ in range(n):
        holder.x[0] += 1.0
        holder.x = [holder.x[1] * 0.5, holder.x[0]]
    return holder.x


def changed_and_exchanged(x, n):
    q = Point(x[0], 1.0)
    p = q
    for _ in range(n):
        q.x += 1.0
        q = Point(q.x, q.y * 0.5)
    return q.x, q.y, p.x


def a_chain_that_grows(x, n):
    q = Point(x[0], None)
    for i in range(n):
        q = Point(x[1] * i, q)
    return q.x


def a_row_that_holds_itself(x, n):
    kept = [Linked(x[0] * i) for i in range(n)]
    return sum(p.itself.value for p in kept)


def chosen_and_carried(x, n):
    a, b, total = Point(x[0], 1.0), Point(x[1], 1.0), 0.0
    q = b
    for i in range(n):
        total += q.x
        q = a if i % 2 == 0 else b
        a.x += 1.0
    return total


def changed_before_what_it_was_chosen_for(x, n):
    a, b, total = [x[0]], [x[1]], 0.0
    q = b
    for i in range(n):
        a[0] += 1.0
        total += q[0]
        q = a if i % 2 == 0 else b
    return total


def chosen_and_returned(x, n):
    a, b = Point(x[0], 1.0), Point(x[1], 1.0)

    def found():
        for i in range(n):
            q = a if i % 2 == 0 else b
            a.x += 1.0
            if a.x > 4.0:
                return q
        return b

    return found().x


def one_of_around_in_every_row(x, n):
    points = [ORIGIN for _ in range(n)]
    return x[0] * sum(1.0 for p in points if p is points[0])


def one_tuple_in_every_row(x, n):
    pair = (x[0], 1.0)
    pairs = [pair for _ in range(n)]
    return sum(1.0 for p in pairs if p is pairs[0])


def rows_of_one_written_after_a_copy(x, n):
    points = [Point(np.ones(2) * x[0] * i, 0.0) for i in range(n)]
    behind = points[::-1]
    for p in points:
        p.x += 1.0
    return sum(p.x @ p.x * k for k, p in enumerate(behind))


RIGHT = [
    *(made_anew, from_around_the_program, with_a_world_that_all_share, of_slots_and_lists),
    *(exchanged_with_each_other, the_best_so_far, until_it_is_large, with_an_array_that_is_written),
    *(an_array_that_two_of_them_hold, in_a_list_and_in_a_dict, returned_from_the_loop, is_one_of_two),
    *(changed_where_it_was_made, a_list_of_them, appended, each_with_each_other, all_that_differ),
    *(with_lists_and_objects_in_them, the_largest, a_history, copies, copies_in_a_loop),
    *(copies_as_their_class_says, a_copy_of_what_holds_itself, a_copy_of_what_is_around),
    *(copies_of_containers, copies_put_into_a_list),
]
EITHER = [
    *(a_chosen_one_of_chosen, put_into_rows, a_list_in_rows, a_row_or_another, one_object_in_every_row),
    *(changed_before_it_is_appended, one_of_two_appended, extended_with_it, a_list_that_grows_by_exchange),
    *(its_other_name_is_changed, changed_as_a_row, a_chosen_key, a_part_changed_and_put_back),
    *(changed_and_exchanged, a_chain_that_grows, a_row_that_holds_itself, chosen_and_carried),
    *(changed_before_what_it_was_chosen_for, chosen_and_returned, one_of_around_in_every_row),
    *(one_tuple_in_every_row, rows_of_one_written_after_a_copy),
]
