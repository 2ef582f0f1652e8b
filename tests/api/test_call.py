"""Calls: which arguments are taken, when a program is made, and what a result is."""

import functools
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import (
    IntegerOutOfRange,
    NotCallable,
    UnhashableStatic,
    UnsupportedArray,
    UnsupportedResult,
)
from anadrome.errors.frontend import AnnotationMismatch, UnsupportedType
from anadrome.errors.runtime import IndexOutOfBounds, SizeMismatch


def total(x):
    return np.sum(x)


def scaled(x, factor):
    return x * factor


@dataclass(frozen=True)
class Line:
    slope: Any
    offset: Any
    name: str = "line"

    @ad.jit
    def at(self, x):
        return self.slope * x + self.offset


class Plain:
    def __init__(self, power: int) -> None:
        self.power = power

    def raised(self, x):
        return x**self.power

    @ad.jit
    def compiled(self, x):
        return x**self.power


# ---------------------------------------------------------------------------- when a program is made
def test_ten_sizes_compile_once() -> None:
    gradient = ad.grad(lambda x: np.sum(x * x))
    for size in range(20, 30):
        x = np.arange(float(size))
        np.testing.assert_array_equal(gradient(x), 2.0 * x)
    assert gradient.compilations == 1


def test_small_dimensions_types_and_ranks_make_programs() -> None:
    compiled = ad.jit(total)
    for x in (np.ones(3), np.ones(4), np.ones(4, np.float32), np.ones((4, 1)), np.ones(3)):
        assert compiled(x) == x.size
    assert compiled.compilations == 4


def test_numbers_are_values_and_strings_are_not() -> None:
    @ad.jit
    def chosen(x, how):
        return x if how == "same" else -x

    assert [chosen(2.0, "same"), chosen(3.0, "same"), chosen(3.0, "other")] == [2.0, 3.0, -3.0]
    assert chosen.compilations == 2


def test_equal_statics_of_different_types_differ() -> None:
    @ad.jit(static_argnums=1)
    def divided(x, by):
        return x * (by / 2 if isinstance(by, float) else by // 2)

    assert divided(2.0, 3) == 2.0
    assert divided(2.0, 3.0) == 3.0
    assert divided.compilations == 2


def test_static_argnames_by_position_and_by_name() -> None:
    @ad.jit(static_argnames="depth")
    def deep(x, depth):
        for _ in ad.unroll(range(depth)):
            x = x * x
        return x

    assert deep(2.0, 3) == deep(2.0, depth=3) == 256.0


def test_transforms_of_one_function_are_made_once() -> None:
    def cube(x):
        return x**3

    assert ad.grad(cube) is ad.grad(cube)
    assert ad.grad(cube) is not ad.grad(cube, has_aux=True)
    assert ad.grad(cube, argnums=[0]) is ad.grad(cube, argnums=(0,))

    @functools.wraps(cube)
    def other(x):
        return x**2

    assert ad.grad(other)(3.0) == 6.0
    assert ad.grad(cube)(3.0) == 27.0
    for _ in range(3):
        ad.jvp(cube, (2.0,), (1.0,))
    assert all(made.compilations <= 1 for made in vars(cube)["__anadrome_transforms__"].values())


def test_a_failed_call_does_not_spoil_the_next() -> None:
    @ad.jit
    def picked(x, i):
        return x[i]

    x = np.arange(20.0)
    with pytest.raises(IndexOutOfBounds, match="index 20"):
        picked(x, 20)
    assert picked(x, 19) == 19.0
    with pytest.raises(UnsupportedArray):
        picked(x.astype(np.clongdouble), 1)
    assert picked(x, 1) == 1.0


def test_calls_from_threads_compile_once_and_agree() -> None:
    compiled = ad.grad(lambda x: np.sum(np.sin(x) * x))
    inputs = [np.linspace(0.0, 1.0, 20 + place) for place in range(8)]
    found: list[Any] = [None] * len(inputs)

    def work(place: int) -> None:
        for _ in range(20):
            found[place] = compiled(inputs[place])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled.compilations == 1
    for x, gradient in zip(inputs, found, strict=True):
        np.testing.assert_allclose(gradient, np.cos(x) * x + np.sin(x), rtol=1e-13)


# ---------------------------------------------------------------------------- which arguments are taken
@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"],
)
def test_scalar_types(dtype: str) -> None:
    x = np.array([0, 1, 1, 0, 1] * 5, dtype)
    compiled = ad.jit(lambda x: x[1])
    assert compiled(x) == 1
    assert np.asarray(compiled(x)).dtype == x.dtype
    assert ad.jit(lambda x: x)(x.dtype.type(1)) == 1


def test_memory_layouts() -> None:
    compiled = ad.jit(lambda x: x[1])
    base = np.arange(60.0).reshape(3, 20)
    base.flags.writeable = False
    for x in (base, base[:, ::2], base[::-1], np.asfortranarray(base), np.broadcast_to(base[1], (3, 20))):
        np.testing.assert_array_equal(compiled(x), x[1])
    buffer = np.zeros(8 * 20 + 1, np.uint8)
    unaligned = buffer[1:].view(np.float64)
    assert ad.jit(total)(unaligned) == 0.0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ones(2, np.clongdouble), "got complex"),
        (np.array(["a"]), "got str"),
        (np.array([None]), "got object"),
        (np.ones(2, ">f8"), "got float64 in foreign byte order"),
        (np.ma.masked_array([1.0]), "got float64 in a MaskedArray"),
        (np.float16(1.0), "got float16"),
    ],
    ids=str,
)
def test_arrays_that_are_refused(value: object, words: str) -> None:
    with pytest.raises(UnsupportedArray, match=words) as caught:
        ad.jit(lambda first, second: second)(1.0, {"inner": [value]})
    assert "`second['inner'][0]" in str(caught.value)


@pytest.mark.parametrize("given", [5, -3, "x", 1.5, True, (0, 2), [None]])
def test_positions_of_static_arguments_are_those_of_parameters(given: object) -> None:
    with pytest.raises(ValueError, match="`static_argnums` must be the position of a parameter"):
        ad.jit(scaled, static_argnums=given)


@pytest.mark.parametrize("given", ["nothing", 5, ("factor", "nothing"), [None]])
def test_names_of_static_arguments_are_those_of_parameters(given: object) -> None:
    with pytest.raises(ValueError, match="`static_argnames` must be the name of a parameter"):
        ad.jit(scaled, static_argnames=given)


def test_static_arguments_of_functions_that_take_any() -> None:
    def power(x, *exponents, **others):
        return x ** exponents[0] * others["factor"]

    assert ad.jit(power, static_argnums=(1, 7), static_argnames=("factor",))(3.0, 2, factor=2.0) == 18.0
    assert ad.jit(scaled, static_argnums=-1)(3.0, 2.0) == ad.jit(scaled, static_argnums=range(1, 2))(3.0, 2.0)


def test_settings_of_jit_are_a_config() -> None:
    for given in (5, {"threads": 1}):
        with pytest.raises(ValueError, match=r"`config` must be an `ad\.Config`"):
            ad.jit(scaled, config=given)


def test_arguments_nested_without_end() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for call in (ad.jit(total), ad.grad(total), ad.vmap(total)):
        with pytest.raises(RecursionError, match=r"the arguments of .* are nested too deeply"):
            call(deep)
    assert ad.jit(total)(np.ones(3)) == 3.0


def test_other_arguments_that_are_refused() -> None:
    with pytest.raises(UnhashableStatic, match="argument `x`"):
        ad.jit(total)({1, 2})
    with pytest.raises(IntegerOutOfRange, match="argument `factor`"):
        ad.jit(scaled)(1.0, 2**63)
    with pytest.raises(NotCallable):
        ad.grad(3.0)  # type: ignore[arg-type]


def test_annotations_are_held() -> None:
    @ad.jit
    def product(matrix: ad.f64["n", 30], vector: ad.f64[30], other: ad.f64["n"]):  # noqa: F821
        return np.sum(matrix @ vector * other)

    assert product(np.ones((20, 30)), np.ones(30), np.ones(20)) == 600.0
    assert product(np.ones((25, 30)), np.ones(30), np.ones(25)) == 750.0
    assert product.compilations == 1
    with pytest.raises(AnnotationMismatch, match=r"`vector`.*size 30"):
        product(np.ones((20, 30)), np.ones(31), np.ones(20))
    with pytest.raises(AnnotationMismatch, match="`other`"):
        product(np.ones((20, 30)), np.ones(30), np.ones(21))
    with pytest.raises(AnnotationMismatch, match="`matrix`"):
        product(np.ones((20, 30), np.float32), np.ones(30), np.ones(20))


def test_sizes_that_must_agree_at_run_time() -> None:
    compiled = ad.jit(lambda x, y: x + y)
    np.testing.assert_array_equal(compiled(np.ones(20), np.ones(20)), 2.0)
    with pytest.raises(SizeMismatch, match="20 and 21"):
        compiled(np.ones(20), np.ones(21))


# ---------------------------------------------------------------------------- containers, methods, results
def test_containers_go_in_and_come_out() -> None:
    def through(tree, scale):
        return {
            "sum": tree["a"][0] + tree["b"].slope,
            "line": tree["b"],
            "none": None,
            "text": "x",
            "two": (scale, 2),
        }

    tree = {"a": [1.0], "b": Line(2.0, np.ones(3))}
    found = ad.jit(through)(tree, scale=3)
    assert found["sum"] == 3.0
    assert isinstance(found["line"], Line) and found["line"].name == "line"
    np.testing.assert_array_equal(found["line"].offset, np.ones(3))
    assert (found["none"], found["text"], found["two"]) == (None, "x", (3, 2))


def test_methods() -> None:
    assert Line(2.0, 1.0).at(3.0) == 7.0
    assert Line.at.compilations >= 1
    cube = Plain(3)
    assert cube.compiled(2.0) == 8.0
    assert ad.grad(cube.raised)(2.0) == ad.grad(cube.compiled)(2.0) == 12.0
    assert Plain(2).compiled(3.0) == 9.0


def test_results_are_what_python_gives() -> None:
    assert type(ad.jit(lambda x: x * 2)(3)) is int
    assert type(ad.jit(lambda x: x * 2)(3.0)) is float
    assert type(ad.jit(lambda x: x > 2)(3.0)) is bool
    assert type(ad.jit(lambda x: x * 2)(np.float32(3.0))) is np.float32
    assert type(ad.jit(total)(np.ones(3))) is np.float64


def test_results_are_the_callers_own() -> None:
    compiled = ad.jit(lambda x: (x, x, x * 1.0))
    x = np.arange(20.0)
    first, second, third = compiled(x)
    first[0], second[1], third[2] = 7.0, 8.0, 9.0
    np.testing.assert_array_equal(x, np.arange(20.0))
    assert first[1] == 1.0 and second[0] == 0.0 and third[0] == 0.0


def test_python_is_the_original() -> None:
    assert ad.jit(scaled).python is scaled
    assert ad.jit(ad.jit(scaled)).python is scaled
    assert ad.jit(scaled).__name__ == "scaled"
    assert "scaled" in repr(ad.grad(scaled))


def test_what_is_not_finite_flows() -> None:
    compiled = ad.value_and_grad(lambda x: np.sum(x * x))
    value, gradient = compiled(np.array([np.inf, np.nan, 1.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, [np.inf, np.nan, 2.0])


def test_surroundings_are_passed_at_every_call() -> None:
    table = np.arange(100.0)
    compiled = ad.jit(lambda i: table[i])
    assert compiled(3) == 3.0
    table[3] = -1.0
    assert compiled(3) == -1.0


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: [(value, 2.0 * value) for value in x], "a list of tuples"),
        (lambda x: {"inner": lambda y: x + y}, "a function that was made inside"),
        (lambda x: (1, range(len(x))), r"the result\[1\] is a range"),
        (lambda x: ad.vjp(lambda y: y * x, x), "made inside it"),
        (lambda x: x.sum, "a function that was made inside"),
    ],
)
def test_results_that_cannot_leave(function: Any, words: str) -> None:
    with pytest.raises((UnsupportedResult, UnsupportedType), match=words):
        ad.jit(function)(np.ones(20))
