"""A hint that is followed leads to a program that works, and means what the first one said."""

from __future__ import annotations

import array
import re
from typing import Any

import numpy as np
import pytest

import anadrome as ad

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
    "matrix": (np.matrix([[1.0, 2.0]]), np.array([[1.0, 2.0]])),
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


def test_a_static_argument_whose_memory_changes() -> None:
    with pytest.raises(TypeError, match="declared static, and a memoryview cannot be hashed"):
        ad.jit(twice, static_argnums=0)(memoryview(bytearray(3)))


def test_operators_on_plain_arrays() -> None:
    for values in (np.array(["a", "b"]), LATE, LATE - LATE[0], FIELDS):
        with pytest.raises(TypeError, match=r"the operator 'add' is not defined on .*\n.*convert the values"):
            ad.reduce("add", values)
    assert ad.reduce("add", np.arange(4, dtype=">f8")) == 6.0
