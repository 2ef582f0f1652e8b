"""Programs that print, whose text must be that of plain Python; run by `test_printing`."""

# ruff: noqa: UP030, UP031, UP032
from __future__ import annotations

import dataclasses
import math
import sys
from collections import namedtuple

import numpy as np

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class State:
    x: float
    parts: object = None
    hidden: float = dataclasses.field(default=0.0, repr=False)


class Shown:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Shown({self.value!r})"


class Formatted:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"<{self.value:.2f}>"

    def __format__(self, spec):
        return "formatted " + format(self.value, spec)


def doubled(v):
    print("doubled", v)
    return 2 * v


def scalars(x):
    print("x is", x, x > 1, None, True, "text", sep="|", end="!\n")
    print()
    print(sep="-")
    print(x, x, sep=None, end=None)
    print(*[x, 2 * x], sep=", ")
    print('é\t"q" {} {x} %d', x)
    return x


def python_and_numpy(x):
    print([x], [2 * x], [x / 3], [-x], [abs(x)], [float(x)], [int(x)], [round(x)], (len("abc") * x,))
    print([math.sin(x)], [np.sin(x)], [np.float64(x)], [np.float32(x)], [np.int64(3) * x], x // 2, x % 2)
    print(repr(x), str(x), ascii(x), format(x), format(x, ".2f"), np.float32(x), np.int32(x))
    return x


def bools(x):
    print(
        [x > 1], [np.float64(x) > 1], {"k": not x > 1}, repr(x > 1), f"{x > 1!r} {np.float64(x) > 1!r}", x > 1
    )
    return x


def whole_numbers(k):
    print(
        [round(k)],
        [k // 2],
        [k / 2],
        [k**2],
        [-k],
        [k & 3],
        [divmod(k, 4)],
        [max(k, k + 2)],
        [float(k)],
        [k + 0.5],
    )
    return k


def formats(x):
    width = int(x)
    print(
        f"{x:>{10}.{2}f}|{3:>5}|{'a':^5}|{x:+e}|{width:05d}|{width:,}|{x!r:>20}|{x!s:<9}|{x=}|{x * 2 = :.1f}"
    )
    print(f"{x:{width + 5}.2f}|{x > 1:>7}|{x > 1!s}")
    print("%.3f and %5d and %s, %r, %8s| %%" % (x, 3, x, x, x), "%(a)s %(b).1f" % {"a": 1, "b": x}, "%g" % x)
    print("{:.2f} {} {!r} {name:>8}".format(x, x, x, name=x), "{1} {0}".format(x, 2))
    text = "v=" + str(x)
    print(text, text + "|", f"{text:>12}|", f"{text!r}", "-".join([text, "b", repr(x)]))
    return x


def arrays(a):
    print(a, a > 1, a.astype(int), a.astype(np.float32), a[::2], a[::-1], a.reshape(2, -1), a[0:0])
    print(a[None], a[0], a.shape[0], str(a), f"{a}", repr(a[:2]), np.zeros((0, 3)), np.outer(a, a).T)
    return a


def changed_array(a):
    b = 2 * a
    text = f"{b}"
    print(b)
    b[0] = 7
    print(b, text)
    return b


def containers(x):
    print(Point(x, 2), State(x, [x, 1]), Shown(x), [Shown(x)], Formatted(x), f"{Formatted(x):.1f}")
    print({"k": x, 2: (x,)}, [], [x, [x]], (), {"a": Shown(2.0)}, f"{Formatted(x)!s:>12}|")
    return x


def loop(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        if a[i] > 1:
            print("big", i, a[i], s)
        print(f"{i=} {s=} {a[i]=}", [i], [i * 2.0])
    for i, v in enumerate(a):
        print([i], [v], [i * v], end=" ")
    print(a)
    return s


def nested(m):
    for row in m:
        print(row)
    for i in range(3):
        for j in range(2):
            print(i, j, m[i, j], end=" ")
        print()
    return m


def while_loop(x):
    n = 0
    while x < 100:
        x = 3 * x
        print("while", x)
    while True:
        n += 1
        if n > 4:
            break
        if n == 2:
            continue
        print(n, x)
    return x


def branches(x):
    if x > 1:
        print("big")
        return 2 * x
    if x < 0:
        print("negative", end=" ")
    print("small")
    return x


def named(v):
    if v > 1:
        return "up"
    return "down"


def chosen(x):
    if x > 1:
        y = 2 * x
        text = f"A {y} {x > 3} {int(y)} {complex(y, 1)} {named(y)}"
    else:
        z = x * 3
        text = f"B {z:.2f} {z!r}"
    print(text, f"[{text:>40}]", text + "!", [text], named(x), f"{named(-x)!r:>8}", "%6s" % named(x))
    messages = {"last": "none"}
    if x > 0:
        messages["last"] = f"got {x}"
    print(messages["last"], "zero" if x == 0 else "other")
    return x


def chosen_in_a_loop(a):
    best = "none"
    for i in range(len(a)):
        if a[i] > 2:
            label = "high"
        elif a[i] > 1:
            label = f"mid {a[i]}"
        else:
            label = "low"
        print(i, label, f"{label:>8}|", best)
    return a


def text_of_one_way(x):
    if x > 1:
        text = f"{2 * x:.1f}"
    else:
        print("none")
        raise ValueError("none")
    print(text)
    return x


def short_circuit(x):
    return (x > 1 and doubled(x) > 2) or doubled(x) > 5


def comprehension(a):
    b = [doubled(v) for v in a]
    c = [doubled(v) for v in a if v > 1]
    return sum(b) + sum(c)


def generator(a):
    return sum(doubled(v) for v in a) + max(doubled(v) for v in a)


def two_clauses(a):
    return sum([doubled(v + w) for v in a for w in a[:2]])


def complex_numbers(x):
    z = complex(1, 2) * x
    print(z, f"{z:.1f}", [z], z.real, np.array([1, 2]) * z, repr(np.array([1j, 2]) * x), abs(z))
    return x


def streams(x):
    print("out", x, file=sys.stdout, flush=True)
    print("err", x, file=sys.stderr)
    sys.stdout.write(f"written {x}\n")
    sys.stderr.write("static\n")
    sys.stdout.flush()
    return x


def equal_loops(a):
    for _ in range(2):
        for i in range(len(a)):
            print(a[i])
        for i in range(len(a)):
            print(a[i])
    return a


def a_loop_that_does_not_change(a):
    for i in range(3):
        s = 0.0
        for v in a:
            s += v
            print("s", s)
    return s


def order_of_checks(a, p):
    b = a[p]
    print("gathered")
    return b.sum()


def check_in_every_iteration(a, p):
    s = 0.0
    for k in range(3):
        print("k", k)
        s += a[p[5]]
    return s


def failing(a):
    for i in range(len(a)):
        print(i, a[i])
        assert a[i] < 17, f"{a[i]:.1f} at {i}"
    return a


def failing_index(a):
    s = 0.0
    for i in range(len(a)):
        print(i)
        s += a[i * 3]
    return s


def raising(x):
    print("before")
    if x > 1:
        raise ValueError("too large: " + f"{x:.3f}")
    return x


SHORT, LONG = np.arange(4.0), np.arange(40.0) / 2

PROGRAMS = (
    *((scalars, (x,)) for x in (1.5, 3, np.float64(2.5), np.int64(4), np.float32(0.1))),
    *((python_and_numpy, (x,)) for x in (1.25, 7, np.float64(0.1))),
    *((bools, (x,)) for x in (0.5, 2, np.float64(2.5))),
    *((formats, (x,)) for x in (3.14159, np.float64(12.5))),
    *((whole_numbers, (k,)) for k in (7, np.int64(7))),
    *((arrays, (a,)) for a in (SHORT, LONG)),
    *((changed_array, (a,)) for a in (SHORT, LONG)),
    *((containers, (x,)) for x in (1.5, 2, np.float64(0.5))),
    *((loop, (a,)) for a in (SHORT, LONG)),
    *((nested, (m,)) for m in (np.ones((3, 2)), np.arange(60.0).reshape(30, 2))),
    *((while_loop, (x,)) for x in (1.5, 200.0)),
    *((branches, (x,)) for x in (1.5, 0.5, -0.5)),
    *((chosen, (x,)) for x in (2.5, 0.5, -1.0, np.float64(4.0))),
    *((chosen_in_a_loop, (a,)) for a in (SHORT, LONG)),
    *((text_of_one_way, (x,)) for x in (2.5, 0.5)),
    *((short_circuit, (x,)) for x in (3.0, 1.5, 0.5)),
    *((function, (a,)) for function in (comprehension, generator, two_clauses) for a in (SHORT, LONG)),
    (complex_numbers, (1.5,)),
    (streams, (1.5,)),
    *((equal_loops, (a,)) for a in (SHORT, LONG)),
    *((a_loop_that_does_not_change, (a,)) for a in (SHORT, LONG)),
    *((failing, (a,)) for a in (SHORT, LONG)),
    (failing_index, (LONG,)),
    *((order_of_checks, (LONG, np.arange(30) + first)) for first in (0, 20)),
    *((check_in_every_iteration, (LONG, np.arange(30) + first)) for first in (0, 200)),
    *((raising, (x,)) for x in (0.5, 1.5)),
)
