"""Objects that lists hold and that are changed there: what they hold, and what is still refused."""

from __future__ import annotations

import numpy as np

from tests.meaning.cases.changed_items import Ball, balls_of, total_of


class Body:
    def __init__(self, place, speed):
        self.place, self.speed = place, speed


class Compared:
    def __init__(self, level):
        self.level = level

    def __eq__(self, other):
        return self.level == other.level


class Link:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def act(self):
        way = self.right.place - self.left.place
        self.left.speed += 0.1 * way
        self.right.speed -= 0.1 * way


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b)

    def __mul__(self, factor):
        return Pair(self.a * factor, self.b * factor)


# ---------------------------------------------------------------------------- what they hold
def arrays_in_place(x, n):
    bodies = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)]
    for _ in range(3):
        for body in bodies:
            body.place += 0.1 * body.speed
            body.speed[0] *= 0.5
    return sum((body.place * body.speed).sum() for body in bodies)


def arrays_of_those_that_others_hold(x, n):
    bodies = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)]
    links = [Link(bodies[i], bodies[i + 1]) for i in range(n - 1)]
    for _ in range(3):
        for body in bodies:
            body.speed[:] = 0.0
        for link in links:
            link.act()
        for body in bodies:
            body.place += 0.1 * body.speed
    return sum((body.place * body.speed).sum() for body in bodies)


def arrays_exchanged(x, n):
    bodies = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)]
    for body in bodies:
        before = body.place.copy()
        body.place = body.place + 0.1 * body.speed
        body.speed = body.speed - 0.1 * before
    return sum((body.place * body.speed).sum() for body in bodies)


def an_array_read_before_it_is_exchanged(x, n):
    bodies = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)]
    before = bodies[0].place
    bodies[0].place = bodies[1].place + 1.0
    return before.sum(), bodies[0].place.sum()


def an_array_that_two_hold(x, n):
    bodies = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)]
    bodies[0].place = bodies[1].place
    bodies[1].place[0] = 7.0
    return bodies[0].place.sum(), bodies[1].place.sum()


def objects_exchanged(x, n):
    bodies = [Body(Pair(x[0], i * 1.0), Pair(x[1], 1.0)) for i in range(n)]
    first = bodies[0].place
    for _ in range(3):
        for body in bodies:
            body.place = body.place + body.speed * 0.1
    bodies[1].place = first
    return first.a, bodies[1].place.b, sum(body.place.a * body.place.b for body in bodies)


def objects_changed(x, n):
    bodies = [Body(Pair(x[0], i * 1.0), Pair(x[1], 1.0)) for i in range(n)]
    first = bodies[0].place
    for body in bodies:
        body.place.a += body.speed.b
        body.speed.b *= first.a
    return first.a, sum(body.place.a * body.speed.b for body in bodies)


def objects_changed_and_exchanged(x, n):
    bodies = [Body(Pair(x[0], i * 1.0), Pair(x[1], 1.0)) for i in range(n)]
    first = bodies[0].place
    for body in bodies:
        body.place.a += body.speed.b
        body.place = Pair(body.place.b, x[2])
    return first.a, sum(body.place.a * body.speed.b for body in bodies)


def which_array_is_which(x, n):
    bodies, rows = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)], [x[:2] * i for i in range(n)]
    first, row = bodies[0].place, rows[0]
    rows[0][0], rows[1][1] = 5.0, 6.0
    same = sum(1.0 for left in rows for right in rows if left is right)
    return float(first is bodies[0].place), float(first is bodies[1].place), float(row is rows[0]), same


def which_array_is_which_after_an_exchange(x, n):
    bodies, rows = [Body(x[:2] * i, x[1:3] * 1.0) for i in range(n)], [x[:2] * i for i in range(n)]
    first, row = bodies[0].place, rows[0]
    bodies[0].place, rows[1] = bodies[0].place * 2.0, rows[1] * 2.0
    return float(first is bodies[0].place), float(row is rows[0])


def which_list_is_which(x, n):
    rows = [[x[0] * i, x[1]] for i in range(n)]
    row = rows[-1]
    rows[0][1] = 5.0
    return float(row is rows[-1]), float(row is rows[0]), float(row is rows[n - 1])


def which_array_a_loop_has_kept(x, n):
    rows = [x[:2] * i for i in range(n)]
    kept, count = rows[0], 0
    for i in range(n):
        count += kept is rows[i]
        kept = rows[i]
    return count


def one_object_that_all_hold(x, n):
    shared = Pair(x[0], 1.0)
    bodies = [Body(shared, Pair(x[1], i * 1.0)) for i in range(n)]
    for body in bodies:
        body.place.a += body.speed.b
    return shared.a, bodies[0].place.a


def a_new_attribute(x, n):
    balls = balls_of(x, n)
    for ball in balls:
        ball.colour = ball.x
    return sum(ball.colour for ball in balls)


def another_text(x, n):
    cells = [Body("open", x[0] * i) for i in range(n)]
    cells[0].place = "shut"
    return sum(cell.speed for cell in cells if cell.place == "open")


def a_number_of_another_type(x, n):
    balls = [Ball(np.float32(i), x[0]) for i in range(n)]
    balls[0].x = x[1] * 0.1
    return balls[0].x, balls[1].x * np.float32(0.1)


def whole_numbers_become_floats(x, n):
    balls = balls_of(x, n)
    balls[0].hits += 0.5
    for ball in balls:
        ball.hits += 1
    return sum(ball.hits for ball in balls)


# ---------------------------------------------------------------------------- others
def one_of_them_or_another(x, n):
    balls = balls_of(x, n)
    other = Ball(1.0, 2.0)
    one = balls[0] if x[0] > 0.5 else other
    one.x += 1.0
    for i in range(n):
        one.v += 0.1
        one = Ball(one.x, i * 1.0) if i % 2 else balls[i]
    return total_of(balls), other.x, one.v


def as_keys(x, n):
    balls, seen = balls_of(x, n), {}
    for ball in balls:
        seen[ball] = ball.x
        ball.x += 1.0
    return sum(seen.values())


def where_it_is(x, n):
    balls, others = balls_of(x, n), balls_of(x, n)
    balls[0].x = 1.0
    among = float(balls[1] in balls), float(balls[1] in balls[2:]), float(balls[0] not in others)
    return balls.index(balls[2]), balls.count(balls[0]), among, balls[0].x


def removed(x, n):
    balls = balls_of(x, n)
    one = balls[1]
    balls.remove(one)
    one.x = 3.0
    balls.insert(0, one)
    del balls[1]
    balls.append(Ball(x[0], 1.0))
    last = balls.pop(0)
    last.v = 7.0
    return total_of(balls), len(balls), one.v, float(one in balls)


def kept_from_lists_of_iterations(x, n):
    kept, best, last = [], None, Ball(x[0], 0.0)
    for i in range(n):
        balls = balls_of(x * (i + 1.0), n)
        balls[0].x = last.x + 1.0
        most = balls[(3 * i) % n]
        most.v += 1.0
        if best is None or most.v > best.v:
            best = most
        last = balls[i]
        kept.append(balls[i])
    kept[1].x = 9.0
    found = last
    found.v = 3.0
    return total_of(kept), 0.0 if best is None else best.x * best.v, last.x, found.v


def found_in_the_last_iteration(x, n):
    found = Ball(0.0, 0.0)
    for i in range(n):
        balls = balls_of(x * (i + 1.0), n)
        if x[i % 3] > 1.5:
            found = balls[i]
        else:
            found = balls[0]
        found.x *= 2.0
    return found.x * found.v


def made_on_one_way(x, n):
    balls = balls_of(x, n)
    one = balls[0]
    if x[0] > 0.5:
        others = balls_of(x * 2.0, n)
        others[0].x = 5.0
        one = others[1]
    one.v = 7.0
    return total_of(balls), one.x


def chosen_before_it_is_listed(x, n):
    one, two = Ball(x[0], 1.0), Ball(x[1], 2.0)
    either = one if x[2] > 2.5 else two
    balls = [one, two]
    k = 0 if n % 2 else 1
    balls[k].x = 5.0
    balls[1 - k].x += 1.0
    return either.x, total_of(balls)


def copied_before_it_is_listed(x, n):
    one, two = Ball(x[0], 1.0), Ball(x[1], 2.0)
    rows = [(one, i * 1.0) for i in range(n)]
    balls = [one, two]
    balls[n % 2].x = 5.0
    return sum(ball.x * weight for ball, weight in rows), total_of(balls)


def what_it_holds_by_another_name(x, n):
    place, bodies = Pair(x[0], 2.0), []
    first = Body(place, Pair(x[1], 1.0))
    bodies.append(first)
    for i in range(n):
        bodies.append(Body(Pair(x[0] * i, 1.0), Pair(1.0, x[2])))
    bodies[n % 2].place.a += 5.0
    place.b = x[1] * 3.0
    return place.a, first.place.b, sum(body.place.a * body.place.b for body in bodies)


def lists_put_into_another(x, n):
    first, balls = list(map(lambda i: Ball(x[0] * i, 1.0), range(n))), []
    for i in range(n):
        balls.append(Ball(x[1] * i, 2.0))
    balls.extend(first)
    balls += [Ball(x[2] * i, 3.0) for i in range(n)]
    balls[n].x, balls[-1].x = 5.0, 6.0
    part = first[1:]
    part.append(Ball(1.0, 1.0))
    part[0].v = 4.0
    return total_of(first), total_of(balls), total_of(part)


def equal_to_others(x, n):
    cells = [Compared(x[0] * (i % 2)) for i in range(n)]
    cells[0].level = cells[1].level
    return float(cells[1] in cells[:1]), float(Compared(5.5) in cells), cells.index(cells[1])


def appended_in_another_iteration(x, n):
    balls, late = [], Ball(x[0], 1.0)
    for i in range(n):
        balls.append(late)
        late.x += 1.0
        late = Ball(x[1] * i, 2.0)
    return total_of(balls), late.x


def appended_where_it_was_not_made(x, n):
    balls = []
    for i in range(n):
        ball = Ball(x[0] * i, x[1])
        if i % 2:
            balls.append(ball)
        ball.x += 1.0
    return sum(ball.x for ball in balls)


def stack(x, n):
    balls = balls_of(x, n)
    waiting, k = [balls[0]], 0
    while len(waiting) > 0 and k < n:
        ball = waiting.pop()
        ball.x += 1.0
        k += 1
        if k < n:
            waiting.append(balls[k])
    return total_of(balls)


RIGHT = [
    *(
        arrays_in_place,
        arrays_of_those_that_others_hold,
        arrays_exchanged,
        objects_exchanged,
        objects_changed,
    ),
    *(whole_numbers_become_floats, one_of_them_or_another, which_array_is_which, which_list_is_which),
    *(where_it_is, removed, kept_from_lists_of_iterations, found_in_the_last_iteration, made_on_one_way),
    *(chosen_before_it_is_listed, copied_before_it_is_listed, what_it_holds_by_another_name),
    lists_put_into_another,
]
EITHER = [
    *(an_array_read_before_it_is_exchanged, an_array_that_two_hold, which_array_a_loop_has_kept),
    *(which_array_is_which_after_an_exchange,),
    *(objects_changed_and_exchanged, one_object_that_all_hold, a_new_attribute, another_text),
    *(a_number_of_another_type, as_keys, equal_to_others, appended_in_another_iteration),
    *(appended_where_it_was_not_made, stack),
]
