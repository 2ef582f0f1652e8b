"""Functions with derivative rules, in both modes, nested in what programs are made of."""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import agree

X = np.linspace(0.2, 1.7, 5)
LONG = np.linspace(0.1, 2.0, 40)


@ad.custom_jvp
def by_tangents(x, y):
    return np.sin(x) * y


@by_tangents.defjvp
def by_tangents_jvp(primals, tangents):
    x, y = primals
    x_tan, y_tan = tangents
    return by_tangents(x, y), np.cos(x) * y * x_tan + np.sin(x) * y_tan


@ad.custom_vjp
def by_cotangents(x, y):
    return np.sin(x) * y


def keep(x, y):
    return by_cotangents(x, y), (x, y)


def pull(residuals, cotangent):
    x, y = residuals
    x_adj, y_adj = np.cos(x) * y * cotangent, np.sin(x) * cotangent
    return x_adj, np.sum(y_adj)


by_cotangents.defvjp(keep, pull)


@ad.custom_jvp
def by_both(x, y):
    return np.sin(x) * y


by_both.defjvp(by_tangents_jvp)
by_both.defvjp(keep, pull)


def plain(x, y):
    return np.sin(x) * y


@ad.checkpoint
def again(x, y):
    return np.sin(x) * y


KINDS = [by_tangents, by_cotangents, by_both, again]
kinds = pytest.mark.parametrize("f", KINDS, ids=["jvp", "vjp", "both", "checkpoint"])


@kinds
def test_in_straight_line_code(f):
    agree(lambda x, y: np.sum(f(x * x, y) ** 3), X, 2.0, order=2)
    agree(lambda x, y: np.sum(f(x, y)) * f(y, y), LONG, 1.5, order=2)


@kinds
def test_in_loops_and_branches(f):
    def program(x):
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0.7:
                total = total + np.sum(f(x * total + x[i], x[i]))
            else:
                total = total + f(x[i], total + 1.0)
        return total

    def whiles(x):
        y = x[0]
        while y < 3.0:
            y = y + f(y, x[1]) * 0.1 + 0.2
        return y

    agree(program, X, order=2)
    agree(whiles, X, order=2)


@kinds
def test_in_comprehensions(f):
    agree(lambda x: sum(f(v, 2.0) * v for v in x), LONG, order=2)
    agree(lambda x: np.array([f(v, x[0]) for v in x]), LONG)
    agree(lambda x: max(f(v, 2.0) for v in x), LONG)


@kinds
def test_under_vmap(f):
    agree(lambda x: ad.vmap(lambda v: f(v, 2.0))(x), LONG, order=2)
    rows = ad.vmap(ad.grad(lambda v: f(v, 2.0)))(LONG)
    np.testing.assert_allclose(rows, 2.0 * np.cos(LONG), rtol=1e-12)
    np.testing.assert_allclose(
        ad.jacfwd(ad.vmap(ad.grad(lambda v: f(v, 2.0))))(X), np.diag(-2.0 * np.sin(X)), rtol=1e-12, atol=1e-15
    )


def derivative(function):
    """One derivative by forward mode."""
    return lambda x: ad.jvp(function, (x,), (1.0,))[1]


@pytest.mark.parametrize("f", KINDS[:2], ids=["jvp", "vjp"])
@pytest.mark.parametrize("modes", ["fff", "rrr", "frf", "rfr", "ffr", "rrf"])
def test_three_levels_in_every_order(f, modes):
    def nested(function):
        for mode in modes:
            function = ad.grad(function) if mode == "r" else derivative(function)
        return function

    def square(x):
        return f(x, 1.5) ** 2

    got = float(ad.jit(nested(square))(0.7))
    assert got == pytest.approx(-4 * 1.5**2 * np.sin(1.4), rel=1e-12)


def test_many_directions_at_once():
    for f in KINDS:
        x = np.linspace(0.1, 1.0, 6)
        jacobian = ad.jacfwd(lambda x, f=f: f(x, 2.0))(x)
        np.testing.assert_allclose(jacobian, np.diag(2 * np.cos(x)), rtol=1e-12, atol=1e-15)
        hessian = ad.hessian(lambda x, f=f: np.sum(f(x, x[0])))(x)
        np.testing.assert_allclose(hessian, ad.hessian(lambda x: np.sum(plain(x, x[0])))(x), rtol=1e-12)


# ---------------------------------------------------------------------------- what rules are for
def test_a_derivative_the_function_does_not_have():
    @ad.custom_jvp
    def rounded(x):
        return np.round(x)

    rounded.defjvps(lambda tangent, result, x: tangent)

    assert float(ad.grad(lambda x: rounded(x) ** 2)(2.3)) == 4.0
    assert float(ad.jacfwd(lambda x: rounded(x) ** 2)(2.3)) == 4.0
    assert rounded(2.3) == 2.0


def test_a_derivative_that_is_not_the_function_s():
    @ad.custom_vjp
    def reversed_gradient(x):
        return x

    reversed_gradient.defvjp(lambda x: (x, None), lambda residuals, cotangent: (-cotangent,))
    assert float(ad.grad(lambda x: reversed_gradient(x) ** 2)(3.0)) == -6.0
    assert float(ad.jacfwd(lambda x: reversed_gradient(x) ** 2)(3.0)) == -6.0
    assert float(ad.grad(ad.grad(lambda x: reversed_gradient(x) ** 2))(3.0)) == -2.0  # `forward` is plain

    def keep_ruled(x):
        return reversed_gradient(x), None

    reversed_gradient.defvjp(keep_ruled, lambda residuals, cotangent: (-cotangent,))
    assert float(ad.grad(ad.grad(lambda x: reversed_gradient(x) ** 2))(3.0)) == 2.0


def test_a_rule_that_is_not_linear_serves_its_own_mode():
    @ad.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda residuals, cotangent: (np.clip(cotangent, -1.0, 1.0),))
    assert float(ad.grad(lambda x: clipped(x) ** 2)(3.0)) == 1.0
    with pytest.raises(NotImplementedError, match="not recognised as linear"):
        ad.jacfwd(lambda x: clipped(x) ** 2)(3.0)


def test_a_rule_avoids_an_overflow():
    @ad.custom_jvp
    def log1pexp(x):
        return np.log(1.0 + np.exp(x))

    @log1pexp.defjvp
    def log1pexp_jvp(primals, tangents):
        return log1pexp(*primals), tangents[0] * (1.0 - 1.0 / (1.0 + np.exp(primals[0])))

    assert float(ad.grad(log1pexp)(100.0)) == 1.0
    assert float(ad.grad(ad.grad(log1pexp))(0.0)) == pytest.approx(0.25)


# ---------------------------------------------------------------------------- arguments and results
def test_containers_integers_and_keywords():
    @ad.custom_vjp
    def power(parameters, n, *, scale=1.0):
        return {"power": parameters["base"] ** n * scale, "same": (parameters["other"], n)}

    def forward(parameters, n, *, scale):
        return power(parameters, n, scale=scale), (parameters["base"], n, scale)

    def backward(residuals, cotangent):
        base, n, scale = residuals
        outer = cotangent["power"]
        return (
            {"base": n * base ** (n - 1) * scale * outer, "other": cotangent["same"][0]},
            None,
            base**n * outer,
        )

    power.defvjp(forward, backward)

    def program(parameters, scale):
        found = power(parameters, 3, scale=scale)
        return found["power"] * found["same"][0] + found["same"][1]

    agree(program, {"base": 2.0, "other": 1.5}, 0.7, order=2)


def test_functions_among_the_arguments():
    @functools.partial(ad.custom_jvp, nondiff_argnums=(0,))
    def apply(function, x):
        return function(x)

    @apply.defjvp
    def apply_jvp(function, primals, tangents):
        return function(primals[0]), ad.jvp(function, primals, tangents)[1] * 10.0

    assert float(ad.grad(lambda x: apply(np.sin, x))(0.0)) == 10.0


@pytest.mark.parametrize(
    "chosen", [{"nondiff_argnums": 0}, {"nondiff_argnums": -2}, {"nondiff_argnames": "function"}], ids=str
)
def test_arguments_that_are_not_differentiated_by_name_and_position(chosen):
    apply = ad.custom_jvp(lambda function, x: function(x), **chosen)
    apply.defjvp(lambda function, primals, tangents: (function(primals[0]), 7.0 * tangents[0]))
    assert ad.grad(lambda x: apply(np.sin, x))(0.0) == 7.0
    assert ad.grad(lambda x: apply(x=x, function=np.sin))(0.0) == 7.0


def test_settings_that_are_taken_by_name_alone():
    @functools.partial(ad.custom_vjp, nondiff_argnames=("how", "factor"))
    def apply(factor, x, *, how):
        return how(x)

    apply.defvjp(lambda factor, x, how: (how(x), None), lambda factor, how, rest, y: (factor * y,))
    assert ad.grad(lambda x: apply(5.0, x, how=np.sin))(0.0) == 5.0


@pytest.mark.parametrize("decorator", [ad.custom_jvp, ad.custom_vjp])
def test_positions_and_names_of_settings_are_those_of_parameters(decorator):
    for given in (2, -3, (0, 5), "x", 1.5):
        with pytest.raises(ValueError, match=r"(?s)`nondiff_argnums` must be .* parameters: `function`, `x`"):
            decorator(lambda function, x: function(x), nondiff_argnums=given)
    for given in ("y", 0, ("x", "y")):
        with pytest.raises(
            ValueError, match=r"(?s)`nondiff_argnames` must be .* parameters: `function`, `x`"
        ):
            decorator(lambda function, x: function(x), nondiff_argnames=given)
    several = ad.custom_jvp(lambda *args: args[0], nondiff_argnums=3)
    several.defjvp(lambda *args: args)
    with pytest.raises(ValueError, match="positions among the 2 arguments of the call"):
        ad.grad(lambda x: several(x, x))(1.0)


def test_methods():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @ad.custom_jvp
        def scaled(self, x):
            return self.scale * x

    @Model.scaled.defjvp
    def scaled_jvp(primals, tangents):
        model, x = primals
        return model.scaled(x), model.scale * tangents[1] * 2.0

    model = Model(3.0)
    assert float(ad.grad(lambda x: model.scaled(x))(1.0)) == 6.0
    assert model.scaled(2.0) == 6.0


def test_residuals_whose_size_the_rule_finds():
    @ad.custom_vjp
    def positives(x):
        return np.sum(x[x > 0.0] ** 2)

    def forward(x):
        kept = x[x > 0.0]
        return np.sum(kept**2), (x, kept)

    def backward(residuals, cotangent):
        x, kept = residuals
        mean = np.sum(kept) / len(kept)
        return (np.where(x > 0, 2.0 * x * cotangent, 0.0) + 0.0 * mean,)

    positives.defvjp(forward, backward)
    agree(lambda x: positives(x * x[0]), np.linspace(-1.0, 1.0, 40))


def test_rules_set_later_are_seen():
    @ad.custom_jvp
    def f(x):
        return x * x

    f.defjvps(lambda tangent, result, x: 2.0 * x * tangent)
    gradient = ad.grad(lambda x: f(x))
    assert float(gradient(3.0)) == 6.0
    f.defjvps(lambda tangent, result, x: 100.0 * tangent)
    assert float(gradient(3.0)) == 100.0


def test_float32():
    x = np.float32(0.5)
    for f in KINDS:
        found = ad.jit(lambda x, f=f: ad.grad(f)(x, x))(x)
        assert np.asarray(found).dtype == np.float32


def test_several_results_of_which_some_are_integers():
    @ad.custom_jvp
    def split(x):
        return np.floor(x).astype(np.int64), x - np.floor(x)

    @split.defjvp
    def split_jvp(primals, tangents):
        whole, part = split(*primals)
        return (whole, part), (0, tangents[0])

    def program(x):
        whole, part = split(x)
        return np.sum(part * part * whole)

    agree(program, np.array([1.3, 2.6, 4.1]), order=2)


# ---------------------------------------------------------------------------- closures
def test_a_rule_may_read_what_an_outer_transform_differentiates():
    def outer(a):
        @ad.custom_jvp
        def scaled(x):
            return x * a

        @scaled.defjvp
        def scaled_jvp(primals, tangents):
            return primals[0] * a, a * tangents[0]

        return ad.grad(lambda x: scaled(x) ** 2)(3.0)

    assert float(ad.grad(outer)(2.0)) == pytest.approx(4 * 2.0 * 3.0)
    assert float(derivative(outer)(2.0)) == pytest.approx(4 * 2.0 * 3.0)


def test_a_checkpoint_closes_over_differentiated_values():
    def program(a, x):
        @ad.checkpoint
        def inner(y):
            return np.sum(y * a) ** 2

        total = 0.0
        for i in range(len(x)):
            total = total + inner(x * i) * x[i] * a
        return total

    agree(program, 1.3, X, order=2)


def test_a_checkpoint_with_loops_and_indices():
    @ad.checkpoint
    def step(x, weights):
        y = np.tanh(weights @ x)
        for i in range(3):
            y[i] = y[i - 1] * x[i]
        return y

    def program(x, weights):
        for _ in range(4):
            x = step(x, weights)
        return np.sum(x**2)

    weights = np.random.default_rng(0).normal(size=(5, 5)) / 3
    agree(program, X, weights, order=2)


def test_checkpoints_in_checkpoints():
    @ad.checkpoint
    def inner(x):
        return np.sin(x) * x

    @ad.checkpoint
    def outer(x):
        return inner(inner(x)) + x

    agree(lambda x: np.sum(outer(outer(x))), X, order=2)


def test_checkpoint_as_a_call_and_of_a_filter():
    agree(lambda x: ad.checkpoint(lambda y: np.sum(y * y))(x), X)
    agree(lambda x: np.sum(ad.checkpoint(lambda y: y[y > 0.5])(x) ** 2), LONG)
    assert ad.checkpoint(np.sin)(0.0) == 0.0


def _relaxed(x):
    for _ in range(500):
        x = x - 0.1 * np.sin(x)
    return x


def _layers(x):
    for _ in ad.unroll(range(12)):
        x = 0.1 * np.cumsum(np.sin(x))
    return x


@pytest.mark.parametrize(("step", "share"), [(_relaxed, 0.3), (_layers, 0.5)])
def test_a_checkpoint_holds_less_memory(step, share):
    """Of four steps in a row, what one keeps and the four it starts from; the rest is the same."""

    def four(step):
        return ad.grad(lambda x: np.sum(step(step(step(step(x)))) ** 2))

    def held(step):
        return ad.explain(four(step), np.ones(100), measure=True).measured

    assert held(ad.checkpoint(step)) < share * held(step)
    x = np.linspace(0.5, 1.5, 100)
    # 48 prefix sums of 100 numbers, in which the two programs add in other groups
    np.testing.assert_allclose(four(ad.checkpoint(step))(x), four(step)(x), rtol=1e-11)


# ---------------------------------------------------------------------------- rules for each argument
@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_rules_than_of_arguments(count):
    @ad.custom_jvp
    def product(x, y):
        return x * y

    product.defjvps(*[lambda tangent, result, x, y: tangent * y] * count)
    words = f"`product`: the number of rules that `defjvps` gives must be 2, .* got {count}"
    for transform in (ad.grad, ad.jacfwd):
        with pytest.raises(TypeError, match=words) as caught:
            transform(lambda x: product(x, 2.0))(1.0)
        assert caught.value.span.file == __file__
    with pytest.raises(TypeError, match=words):
        product.jvp_rule((1.0, 2.0), (1.0, 1.0))
    product.defjvps(lambda tangent, result, x, y: tangent * y, None)
    assert ad.grad(lambda x: product(x, 2.0))(1.0) == 2.0


def test_rules_for_each_argument_have_none_for_settings():
    scaled = ad.custom_jvp(lambda factor, x: factor * x, nondiff_argnums=(0,))
    scaled.defjvps(lambda tangent, result, x: 2.0 * tangent)
    with pytest.raises(TypeError, match="`nondiff_argnums` must be 0, got 1"):
        ad.grad(lambda x: scaled(2.0, x))(1.0)


# ---------------------------------------------------------------------------- as objects
def test_functions_with_rules_are_pickled_by_name():
    for f in KINDS:
        assert pickle.loads(pickle.dumps(f)) is f
        assert copy.deepcopy(f) is f
        assert f(0.0, 1.0) == 0.0
    assert repr(by_tangents) == "custom_jvp(by_tangents)"
    assert repr(again) == "checkpoint(again)"
