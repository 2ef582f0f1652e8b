"""A hint that is followed leads to a program that works, and means what the first one said."""

from __future__ import annotations

import array
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.special

import anadrome as ad
from anadrome.frontend.library.mathematics import CALLS
from tests.errors.followed import FOLLOWED

FIELDS = np.zeros(3, [("field", np.float64), ("other", np.int8)])
LATE = np.array(["2020-01-02", "2020-01-05", "2020-01-03"], "M8[D]")

ARGUMENTS = {
    "memoryview": (memoryview(np.arange(3.0)), np.arange(3.0)),
    "bytearray": (bytearray(b"abc"), np.array([97, 98, 99])),
    "array": (array.array("d", [1.0, 2.0]), np.array([1.0, 2.0])),
    "float16": (np.ones(3, np.float16), np.ones(3)),
    "longdouble": (np.ones(3, np.longdouble), np.ones(3)),
    "clongdouble": (np.array([1 + 2j], np.clongdouble), np.array([1 + 2j])),
    "object": (np.array([1, 2.5], object), np.array([1.0, 2.5])),
    "string": (np.array(["1", "2.5"]), np.array([1.0, 2.5])),
    "bytes": (np.array([b"1", b"2.5"]), np.array([1.0, 2.5])),
    "datetime": (LATE, np.array([0.0, 3.0, 1.0]) * 86400.0),
    "timedelta": (LATE - LATE[0], np.array([0.0, 3.0, 1.0]) * 86400.0),
    "fields": (FIELDS, np.zeros(3)),
    "masked": (np.ma.masked_array([1.0, 2.0], [False, True]), np.array([1.0, 0.0])),
    "matrix": (np.array([[1.0, 2.0]]).view(np.matrix), np.array([[1.0, 2.0]])),
    "big-endian": (np.arange(3, dtype=">f8"), np.arange(3.0)),
    "big-endian complex": (np.array([1 + 2j], ">c16"), np.array([1 + 2j])),
    "scalar": (np.float16(2.0), 2.0),
}


def twice(x: Any) -> Any:
    return x + x


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_are_no_arrays(name: str) -> None:
    given, expected = ARGUMENTS[name]
    for call in (ad.jit(twice), ad.vmap(twice), lambda x: ad.vjp(twice, x), lambda x: ad.explain(twice, x)):
        with pytest.raises(TypeError, match="argument `") as caught:
            call(given)
    with pytest.raises(TypeError) as caught:
        ad.jit(twice)(given)
    hint = re.search(r"help: convert it before the call: `(.*)`$", str(caught.value))
    assert hint is not None
    np.testing.assert_array_equal(ad.jit(twice)(eval(hint[1], {"np": np, "x": given})), 2.0 * expected)


def test_sparse_arguments_in_other_formats() -> None:
    roomy = sp.csr_array(np.eye(3))
    roomy.data, roomy.indices = np.ones(5), np.zeros(5, np.int32)
    roomy.indices[:3] = [0, 1, 2]
    for given in (sp.lil_array((3, 3)), sp.dia_matrix(np.eye(3)), sp.coo_array(np.ones(3)), roomy):
        wanted = 2.0 * given.toarray()
        with pytest.raises(TypeError, match="expected a sparse matrix") as caught:
            ad.jit(twice)(given)
        hint = re.search(r"help: convert it before the call: `(.*)`$", str(caught.value))
        assert hint is not None
        found = eval(hint[1], {"x": given})
        result = ad.jit(twice)(given if found is None else found)
        np.testing.assert_array_equal(result.toarray() if sp.issparse(result) else result, wanted)


def test_a_static_argument_whose_memory_changes() -> None:
    with pytest.raises(TypeError, match="declared static, and a memoryview cannot be hashed"):
        ad.jit(twice, static_argnums=0)(memoryview(bytearray(3)))


def test_operators_on_plain_arrays() -> None:
    for values in (np.array(["a", "b"]), LATE, LATE - LATE[0], FIELDS):
        with pytest.raises(TypeError, match=r"the operator 'add' is not defined on .*\n.*convert the values"):
            ad.reduce("add", values)
    assert ad.reduce("add", np.arange(4, dtype=">f8")) == 6.0


# ---------------------------------------------------------------------------- programs
def call(function: Callable[..., Any], *args: Any) -> Any:
    return ad.jit(function)(*args)


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_hint_leads_to_a_program_that_works(name: str) -> None:
    one = FOLLOWED[name]
    with pytest.raises(ad.AnadromeError) as caught:
        call(one.bad, *one.args)
    help = str(caught.value).partition("\nhelp: ")[2]
    for hint in one.hints:
        assert hint in help
    found, python = call(one.good, *one.args), one.good(*one.args)
    wanted = python if one.wanted is None else one.wanted(*one.args)
    for mine, plain, meant in zip(*map(as_parts, (found, python, wanted)), strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(mine, meant, rtol=1e-12, atol=1e-14)


def as_parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


# ---------------------------------------------------------------------------- words that depend on the case
@pytest.mark.parametrize(
    ("function", "help"),
    [
        (lambda x: None, "return the value: the function ends without `return`"),
        (lambda x: 3, "return a float: an integer or a bool has no derivative"),
        (lambda x: x > 0.0, "return a float: an integer or a bool has no derivative"),
        (lambda x: (x, x), "return one float; with `has_aux=True`"),
        (lambda x: {"a": x}, "return one float; with `has_aux=True`"),
        (lambda x: np.ones(3) * x, "sum or average the result, or use `jacrev` or `jacfwd`"),
    ],
)
def test_what_a_gradient_should_return(function: Callable[..., Any], help: str) -> None:
    with pytest.raises(
        TypeError, match="`grad` requires a scalar-valued function; this one returns "
    ) as caught:
        ad.grad(function)(2.0)
    assert help in str(caught.value)


def test_only_transforms_with_argnums_speak_of_them() -> None:
    with pytest.raises(TypeError, match="or choose other arguments with `argnums`"):
        ad.grad(lambda x: x * 1.0)(2)
    for transform in (ad.fixed_point, ad.root):
        with pytest.raises(TypeError, match="argument `x0` is int64") as caught:
            transform(lambda x: x * 0.5, 2)
        assert "argnums" not in str(caught.value)


@pytest.mark.parametrize(
    ("argnums", "reason"),
    [
        ((0, 0), "argnums=.* chooses one argument twice"),
        ((0, "x"), "argnums=.* chooses one argument twice"),
        ((), "chooses no argument"),
        (2, "argnums=2: the call has 1 argument: `x`"),
        ("y", "argnames='y': the call has 1 argument: `x`"),
        (1.5, "1.5 is neither a position nor a name"),
    ],
)
def test_what_is_wrong_with_argnums(argnums: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ad.grad(lambda x: x, argnums)(2.0)  # type: ignore[arg-type]


def test_integers_out_of_range_both_ways() -> None:
    for value in (2**63, -(2**63) - 1):
        with pytest.raises(OverflowError, match=r"an integer from -2\*\*63 to 2\*\*63 - 1"):
            ad.jit(twice)(value)
    assert ad.jit(lambda n: n)(-(2**63)) == -(2**63) and ad.jit(lambda n: n)(2**63 - 1) == 2**63 - 1


def test_misspelt_names() -> None:
    scale = 2.0
    with pytest.raises(NameError, match="did you mean `scale`") as caught:
        ad.jit(lambda x, scale: x * scael)(1.0, scale)  # noqa: F821
    assert "no such name" in str(caught.value)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_axes_that_are_not_there(rank: int) -> None:
    known = {
        0: "a number has no axes",
        1: "its axes are 0 and -1",
        3: "its axes are 0 to 2, and -3 to -1 from its end",
    }
    with pytest.raises(TypeError) as caught:
        ad.jit(lambda x: np.sum(x, axis=7))(np.ones((2,) * rank))
    assert known[rank] in str(caught.value)


ELEMENTWISE = sorted(
    {one.__name__ for one in CALLS if one.__module__ == "math"} - {"dist", "fsum", "isclose", "modf"}
)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_math_name_one_for_arrays(name: str) -> None:
    """What a function of `math` names for arrays is compiled, and gives the same."""
    function = getattr(math, name)
    count = 2 if name in ("atan2", "pow", "fmod", "copysign", "hypot") else 1
    given = [np.linspace(1.1, 1.9, 20) if name == "acosh" else np.linspace(0.1, 0.9, 20)] * count
    with pytest.raises(TypeError) as caught:
        ad.jit(lambda *xs: function(*xs))(*given)
    hint = re.search(r"use `([\w.]+)`, which works elementwise", str(caught.value))
    assert hint is not None
    other = eval(hint[1], {"np": np, "scipy": scipy})
    found = ad.jit(lambda *xs: other(*xs))(*given)
    plain = [function(*(one.item() for one in row)) for row in zip(*given, strict=True)]
    np.testing.assert_allclose(found, plain, rtol=1e-12)
