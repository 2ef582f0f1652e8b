"""Functions with statements that are refused or fail, and those that follow their hints."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

import anadrome as ad

Y = np.linspace(0.5, 3.0, 20)
TABLE = np.ones(20)


def told(x):
    print("told", x)
    return x


def draws_in_a_branch(x):
    rng = np.random.default_rng(0)
    return x + rng.random() if x > 0.0 else x


def draws_before_a_branch(x):
    z = np.random.default_rng(0).random()
    return x + z if x > 0.0 else x


def draws_until_a_break(x):
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = x + rng.random()
        if x > 3.0:
            break
    return x


def draws_rows_first(x):
    z = np.random.default_rng(0).random(50)
    for i in range(50):
        x = x + z[i]
        if x > 3.0:
            break
    return x


def prints_rows(x):
    return ad.vmap(told)(x)


def prints_after_rows(x):
    return told(ad.vmap(lambda v: v)(x))


def prints_in_a_condition(x):
    while told(x) < 10:
        x = x + 1
    return x


def prints_in_a_loop(x):
    while True:
        if told(x) >= 10:
            break
        x = x + 1
    return x


def extends_a_string(x):
    text = ""
    for v in x:
        text += f"{v} "
    print(text)
    return x


def prints_parts(x):
    for v in x:
        print(f"{v} ", end="")
    print()
    return x


def prints_until(x):
    found = False
    for v in x:
        if told(v) > 1:
            found = True
            break
    return found


def appends_while_large(v, last):
    print("from", last)
    while last > 0.01:
        last = last * 0.5
        v = np.append(v, last)
    return v


def appends_over_a_range(v, last):
    print("from", last)
    for _ in range(60):
        if last > 0.01:
            last = last * 0.5
            v = np.append(v, last)
    return v


def writes_while_large(v, last):
    print("from", last)
    m, v = len(v), np.append(v, np.zeros(60))
    while last > 0.01:
        last = last * 0.5
        v[: m + 1] = np.append(v[:m], last)
        m = m + 1
    return v[:m]


def doubles_now_and_then(v):
    print("from", v[0])
    for i in range(90):
        if i % 30 == 0:
            v = np.concatenate([v, v * i])
    return v


def doubles_now_and_then_unrolled(v):
    print("from", v[0])
    for i in ad.unroll(range(90)):
        if i % 30 == 0:
            v = np.concatenate([v, v * i])
    return v


def halves_on_a_stack(x):
    stack, total = [x], 0.0
    print("begins with", x)
    while stack:
        v = stack.pop()
        total = total + v
        if v > 1.0:
            stack.append(0.5 * v)
            stack.append(0.25 * v)
    return total


def halves_on_an_array(x):
    stack, depth, total = np.zeros(64), 1, 0.0
    print("begins with", x)
    stack[0] = x
    while depth > 0:
        depth -= 1
        v = stack[depth]
        total = total + v
        if v > 1.0:
            stack[depth] = 0.5 * v
            depth += 1
            stack[depth] = 0.25 * v
            depth += 1
    return total


def grows_by_its_first(x):
    items = [x]
    while items[-1] < 20.0:
        items.append(items[-1] + items[0])
        print("now", items[-1])
    return items[-1] + len(items)


def grows_by_its_first_in_a_name(x):
    items, first = [x], x
    while items[-1] < 20.0:
        items.append(items[-1] + first)
        print("now", items[-1])
    return items[-1] + len(items)


def running_totals(x):
    total = 0.0
    totals = [total := total + v for v in x]
    return totals[-1]


def running_totals_in_a_loop(x):
    total, totals = 0.0, []
    for v in x:
        total = total + v
        totals.append(total)
    return totals[-1]


def counts_up(x, n):
    k = 0
    total = 0.0
    for _ in range(n):
        total = total + Y[k]
        k = k + x
    return total


def counts_up_in_integers(x, n):
    k = 0
    total = 0.0
    for _ in range(n):
        total = total + Y[k]
        k = int(k + x)
    return total


def rotates(x, n):
    for _ in range(n):
        x = x * 1j
    return x


def rotates_complex(x, n):
    x = x.astype(complex)
    for _ in range(n):
        x = x * 1j
    return x


def writes(x):
    x[0] = 7.0
    return x


def writes_a_copy(x):
    y = x.copy()
    y[0] = 7.0
    return y


def writes_around(x):
    TABLE[0] = x
    return TABLE


def writes_a_copy_of_what_is_around(x):
    y = TABLE.copy()
    y[0] = x
    return y


def adds_in_place(n, x):
    n = n.copy()
    n += x
    return n


def adds(n, x):
    n = n.copy()
    n = n + x
    return n


def appends(values, x):
    values.append(x)
    return values


def appends_to_a_copy(values, x):
    values = list(values)
    values.append(x)
    return values


def collects(x):
    table = {i: v for i, v in enumerate(x)}
    return sum(table.values())


def collects_in_a_list(x):
    table = [v for v in x]
    return sum(table)


def names_its_state(x):
    state, starts = "idle", 0.0
    for v in x:
        if state < "on" and v > 0.5:
            state, starts = "on", starts + 1.0
        elif state == "on" and v < 0.5:
            state = "idle"
    return starts


def numbers_its_state(x):
    IDLE, ON = 0, 1
    state, starts = IDLE, 0.0
    for v in x:
        if state == IDLE and v > 0.5:
            state, starts = ON, starts + 1.0
        elif state == ON and v < 0.5:
            state = IDLE
    return starts


class Rate:
    def __init__(self, value):
        self.value = value


class RateWithHalf:
    def __init__(self, value):
        self.value, self.half = value, 0.0


@dataclass
class RateOfFields:
    value: float


def changes_an_item(x, n):
    rate = {"value": 1.0}
    rates = [rate for _ in range(n)]
    rate["value"] = x
    return sum(rate["value"] for rate in rates)


def changes_what_is_copied(x, n):
    rate = {"value": 1.0}
    rates = [copy.copy(rate) for _ in range(n)]
    rate["value"] = x
    return sum(rate["value"] for rate in rates)


def leaves_an_iterator(x):
    items, first = iter(x), 0.0
    for k, v in enumerate(items):
        if v > 1.5:
            first = v * k
            break
    return first + sum(items)


def leaves_an_index(x):
    first, left = 0.0, len(x)
    for k in range(len(x)):
        if x[k] > 1.5:
            first, left = x[k] * k, k + 1
            break
    return first + sum(x[left:])


def changes_items(x, n):
    rates = [{"value": x * i} for i in range(n)]
    for rate in rates:
        rate["value"] += 1.0
    return sum(rate["value"] for rate in rates)


def makes_new_items(x, n):
    rates = [{"value": x * i} for i in range(n)]
    rates = [{"value": rate["value"] + 1.0} for rate in rates]
    return sum(rate["value"] for rate in rates)


def changes_instances(x, n):
    rates = [Rate(x * i) for i in range(n)]
    for rate in rates:
        rate.value += 1.0
    return sum(rate.value for rate in rates)


def gives_another_attribute(x, n):
    rates = [Rate(x * i) for i in range(n)]
    for rate in rates:
        rate.value += 1.0
        rate.half = rate.value * 0.5
    return sum(rate.half for rate in rates)


def makes_it_with_the_attribute(x, n):
    rates = [RateWithHalf(x * i) for i in range(n)]
    for rate in rates:
        rate.value += 1.0
        rate.half = rate.value * 0.5
    return sum(rate.half for rate in rates)


def exchanges_what_is_changed(x, n):
    rates = [Rate(Rate(x * i)) for i in range(n)]
    for rate in rates:
        rate.value.value += 1.0
        rate.value = Rate(x)
    return sum(rate.value.value for rate in rates)


def changes_it_instead(x, n):
    rates = [Rate(Rate(x * i)) for i in range(n)]
    for rate in rates:
        rate.value.value += 1.0
        rate.value.value = x
    return sum(rate.value.value for rate in rates)


def reads_an_exchanged_array(x, n):
    rates = [Rate(np.ones(2) * i) for i in range(n)]
    for rate in rates:
        before = rate.value
        rate.value = rate.value * x
        rate.value = rate.value + before
    return sum(rate.value[0] for rate in rates)


def reads_a_copy_of_it(x, n):
    rates = [Rate(np.ones(2) * i) for i in range(n)]
    for rate in rates:
        before = rate.value.copy()
        rate.value = rate.value * x
        rate.value = rate.value + before
    return sum(rate.value[0] for rate in rates)


def visits_unpadded(x):
    return sum(x[j] for k in range(len(x)) for j in [[1, 2], [], [0]][k % 3])


def visits_padded(x):
    return sum(x[j] for k in range(len(x)) for j in [[1, 2], [-1, -1], [0, -1]][k % 3] if j >= 0)
