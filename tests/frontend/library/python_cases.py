"""Cases of `operator`, `statistics` and the functions of `math` on whole numbers."""

from __future__ import annotations

import math
import operator
import statistics

import numpy as np

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(18)
X, N = RANDOM.normal(size=20), np.arange(20)


def operators(a, b, n, k):
    return (
        *(operator.add(a, b), operator.sub(a, 2), operator.mul(a, n), operator.truediv(a, b)),
        *(operator.floordiv(n, k), operator.mod(n, k), operator.pow(a, 2), operator.matmul(a, b)),
        *(operator.and_(n, k), operator.or_(n, k), operator.xor(n, k)),
        *(operator.lshift(n, 2), operator.rshift(n, 1), operator.invert(n), operator.inv(k)),
        *(operator.neg(a), operator.pos(a), operator.abs(b), operator.neg(n)),
        *(operator.lt(a, b), operator.le(a, b), operator.eq(n, k), operator.ne(a, b)),
        *(
            operator.gt(a, b),
            operator.ge(a[0], b[0]),
            operator.contains(a, a[1]),
            operator.contains([1, 2], n),
        ),
        *(operator.not_(n), operator.truth(n), operator.is_(a, a), operator.is_not(a, b)),
    )


def in_place(a, n, k):
    c, d = a.copy(), np.arange(len(a))
    for function in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow):
        function(c, 2.0)
    for function in (operator.ifloordiv, operator.imod, operator.iand, operator.ior, operator.ixor):
        function(d, 3)
    operator.ilshift(d, 2)
    operator.irshift(d, 1)
    return c, d, operator.iadd(n, k), operator.imatmul(np.ones((2, 2)), np.eye(2) * k)


def averages(x, n):
    return (
        *(statistics.mean(x), statistics.fmean(x), statistics.fmean(n), statistics.fmean(x, abs(x))),
        *(
            statistics.median(x),
            statistics.median(x[:5]),
            statistics.median_low(x),
            statistics.median_high(x),
        ),
        *(statistics.median_low(n), statistics.variance(x), statistics.stdev(x), statistics.pvariance(x)),
        *(statistics.pstdev(x), statistics.variance(x, 0.5), statistics.pstdev(x, mu=0.1)),
        *(statistics.geometric_mean(abs(x)), statistics.harmonic_mean(abs(x))),
        *(statistics.mean([x[0], x[1]]), statistics.mean([float(x[0]), 2.0]), statistics.stdev([x[0], 1.5])),
        statistics.harmonic_mean([1.5, abs(x[0])], weights=[1, 2]),
    )


def numbers(n, k):
    return (
        *(
            math.factorial(n),
            math.comb(n, k),
            math.comb(k, n),
            math.perm(n, k),
            math.perm(k),
            math.comb(62, n + 24),
        ),
        *(math.gcd(12 * n, 18 * k), math.gcd(n), math.gcd(-n * k, 6, k), math.lcm(n, k, 4), math.lcm(n, 0)),
        *(math.isqrt(n), math.isqrt(n**2 - 1), math.isqrt(n**2), math.gcd(), math.lcm()),
    )


CASES: list[Case] = [
    case(
        tuple(
            getattr(operator, name)
            for name in (
                *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"),
                *("lshift", "rshift", "invert", "neg", "pos", "abs", "lt", "le", "eq", "ne", "gt", "ge"),
                *("contains", "not_", "truth", "is_", "is_not"),
            )
        ),
        operators,
        X,
        X[::-1].copy(),
        7,
        3,
    ),
    case(
        tuple(
            getattr(operator, f"i{name}")
            for name in (
                *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
                *("lshift", "rshift"),
            )
        ),
        in_place,
        X,
        7,
        3,
    ),
    case(operator.mul, lambda x: (operator.mul(x + 1j, x), operator.neg(1j * x), operator.eq(1j * x, x)), X),
    case(
        tuple(
            getattr(statistics, name)
            for name in (
                *("mean", "fmean", "median", "median_low", "median_high", "variance", "stdev", "pvariance"),
                *("pstdev", "geometric_mean", "harmonic_mean"),
            )
        ),
        averages,
        X,
        N,
    ),
    case((math.factorial, math.comb, math.perm, math.gcd, math.lcm, math.isqrt), numbers, 7, 3),
]
