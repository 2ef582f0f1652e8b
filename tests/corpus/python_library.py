"""Functions of `operator`, `functools`, `itertools` and `statistics`, and of `math` on whole numbers."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import statistics

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import UnsupportedCall
from tests.corpus.draw import N, normal, positive
from tests.corpus.harness import Program, Refused


def horner(p, x):
    return functools.reduce(lambda total, one: total * x + one, p)


def reduced_by_operators(x, y):
    total = functools.reduce(operator.add, map(operator.mul, x, y), 1.0)
    return total + functools.reduce(operator.mul, x[:3]) * functools.reduce(max, y)


def averages_so_far(x):
    smooth = list(itertools.accumulate(x, lambda old, new: 0.7 * old + 0.3 * new))
    sums = list(itertools.accumulate(x, initial=1.0))
    return sum(a * a for a in smooth) + sum(b * b for b in sums) / len(sums)


def total_variation(x):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


def all_pairs(x, y):
    return sum(np.tanh(a * b) for a, b in itertools.product(x, y))


def chained(x, y):
    total = 0.0
    for k, v in enumerate(itertools.chain(x, [2.0], y)):
        total += v * v * (k + 1)
    return total + sum(itertools.chain.from_iterable([x[:2], y[:1]]))


def sliced(x):
    items = iter(x)
    head = sum(itertools.islice(items, 2))
    return head**2 + sum(v * v for v in items) + sum(itertools.islice(x, 1, None, 2))


def starred(x, y):
    return sum(itertools.starmap(lambda a, b: a**2 * b, zip(x, y, strict=True)))


def in_place_by_name(x, y):
    out = x.copy()
    same = operator.iadd(out, y)
    operator.imul(same[1:], 2.0)
    operator.setitem(out, 0, x[1] * y[0])
    return np.sum(out**2) + operator.itemgetter(2)(out) + operator.attrgetter("T")(out)[1]


def statistic(x):
    spread = statistics.variance(x) + statistics.pstdev(x)
    centre = statistics.mean(x) * statistics.median(x) + statistics.fmean(x, x**2)
    return spread + centre + statistics.geometric_mean(x) * statistics.harmonic_mean(x)


def bernstein(p, x):
    n = len(p) - 1
    return sum(p[k] * math.comb(n, k) * x**k * (1.0 - x) ** (n - k) for k in range(n + 1))


def taylor(x):
    return sum(v**2 / math.factorial(k % 7) for k, v in enumerate(x)) + math.gamma(1.5 + x[0] ** 2)


PROGRAMS = (
    Program(horner, (normal(N), normal(scale=0.4))),
    Program(reduced_by_operators, (normal(N), normal(N))),
    Program(averages_so_far, (normal(N),)),
    Program(total_variation, (normal(N),)),
    Program(all_pairs, (normal(N), normal(N)), sizes=(4, 8, 16)),
    Program(chained, (normal(N), normal(N))),
    Program(sliced, (normal(N),)),
    Program(starred, (normal(N), normal(N))),
    Program(in_place_by_name, (normal(N), normal(N))),
    Program(statistic, (positive(N),)),
    Program(bernstein, (normal(N), positive(low=0.2, high=0.8))),
    Program(taylor, (normal(N),)),
)

REFUSED = (
    Refused(
        "chain of rows",
        lambda: ad.grad(lambda a: sum(np.sum(r) for r in itertools.chain(a, a)))(np.ones((200, 2))),
        UnsupportedCall,
    ),
)
