"""Operators with a declared inverse: derivatives against the rules without one, digits, corners, work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.ad.folds.commuting import is_commutative
from anadrome.ad.reverse import vjp
from anadrome.array_ir.build import build_function, number
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import SCALARS, If, Lambda, Loop, ParFor, Reduce, Scan
from anadrome.array_ir.text import parse, show
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.dtypes import F64
from anadrome.errors.api import GradientMismatch
from anadrome.errors.ir import IRError
from anadrome.errors.parallel import OperatorDiffers, UnsuitableValues
from anadrome.passes.inline import inline
from tests.corpus.draw import N, positive
from tests.corpus.harness import Case, Program, work_ratios

RNG = np.random.default_rng(3)
AT = np.array([0, 2, 1, 0, 2, 2, 0, 1])
OUTSIDE = np.array([0, 2, 9, 0, 2, 5, 0, 1])


def either(a, b):
    """1 - (1 - a)(1 - b)"""
    return a + b - a * b


def not_either(r, x):
    return (r - x) / (1.0 - x)


def product(a, b):
    return a * b


def quotient(r, x):
    return r / x


def complex_product(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def complex_quotient(r, x):
    size = x[0] * x[0] + x[1] * x[1]
    return (r[0] * x[0] + r[1] * x[1]) / size, (r[1] * x[0] - r[0] * x[1]) / size


def sum_of_products(a, b):
    return a[0] * b[1] + a[1] * b[0], a[1] * b[1]


def without_product(r, x):
    rest = r[1] / x[1]
    return (r[0] - rest * x[0]) / x[1], rest


def log_of_difference(r, x):
    return r + np.log1p(-np.exp(x - r))


def greatest_out(a, b):
    most = np.maximum(a, b)
    return most + np.log(np.exp(a - most) + np.exp(b - most))


def counted(a, b):
    """How many, and their product."""
    return a[0] + b[0], a[1] * b[1]


def uncounted(r, x):
    return r[0] - x[0], r[1] / x[1]


def after(f, g):
    return f[0] * g[0], f[1] * g[0] + g[1]


def before(r, g):
    return r[0] / g[0], (r[1] - g[1]) / g[0]


REDUCED: dict[str, tuple[Callable[..., Any], Any, Callable[..., Any], Callable[..., Any]]] = {
    "either": (either, 0.0, not_either, lambda x: x),
    "product": (product, 1.0, quotient, lambda x: x),
    "complex": (complex_product, (1.0, 0.0), complex_quotient, lambda x: (x, np.sin(3.0 * x))),
    "sum of products": (sum_of_products, (0.0, 1.0), without_product, lambda x: (np.sin(x), x)),
    "log of sum": (greatest_out, -np.inf, log_of_difference, lambda x: x),
    "counted": (counted, (0, 1.0), uncounted, lambda x: (np.arange(len(x)), x)),
    "linear": (after, (1.0, 0.0), before, lambda x: (x, x * x)),
}


def reduced(name: str, is_inverted: bool) -> Callable[[Any], Any]:
    operator, identity, inverse, items = REDUCED[name]

    def program(x: Any) -> Any:
        taken = inverse if is_inverted else None
        found = ad.reduce(operator, items(x), identity=identity, inverse=taken)
        return found if name in ("either", "product", "log of sum") else found[0] + found[1] ** 2

    return program


def by_index(operator: Any, identity: float, inverse: Any, at: Any = AT) -> Callable[[Any, Any], Any]:
    def program(x: Any, h: Any) -> Any:
        found = ad.reduce_by_index(h, operator, at, x, identity=identity, bounds="ignore", inverse=inverse)
        return np.sum(np.sin(found))

    return program


# ---------------------------------------------------------------------------- values and derivatives
@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("n", [1, 2, 20])
def test_reductions(name: str, n: int) -> None:
    x = RNG.uniform(0.3, 0.7, n)
    program, plain = reduced(name, True), reduced(name, False)
    np.testing.assert_allclose(ad.jit(program)(x), program(x), rtol=1e-13)
    np.testing.assert_allclose(ad.grad(program)(x), ad.grad(plain)(x), rtol=1e-11, atol=1e-14)
    ad.check_grads(program, (x,), order=2)


@pytest.mark.parametrize("at", [AT, OUTSIDE], ids=["inside", "outside"])
@pytest.mark.parametrize("start", [np.zeros(4), np.array([0.2, 0.1, 0.4, 0.3])], ids=["empty", "given"])
def test_histograms(at: np.ndarray, start: np.ndarray) -> None:
    x = RNG.uniform(0.3, 0.7, len(at))
    program, plain = by_index(either, 0.0, not_either, at), by_index(either, 0.0, None, at)
    for wanted, found in zip(
        ad.grad(plain, (0, 1))(x, start), ad.grad(program, (0, 1))(x, start), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    ad.check_grads(program, (x, start), order=2)
    ad.check_grads(lambda x: program(x, start), (x,), order=2)
    ad.check_grads(lambda h: program(x, h), (start,), order=2)


def test_histograms_inside_loops_and_parfors() -> None:
    def rows(a: Any) -> Any:
        return np.sum(np.sin(np.array([hist(row) for row in a])))

    def repeated(x: Any) -> Any:
        h = np.zeros(3)
        for _ in range(4):
            h = ad.reduce_by_index(h, either, AT, x, identity=0.0, inverse=not_either)
        return np.sum(h**2)

    hist = lambda row: ad.reduce_by_index(3, either, AT, row, identity=0.0, inverse=not_either)
    x = RNG.uniform(0.2, 0.5, 8)
    ad.check_grads(rows, (np.stack([x, x**2]),), order=2)
    ad.check_grads(repeated, (x,), order=2)


def test_several_directions_at_once() -> None:
    x, h = RNG.uniform(0.3, 0.7, 8), np.array([0.2, 0.1, 0.4])
    one, two = (by_index(either, 0.0, inverse) for inverse in (not_either, None))
    np.testing.assert_allclose(ad.hessian(one)(x, h), ad.hessian(two)(x, h), rtol=1e-10, atol=1e-12)


# ---------------------------------------------------------------------------- where there is no inverse
@pytest.mark.parametrize("zeros", [[2], [1, 4], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_products_with_zeros(zeros: list[int]) -> None:
    x = RNG.uniform(0.5, 1.5, 8)
    x[zeros] = 0.0
    program, plain = reduced("product", True), reduced("product", False)
    np.testing.assert_array_equal(ad.grad(program)(x), ad.grad(plain)(x))
    np.testing.assert_allclose(ad.hessian(program)(x), ad.hessian(plain)(x), rtol=1e-14)
    bins, loops = by_index(product, 1.0, quotient), by_index(product, 1.0, None)
    start = np.array([1.0, 0.0, 2.0])
    both = (ad.grad(one, (0, 1))(x, start) for one in (loops, bins))
    for wanted, found in zip(*both, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_allclose(
        ad.hessian(bins)(x, start), ad.hessian(loops)(x, start), rtol=1e-13, atol=1e-14
    )


def test_a_product_that_underflows() -> None:
    x = np.array([1e-200, 1e-200, 2.0])
    np.testing.assert_allclose(ad.grad(reduced("product", True))(x), [2e-200, 2e-200, 0.0])


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0])
def test_digits_where_a_value_swallows_the_others(distance: float) -> None:
    """1 - x = distance: (y - x)/(1 - x) has that many digits less, until the scans take over."""
    x = RNG.uniform(0.3, 0.7, 6)
    x[3] = 1.0 - distance
    lost = 8.0 * np.finfo(float).eps / max(distance, 1e-3)
    wanted = np.array([np.prod(1.0 - np.delete(x, place)) for place in range(6)])
    np.testing.assert_allclose(ad.grad(reduced("either", True))(x), wanted, rtol=2e-12, atol=lost)
    gradient = ad.grad(
        lambda x: ad.reduce_by_index(1, either, np.zeros(6, int), x, 0.0, inverse=not_either)[0]
    )
    np.testing.assert_allclose(gradient(x), wanted, rtol=2e-12, atol=lost)


def test_digits_of_a_dominant_summand() -> None:
    x = np.array([0.3, 40.0, 0.1])
    wanted = np.exp(x - np.logaddexp.reduce(x))
    np.testing.assert_allclose(ad.grad(reduced("log of sum", True))(x), wanted, rtol=1e-12)


# ---------------------------------------------------------------------------- an inverse that is wrong
WRONG: dict[str, Callable[[Any], Any]] = {
    "reduction": lambda x: ad.reduce(either, x, identity=0.0, inverse=lambda r, v: r - v),
    "histogram": lambda x: np.sum(
        ad.reduce_by_index(4, either, AT, x, identity=0.0, inverse=lambda r, v: r - v) ** 2
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_inverse_is_noticed(name: str) -> None:
    with pytest.raises(GradientMismatch):
        ad.check_grads(WRONG[name], (RNG.uniform(0.3, 0.7, 8),))


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "no function": (lambda x: ad.reduce(either, x, identity=0.0, inverse=3), UnsuitableValues),
    "no function by index": (
        lambda x: ad.reduce_by_index(3, either, AT, x, identity=0.0, inverse="sub"),
        UnsuitableValues,
    ),
    "another structure": (
        lambda x: ad.reduce(either, x, identity=0.0, inverse=lambda r, v: (r, v)),
        OperatorDiffers,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    program, kind = REFUSED[name]
    with pytest.raises(kind, match="inverse"):
        ad.jit(program)(RNG.uniform(0.3, 0.7, 8))


# ---------------------------------------------------------------------------- what runs
TEXT = """fn f(x: f64[n]) -> f64 {
  y = parfor i < n {
    v = x[i]
    yield reduce lambda v by (l) (r) from (0.0) {
      s = add l r
      p = mul l r
      t = sub s p
      return t
    } inverse {
      d = sub l r
      c = sub 1.0 r
      o = div d c
      return o
    }
  }
  return y
}
"""


def test_the_text_has_the_inverse() -> None:
    fn = parse(TEXT)
    check(fn)
    assert show(parse(show(fn))) == show(fn)
    assert show(parse(show(fn))).count("inverse {") == 1
    (value,) = run(fn, [np.array([0.5, 0.5])]).results
    assert value == 0.75


def test_the_pipeline_drops_the_inverse_first() -> None:
    assert "inverse" not in show(inline(parse(TEXT), Config()))


def test_an_inverse_of_other_types_is_refused() -> None:
    with pytest.raises(IRError, match="inverse"):
        check(parse(TEXT.replace("return o", "return o, o")))


def test_nothing_is_scanned_where_the_inverse_serves() -> None:
    derived = vjp(parse(TEXT), (True,))
    (branch,) = [let.expr for let in derived.body.lets if isinstance(let.expr, If)]
    around = [let.expr for let in derived.body.lets if not isinstance(let.expr, If)]
    inside = [let.expr for let in all_lets(branch.then)]
    for expr in (*around, *inside):
        assert not isinstance(expr, Loop)
        assert not isinstance(expr, ParFor) or not any(isinstance(item, Scan) for item in expr.yields)
    assert any(
        isinstance(let.expr, ParFor) and isinstance(let.expr.yields[0], Scan) for let in branch.other.lets
    )


def test_nothing_is_stored_but_the_derivative() -> None:
    x = RNG.uniform(0.0, 1e-5, 50_000)
    plain, inverted = (ad.explain(ad.grad(reduced("either", has_one)), x) for has_one in (False, True))
    assert inverted.measured == 8 * len(x)
    assert plain.predicted >= 2 * inverted.measured


LIMITS = {"product": 7.5, "complex": 9.0, "sum of products": 8.5}
"""Work over that of the program, above six: three divisions in the inverse, and it is looked at twice."""


@pytest.mark.parametrize("name", ["either", "product", "complex", "sum of products", "histogram"])
def test_work_is_bounded(name: str) -> None:
    if name == "histogram":
        program = Program(
            lambda x: np.sum(
                ad.reduce_by_index(3, either, np.arange(len(x)) % 3, x, 0.0, inverse=not_either)
            ),
            (positive(N, low=0.3, high=0.7),),
        )
    else:
        program = Program(reduced(name, True), (positive(N, low=0.3, high=0.7),))
    ratios = work_ratios(Case(program))
    assert ratios.largest <= LIMITS.get(name, 6.0) and not ratios.is_growing, ratios


# ---------------------------------------------------------------------------- who commutes
COMMUTING: dict[str, tuple[Callable[..., Any], Any, bool]] = {
    "either": (either, 0.0, True),
    "terms in another order": (lambda a, b: a * b * 0.5 + a + b, 0.0, True),
    "negated terms": (lambda a, b: -(-a - b) - b * a, 0.0, True),
    "complex": (complex_product, (1.0, 0.0), True),
    "sum of products": (sum_of_products, (0.0, 1.0), True),
    "log of a sum": (lambda a, b: max(a, b) + np.log1p(np.exp(-abs(a - b))), -np.inf, False),
    "log of a sum by the greater": (greatest_out, -np.inf, True),
    "root": (lambda a, b: np.sqrt(a * a + b * b), 0.0, True),
    "linear": (after, (1.0, 0.0), False),
    "difference": (lambda a, b: a - b, 0.0, False),
    "first": (lambda a, b: a, 0.0, False),
    "quotient": (lambda a, b: a / b, 1.0, False),
    "one component": (lambda a, b: (a[0] + b[0], a[1]), (0.0, 0.0), False),
}


@pytest.mark.parametrize("name", COMMUTING)
def test_who_commutes(name: str) -> None:
    operator, identity, expected = COMMUTING[name]
    items = (lambda x: (x, x)) if isinstance(identity, tuple) else (lambda x: x)
    text = ad.show(lambda x: ad.reduce(operator, items(x), identity=identity), np.ones(20), stage="simplify")
    fn = parse(text)
    (found,) = [
        item.operator
        for let in all_lets(fn.body)
        if isinstance(let.expr, ParFor)
        for item in let.expr.yields
        if isinstance(item, Reduce) and isinstance(item.operator, Lambda)
    ]
    assert is_commutative(found) is expected


def test_long_bodies_are_compared_in_linear_time() -> None:
    """Forty squares of a sum: written out it has 2^40 terms."""

    def chain(builder: Any, params: Any) -> Any:
        total = builder.apply("add", *params)
        for _ in range(40):
            total = builder.apply("mul", builder.apply("add", total, total), total)
        return (total,)

    fn = build_function("chain", [SCALARS["f64"]] * 2, chain)
    left, right = fn.params
    assert is_commutative(Lambda((left,), (right,), fn.body, (number(0.0, F64),)))
