"""Programs on which other systems gave wrong gradients or crashed, written anew from the symptoms.

The number of a public report stands above each program.
"""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.runtime import IndexOutOfBounds
from tests.corpus.draw import N, given, indices, normal, permutation, positive, whole, with_values
from tests.corpus.harness import Program, Refused


# NVIDIA/warp#1694: a name bound before a loop of unknown length and read after it lost its adjoint.
def bound_before_and_read_after_a_loop(x, s, n):
    area = math.exp(x) * x
    total = 0.0
    for k in range(n):
        total += math.sin(s * k)
    return total * area + area * area


# NVIDIA/warp#1740: a nonlinear operation after the loop saw the accumulator's initial value.
def nonlinear_use_of_an_accumulator(x, start):
    total = start
    for v in x:
        total += v * v
    return 1.0 / math.sqrt(total) + math.log(total)


# NVIDIA/warp#1740, its workaround: the loop in a function, the nonlinear operation in it.
def accumulator_in_a_callee(x):
    def norm(v):
        total = 0.5
        for u in v:
            total += u * u
        return math.sqrt(total)

    return norm(x) * norm(x[1:]) + 1.0 / norm(x[:2])


# NVIDIA/warp#1552: `continue` in an argmax-style loop: the last iteration that ran got every gradient.
def largest_by_continue(x, c):
    out = []
    for v in [x[0], x[1], x[2]]:
        best = -1e20
        for p in range(c.shape[0]):
            for q in range(c.shape[1]):
                if c[p, q] == 0.0:
                    continue
                candidate = v * c[p, q] * (p - q + 0.5)
                if candidate > best:
                    best = candidate
        out.append(best)
    return out[0] * out[1] + out[2] ** 2


# NVIDIA/warp#1350: the backward pass evaluated at what the arrays held later, not at what was read.
def value_read_before_it_is_overwritten(x):
    y = x.copy()
    total = 0.0
    for i in range(len(y)):
        total += y[i] * y[i - 1]
        y[i] = math.sin(total)
    return total + np.sum(y)


# NVIDIA/warp#1293: nested loops of unknown length: the outer variable's gradient came out doubled.
def chain_of_rotations(angles, parents, offsets):
    n = len(angles)
    total_angle = np.zeros(n + 1)
    x, y = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        p = parents[i]
        a = total_angle[p]
        for k in range(i % 3):
            a = a + 0.5 * angles[i - k]
        total_angle[i + 1] = a + angles[i]
        x[i + 1] = x[p] + offsets[i] * math.cos(a)
        y[i + 1] = y[p] + offsets[i] * math.sin(a)
    return np.sum(x * y) + x[n] ** 2


# NVIDIA/warp#1697: `m[0, 0] = m[0, 0] + x` counted each write twice for every later one.
def component_read_modify_write(x):
    m = np.zeros((2, 2))
    for v in x:
        m[0, 0] = m[0, 0] + v
        m[0, 1] = m[0, 1] + v * m[0, 0]
        m[1, 1] = m[1, 1] + m[0, 1]
    return m[0, 0] * m[1, 1] + m[0, 1]


# NVIDIA/warp#1728: a copy assigned the gradient of its source, and a dead write leaked its own.
def copies_and_dead_writes(x):
    y = np.empty(len(x))
    y[:] = x * 5.0
    y[:] = x
    z = y.copy()
    y[0] = 2.0 * z[1]
    return np.sum(y * z * x)


# taichi-dev/taichi#8356: adding in the inner loop to what the outer one stores.
def rows_of_sums(x, y):
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(y)):
            x[i] += y[j] * x[i] * 0.1
    return np.sum(x**2)


# taichi-dev/taichi#3003: two loops inside a loop, one after the other.
def two_loops_inside_a_loop(x, n):
    y = 0.0
    for j in range(n):
        for i in range(3):
            y += x * y + x
        for i in range(j):
            y += x * i
    return y


# taichi-dev/taichi#7771: an inner range that depends on the outer index, three deep.
def ranges_that_depend_on_ranges(x):
    total = 0.0
    for i in range(len(x)):
        part = 0.0
        for j in range(i):
            for k in range(j):
                part += x[j] * x[k]
        total += part * x[i]
    return total


# taichi-dev/taichi#6204: a branch on the loop's index, one side of which is constant.
def branch_on_the_index(a, f):
    total = 0.0
    for row in a:
        for k in range(6):
            if k < 2:
                g = 1.0
            else:
                g = f * row[0] * row[1]
            total += g * row[2] * k
    return total


# taichi-dev/taichi#2505: x = cos(t) · x: what is overwritten is needed to differentiate its overwriting.
def overwritten_with_itself(x, angles):
    multiplier = 1.0
    for t in angles:
        multiplier = x
        x = math.cos(t) * multiplier
    return x * multiplier


# taichi-dev/taichi#4412: adding the same value again and again to a local variable.
def one_value_added_again(a):
    out = np.zeros(len(a))
    for i in range(len(a)):
        p = a[i] * a[i]
        q = 0.0
        for _ in range(5):
            q += p
        out[i] = q
    return out


# taichi-dev/taichi#4038: a local variable that is new in every iteration of the middle of three loops.
def local_of_the_middle_loop(x, n):
    total = 0.0
    for _ in range(n):
        for i in range(3):
            s = 0.0
            for k in range(i + 1):
                s += math.sin(x * (k + 1))
            total += s * s
    return total * x


# taichi-dev/taichi#3802: the fractional part by a branch on the value's sign.
def squared_fractional_parts(x):
    def fraction(v):
        return v - math.floor(v) if v > 0.0 else v - math.ceil(v)

    return np.array([fraction(3.0 * v) ** 2 for v in x])


# taichi-dev/taichi#7115: a branch that is not taken divides by what was never assigned: NaN.
def impulse_of_what_is_near(points):
    total = 0.0
    for p in points:
        impulse, length = 0.0, 0.0
        if p[0] < 0.5:
            length = p[0] ** 2 + p[1] ** 2
            impulse = 0.5 * p[1] / length
        total += impulse**2 + length
    return total


# taichi-dev/taichi#2312: a variable assigned under a condition that holds, then under one that does not.
def assigned_under_two_conditions(x):
    m = 0.0
    if x > x - 1.0:
        m = x * x
        if x < x - 1.0:
            m = -x
    return m * m


# taichi-dev/taichi#8101: the derivative of a distance came out twice.
def distances_of_rows(a, b):
    return np.array([np.linalg.norm(p - q) for p, q in zip(a, b)])


# mitsuba-renderer/drjit#491, #536: a loop whose body multiplies, with a value that is only passed through.
def loop_with_a_passenger(x, w, n):
    value, passenger = np.ones(len(x)), w
    for _ in range(n):
        value, passenger = value * x, passenger
    return np.sum(value) * passenger


# mitsuba-renderer/drjit#379: each element stops after iterations of its own.
def squared_each_its_own_times(x, n):
    def power(v, times):
        i = 0
        while i < times:
            v *= v
            i += 1
        return v

    return np.array([power(v, times) for v, times in zip(x, n)])


# swiftlang/swift#78264: an active value in a loop that runs at least once.
def repeat_until(x):
    result = x
    i = 0
    while True:
        result = result * (x + result)
        i += 1
        if i >= 3:
            break
    return result


# diku-dk/futhark#1895: distances of pairs found by index: atomic sums went to the wrong places.
def distances_of_pairs(points, one, other):
    return sum(math.sqrt(np.sum((points[i] - points[j]) ** 2) + 1e-3) for i, j in zip(one, other))


# diku-dk/futhark#2229: an inner derivative's closed-over variable, through a power.
def power_under_an_inner_derivative(a, b):
    return ad.grad(lambda x: (x - b) ** 2 * a)(a) * b


# diku-dk/futhark#2216: a power whose exponent is zero or whose base is negative.
def powers_at_their_edges(x):
    return x**2 + (-x) ** 3 + (x - x) ** 2 + x**0 * x


# diku-dk/futhark#1505: a loop in one branch that writes in place, the array unchanged in the other.
def loop_in_one_branch_only(v, g, is_sequential):
    v = v.copy()
    if is_sequential > 0:
        for i in range(3):
            v[0] = v[0] * g
    return np.sum(v * v)


# diku-dk/futhark#1609: the place of a tie must be the same in the value and in the derivative.
def column_winners(a):
    total = 0.0
    for j in range(a.shape[1]):
        best, at = -1e9, -1
        for i in range(a.shape[0]):
            if a[i, j] > best:
                best, at = a[i, j], i
        total += best * (at + 1)
    return total


# diku-dk/futhark#2516 (an invalid program there): duplicates in a scatter, some of them out of the way.
def scatter_with_duplicates_and_a_bin(x):
    out = np.zeros(2)
    for v in x:
        out[0 if v < 0.5 else 1] = v * v
    return out[0] * 3.0 + out[1]


# diku-dk/futhark#1878: products of reads at shifted places, their sums subtracted: reverse mode gave zero.
def correlations_subtracted(x):
    n = len(x) // 2
    sums = [[sum(x[k + j] * x[i + j] for j in range(n)) for i in range(2)] for k in range(n)]
    return sum((k + 1.0) * (one - other) for k, (one, other) in enumerate(sums))


# diku-dk/futhark#2228: a `while` whose body takes the gradient of a function that closes over an outer value.
def steps_until_it_turns(charges, position, velocity, w):
    def potential(p):
        return sum(np.sum((p - (c + w)) ** 2) for c in charges)

    go = True
    while go:
        force = ad.grad(potential)(position)
        if velocity[1] > 0.0:
            position, velocity = position + velocity * w, velocity - 0.3 * force * force
        else:
            go = False
    return position * velocity


# diku-dk/futhark#2256: the running product, multiplied with what it was made of.
def running_product_with_its_factors(x):
    return np.sum(np.cumprod(x) * x)


# diku-dk/futhark#2522: the scattered array, its values and its places are made of one array, with duplicates.
def scattered_into_its_copy(x):
    n = len(x)
    at = np.concatenate([np.arange(n), np.zeros(n, np.int64)])
    moved = ad.scatter(x * 1.0, at, np.concatenate([x, np.full(n, 2.0) * x[0]]))
    return np.sum(moved[1:] ** 2) + moved[0] * x[1]


# diku-dk/futhark#2522, the program it was cut from: a stable partition of rows by scans and a scatter.
def rows_partitioned(a):
    n = len(a)
    first = np.array([row[0] > 0.0 for row in a])
    ahead = ad.scan("add", first.astype(np.int64))
    behind = ad.scan("add", 1 - first.astype(np.int64)[::-1])[::-1]
    at = np.where(first, ahead - 1, n - behind)
    rows = ad.scatter(np.zeros(a.shape), at, a)
    return sum(np.sum(row**2) * (k + 1) for k, row in enumerate(rows))


# jax-ml/jax#12469: multiplying into repeated places.
def multiplied_into_repeated_places(h, x, p):
    h = h.copy()
    for i in range(len(p)):
        h[p[i]] *= x[i]
    return h


# jax-ml/jax#9296: a product by segments, in a likelihood.
def conditional_logit(b, a, choices, segments, count):
    utilities = np.exp(a @ b)
    probability = np.ones(count)
    for i in range(len(segments)):
        probability[segments[i]] *= utilities[choices[i]] / np.sum(utilities)
    return -np.sum(np.log(probability))


# jax-ml/jax#5900: a conditional inside a loop that goes on after its condition has failed.
def power_by_conditional_steps(x, n):
    value, go_on = 1.0, True
    for k in range(n + 3):
        if go_on:
            value = value * x
            go_on = k + 1 < n
    return value


# jax-ml/jax#9159: the side that is not taken divides by zero, for every row.
def normalised_rows(a):
    def normalise(row):
        length = np.sum(row**2)
        if length == 0.0:
            return row * 2.0
        return row / math.sqrt(length)

    return np.array([normalise(row) for row in a]) * np.arange(1.0, 4.0)


# jax-ml/jax#1052: `where` with an arctan2 or a division at its pole on the other side.
def poles_behind_where(x, y):
    at_origin = (x == 0.0) & (y == 0.0)
    angle = np.where(at_origin, 0.0, np.arctan2(y, np.where(at_origin, 1.0, x)))
    return np.sum(np.where(x != 0.0, y / np.where(x != 0.0, x, 1.0), y) + angle)


# jax-ml/jax#40626: extrema into repeated places.
def largest_into_repeated_places(h, x, p):
    h = h.copy()
    for i in range(len(p)):
        h[p[i]] = max(h[p[i]], x[i])
    return np.sum(h**2)


# pytorch, in-place correctness: a recurrence in the elements of one tensor.
def recurrence_in_one_array(x, w):
    h = np.zeros((len(x) + 1, 2))
    for t in range(len(x)):
        h[t + 1, 0] = math.tanh(w[0] * h[t, 0] + w[1] * h[t, 1] + x[t])
        h[t + 1, 1] = h[t, 0] * w[2]
    return np.sum(h**2)


# pytorch, in-place correctness: a value that the backward pass needs is multiplied in place.
def saved_value_changed_in_place(x):
    y = np.exp(x)
    z = y * y
    y *= 3.0
    y += z
    return np.sum(y * z)


# google/jax and others: sqrt and norm at zero under a guard by a branch.
def distance_with_a_guard(points):
    n = len(points)
    total = 0.0
    for i in range(n):
        for j in range(n):
            square = np.sum((points[i] - points[j]) ** 2)
            if square > 0.0:
                total += math.sqrt(square)
    return total


# apache/tvm#2498: taking single elements must not cost an array each.
def elements_taken_one_by_one(table, p):
    total = 0.0
    for i in range(len(p)):
        total = total * 0.5 + table[p[i]] ** 2
    return total


PROGRAMS = (
    Program(bound_before_and_read_after_a_loop, (normal(), normal(), whole(N))),
    Program(nonlinear_use_of_an_accumulator, (normal(N), positive())),
    Program(accumulator_in_a_callee, (normal(N),)),
    Program(
        largest_by_continue, (positive(3), with_values(normal(N, N), {3: 0.0, 7: 0.0})), sizes=(4, 8, 16)
    ),
    Program(value_read_before_it_is_overwritten, (normal(N),)),
    Program(
        chain_of_rotations,
        (normal(N), lambda random, size: random.integers(0, np.arange(1, size + 1)), normal(N)),
    ),
    Program(component_read_modify_write, (normal(N, scale=0.4),)),
    Program(copies_and_dead_writes, (normal(N),)),
    Program(rows_of_sums, (normal(N), normal(N)), sizes=(4, 8, 16)),
    Program(two_loops_inside_a_loop, (given(0.2), given(4)), sizes=(1,)),
    Program(ranges_that_depend_on_ranges, (normal(N),), sizes=(4, 8, 16)),
    Program(branch_on_the_index, (normal(N, 3), normal())),
    Program(overwritten_with_itself, (normal(), normal(N))),
    Program(one_value_added_again, (normal(N),)),
    Program(local_of_the_middle_loop, (normal(), whole(N))),
    Program(squared_fractional_parts, (normal(N),)),
    Program(impulse_of_what_is_near, (with_values(normal(N, 2), {0: 0.9, 2: 0.2, 4: -0.3}),)),
    Program(assigned_under_two_conditions, (normal(),), sizes=(1,)),
    Program(distances_of_rows, (normal(N, 3), normal(N, 3))),
    Program(loop_with_a_passenger, (normal(N), normal(), given(3))),
    Program(squared_each_its_own_times, (positive(N), indices(N, below=4)), at=6),
    Program(repeat_until, (given(0.7),), sizes=(1,)),
    Program(distances_of_pairs, (normal(N, 3), permutation(N), indices(N, below=N))),
    Program(power_under_an_inner_derivative, (normal(), normal()), sizes=(1,)),
    Program(powers_at_their_edges, (normal(),), sizes=(1,)),
    Program(loop_in_one_branch_only, (normal(N), normal(), given(1))),
    Program(loop_in_one_branch_only, (normal(N), normal(), given(0)), name="loop_in_the_branch_not_taken"),
    Program(column_winners, (normal(N, 4),)),
    Program(scatter_with_duplicates_and_a_bin, (normal(N),)),
    Program(correlations_subtracted, (normal(2 * N),), sizes=(4, 8, 16)),
    Program(
        steps_until_it_turns,
        (normal(N, 2), given(np.array([0.3, -0.2])), given(np.array([0.4, 1.5])), given(0.2)),
    ),
    Program(running_product_with_its_factors, (positive(N),)),
    Program(scattered_into_its_copy, (normal(N),)),
    Program(rows_partitioned, (normal(N, 3),)),
    Program(
        multiplied_into_repeated_places,
        (
            with_values(positive(N), {2: 0.0}),
            with_values(positive(2 * N), {0: 0.0, 3: 0.0}),
            indices(2 * N, below=N),
        ),
    ),
    Program(
        conditional_logit,
        (normal(3), normal(N, 3), indices(2 * N, below=N), indices(2 * N, below=N), whole(N)),
    ),
    Program(power_by_conditional_steps, (positive(), whole(N))),
    Program(normalised_rows, (with_values(normal(N, 3), {3: 0.0, 4: 0.0}),)),
    Program(
        normalised_rows,
        (with_values(normal(N, 3), {3: 0.0, 4: 0.0, 5: 0.0}),),
        name="normalised_rows_one_of_them_zero",
        kink="the row of zeros takes the branch without a pole; beside it the function is another one",
    ),
    Program(
        poles_behind_where,
        (with_values(normal(N), {1: 0.0}), with_values(normal(N), {1: 0.0})),
        kink="one point is at the origin, where the chosen side is flat or y",
    ),
    Program(largest_into_repeated_places, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(recurrence_in_one_array, (normal(N), normal(3))),
    Program(saved_value_changed_in_place, (normal(N),)),
    Program(distance_with_a_guard, (normal(N, 3),), sizes=(4, 8, 16)),
    Program(elements_taken_one_by_one, (normal(N), indices(N, below=N))),
)


REFUSED = (
    # diku-dk/futhark#2516: an index of -2 or below is no index of a two-element array.
    Refused(
        "scatter_below",
        lambda: ad.grad(multiplied_into_repeated_places_summed)(np.ones(20), np.ones(20), np.full(20, -21)),
        IndexOutOfBounds,
    ),
)


def multiplied_into_repeated_places_summed(h, x, p):
    return np.sum(multiplied_into_repeated_places(h, x, p))
