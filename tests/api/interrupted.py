"""Long programs, run in a process of their own that is sent signals: `python interrupted.py NAME…`.

For each name it says `ready`, calls the program, and says when the call ended (by the clock of the system),
how, and whether the same function is right afterwards.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import anadrome as ad

ONE, TWO = ad.Config(threads=1), ad.Config(threads=2)


def sequential(n):
    total = 1.0
    for _ in ad.range(n):
        total = total * 0.999999 + 0.5
    return total


def endless(x):
    while x > 0.0:
        x = x + 1.0
    return x


def summed(n):
    return sum(np.sin(i * 1e-9) for i in range(n))


def nested(n, m):
    total = 0.0
    for _ in ad.range(n):
        for _ in ad.range(m):
            total = total * 0.5 + 1.0
    return total


def steps(a, n):
    for _ in ad.range(n):
        a = a * 0.999 + 0.001
    return a


def uneven(x, n):
    """The first half of the iterations is done in a quarter of the time: its thread waits for the other."""
    return sum(sum(np.sin(x[i % 100] + j) for j in range(i)) for i in range(n))


def slope(x, n):
    return ad.grad(lambda x: sum(np.sin(x * i) * np.exp(-x * i) for i in range(n)))(x)


def products(a, n):
    for _ in ad.range(n):
        a = a @ a * 0.01
    return a


def transformed(a, n):
    total = 0.0
    for _ in ad.range(n):
        total += np.abs(np.fft.fft(a)[1])
    return total


def sorted_rows(a):
    return np.sort(a)


def table(x, n):
    """A recurrence along an array, again and again."""
    for _ in ad.range(n):
        for i in range(1, len(x)):
            x[i] = 0.5 * x[i - 1] + 0.25
    return x


def swung(x, n):
    """Elements go through a long loop of constant extent each, in lanes."""
    y = x * 1.0
    for _ in ad.range(n):
        for i in range(len(y)):
            place, speed = y[i], 0.0
            for _ in range(3000):
                speed -= 0.01 * place
                place += 0.01 * speed
            y[i] = place
    return np.sum(y)


def tables(x, n):
    y = x * 1.0
    return np.sum(table(y, n))


SMALL = np.linspace(0.1, 1.0, 30)
SQUARE = np.full((200, 200), 0.1)
CASES: dict[str, tuple[Callable[..., object], tuple[object, ...], tuple[object, ...]]] = {
    "sequential": (ad.jit(sequential, config=ONE), (10**12,), (1000,)),
    "while": (ad.jit(endless, config=ONE), (1.0,), (-1.0,)),
    "sum": (ad.jit(summed, config=ONE), (10**12,), (1000,)),
    "sum on two threads": (ad.jit(summed, config=TWO), (10**12,), (1000,)),
    "short inner loops": (ad.jit(nested, config=ONE), (10**12, 3), (10, 3)),
    "long inner loops": (ad.jit(nested, config=ONE), (3, 10**12), (10, 3)),
    "small arrays": (ad.jit(steps, config=TWO), (SMALL, 10**12), (SMALL, 5)),
    "large arrays": (ad.jit(steps, config=TWO), (np.ones(10**6), 10**12), (SMALL, 5)),
    "large arrays on one thread": (ad.jit(steps, config=ONE), (np.ones(10**7), 10**12), (SMALL, 5)),
    "uneven": (ad.jit(uneven, config=TWO), (np.ones(100), 10**6), (np.ones(100), 100)),
    "gradient": (ad.jit(slope, config=TWO), (0.5, 10**12), (0.5, 100)),
    "recurrence": (ad.jit(tables, config=ONE), (np.ones(10**6), 10**12), (SMALL, 5)),
    "loops in lanes": (ad.jit(swung, config=ONE), (np.ones(3 * 10**6), 10**6), (SMALL, 5)),
    "products": (ad.jit(products, config=TWO), (SQUARE, 10**12), (SQUARE, 3)),
    "transforms": (ad.jit(transformed, config=ONE), (np.ones(4096), 10**12), (SMALL, 3)),
    "sort": (ad.jit(sorted_rows, config=ONE), (np.random.default_rng(0).random(3 * 10**7),), (SMALL,)),
}


def run(name: str) -> None:
    """Call one of the programs, and be interrupted."""
    function, long, short = CASES[name]
    expected = function(*short)
    print("ready", flush=True)
    began = time.monotonic()
    try:
        function(*long)
        how = "end"
    except KeyboardInterrupt:
        how = "KeyboardInterrupt"
    ended = time.monotonic()
    is_right = np.array_equal(function(*short), expected)
    print(f"{ended} {ended - began} {how} {is_right}", flush=True)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        run(given)
