"""`try`: exceptions that Python raises while compiling, and those that only the run can raise."""

from __future__ import annotations

import math
import statistics

import numpy as np


def finally_at_the_end(x, n):
    s = x[0]
    try:
        s = s * 2
    finally:
        s = s + 1
    return s


def finally_after_a_return(x, n):
    done = []

    def f():
        try:
            return x[0] * 2
        finally:
            done.append(1.0)

    return f() + len(done)


def a_key_that_is_not_there(x, n):
    table = {"a": x[0]}
    try:
        v = table["b"]
    except KeyError as error:
        v = table["a"] * len(str(error))
    else:
        v = 1.0
    return v


def a_key_that_is_there(x, n):
    table = {"a": x[0]}
    try:
        v = table["a"]
    except (KeyError, AttributeError):
        v = 0.0
    else:
        v = v * 2
    finally:
        v = v + 1
    return v


def in_a_loop(x, n):
    total, table = 0.0, {}
    for i in range(n):
        try:
            w = table["k"]
        except KeyError:
            w = 2.0
        total += w * x[i]
    return total


def remembers(x, n):
    known = {}

    def f(k):
        try:
            return known[k]
        except KeyError:
            known[k] = x[k] if k < 2 else f(k - 1) * f(k - 2)
            return known[k]

    return f(5), len(known)


def raised_here(x, n):
    try:
        raise ValueError("no")
    except ValueError as error:
        return x[0] * len(str(error))


def caught_outside(x, n):
    try:
        try:
            return [][0]
        except KeyError:
            return 1.0
    except IndexError:
        return x[2]


def raised_again(x, n):
    try:
        try:
            return {}["a"]
        except KeyError:
            raise
    except LookupError:
        return x[1]


def what_was_done_before_stays_done(x, n):
    y = x.copy()
    try:
        y[0] = 7.0
        y = {}["a"]
    except KeyError:
        y[1] = 8.0
    return y


def a_module_that_is_not_there(x, n):
    try:
        import no_such_module  # noqa: PLC0415
    except ImportError:
        no_such_module = None
    return x[0] if no_such_module is None else x[1]


def solves_nothing(x, n):
    try:
        s = np.sum(x**2)
    except np.linalg.LinAlgError:
        s = 0.0
    return s


def divides(x, n):
    try:
        return float(x[0]) / float(x[1] - x[1])
    except ZeroDivisionError:
        return 0.0


def solves(x, n):
    try:
        return np.linalg.solve(np.outer(x[:2], x[:2]), x[:2])
    except np.linalg.LinAlgError:
        return x[:2]


def takes_a_logarithm(x, n):
    try:
        return math.log(-x[0])
    except ValueError:
        return 0.0


def raised_under_a_condition(x, n):
    try:
        if x[0] > 0:
            raise ValueError("positive")
        return 1.0
    except ValueError:
        return x[0]


def reads_behind_the_end(x, n):
    try:
        return x[n]
    except IndexError:
        return x[0]


def leaves_under_a_condition(x, n):
    s = 0.0
    try:
        if x[0] > 0:
            s = 1.0
            return s
        s = 2.0
    finally:
        s = s + 1
    return s


def quotient_and_rest(x, n):
    try:
        return divmod(x[0], x[0] - x[0])[0]
    except ZeroDivisionError:
        return -1.0


def power_of_zero(x, n):
    try:
        return pow(float(x[0] - x[0]), -1.0)
    except ZeroDivisionError:
        return -1.0


def mean_of_nothing(x, n):
    try:
        return statistics.mean([])
    except statistics.StatisticsError:
        return x[0]


RIGHT = (
    *(finally_at_the_end, finally_after_a_return, a_key_that_is_not_there, a_key_that_is_there, in_a_loop),
    *(remembers, raised_here, caught_outside, raised_again, what_was_done_before_stays_done),
    *(a_module_that_is_not_there, solves_nothing),
)
EITHER = (
    mean_of_nothing,
    power_of_zero,
    quotient_and_rest,
    *(divides, solves, takes_a_logarithm, raised_under_a_condition, reads_behind_the_end),
    leaves_under_a_condition,
)
