"""Names through branches and loops: which value they have, of which type, and whose memory."""

from __future__ import annotations

import numpy as np


def same_value_on_both_ways(x, n):
    a = 1.0
    b = 2.0
    if x[0] > 0:
        b = a
    else:
        b = a
    return b


def same_text_on_both_ways(x, n):
    b = "two"
    if x[0] > 0:
        b = "one"
    else:
        b = "one"
    return x[0] if b == "one" else x[1]


def same_function_on_both_ways(x, n):
    f = np.cos
    g = np.sin
    if x[0] > 0:
        f = g
    else:
        f = g
    return f(x)


def same_array_on_both_ways(x, n):
    a = x.copy()
    b = np.zeros(n)
    if x[0] > 0:
        b = a
    else:
        b = a
    b += 1.0
    return a


def same_value_in_every_iteration(x, n):
    a = 1.0
    b = 2.0
    for i in range(n):
        b = a
    return b


def boolean_or_number(x, n):
    b = np.any(x > 2.0)
    if x[0] > 100.0:
        b = 7
    return b


def integer_or_float(x, n):
    b = 0
    if x[0] > 0.0:
        b = 1.5
    return b + 1


def none_or_float(x, n):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def rebinding_in_branch(x, n):
    a = x.copy()
    b = a
    if x[0] > 0:
        a = a + 1.0
    a[0] = 50.0
    return a, b


def writing_in_one_way(x, n):
    a = x.copy()
    b = a[1:]
    if x[0] > 0:
        b += 1.0
    else:
        a += 2.0
    return a, b


def writing_after_choosing(x, n):
    a, b = x.copy(), 2.0 * x
    c = a
    if x[0] > 100.0:
        c = b
    c[0] = 50.0
    return a, b, c


def branch_in_loop(x, n):
    a = x.copy()
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            a[i] += 1.0
        else:
            a[i - 1] *= 2.0
        total += a[i]
    return a, total


def break_keeps_what_was_written(x, n):
    a = x.copy()
    for i in range(n):
        a[i] = 0.0
        if i == 1:
            break
        a[i] += 5.0
    return a


def continue_skips_the_rest(x, n):
    a = x.copy()
    for i in range(n):
        if i % 2:
            continue
        a[i] *= 2.0
    return a


def else_of_a_loop(x, n):
    found = 0.0
    for v in x:
        if v > 1000.0:
            break
    else:
        found = 1.0
    return found


def name_of_the_loop_afterwards(x, n):
    for i in range(3):
        y = x[i]
    return i, y


def loop_name_assigned_inside(x, n):
    total = 0.0
    for i in range(n):
        i = i * 2
        total += i
    return total


def range_is_made_once(x, n):
    k = 3
    total = 0.0
    for i in range(k):
        k = 1
        total += x[i]
    return total, k


def while_on_an_array_it_writes(x, n):
    a = x.copy()
    k = 0
    while a[0] < 5.0:
        a += 1.0
        k += 1
    return a, k


def early_return(x, n):
    a = x.copy()
    if a[0] > 0:
        a += 1.0
        return a
    a -= 1.0
    return a


def early_return_in_loop(x, n):
    a = x.copy()
    for i in range(n):
        a[i] = -a[i]
        if i == 1:
            return a
    return a * 100.0


def short_circuit(x, n):
    log = [0.0]

    def seen(v):
        log[0] += 1.0
        return v

    one = seen(False) and seen(True)
    two = seen(True) or seen(False)
    return log[0], one, two, x[0]


def chained_comparison_evaluates_once(x, n):
    log = [0.0]

    def seen(v):
        log[0] += 1.0
        return v

    return 0.0 < seen(1.0) < 2.0, log[0], x[0]


def comprehension_has_its_own_names(x, n):
    v = 5.0
    total = sum([v for v in x])
    return v, total


def late_binding_of_closures(x, n):
    fs = [lambda: i * x[0] for i in range(3)]
    return fs[0](), fs[2]()


def late_binding_in_a_loop(x, n):
    fs = []
    for i in range(3):
        fs.append(lambda: i + x[0])
    return fs[0](), fs[1]()


def default_binds_early(x, n):
    fs = [lambda i=i: i + x[0] for i in range(3)]
    return fs[0](), fs[1]()


def closure_sees_rebinding(x, n):
    a = x.copy()

    def f():
        return a[0]

    before = f()
    a = np.zeros(n)
    return before, f()


def nonlocal_rebinding(x, n):
    a = x.copy()
    b = a

    def f():
        nonlocal a
        a = a + 1.0
        a[0] = 50.0

    f()
    return a, b


def nonlocal_counter(x, n):
    count = 0

    def f(v):
        nonlocal count
        count += 1
        return v * count

    return [f(1.0), f(1.0), f(x[0])], count


def nonlocal_in_comprehension(x, n):
    total = 0.0

    def f(v):
        nonlocal total
        total += v
        return total

    return np.array([f(v) for v in x]), total


def parameter_rebound(x, n):
    def f(v):
        v = v * 2.0
        v += 1.0
        return v

    a = x.copy()
    return f(a), a


def parameter_written(x, n):
    def f(v, w):
        v += 1.0
        w *= 2.0
        return v

    a = x.copy()
    return f(a, a), a


def starred_arguments_are_new_containers(x, n):
    def f(*rest, **named):
        named["k"] = 5.0
        rest[0][0] = 50.0
        return named["k"]

    a = x.copy()
    d = {"k": 1.0}
    return f(a, **d), a, d["k"]


def recursion(x, n):
    def f(v, k):
        if k == 0:
            return v
        v += 1.0
        return f(v, k - 1)

    a = x.copy()
    return f(a, 3), a


def walrus(x, n):
    a = x.copy()
    if (m := a[0]) > 0:
        a[0] = 50.0
    return m, a


def matched(x, n):
    a = x.copy()
    match (a, 1.0):
        case (v, w):
            v += w
    return a


def deleted(x, n):
    a = x.copy()
    b = a
    del a
    b += 1.0
    return b


def multiple_targets(x, n):
    a = b = x.copy()
    a += 1.0
    return a, b


def unpacking_evaluates_first(x, n):
    a = x.copy()
    i = 0
    i, a[i] = 1, 50.0
    return a, i


def assignment_order(x, n):
    a = x.copy()
    a[0], a[1], a[0] = 1.5, a[0], a[1]
    return a


def asserted(x, n):
    assert n >= 0, "a size"
    assert len(x) == n
    return x * 2.0


def annotated(x, n):
    total: float = 0.0
    for v in x:
        step: float = v * 2.0
        total += step
    return total


def under_errstate(x, n):
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / (x - 1.0)


def keyed_comprehensions(x, n):
    by_power = {k: x**k for k in range(3)}
    kinds = {k % 2 for k in range(4)}
    return by_power[2] + len(kinds)


def unpacked_arguments(x, n):
    def scaled(a, b, *, c):
        return a * b + c

    return scaled(*[x, 2.0], c=1.0)


def counted_by_a_while(x, n):
    items = [1.0]
    j = 1
    while j <= 3:
        saved = 0.0
        r = 0
        while r < j:
            part = items[r] * x[r % 3]
            items[r] = saved + part
            saved = 0.5 * part
            r += 1
        items.append(saved)
        j += 1
    return items


def a_word_as_state(x, n):
    kind = "none"
    if x[0] > 0.5:
        kind = "wall" if x[1] > 2.5 else "pair"
    is_hit = kind in ("wall", "pair")
    state, v, seen = "up", x[0], []
    for _ in range(4):
        if state == "up":
            v = v * 1.5
            if v > 3.0:
                state = "down"
        else:
            v = v * 0.5
            if v < 1.0:
                state = "up"
        seen.append(v)
    return is_hit, kind != "wall", "pair" == kind, kind == "other", seen


def chain_of_comparisons_with_effects(x, n):
    count, seen = [0], []

    def told(v):
        count[0] += 1
        seen.append(v)
        return v

    holds = [x[0] < told(x[1]) < told(limit) < told(9.0) for limit in (0.5, 2.5)]
    return holds, count, seen


RIGHT = (
    a_word_as_state,
    counted_by_a_while,
    chain_of_comparisons_with_effects,
    *(asserted, annotated, under_errstate, keyed_comprehensions, unpacked_arguments),
    *(same_value_on_both_ways, same_text_on_both_ways, same_function_on_both_ways, same_array_on_both_ways),
    *(same_value_in_every_iteration, integer_or_float, writing_in_one_way, branch_in_loop),
    *(break_keeps_what_was_written, continue_skips_the_rest, else_of_a_loop, loop_name_assigned_inside),
    *(range_is_made_once, while_on_an_array_it_writes, early_return, early_return_in_loop, short_circuit),
    *(chained_comparison_evaluates_once, comprehension_has_its_own_names, late_binding_of_closures),
    *(late_binding_in_a_loop, default_binds_early, closure_sees_rebinding, nonlocal_rebinding),
    *(nonlocal_counter, parameter_rebound, parameter_written, starred_arguments_are_new_containers),
    *(recursion, matched, deleted, multiple_targets, unpacking_evaluates_first, assignment_order),
    name_of_the_loop_afterwards,
)
EITHER = (
    *(boolean_or_number, none_or_float, walrus, rebinding_in_branch, writing_after_choosing),
    nonlocal_in_comprehension,
)
