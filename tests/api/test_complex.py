"""Complex numbers at the doors: calls, and derivatives as JAX shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import ComplexDerivative, StructureMismatch, UnsupportedArray
from anadrome.errors.frontend import AnnotationMismatch
from anadrome.errors.parallel import OperatorUndefined
from anadrome.frontend.complex_numbers import formulas

RANDOM = np.random.default_rng(11)


def drawn(*shape: int) -> Any:
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


Z, W = drawn(6), drawn(6)
N = "n"


def close(found: Any, wanted: Any, rtol: float = 1e-10) -> None:
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)


# ---------------------------------------------------------------------------- calls
@dataclasses.dataclass
class Pair:
    left: Any
    right: Any


def test_arguments_and_results_of_every_kind() -> None:
    same = ad.jit(lambda tree: tree)
    tree = {"a": drawn(3), "b": (1j, np.complex64(2 + 1j)), "c": Pair(drawn(2, 2).astype(np.complex64), 3)}
    found = same(tree)
    close(found["a"], tree["a"])
    assert type(found["b"][0]) is complex and found["b"][0] == 1j
    assert type(found["b"][1]) is np.complex64
    assert found["c"].left.dtype == np.complex64 and found["c"].right == 3
    close(found["c"].left, tree["c"].left)


def test_layouts_of_arrays() -> None:
    total = ad.jit(lambda z: np.sum(z * 1j))
    base = drawn(4, 30)
    for z in (base, base[:, ::2], base[::-1], base.T, np.asfortranarray(base), base.conj(), drawn(0, 3)):
        close(total(z), np.sum(z * 1j))


def test_one_program_serves_all_values_and_sizes() -> None:
    function = ad.jit(lambda z: z * z)
    for size in (20, 30, 40):
        function(drawn(size))
    assert function.compilations == 1
    function(np.ones(20))
    function(drawn(20).astype(np.complex64))
    function(1j)
    function(2j)
    assert function.compilations == 4
    close(function(np.ones(20)), np.ones(20))
    close(function(np.full(20, 1j)), -np.ones(20))


def test_results_do_not_share_memory() -> None:
    keep = ad.jit(lambda z: (z, z.real))
    whole, part = keep(Z)
    whole[0] = part[1] = 0.0
    assert Z[0] != 0.0 and keep(Z)[1][1] != 0.0


def test_what_a_call_refuses() -> None:
    with pytest.raises(UnsupportedArray, match=r"argument `z` of .* got complex"):
        ad.jit(lambda z: z)(np.ones(3, np.clongdouble))
    with pytest.raises(UnsupportedArray, match="foreign byte order"):
        ad.jit(lambda z: z)(np.ones(3, ">c16"))

    def annotated(x: ad.f64[N]):
        return x

    with pytest.raises(AnnotationMismatch, match="complex"):
        ad.jit(annotated)(Z)


# ---------------------------------------------------------------------------- conventions, by hand
def _numeric_gradient(function: Callable[[Any], Any], z: Any, step: float = 1e-6) -> Any:
    """∂f/∂x - i ∂f/∂y by central differences."""
    found = np.zeros(z.shape, complex)
    for place in np.ndindex(z.shape):
        parts = []
        for way in (1.0, 1j):
            ahead, behind = z.copy(), z.copy()
            ahead[place] += step * way
            behind[place] -= step * way
            parts.append((function(ahead) - function(behind)) / (2 * step))
        found[place] = parts[0] - 1j * parts[1]
    return found


REAL = {
    "square of the modulus": (lambda z: np.sum(abs(z) ** 2), lambda z: 2 * z.conj()),
    "modulus": (lambda z: np.sum(abs(z)), lambda z: z.conj() / abs(z)),
    "real part": (lambda z: np.sum(z.real), lambda z: np.ones_like(z)),
    "imaginary part": (lambda z: np.sum(z.imag), lambda z: np.full_like(z, -1j)),
    "angle": (lambda z: np.sum(np.angle(z)), lambda z: -1j / z),
    "real part of a square": (lambda z: np.sum((z * z).real), lambda z: 2 * z),
    "logarithm of the modulus": (lambda z: np.sum(np.log(abs(z))), lambda z: 1 / z),
}


@pytest.mark.parametrize("name", REAL)
def test_gradient_of_a_real_function(name: str) -> None:
    function, slope = REAL[name]
    close(ad.grad(function)(Z), slope(Z))
    close(ad.grad(function)(Z), _numeric_gradient(function, Z), rtol=1e-6)
    close(ad.jacrev(function)(Z), slope(Z))
    value, gradient = ad.value_and_grad(function)(Z)
    close(value, function(Z))
    close(gradient, slope(Z))


HOLOMORPHIC = {
    "power": (lambda z: z**3, lambda z: 3 * z**2, lambda z: 6 * z),
    "exp": (lambda z: np.exp(1j * z), lambda z: 1j * np.exp(1j * z), lambda z: -np.exp(1j * z)),
    "log": (lambda z: np.log(z), lambda z: 1 / z, lambda z: -1 / z**2),
    "sqrt": (lambda z: np.sqrt(z), lambda z: 0.5 / np.sqrt(z), lambda z: -0.25 * z**-1.5),
    "quotient": (lambda z: 1 / (z + 2), lambda z: -1 / (z + 2) ** 2, lambda z: 2 / (z + 2) ** 3),
    "tan": (lambda z: np.tan(z), lambda z: 1 / np.cos(z) ** 2, lambda z: 2 * np.tan(z) / np.cos(z) ** 2),
}


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_holomorphic_functions(name: str) -> None:
    function, first, second = HOLOMORPHIC[name]
    for z in (Z[0], complex(Z[1])):
        close(ad.grad(function, holomorphic=True)(z), first(z))
        close(ad.value_and_grad(function, holomorphic=True)(z), (function(z), first(z)))
        close(ad.hessian(function, holomorphic=True)(z), second(z), rtol=1e-8)
        close(ad.jvp(function, (z,), (2 - 1j,))[1], first(z) * (2 - 1j))
        close(ad.vjp(function, z)[1](2 - 1j)[0], first(z) * (2 - 1j))
    for jacobian in (ad.jacfwd, ad.jacrev, ad.jacobian):
        close(jacobian(function, holomorphic=True)(Z), np.diag(first(Z)))


SMOOTH = [rule for rule in formulas.UNARY if rule not in (np.conjugate, np.sign)]
AXES = [
    complex(x, y) for x in (-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0) for y in (-2.0, -1.0, -0.0, 0.0, 0.5, 1.0)
]


@pytest.mark.parametrize("function", SMOOTH, ids=lambda ufunc: ufunc.__name__)
def test_derivatives_on_axes_and_cuts(function: np.ufunc) -> None:
    """They are those of the points beside, on the side that the signs of zeros say: no formula may go through
    a kink of its own there."""
    first = ad.jit(ad.grad(lambda z: function(z), holomorphic=True))
    second = ad.jit(ad.grad(ad.grad(lambda z: function(z), holomorphic=True), holomorphic=True))
    for z in AXES:
        beside = z + complex(np.copysign(1e-8, z.real), np.copysign(1e-8, z.imag))
        with np.errstate(all="ignore"):
            pairs = [(derivative(z), derivative(beside)) for derivative in (first, second)]
        for found, wanted in pairs:
            if abs(wanted) < 1e3:  # else a branch point, or a pole
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=f"at {z}")


def test_functions_that_are_not_holomorphic() -> None:
    """With f(z) = a·z + b·z̄: J v = a v + b v̄, and the cotangent of w is a·w + b̄·w̄, as JAX shows it."""
    a, b = 0.3 + 0.7j, -0.4 + 1.1j
    function = lambda z: a * z + b * z.conj()
    v, w = W, drawn(6)
    close(ad.jvp(function, (Z,), (v,))[1], a * v + b * v.conj())
    close(ad.linearize(function, Z)[1](v), a * v + b * v.conj())
    close(ad.vjp(function, Z)[1](w)[0], a * w + b.conjugate() * w.conj())
    tangent, cotangent = ad.jvp(function, (Z,), (v,))[1], ad.vjp(function, Z)[1](w)[0]
    close(np.sum(w * tangent).real, np.sum(cotangent * v).real)


def test_jacobians_of_either_kind() -> None:
    x = np.linspace(0.2, 1.0, 4)
    wanted = np.diag(1j * np.exp(1j * x))
    for jacobian in (ad.jacfwd, ad.jacobian):
        close(jacobian(lambda x: np.exp(1j * x))(x), wanted)
    tree = ad.jacfwd(lambda t: {"z": t["x"] * 1j, "y": t["x"] ** 2})({"x": x})
    close(tree["z"]["x"], 1j * np.eye(4))
    close(tree["y"]["x"], np.diag(2 * x))
    for jacobian in (ad.jacrev, ad.jacobian):
        close(jacobian(lambda z: abs(z) ** 2)(Z), np.diag(2 * Z.conj()))
    long = drawn(100)
    close(ad.jacrev(lambda z: np.sum(abs(z) ** 2))(long), 2 * long.conj())
    close(ad.jacfwd(lambda x: x * 1j)(np.ones(100)), 1j * np.eye(100))


def test_second_order() -> None:
    def energy(z):
        return np.sum(abs(z) ** 4) + np.sum((z**3).real)

    close(ad.hvp(energy, (Z,), (W,)), ad.jvp(ad.grad(energy), (Z,), (W,))[1])
    step = 1e-5
    ahead, behind = ad.grad(energy)(Z + step * W), ad.grad(energy)(Z - step * W)
    close(ad.hvp(energy, (Z,), (W,)), (ahead - behind) / (2 * step), rtol=1e-7)


def test_containers_and_several_arguments() -> None:
    def loss(tree, x, z):
        return np.sum(abs(tree["a"] * x + z) ** 2)

    x = np.linspace(0.0, 1.0, 6)
    first, second, third = ad.grad(loss, argnums=(0, 1, 2))({"a": Z}, x, 1j)
    rest = (Z * x + 1j).conj()
    close(first["a"], 2 * rest * x)
    close(second, 2 * (rest * Z).real)
    close(third, np.sum(2 * rest))
    assert second.dtype == np.float64 and isinstance(third, complex)


def test_auxiliary_results() -> None:
    gradient, rest = ad.grad(lambda z: (np.sum(abs(z) ** 2), z * 1j), has_aux=True)(Z)
    close(gradient, 2 * Z.conj())
    close(rest, Z * 1j)
    gradient, rest = ad.grad(lambda z: (z * z, abs(z)), has_aux=True, holomorphic=True)(Z[0])
    close(gradient, 2 * Z[0])
    close(rest, abs(Z[0]))


def test_single_precision_stays_single() -> None:
    z = Z.astype(np.complex64)
    gradient = ad.grad(lambda z: np.sum(abs(z) ** 2))(z)
    assert gradient.dtype == np.complex64
    close(gradient, 2 * z.conj(), rtol=1e-5)


def test_at_the_origin() -> None:
    """Where |z| = 0 the modulus and the angle have the derivative 0, as real `abs` has."""
    for function in (lambda z: abs(z), lambda z: np.angle(z), lambda z: abs(z) ** 2, lambda z: abs(z) ** 3):
        assert ad.grad(function)(0j) == 0
    assert ad.grad(lambda z: z**2, holomorphic=True)(0j) == 0
    assert ad.grad(lambda z: z**2.5, holomorphic=True)(0j) == 0
    assert not np.isfinite(ad.grad(lambda z: np.log(z), holomorphic=True)(0j))
    assert not np.isfinite(ad.grad(lambda z: np.sqrt(z), holomorphic=True)(0j))


# ---------------------------------------------------------------------------- other transforms
@ad.custom_vjp
def ruled(z):
    return z * z * z.conj()


@ad.custom_jvp
def cubed(z):
    return z**3


ruled.defvjp(
    lambda z: (z * z * z.conj(), z),
    lambda z, cotangent: (2 * abs(z) ** 2 * cotangent + (z.conj() * z.conj()) * cotangent.conj(),),
)


@cubed.defjvp
def _cubed_jvp(primals, tangents):
    return cubed(primals[0]), 3 * primals[0] ** 2 * tangents[0]


def test_rules_of_ones_own() -> None:
    def loss(function):
        return lambda z: np.sum(abs(function(z) + 1j) ** 2)

    close(ad.grad(loss(ruled))(Z), ad.grad(loss(lambda z: z * z * z.conj()))(Z))
    close(ad.grad(loss(cubed))(Z), ad.grad(loss(lambda z: z**3))(Z))
    close(ad.jvp(cubed, (Z,), (W,))[1], 3 * Z**2 * W)


def test_other_transforms() -> None:
    close(ad.vmap(lambda a, b: a * b.conj(), in_axes=(0, None))(Z, 1 + 2j), Z * (1 - 2j))
    close(ad.vmap(ad.grad(lambda z: abs(z) ** 2))(Z), 2 * Z.conj())
    close(ad.grad(lambda z: abs(ad.stop_gradient(z) * z))(3 + 4j), 5 * (3 - 4j) / 5)
    layer = ad.checkpoint(lambda z: np.sin(z))
    close(ad.grad(lambda z: abs(layer(layer(z))) ** 2)(0.3 + 0.2j), _slope_of_layers(0.3 + 0.2j))
    found = ad.grad(lambda a: abs(ad.fixed_point(lambda x, a: 0.3 * np.cos(x) + a, 0j, a)) ** 2)(0.1 + 0.2j)
    close(found, _slope_of_a_fixed_point(0.1 + 0.2j), rtol=1e-8)

    @ad.jit
    def inside(z):
        value, pull_back = ad.vjp(lambda z: z * z, z)
        return (
            value,
            pull_back(1j)[0],
            ad.grad(lambda z: abs(z) ** 2)(z),
            ad.linearize(lambda z: z**3, z)[1](1j),
        )

    close(inside(1 + 2j), ((1 + 2j) ** 2, 2j * (1 + 2j), 2 * (1 - 2j), 3j * (1 + 2j) ** 2))


def _slope_of_layers(z: complex) -> Any:
    inner = np.sin(z)
    return 2 * np.sin(inner).conjugate() * np.cos(inner) * np.cos(z)


def _slope_of_a_fixed_point(a: complex) -> Any:
    x = 0j
    for _ in range(200):
        x = 0.3 * np.cos(x) + a
    return 2 * x.conjugate() / (1 + 0.3 * np.sin(x))


def test_faults_are_found() -> None:
    fault = ad.trace_nan(ad.grad(lambda z: abs(np.log(z - z))))(1 + 2j)
    assert fault is not None and "log" in str(fault)
    fault = ad.trace_nan(lambda z: z * 2)(np.array([1.0, complex(0, np.nan)]))
    assert fault is not None and "imag" in str(fault)


def test_checks_of_gradients() -> None:
    ad.check_grads(lambda z, w: np.exp(z) / w, (Z, W), order=2)
    ad.check_grads(lambda z, x: {"a": z * np.sin(z), "b": abs(z) * x}, (Z, 0.7), order=2)
    wrong = ad.custom_vjp(lambda z: z * z)
    wrong.defvjp(lambda z: (z * z, z), lambda z, cotangent: (2 * z.conj() * cotangent,))
    with pytest.raises(ad.AnadromeError, match="`z`"):
        ad.check_grads(lambda z: wrong(z), (Z,))


# ---------------------------------------------------------------------------- parallel operations
IDS = np.array([0, 1, 0, 2, 1, 0])
PARALLEL = {
    "reduce": lambda z: ad.reduce("add", z),
    "reduce by a function": lambda z: ad.reduce(lambda a, b: a * b, z, 1 + 0j),
    "reduce by np.multiply": lambda z: ad.reduce(np.multiply, z, 1),
    "scan": lambda z: ad.scan(lambda a, b: a * b, z, 1 + 0j),
    "by index": lambda z: ad.reduce_by_index(3, "add", IDS, z),
    "by index and a function": lambda z: ad.reduce_by_index(3, lambda a, b: a * b, IDS, z, 1 + 0j),
    "segment_sum": lambda z: ad.segment_sum(z, IDS, 3),
    "scatter": lambda z: ad.scatter(np.zeros(4, dtype=complex), IDS, z),
    "filter": lambda z: ad.filter(lambda a: a.real > 0, z),
    "map": lambda z: ad.map(lambda a: a * a, z),
}


@pytest.mark.parametrize("name", PARALLEL)
def test_parallel_operations(name: str) -> None:
    function = PARALLEL[name]
    close(ad.jit(function)(Z), function(Z))
    assert ad.jit(function)(Z).dtype == np.complex128


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "operation",
    [
        lambda z: ad.reduce("mul", z),
        lambda z: ad.reduce("min", z),
        lambda z: ad.scan("mul", z),
        lambda z: ad.scan("max", z),
        lambda z: ad.reduce_by_index(3, "mul", IDS, z),
        lambda z: ad.segment_max(z, IDS, 3),
        lambda z: ad.segment_prod(z, IDS, 3),
    ],
)
def test_named_operators_that_would_go_by_parts(operation: Callable[..., Any], compiled: bool) -> None:
    with pytest.raises(OperatorUndefined, match="complex"):
        (ad.jit(operation) if compiled else operation)(Z)


# ---------------------------------------------------------------------------- refusals
REFUSED = {
    "grad of a complex result": lambda: ad.grad(lambda z: z * z)(1j),
    "value_and_grad of a complex result": lambda: ad.value_and_grad(lambda x: x * 1j)(1.0),
    "jacfwd by a complex argument": lambda: ad.jacfwd(lambda z: abs(z))(Z),
    "jacrev of a complex result": lambda: ad.jacrev(lambda x: x * 1j)(np.ones(3)),
    "jacobian of both": lambda: ad.jacobian(lambda z: z * z)(Z),
    "hessian": lambda: ad.hessian(lambda z: abs(z) ** 2)(1j),
    "hvp of a complex result": lambda: ad.hvp(lambda z: z * z, (1j,), (1j,)),
    "a real argument": lambda: ad.grad(lambda x: x * 1j, holomorphic=True)(1.0),
    "a real result": lambda: ad.grad(lambda z: abs(z), holomorphic=True)(1j),
    "sparse": lambda: ad.jacobian(lambda z: z * 2, sparse=True)(Z),
    "a sparse complex result": lambda: ad.jacobian(lambda x: x * 1j, sparse=True)(np.ones(20)),
    "a root": lambda: ad.root(lambda z: z * z + 1, 1j),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    with pytest.raises(ComplexDerivative) as caught:
        REFUSED[name]()
    assert "test_complex.py" in str(caught.value) and "help: " in str(caught.value)


def test_cotangents_and_tangents_have_the_form_of_their_values() -> None:
    with pytest.raises(StructureMismatch, match="complex"):
        ad.vjp(lambda z: z * z, 1j)[1](1.0)
    with pytest.raises(StructureMismatch, match="complex"):
        ad.jvp(lambda z: z * z, (1j,), (1.0,))
    with pytest.raises(StructureMismatch):
        ad.jvp(lambda x: x * x, (1.0,), (1j,))
