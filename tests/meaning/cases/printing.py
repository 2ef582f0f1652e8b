"""What is printed, in which order, and how values are written."""

from __future__ import annotations

import numpy as np


def values_and_arrays(x, n):
    y = 2.0 * x
    print("x", x, y[0], x.sum() > 1, n, sep=", ")
    y[0] = -1.0
    print(f"{y[0]:8.3f}|{y}|{n!r}", y.reshape(1, n), y[::2], repr(x[1:3]))
    return y


def loops(x, n):
    for i in range(n):
        print(i, end=" ")
        for j in range(i):
            if x[j] > 2:
                print(f"({i}, {j}: {x[j] * i})", end="")
    print()
    return x


def text_before_a_write(x, n):
    y = x.copy()
    text = f"before {y}"
    y += 1.0
    print(text, "after", y)
    return y


def branches_on_one_condition(x, n):
    c = x[0] > 0
    if c:
        print("first")
    print("between")
    if c:
        print("second")
    s = np.sum(x)
    print("sum", s)
    t = np.sum(2.0 * x)
    print("twice", t)
    return s + t


def comprehensions(x, n):
    def shown(v):
        print("shown", v)
        return 2.0 * v

    doubled = [shown(v) for v in x]
    return sum(doubled) + sum(shown(v) for v in x if v > 2)


def objects(x, n):
    state = {"step": n, "value": x[0], "pair": (x[1], [n, 2.5])}
    print(state)
    state["value"] += 1.0
    print(f"{state}", [state["value"]], str((x[0],)))
    return state["value"]


def while_with_breaks(x, n):
    i, total = 0, 0.0
    while True:
        print("at", i)
        if i >= n:
            print("stop")
            break
        total += x[i]
        i += 1
        if total > 4:
            continue
        print("small", total)
    else:
        print("never")
    return total


def growing(x, n):
    found = []
    for i in range(n):
        if x[i] > 2:
            found.append(x[i])
            print("kept", x[i], len(found))
    return found


def growing_in_a_while(x, n):
    found = []
    i = 0
    while i < n:
        if x[i] > 1:
            found.append(x[i])
            print("kept", i)
        i += 1
    return found


def arguments_in_order(x, n):
    def told(v):
        print("told", v)
        return v

    return told(x[0]) + told(x[1]) * told(1.0) - (told(2.0) if told(x[2]) > 0 else told(3.0))


def chosen_text(x, n):
    print("positive" if x[0] > 0 else "negative")
    return x


def text_of_a_loop(x, n):
    text = ""
    for v in x:
        text += f"{v} "
    print(text)
    return x


def list_in_a_text(x, n):
    squares = [v * v for v in x]
    print(squares)
    return sum(squares)


def any_that_prints(x, n):
    def is_large(v):
        print("asked", v)
        return v > 2

    return any(is_large(v) for v in x)


def chain_that_prints(x, n):
    def told(v):
        print("told", v)
        return v

    return x if told(0.0) < told(x[0]) < told(x[1]) else 2.0 * x


RIGHT = (
    *(values_and_arrays, loops, text_before_a_write, branches_on_one_condition, comprehensions, objects),
    *(while_with_breaks, growing, growing_in_a_while, arguments_in_order, chosen_text),
)
EITHER = (text_of_a_loop, list_in_a_text, any_that_prints, chain_that_prints)
