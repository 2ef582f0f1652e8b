"""Objects that lists hold and that are changed there: who sees the change, whatever reached them."""

from __future__ import annotations

import copy
import dataclasses
import itertools
from dataclasses import dataclass

import numpy as np


class Ball:
    weight = 2.0

    def __init__(self, x, v, hits=0, alive=True):
        self.x, self.v, self.hits, self.alive = x, v, hits, alive

    def move(self, h):
        self.x += h * self.v
        self.hits += 1
        return self

    def push(self, other):
        self.v += 0.1 * (other.x - self.x)
        other.v -= 0.1 * (other.x - self.x)

    @property
    def energy(self):
        return 0.5 * self.v**2 + self.x

    @energy.setter
    def energy(self, value):
        self.v = value


class Heavy(Ball):
    def move(self, h):
        super().move(h)
        self.v *= 0.99
        return self


class Spring:
    def __init__(self, left, right, stiffness):
        self.left, self.right, self.stiffness = left, right, stiffness

    def act(self, h):
        pull = self.stiffness * (self.right.x - self.left.x - 1.0)
        self.left.v += h * pull
        self.right.v -= h * pull


class World:
    def __init__(self, balls):
        self.balls, self.time = balls, 0.0

    def step(self, h):
        for ball in self.balls:
            ball.move(h)
        self.time += h


@dataclass
class Cell:
    level: float
    flow: float = 0.0

    def kick(self, by):
        self.flow += by


def balls_of(x, count):
    return [Ball(np.sin(x[0] * i), x[i % len(x)] * 0.1) for i in range(count)]


def total_of(balls):
    return sum(ball.x * (k + 1) + 2.0 * ball.v for k, ball in enumerate(balls))


# ---------------------------------------------------------------------------- changed in a loop over them
def each_of_them(x, n):
    balls = balls_of(x, n)
    for _ in range(n):
        for ball in balls:
            ball.move(0.1)
    return total_of(balls), balls[0].hits


def each_by_its_index(x, n):
    balls = balls_of(x, n)
    for i in range(n):
        balls[i].x += 0.5 * balls[i - 1].x
    return total_of(balls)


def each_with_each_other(x, n):
    balls = balls_of(x, n)
    for ball in balls:
        for other in balls:
            if other is not ball:
                ball.push(other)
    return total_of(balls)


def of_a_class_in_a_class(x, n):
    world = World(balls_of(x, n))
    for _ in range(n):
        world.step(0.1)
    return total_of(world.balls) * world.time


def joined_by_springs(x, n):
    balls = balls_of(x, n)
    springs = [Spring(balls[i], balls[i + 1], 2.0 + i) for i in range(n - 1)]
    for _ in range(n):
        for spring in springs:
            spring.act(0.1)
            spring.stiffness *= 0.9
        for ball in balls:
            ball.move(0.1)
    return total_of(balls), sum(spring.stiffness * spring.left.x for spring in springs)


def by_a_property_and_a_class_above(x, n):
    balls = [Heavy(x[0] * i, x[1]) for i in range(n)]
    for ball in balls:
        ball.move(0.2).energy = ball.energy * 2
    return sum(ball.energy + ball.weight for ball in balls)


def numbers_of_other_kinds(x, n):
    balls = balls_of(x, n)
    for ball in balls:
        if ball.x < 0.3:
            ball.alive = False
        ball.hits += 2
    return sum(ball.x * ball.hits for ball in balls if ball.alive), balls[-1].hits


def of_a_dataclass(x, n):
    cells = [Cell(x[0] * i) for i in range(n)]
    for i, cell in enumerate(cells):
        cell.kick(0.5 * i)
        cell.level, cell.flow = cell.flow, cell.level
    return sum(cell.level - 2 * cell.flow for cell in cells)


def by_a_generator(x, n):
    balls = balls_of(x, n)

    def moved():
        for ball in balls:
            ball.x += 0.1
            yield ball

    total = 0.0
    for ball in moved():
        total += ball.x
        ball.v = total
    return total, total_of(balls)


def while_one_is_large(x, n):
    balls, k = balls_of(x, n), 0
    while k < n and balls[k].x < 0.9:
        balls[k].x += 1.0
        k += 1
    return total_of(balls), k


def in_a_sum(x, n):
    balls = balls_of(x, n)
    return sum(ball.move(0.3).x for ball in balls), total_of(balls)


# ---------------------------------------------------------------------------- reached another way
def by_another_name(x, n):
    balls = balls_of(x, n)
    a, b = balls[0], balls[1]
    a.x, b.x = b.x, 3.0 * a.x
    balls[0].v = a.x
    return a.v, balls[1].x, total_of(balls)


def the_largest(x, n):
    balls = balls_of(x, n)
    best = balls[0]
    for ball in balls:
        if ball.x > best.x:
            best = ball
    best.x -= 5.0
    return best.x, total_of(balls)


def the_largest_by_a_key(x, n):
    balls = balls_of(x, n)
    most, least = max(balls, key=lambda ball: ball.x), min(balls, key=lambda ball: ball.v)
    most.x = 7.0
    least.v += most.x
    return total_of(balls)


def none_at_first(x, n):
    balls, best = balls_of(x, n), None
    for ball in balls:
        if ball.v > 0 and (best is None or ball.x < best.x):
            best = ball
        ball.x *= 0.9
    if best is not None:
        best.x = 100.0
    return total_of(balls)


def the_one_before(x, n):
    balls = balls_of(x, n)
    before = balls[0]
    for ball in balls:
        ball.x += 0.5 * before.x
        before = ball
    return before.x, total_of(balls)


def one_or_another(x, n):
    balls, total = balls_of(x, n), 0.0
    for i in range(n):
        ball = balls[i] if x[i % 3] > 1.5 else balls[-1]
        ball.x += 1.0
        total += ball.x
    return total, total_of(balls)


def found_by_a_function(x, n):
    balls = balls_of(x, n)

    def above(least):
        for ball in balls:
            if ball.x > least:
                return ball
        return balls[-1]

    above(0.2).x += 3.0
    above(0.2).x *= 0.5
    return total_of(balls)


def in_a_dict_and_a_tuple(x, n):
    balls = balls_of(x, n)
    kept, pairs = {"first": balls[0], "last": balls[-1]}, [(ball, ball.x) for ball in balls]
    for i in range(n):
        balls[i].x = i * balls[i].v
    kept["first"].x += 5.0
    kept["last"].move(2.0)
    for ball, before in pairs:
        ball.v += before
    return total_of(balls), kept["last"].x


def a_name_that_goes_on(x, n):
    balls = balls_of(x, n)
    one = balls[0]
    for i in range(n):
        one.x += 1.0
        one = balls[(2 * i) % n]
    one.x = 30.0
    return total_of(balls)


def two_names_exchanged(x, n):
    balls = balls_of(x, n)
    a, b = balls[0], balls[1]
    for i in range(n):
        a.x += 0.1 * b.x
        a, b = b, a
        if a.x > 2.0:
            a = balls[i]
    return a.x, b.v, total_of(balls)


def which_is_which(x, n):
    balls = balls_of(x, n)
    a, b, c = balls[0], balls[0], balls[1]
    a.x = 2.0
    return b.x, float(a is b), float(a is c), float(balls[-1] is not a), float(c is balls[1])


# ---------------------------------------------------------------------------- in other lists
def a_part_of_the_list(x, n):
    balls = balls_of(x, n)
    tail, turned = balls[1:], balls[::-1]
    for ball in tail:
        ball.x *= 0.5
    turned[0].v = 4.0
    for left, right in itertools.pairwise(balls):
        right.x += 0.5 * left.x
    return total_of(balls), total_of(turned)


def those_that_pass(x, n):
    balls = balls_of(x, n)
    high = [ball for ball in balls if ball.x > 0.0]
    for ball in high:
        ball.x += 1.0
    return total_of(balls), total_of(high), len(high)


def in_another_order(x, n):
    balls = balls_of(x, n)
    ordered = sorted(balls, key=lambda ball: ball.x)
    for k, ball in enumerate(ordered):
        ball.v = k * 1.0
    return total_of(balls), total_of(ordered)


def several_lists_of_them(x, n):
    balls = balls_of(x, n)
    same, copied, longer = balls, list(balls), [*balls, balls[0]]
    same[0].x, copied[1].x, longer[-1].v = 2.0, 3.0, 4.0
    return total_of(balls), total_of(copied), total_of(longer)


def two_lists_in_one(x, n):
    left, right = balls_of(x, n), balls_of(x * 0.5, n)
    for ball in left + right:
        ball.x += 1.0
    one = left if x[0] > 0.0 else right
    one[0].x = 9.0
    return total_of(left), total_of(right)


def rows_of_rows(x, n):
    grid = [[Ball(x[0] * i, x[1] * j) for i in range(n)] for j in range(3)]
    for row in grid:
        for ball in row:
            ball.move(0.5)
    grid[1][2].x = 9.0
    return sum(total_of(row) for row in grid)


def lists_of_neighbours(x, n):
    balls = balls_of(x, n)
    for k in range(3):
        near = [ball for ball in balls if ball.x > 0.1 * k]
        for ball in near:
            ball.x -= 0.25
    return total_of(balls)


def copies_stay(x, n):
    balls = balls_of(x, n)
    one, two = copy.copy(balls[0]), copy.deepcopy(balls[1])
    balls[0].x, balls[1].x = 9.0, 8.0
    three = dataclasses.replace(Cell(x[0]), level=balls[0].x)
    balls[0].x = 7.0
    return one.x, two.x, three.level, total_of(balls)


def numbers_read_before(x, n):
    balls = balls_of(x, n)
    before, array = [ball.x for ball in balls], np.array([ball.v for ball in balls])
    for ball in balls:
        ball.x, ball.v = 100.0, 200.0
    return sum(before), array.sum(), total_of(balls)


# ---------------------------------------------------------------------------- lists that grow
def appended_and_changed(x, n):
    balls = []
    for i in range(n):
        ball = Ball(x[0] * i, x[1])
        balls.append(ball)
        ball.x += 1.0
        if i > 0:
            balls[i - 1].v += ball.x
    for ball in balls:
        ball.move(0.1)
    return total_of(balls)


def some_are_appended(x, n):
    balls = []
    for i in range(n):
        if i % 3 != 1:
            balls.append(Ball(x[0] * i, x[1]))
    balls.append(Ball(1.0, 2.0))
    balls[-1].x += x[0]
    for ball in balls:
        ball.x *= 2.0
    return total_of(balls), len(balls)


def appended_to_a_comprehension(x, n):
    balls = balls_of(x, n)
    balls.append(Ball(1.0, x[0]))
    balls[0].x, balls[-1].v = 3.0, 4.0
    last = balls.pop()
    last.x = 50.0
    return last.x * last.v, total_of(balls)


def references_that_are_appended(x, n):
    balls, seen = balls_of(x, n), []
    for i in range(n):
        if balls[(7 * i) % n].x > 0.0:
            seen.append(balls[(7 * i) % n])
        balls[i].x -= 0.2
    for ball in seen:
        ball.v += 1.0
    return total_of(balls), sum(ball.x for ball in seen)


def made_anew_and_changed(x, n):
    balls = balls_of(x, n)
    old = balls
    for _ in range(n):
        balls = [Ball(ball.x * 0.9, ball.v) for ball in balls]
        balls[0].x += old[1].x
        old[1].x *= 0.5
    return total_of(balls), total_of(old)


def fewer_in_each_iteration(x, n):
    balls = balls_of(x, n)
    for k in range(n):
        balls = [ball for ball in balls if ball.x > -0.9]
        for ball in balls:
            ball.x -= 0.01 * k
    return total_of(balls), len(balls)


def items_that_are_exchanged(x, n):
    balls = balls_of(x, n)
    first = balls[0]
    balls[0], balls[1] = balls[1], balls[0]
    balls[2] = first
    first.x = 5.0
    for ball in balls:
        ball.v += ball.x
    return total_of(balls), first.v


def taken_and_changed(x, n):
    balls = balls_of(x, n)
    first, last = balls.pop(0), balls.pop()
    first.x, last.v = 7.0, first.x + 1.0
    for ball in balls:
        ball.push(first)
    balls.append(last)
    last.x = 9.0
    return total_of(balls), first.x, first.v, last.x


def events_in_a_queue(x, n):
    queue, t, seen = balls_of(x, n), 0.0, 0
    while queue and seen < 3 * n:
        ball = queue.pop(0)
        ball.x = 0.9 * ball.x + 0.1
        t += ball.x
        seen += 1
        if abs(ball.x) > 0.3:
            queue.append(ball)
    return t + total_of(queue), len(queue), seen


RIGHT = [
    *(each_of_them, each_by_its_index, each_with_each_other, of_a_class_in_a_class),
    *(joined_by_springs, by_a_property_and_a_class_above, numbers_of_other_kinds),
    *(of_a_dataclass, by_a_generator, while_one_is_large, in_a_sum, by_another_name),
    *(the_largest, the_largest_by_a_key, none_at_first, the_one_before, one_or_another),
    *(found_by_a_function, in_a_dict_and_a_tuple, a_name_that_goes_on, two_names_exchanged),
    *(which_is_which, a_part_of_the_list, those_that_pass, in_another_order),
    *(several_lists_of_them, two_lists_in_one, rows_of_rows, lists_of_neighbours, copies_stay),
    *(numbers_read_before, appended_and_changed, some_are_appended),
    *(appended_to_a_comprehension, references_that_are_appended, made_anew_and_changed),
    *(fewer_in_each_iteration, items_that_are_exchanged, taken_and_changed, events_in_a_queue),
]
EITHER = []
