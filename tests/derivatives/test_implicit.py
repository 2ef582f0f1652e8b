"""Fixed points and roots: values, derivatives of every order, what they may depend on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import anadrome as ad

RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.normal(size=(12, 12))
MATRIX /= 2 * np.linalg.norm(MATRIX, 2)
LARGE = RANDOM.normal(size=(20, 20))
LARGE /= 2 * np.linalg.norm(LARGE, 2)


def pushed(function):
    return lambda x: ad.jvp(function, (x,), (1.0,))[1]


MODES = {"r": ad.grad, "f": pushed}


def kepler(mean):
    return ad.fixed_point(lambda e: mean + 0.3 * np.sin(e), mean)


def with_parameters(a):
    return ad.fixed_point(lambda x, m, p: m + p["k"] * np.sin(x) * m, 1.0, a, {"k": a * 0.2})


def of_an_array(a):
    x = ad.fixed_point(lambda x: np.tanh(MATRIX @ x * a) + a * np.arange(12.0) / 12, np.zeros(12))
    return np.sum(x**2)


def of_a_large_array(a):
    x = ad.fixed_point(lambda x: np.tanh(LARGE @ x * a) + a, np.zeros(20))
    return np.sum(x**2)


def of_a_container(a):
    found = ad.fixed_point(
        lambda s: {"u": 0.5 * np.cos(s["v"][0]) * a, "v": (0.3 * np.sin(s["u"]) + a * 0.1,)},
        {"u": 1.0, "v": (1.0,)},
    )
    return found["u"] * found["v"][0]


def square_root(a):
    return ad.root(lambda x: x * x - a, 1.0)


def of_a_system(a):
    x = ad.root(lambda x, b: np.array([x[0] ** 2 + x[1] - b, x[1] ** 2 - x[0] * b]), np.array([1.0, 1.5]), a)
    return x[0] * x[1]


def of_a_matrix(a):
    x = ad.root(lambda x: x**3 + 0.1 * x.T - a, np.ones((3, 3)))
    return np.sum(x * x)


def in_a_loop(a):
    total = 0.0
    for i in range(20):
        total = 0.5 * total + ad.fixed_point(lambda x: 0.5 * np.cos(x * a) + 0.01 * i + 0.1 * total, 0.0)
    return total


PROGRAMS = [
    (kepler, 1.0),
    (with_parameters, 1.1),
    (of_an_array, 0.8),
    (of_a_large_array, 0.8),
    (of_a_container, 0.7),
    (square_root, 2.0),
    (of_a_system, 2.0),
    (of_a_matrix, 1.3),
    (in_a_loop, 0.9),
]


@pytest.mark.parametrize(("program", "at"), PROGRAMS, ids=[one.__name__ for one, _ in PROGRAMS])
def test_first_order(program, at):
    value = ad.jit(program)
    numeric = (value(at + 1e-5) - value(at - 1e-5)) / 2e-5
    found = [float(mode(program)(at)) for mode in (ad.jacrev, pushed)]
    assert found[0] == pytest.approx(numeric, rel=1e-7)
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.parametrize(("program", "at"), PROGRAMS[:3] + PROGRAMS[5:7], ids=lambda one: str(one)[:20])
def test_second_order(program, at):
    slope = ad.jit(ad.grad(program))
    numeric = (slope(at + 1e-5) - slope(at - 1e-5)) / 2e-5
    for outer, inner in itertools.product("rf", repeat=2):
        found = float(ad.jit(MODES[outer](MODES[inner](program)))(at))
        assert found == pytest.approx(numeric, rel=1e-6)


def nested(a):
    return ad.fixed_point(
        lambda u: ad.fixed_point(lambda v: 0.3 * np.cos(v) + 0.3 * u * a, 0.0),
        0.0,
    )


def test_second_order_of_one_inside_another():
    """The seeds of a Jacobian are a parfor, in which the loops of value and derivatives stand."""
    long = ad.Config(verify=False)
    slope = ad.jit(ad.grad(nested))
    numeric = (slope(0.5 + 1e-5) - slope(0.5 - 1e-5)) / 2e-5
    curvature = float(ad.jit(ad.grad(slope), config=long)(0.5))
    assert curvature == pytest.approx(numeric, rel=1e-7)
    found = float(ad.jit(ad.jacrev(ad.jacfwd(nested)), config=long)(0.5))
    assert found == pytest.approx(curvature, rel=1e-9)


def test_gradient_of_a_jacobian_of_rows():
    def total(v):
        rows = ad.vmap(lambda a: ad.fixed_point(lambda u: a * np.sin(u) + 1, 0.0))(v)
        return np.sum(0.3 * rows * rows)

    at, direction = np.linspace(0, 0.8, 18), np.cos(np.arange(18.0))
    squares = ad.jit(lambda v: np.sum(ad.jacfwd(total)(v) ** 2))
    numeric = (squares(at + 1e-5 * direction) - squares(at - 1e-5 * direction)) / 2e-5
    found = ad.grad(squares)(at)
    assert float(found @ direction) == pytest.approx(float(numeric), rel=1e-7)
    np.testing.assert_allclose(found, ad.grad(lambda v: np.sum(ad.grad(total)(v) ** 2))(at), rtol=1e-9)


def test_third_order():
    for modes in itertools.product("rf", repeat=3):
        function = square_root
        for mode in modes:
            function = MODES[mode](function)
        assert float(ad.jit(function)(2.0)) == pytest.approx(3 / 8 * 2.0**-2.5, rel=1e-8)


def test_values():
    assert float(square_root(2.0)) == pytest.approx(np.sqrt(2.0), rel=1e-15)
    e = float(kepler(1.0))
    assert e == pytest.approx(1.0 + 0.3 * np.sin(e), rel=1e-9)
    found = ad.fixed_point(lambda x: 0.5 * x + np.arange(3.0), np.zeros(3))
    np.testing.assert_allclose(found, [0.0, 2.0, 4.0], rtol=1e-9, atol=1e-9)
    assert ad.fixed_point(lambda x: x, 5.0) == 5.0


def test_rows():
    at = np.linspace(0.1, 1.0, 20)
    slopes = ad.vmap(ad.grad(kepler))(at)
    np.testing.assert_allclose(slopes, [ad.grad(kepler)(one) for one in at], rtol=1e-12)
    curvature = ad.hessian(lambda p: np.sum(ad.fixed_point(lambda x: 0.3 * np.sin(x * p) + p, p)))(at[:3])
    np.testing.assert_allclose(curvature, np.diag(np.diag(curvature)), atol=1e-12)


def test_the_start_has_no_derivative():
    assert float(ad.grad(lambda s: ad.fixed_point(lambda x: 0.5 * np.cos(x), s))(0.3)) == 0.0
    assert float(ad.grad(lambda s: ad.root(lambda x: x * x - 2.0, s))(1.0)) == 0.0


def test_small_cotangents_are_as_exact_as_large_ones():
    exact = float(ad.grad(kepler)(1.0))
    assert float(ad.grad(lambda m: 1e-14 * kepler(m))(1.0)) == pytest.approx(1e-14 * exact, rel=1e-9)
    assert float(ad.jvp(kepler, (1.0,), (1e-14,))[1]) == pytest.approx(1e-14 * exact, rel=1e-9)


def test_memory_does_not_grow_with_the_iterations():
    """The return sweep holds no array of the iterations: none of a size that only the run knows."""
    text = ad.show(ad.grad(kepler), 1.0, stage="simplify-3")
    assert "full [" not in str(text)


def test_a_root_inside_a_fixed_point():
    def program(a):
        return ad.fixed_point(lambda x: 0.1 * ad.root(lambda y: y**3 + y - x - a, 0.5), 0.5)

    value = ad.jit(program)
    numeric = (value(1.2 + 1e-5) - value(1.2 - 1e-5)) / 2e-5
    assert float(ad.grad(program)(1.2)) == pytest.approx(numeric, rel=1e-7)
    assert float(pushed(program)(1.2)) == pytest.approx(numeric, rel=1e-7)


def test_with_functions_that_have_rules():
    @ad.custom_vjp
    def damped(x, a):
        return 0.3 * np.sin(x) * a

    def forward(x, a):
        return damped(x, a), (x, a)

    def backward(residuals, cotangent):
        x, a = residuals
        return 0.3 * np.cos(x) * a * cotangent, 0.3 * np.sin(x) * cotangent

    damped.defvjp(forward, backward)

    def ruled(a):
        return ad.fixed_point(lambda x: damped(x, a) + a, 0.0)

    def plain(a):
        return ad.fixed_point(lambda x: 0.3 * np.sin(x) * a + a, 0.0)

    for modes in ("r", "f", "rr", "fr"):
        ours, theirs = ruled, plain
        for mode in modes:
            ours, theirs = MODES[mode](ours), MODES[mode](theirs)
        assert float(ad.jit(ours)(0.8)) == pytest.approx(float(ad.jit(theirs)(0.8)), rel=1e-9)


def single_point(a):
    third = np.float32(0.3)
    return np.sum(ad.fixed_point(lambda z: np.cos(z[::-1]) * third * a + z * third, np.zeros(7, np.float32)))


def single_root(a):
    return ad.root(lambda z: z**3 + z - a, np.float32(1.0))


@pytest.mark.parametrize("function", [single_point, single_root])
def test_single_precision_converges_to_its_rounding(function):
    for a in np.linspace(0.1, 2.0, 40).astype(np.float32):
        slope, pushed_slope = ad.grad(function)(a), pushed_by(function, a)
        h = np.float32(1e-2)
        numeric = (ad.jit(function)(a + h) - ad.jit(function)(a - h)) / (2 * h)
        assert np.allclose(slope, pushed_slope, rtol=1e-4)
        assert np.allclose(slope, numeric, rtol=1e-2, atol=1e-3)


def pushed_by(function, a):
    return ad.jvp(function, (a,), (np.float32(1.0),))[1]
