"""Numbers: integers and floats of Python, their division, rounding, powers and conversions."""

from __future__ import annotations

import math

import numpy as np


def floor_division(x, n):
    return n // 2, -n // 2, n // -3, (n - 100) // 7, 7.5 // 2.0, -x[0] // 2.0


def remainder(x, n):
    return n % 4, -n % 4, n % -4, (n - 100) % 7, -7.5 % 2.0, x[1] % -1.5


def divmod_of_integers(x, n):
    return divmod(n, 4), divmod(-n, 4), divmod(x[1], 0.75)


def true_division(x, n):
    return n / 2, (n + 1) / n, 6 / 3


def powers(x, n):
    return n**2, 2**3, 2.0**n, (-1) ** n, n**0, 0**0, x[0] ** 2, 4**0.5


def negative_powers(x, n):
    return 2**-1, 2.0**-n, float(n) ** -1


def powers_of_minus_one(x, n):
    return sum((-1) ** k * x[k] for k in range(n))


def conversions(x, n):
    return int(2.7), int(-2.7), int(x[1] * 1.5), float(n), bool(n), int(True), float(n > 2)


def rounding(x, n):
    return round(2.5), round(3.5), round(x[0] + 0.5), round(-2.5), math.floor(-2.5), math.ceil(2.1)


def truncation(x, n):
    return math.trunc(-2.7), int(-x[0] - 0.5), np.trunc(-2.7)


def booleans_are_numbers(x, n):
    return True + True, (n > 2) + 1, sum(v > 1.5 for v in x), (x > 1.5).sum()


def integers_stay_integers(x, n):
    k = 0
    for i in range(n):
        k += i
    return k, k // 2, k / 2


def integer_arrays(x, n):
    k = np.arange(n)
    return k * 2, k / 2, k // 2, k**2, k.sum(), k.mean()


def integer_array_takes_no_float(x, n):
    k = np.zeros(n, dtype=np.int64)
    k[0] = 2.7
    k[1] = x[1]
    return k


def weak_numbers(x, n):
    y = x.astype(np.float32)
    s = 2.0
    t = np.float64(2.0)
    return y * s, y * t, y + n, np.float32(1) + 1.5


def comparison_chain(x, n):
    return 1 < n < 10, x[0] < x[1] <= 2.0, n == 3 or n == 5


def bitwise(x, n):
    return n & 3, n | 8, n ^ 5, n << 2, n >> 1, ~n


def minimum_keeps_the_first(x, n):
    return min(1, 1.0), max(1.0, 1), min(n, 4), max(n, 4.5)


def sum_starts_with_an_integer(x, n):
    return sum([]), sum([1, 2]), sum([0.5]), sum([x[0]])


def modulo_of_arrays(x, n):
    return np.mod(-x, 3.0), np.fmod(-x, 3.0), -x % 3.0, np.remainder(x, -2.0)


def factorial_of_small(x, n):
    f = 1
    for i in range(1, 10):
        f *= i
    return f, x[0]


RIGHT = (
    *(floor_division, remainder, divmod_of_integers, true_division, powers_of_minus_one, rounding),
    *(truncation, booleans_are_numbers, integers_stay_integers, integer_arrays, weak_numbers),
    *(integer_array_takes_no_float, comparison_chain, bitwise, sum_starts_with_an_integer),
    *(modulo_of_arrays, factorial_of_small, conversions),
)
EITHER = (powers, negative_powers, minimum_keeps_the_first)
