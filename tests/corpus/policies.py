"""Checkpointed loops, rules of one's own, implicit derivatives: what a user says of a derivative."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.api import RuleMismatch
from anadrome.errors.frontend import CheckpointPolicy
from anadrome.errors.runtime import BudgetExceeded
from tests.corpus.draw import N, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def kept_whole(x, rate, n):
    for _ in ad.range(n, checkpoint="all"):
        x = x + rate * np.sin(x)
    return np.sum(x**2)


def kept_by_square_roots(x, rate, n):
    for _ in ad.range(n, checkpoint="sqrt"):
        x = x + rate * np.sin(x)
    return np.sum(x**2)


def kept_by_logarithms(x, rate, n):
    for k in ad.range(n, checkpoint="log"):
        x = x + rate * np.sin(x) * (k + 1)
    return np.sum(x**2)


def kept_for_two_repetitions(x, rate, n):
    for _ in ad.range(n, checkpoint=2):
        x = x + rate * np.sin(x)
    return np.sum(x**2)


def kept_within_a_budget(x, rate, n):
    for _ in ad.range(n, memory="4kB"):
        x = x + rate * np.sin(x)
    return np.sum(x**2)


def nested_policies(x, n):
    total = 0.0
    for i in ad.range(n, checkpoint="log"):
        y = x
        for _ in ad.range(i, checkpoint="sqrt"):
            y = math.sin(y) + 0.5 * y
        x = 0.9 * x + 0.1 * y
        total += x * y
    return total


def left_early_under_a_policy(x, limit, n):
    for k in ad.range(n, checkpoint="sqrt"):
        x = x * 1.1 + 0.05 * x * x
        if x > limit:
            break
    return x * x


def written_under_a_policy(x, n):
    u = np.zeros(n + 1)
    u[0] = x
    for i in ad.range(n, checkpoint="log"):
        u[i + 1] = math.sin(u[i]) * 1.2
    return np.sum(u**2)


@ad.checkpoint
def _block(w, x):
    for _ in range(3):
        x = np.tanh(w @ x)
    return x


def checkpointed_function(w, x):
    return np.sum(_block(w, _block(w, x)) ** 2)


@ad.custom_jvp
def _softplus(x):
    return np.log(1.0 + np.exp(x))


@_softplus.defjvp
def _softplus_jvp(primals, tangents):
    (x,), (x_tan,) = primals, tangents
    return _softplus(x), x_tan / (1.0 + np.exp(-x))


def rule_for_tangents(x):
    return sum(_softplus(v) * v for v in x)


@ad.custom_vjp
def _cube(x):
    return x * x * x


def _cube_forward(x):
    return x * x * x, x


def _cube_backward(x, cotangent):
    return (3.0 * x * x * cotangent,)


_cube.defvjp(_cube_forward, _cube_backward)


def rule_for_cotangents(x):
    total = 0.0
    for v in x:
        total = total * 0.5 + _cube(v)
    return total


def fixed_point_of_a_contraction(a, b):
    x = ad.fixed_point(lambda x: np.cos(a @ x) * 0.3 + b, np.zeros(len(b)))
    return np.sum(x**2)


def root_of_a_cubic(a, b):
    return ad.root(lambda x: x**3 + a * x - b, 1.0)


def linearised(x, t):
    _, push = ad.linearize(lambda v: np.sin(v) * np.sum(v), x)
    return np.sum(push(t) * push(x))


def stopped_normaliser(x):
    weights = np.exp(x - ad.stop_gradient(np.max(x)))
    return np.sum(weights * x) / np.sum(weights)


RUNS = (8, 16, 32)
AGAIN = "log2 n states of n iterations: an iteration runs again up to log2 n times"
PROGRAMS = (
    Program(kept_whole, (normal(4), given(0.1), whole(N)), sizes=RUNS),
    Program(kept_by_square_roots, (normal(4), given(0.1), whole(N)), sizes=RUNS, at=9),
    Program(kept_by_logarithms, (normal(4), given(0.01), whole(N)), sizes=RUNS, at=9, policy=AGAIN),
    Program(kept_for_two_repetitions, (normal(4), given(0.1), whole(N)), sizes=RUNS, at=9),
    Program(kept_within_a_budget, (normal(4), given(0.1), whole(N)), sizes=RUNS, at=9),
    Program(nested_policies, (normal(), whole(N)), sizes=(4, 8, 16), at=7, policy=AGAIN),
    Program(left_early_under_a_policy, (positive(), given(3.0), given(40)), sizes=(1,)),
    Program(written_under_a_policy, (normal(), whole(N)), sizes=RUNS, at=7),
    Program(checkpointed_function, (normal(N, N, scale=0.5), normal(N)), sizes=(4, 8, 16)),
    Program(rule_for_tangents, (normal(N),)),
    Program(rule_for_cotangents, (normal(N),)),
    Program(fixed_point_of_a_contraction, (normal(N, N, scale=0.2), normal(N)), sizes=(4, 8, 16), rtol=1e-5),
    Program(root_of_a_cubic, (positive(), positive()), sizes=(1,), rtol=1e-5),
    Program(linearised, (normal(N), normal(N))),
    Program(stopped_normaliser, (normal(N),)),
)


def _too_small_a_budget(x, n):
    for _ in ad.range(n, memory="8B"):
        x = x + 0.1 * np.sin(x)
    return np.sum(x)


def _unknown_policy(x, n):
    for _ in ad.range(n, checkpoint="cube"):
        x = x + 0.1 * np.sin(x)
    return np.sum(x)


@ad.custom_vjp
def _misruled(x):
    return x * x


def _gives_two(x, cotangent):
    return x * cotangent, 1.0


_misruled.defvjp(lambda x: (x * x, x), _gives_two)


REFUSED = (
    Refused("too_small_a_budget", lambda: ad.grad(_too_small_a_budget)(np.ones(20), 9), BudgetExceeded),
    Refused("unknown_policy", lambda: ad.grad(_unknown_policy)(np.ones(20), 9), CheckpointPolicy),
    Refused(
        "rule_of_the_wrong_form", lambda: ad.grad(lambda x: np.sum(_misruled(x)))(np.ones(20)), RuleMismatch
    ),
)
