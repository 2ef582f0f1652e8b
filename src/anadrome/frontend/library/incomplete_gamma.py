"""The incomplete gamma functions, whose derivative by the shape parameter has no closed form (decision 23).

With D(a) = x^a·exp(-x)/Γ(a+1), which is the density of shape a + 1,

    P(a, x) = D·S,  S = Σ xⁿ/((a+1)…(a+n))                 x < a + 1      (DLMF 8.7.1)
    Q(a, x) = D·a·h,  h = 1/(x+1-a - 1·(1-a)/(x+3-a - …))   x ≥ a + 1      (DLMF 8.9.2)

are differentiated term by term (Moore 1982, AS 187): both sums of one sign, so that nothing cancels. Where a
is large and x near it these take √a steps; there, since P(a, x) = Σ_{k≥0} D(a+k), Euler and Maclaurin's
formula for sums gives

    ∂P/∂a = -Σ Bₙ/n!·D⁽ⁿ⁾(a) = -D + D'/2 - D''/12 + D''''/720 - …
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Var
from anadrome.dtypes import F64
from anadrome.prims.series import polynomial
from anadrome.prims.special import BERNOULLI, gamma_density

LARGE = 100.0
"""From this shape on the sum formula is used, where |log(x/a)| < ¼: its terms fall by (¼/2π)² = 0.0016."""
LIMIT = 2000
"""No series of the ranges above takes more than some 200 steps; NaNs end at once."""
PRECISION = 2.0**-53
ORDERS = 8
"""The highest derivative of D in the sum formula."""


def incomplete_gamma(name: str) -> Callable[[Builder, tuple[Atom, ...]], Atom]:
    """The rule of scipy.special.gammainc, gammaincc: SciPy's value, linked to both derivatives."""
    is_upper = name == "gammaincc"

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        held = [builder.apply("stop_gradient", one) for one in scalars]
        value = builder.apply(name, *held)
        density, slope = gamma_density(builder, *scalars), shape_slope(builder, *scalars)
        if is_upper:
            density, slope = builder.neg(density), builder.neg(slope)
        return builder.apply("linked", builder.apply("linked", value, scalars[1], density), scalars[0], slope)

    return rule


def shape_slope(builder: Builder, a: Atom, x: Atom) -> Atom:
    """∂P(a, x)/∂a for a ≥ 0 and x ≥ 0, computed in float64; 0 at x = 0 and at infinity, NaN elsewhere."""
    shape, place = builder.convert(a, F64), builder.convert(x, F64)
    zero, one = builder.constant(0.0, shape), builder.constant(1.0, shape)
    is_positive = _both(builder, builder.apply("ge", shape, zero), builder.apply("gt", place, zero))
    is_finite = _both(builder, builder.apply("isfinite", shape), builder.apply("isfinite", place))
    is_inside = _both(builder, is_positive, is_finite)
    inner_a, inner_x = builder.select(is_inside, shape, one), builder.select(is_inside, place, one)
    (found,) = builder.branch(
        _is_central(builder, inner_a, inner_x),
        lambda inner: (_by_sum_formula(inner, inner_a, inner_x),),
        lambda inner: inner.branch(
            inner.apply("lt", inner_x, inner.add(inner_a, one)),
            lambda deeper: (_by_series(deeper, inner_a, inner_x),),
            lambda deeper: (_by_fraction(deeper, inner_a, inner_x),),
        ),
    )
    at_end = _both(builder, builder.apply("ge", shape, zero), builder.apply("ge", place, zero))
    outside = builder.select(at_end, zero, builder.constant(math.nan, shape))
    return builder.convert(builder.select(is_inside, found, outside), a.type.dtype)


def _both(builder: Builder, left: Atom, right: Atom) -> Atom:
    return builder.apply("and", left, right)


def _is_central(builder: Builder, a: Atom, x: Atom) -> Atom:
    bound = builder.constant(math.exp(0.25), a)
    near = _both(
        builder,
        builder.apply("lt", x, builder.mul(bound, a)),
        builder.apply("gt", builder.mul(x, bound), a),
    )
    return _both(builder, builder.apply("ge", a, builder.constant(LARGE, a)), near)


# ---------------------------------------------------------------------------- three ways
def _by_series(builder: Builder, a: Atom, x: Atom) -> Atom:
    """D·(S·(log x - ψ(a+1)) + S'), where the term tₙ of S has the derivative -tₙ·Σ_{k≤n} 1/(a+k)"""
    zero, one = builder.constant(0.0, a), builder.constant(1.0, a)

    def is_open(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        steps, term, rate, _, slope = carried
        change = inner.apply("abs", inner.mul(term, rate))
        limit = inner.mul(inner.constant(0.25 * PRECISION, a), inner.apply("abs", slope))
        return _both(inner, _is_early(inner, steps), inner.apply("gt", change, limit))

    def step(inner: Builder, carried: Sequence[Atom]) -> Sequence[Atom]:
        steps, term, rate, total, slope = carried
        after = inner.add(steps, one)
        below = inner.add(a, after)
        term = inner.mul(term, inner.div(x, below))
        rate = inner.sub(rate, inner.div(one, below))
        return after, term, rate, inner.add(total, term), inner.add(slope, inner.mul(term, rate))

    first = step(builder, (zero, one, zero, one, zero))
    *_, total, slope = builder.while_loop(first, is_open, step)
    factor = builder.sub(builder.apply("log", x), builder.apply("digamma", builder.add(a, one)))
    whole = builder.add(builder.mul(total, factor), slope)
    return builder.mul(gamma_density(builder, builder.add(a, one), x), whole)


def _is_early(builder: Builder, steps: Atom) -> Atom:
    return builder.apply("lt", steps, builder.constant(float(LIMIT), steps))


def _by_fraction(builder: Builder, a: Atom, x: Atom) -> Atom:
    """-D·h·(a·(log x - ψ(a+1) + h'/h) + 1), the fraction by Lentz's method (Thompson & Barnett 1986).

    With aₙ = -n·(n-a) and bₙ = x + 2n + 1 - a, the inverses Kₙ = 1/(bₙ + aₙ·Kₙ₋₁) from K₀ = 0 and
    Dₙ = 1/(bₙ + aₙ·Dₙ₋₁) from D₀ = 1/b₀ make h = D₀·Π Dₙ/Kₙ; each is carried with its derivative by a.
    """
    zero, one, two = (builder.constant(value, a) for value in (0.0, 1.0, 2.0))
    start = builder.add(builder.sub(x, a), one)
    first = builder.div(one, start)

    def is_open(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        steps, moved = carried[0], carried[1]
        far = inner.apply("gt", moved, inner.constant(8.0 * PRECISION, a))
        return _both(inner, _is_early(inner, steps), far)

    def step(inner: Builder, carried: Sequence[Atom]) -> Sequence[Atom]:
        steps, _, upper, upper_tan, lower, lower_tan, total, slope = carried
        after = inner.add(steps, one)
        factor = inner.mul(after, inner.sub(a, after))
        offset = inner.add(start, inner.mul(two, after))

        def inverse(value: Atom, tangent: Atom) -> tuple[Atom, Atom]:
            """1/(bₙ + aₙ·value), and the relative derivative of what is inverted"""
            result = inner.div(one, inner.add(offset, inner.mul(factor, value)))
            change = inner.sub(inner.add(inner.mul(after, value), inner.mul(factor, tangent)), one)
            return result, inner.mul(change, result)

        upper, upper_rate = inverse(upper, upper_tan)
        lower, lower_rate = inverse(lower, lower_tan)
        ratio, change = inner.div(lower, upper), inner.sub(upper_rate, lower_rate)
        slope = inner.add(slope, change)
        size = inner.add(inner.apply("abs", upper_rate), inner.apply("abs", slope))
        moved = inner.add(
            inner.apply("abs", inner.sub(ratio, one)), inner.div(inner.apply("abs", change), size)
        )
        upper_tan, lower_tan = (
            inner.neg(inner.mul(rate, value)) for rate, value in ((upper_rate, upper), (lower_rate, lower))
        )
        return after, moved, upper, upper_tan, lower, lower_tan, inner.mul(total, ratio), slope

    begin = (zero, one, zero, zero, first, builder.mul(first, first), first, first)
    *_, total, slope = builder.while_loop(begin, is_open, step)
    beyond = builder.add(a, one)
    rate = builder.add(builder.sub(builder.apply("log", x), builder.apply("digamma", beyond)), slope)
    whole = builder.add(builder.mul(a, rate), one)
    return builder.neg(builder.mul(builder.mul(gamma_density(builder, beyond, x), total), whole))


def _by_sum_formula(builder: Builder, a: Atom, x: Atom) -> Atom:
    """-Σ Bₙ/n!·D⁽ⁿ⁾, where D⁽ⁿ⁾ = Σ_k C(n-1, k)·D⁽ᵏ⁾·l⁽ⁿ⁻¹⁻ᵏ⁾ with l = (log D)' = log x - ψ(a+1)"""
    rates = _rates(builder, a, x)
    ratios: list[Atom] = [builder.constant(1.0, a)]
    for n in range(1, ORDERS + 1):
        terms = [
            builder.mul(
                builder.constant(float(math.comb(n - 1, k)), a), builder.mul(ratios[k], rates[n - 1 - k])
            )
            for k in range(n)
        ]
        ratios.append(_sum(builder, terms))
    numbers = {0: 1.0, 1: -0.5, **{2 * k: number for k, number in enumerate(BERNOULLI, 1)}}
    terms = [
        builder.mul(builder.constant(-numbers[n] / math.factorial(n), a), ratios[n])
        for n in (0, 1, *range(2, ORDERS + 1, 2))
    ]
    density = gamma_density(builder, builder.add(a, builder.constant(1.0, a)), x)
    return builder.mul(density, _sum(builder, terms))


def _sum(builder: Builder, terms: Sequence[Atom]) -> Atom:
    total = terms[0]
    for term in terms[1:]:
        total = builder.add(total, term)
    return total


def _rates(builder: Builder, a: Atom, x: Atom) -> list[Atom]:
    """l and its derivatives by a, where ψ(a+1) = log a + 1/(2a) - Σ B₂ₖ/(2k·a²ᵏ): the m-th is
    (-1)ᵐ·a⁻ᵐ·((m-1)! - m!/(2a) + Σ B₂ₖ/2k·(2k)…(2k+m-1)·a⁻²ᵏ), with log(x/a) first where m is 0."""
    inverse = builder.div(builder.constant(1.0, a), a)
    square = builder.mul(inverse, inverse)
    found = []
    power: Atom = builder.constant(1.0, a)
    for m in range(ORDERS):
        own = [
            number / (2 * k) * math.prod(range(2 * k, 2 * k + m)) for k, number in enumerate(BERNOULLI[:4], 1)
        ]
        series = builder.mul(square, polynomial(builder, square, own))
        series = builder.add(builder.mul(builder.constant(-0.5 * math.factorial(m), a), inverse), series)
        if m == 0:
            step = builder.div(builder.sub(x, a), a)
            found.append(builder.add(builder.apply("log1p", step), series))
        else:
            series = builder.add(builder.constant(float(math.factorial(m - 1)), a), series)
            power = builder.mul(power, inverse)
            found.append(builder.mul(builder.constant((-1.0) ** m, a), builder.mul(power, series)))
    return found
