"""Straight-line programs of numbers."""

from __future__ import annotations

import math

import numpy as np
import scipy.special

import anadrome as ad
from anadrome.errors.api import IntegerArgument, NonScalarOutput
from anadrome.errors.frontend import UnsupportedCall
from tests.corpus.draw import given, normal, positive
from tests.corpus.harness import Program, Refused


def polynomial(x):
    return 3.0 * x**4 - 2.0 * x**3 + x - 7.0


def rational(x, y):
    return (x * y + 1.0) / (x**2 + y**2 + 1.0)


def towers_of_powers(x, y):
    return x**y + y**x + 2.0**x + x**-1.5


def trigonometry(x, y):
    return math.sin(x) * math.cos(y) + math.tan(0.3 * x) - math.atan2(y, x)


def hyperbolic(x):
    return math.sinh(x) / math.cosh(x) - math.tanh(x) * math.asinh(x) + math.atanh(0.4 * x)


def logarithms(x, y):
    return math.log(x) * math.log2(y) + math.log10(x * y) - math.log1p(x) + math.log(y, 3.0)


def exponentials(x):
    return math.exp(-x) * math.expm1(x) + math.exp2(x)


def roots_and_lengths(x, y, z):
    return math.sqrt(x * y) + math.hypot(x, y) * math.cbrt(z) + math.dist((x, y), (z, x))


def special_functions(x):
    return math.erf(x) * math.erfc(0.5 * x) + math.lgamma(x + 1.0) + scipy.special.expit(x)


def shared_subexpressions(x):
    a = x * x
    b = a * a
    c = b * b
    return a * b * c + math.sin(c) * math.sin(c)


def overwritten_name(x):
    x = x * x
    x = math.sin(x) + x
    x = x * math.exp(-x)
    return x


def modulo_and_floor(x, y):
    return x % 0.7 + y // 0.3 * x + math.fmod(x, 0.9) + divmod(y, 0.6)[1] * x


def extrema_of_numbers(x, y, z):
    return max(x, y, z) * min(x, y, z) + max(x * y, 0.0) - min(0.5, z)


def absolute_and_sign(x, y):
    return abs(x - y) * np.sign(y) + math.copysign(x, -y) * math.fabs(y)


def rounding_is_flat(x):
    return x * math.floor(3.0 * x) + round(2.0 * x) * x**2 + math.ceil(x) + math.trunc(5.0 * x) * x


def integers_mixed_in(x, n):
    return x**n * n + n / (x + n) + n // 2 * x


def several_results(x, y):
    total = x + y
    return total * x, {"ratio": x / y, "whole": 3}, [math.sin(total), y]


def black_scholes(spot, strike, rate, volatility, years):
    def normal_cdf(value):
        return 0.5 * (1.0 + math.erf(value / math.sqrt(2.0)))

    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * math.exp(-rate * years) * normal_cdf(d2)


def rosenbrock(x, y):
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


def softplus_both_ways(x):
    return math.log1p(math.exp(-abs(x))) + max(x, 0.0) + np.logaddexp(0.0, -x)


def single_precision(x, y):
    return np.float64(np.float32(0.5)) * x * y + x**2


def unused_argument(x, y):
    return x * x


def constant_result(x):
    return 4.0 + 0.0 * x


def stops_the_gradient(x, y):
    return x * ad.stop_gradient(0.0 * y + 2.0) + y


ONE = (1,)
PROGRAMS = (
    Program(polynomial, (normal(),), sizes=ONE),
    Program(rational, (normal(), normal()), sizes=ONE),
    Program(towers_of_powers, (positive(), positive()), sizes=ONE),
    Program(trigonometry, (positive(), positive()), sizes=ONE),
    Program(hyperbolic, (normal(),), sizes=ONE),
    Program(logarithms, (positive(), positive()), sizes=ONE),
    Program(exponentials, (normal(),), sizes=ONE),
    Program(roots_and_lengths, (positive(), positive(), positive()), sizes=ONE),
    Program(special_functions, (positive(),), sizes=ONE),
    Program(shared_subexpressions, (normal(),), sizes=ONE),
    Program(overwritten_name, (normal(),), sizes=ONE),
    Program(modulo_and_floor, (positive(), positive()), sizes=ONE),
    Program(extrema_of_numbers, (normal(), normal(), normal()), sizes=ONE),
    Program(
        extrema_of_numbers,
        (given(1.0), given(1.0), given(1.0)),
        name="extrema_of_equal_numbers",
        sizes=ONE,
        kink="all three arguments are equal: the first one counts",
        slopes=lambda x, y, z: (3.0, 1.0, 0.0),
    ),
    Program(absolute_and_sign, (positive(), normal()), sizes=ONE),
    Program(rounding_is_flat, (given(0.83),), sizes=ONE),
    Program(integers_mixed_in, (positive(), given(3)), sizes=ONE),
    Program(several_results, (positive(), positive()), sizes=ONE),
    Program(black_scholes, (given(1.1), given(0.9), given(0.05), given(0.4), given(2.0)), sizes=ONE),
    Program(rosenbrock, (normal(), normal()), sizes=ONE),
    Program(softplus_both_ways, (positive(),), sizes=ONE),
    Program(single_precision, (normal(), normal()), sizes=ONE),
    Program(unused_argument, (normal(), normal()), sizes=ONE),
    Program(constant_result, (normal(),), sizes=ONE),
    Program(stops_the_gradient, (normal(), normal()), sizes=ONE),
)

REFUSED = (
    Refused("gradient_by_an_integer", lambda: ad.grad(polynomial)(3), IntegerArgument, spanless=True),
    Refused(
        "gradient_of_two_results", lambda: ad.grad(lambda x: (x, x))(1.0), NonScalarOutput, spanless=True
    ),
    Refused("ulp_without_a_rule", lambda: ad.grad(lambda x: math.ulp(x))(1.5), UnsupportedCall),
)
