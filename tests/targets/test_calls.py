"""What a call passes and gets: arrays as objects, small results in the frame, programs by shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import anadrome as ad
from anadrome.api.call import MOST_SHAPES
from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.kernel_ir.nodes import Function
from anadrome.lower.function import lower
from anadrome.targets.cpu import runtime
from anadrome.targets.cpu_call import Executable
from anadrome.targets.cpu_machine import load, object_code, this_machine
from anadrome.targets.interface import interface_of
from anadrome.targets.llvm_emit import ENTRY, emit
from anadrome.targets.llvm_scope import SMALL

TWICE = (
    "fn f(x: f64[n]) -> f64[n], f64 { y = parfor i < n { v = x[i]; w = add v v; yield stack w }; s = y[0]; "
    "return y, s }"
)
LENGTHS = (1, 2, SMALL - 1, SMALL, SMALL + 1, 1000)


def executable(fn: Function, array_data: int | None) -> Executable:
    """The program with arrays passed as objects, or as addresses."""
    machine, release = this_machine(), runtime(Config()).release
    machine = replace(machine, target=replace(machine.target, array_data=array_data))
    emitted = emit(fn, machine.target)
    engine = load(object_code(emitted.text, machine), machine)
    interface, entry = interface_of(fn, emitted), engine.get_function_address(ENTRY)
    return Executable(interface, emitted.text, entry, engine, machine, 1, release)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("is_by_object", [True, False])
def test_arrays_are_passed_as_objects_or_addresses(length: int, is_by_object: bool) -> None:
    offset = this_machine().target.array_data
    assert offset is not None
    call = executable(lower(parse(TWICE), Config(threads=1)), offset if is_by_object else None)
    x = np.arange(float(length)) + 1.0
    first, total = call([length, x])
    second, _ = call([length, x + 1.0])
    assert np.array_equal(first, 2.0 * x)
    assert np.array_equal(second, 2.0 * x + 2.0)
    assert total == 2.0


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.bool_, np.complex128])
def test_results_are_arrays_of_their_own(length: int, dtype: type) -> None:
    one = ad.jit(lambda x, y: (x + y, x[::-1], {"outer": np.outer(x, y[:2])}))
    x, y = np.ones(length, dtype), np.ones(length, dtype)
    first, second = one(x, y), one(x, y)
    first[0][...] = 0
    first[1][0] = 0
    for found, wanted in zip((*second[:2], second[2]["outer"]), (x + y, x, np.outer(x, y[:2])), strict=True):
        assert found.dtype == wanted.dtype
        assert found.flags.writeable
        assert np.array_equal(found, wanted)


def test_small_and_large_results_stand_side_by_side() -> None:
    f = ad.jit(lambda x: (x[:3] * 1.0, x * 2.0, np.sum(x), x[:0] * 1.0, x[:2].reshape(1, 2) * 3.0))
    x = np.arange(500.0)
    for _ in range(3):
        found = f(x)
        assert [part.shape for part in found] == [(3,), (500,), (), (0,), (1, 2)]
        assert np.array_equal(found[1], 2.0 * x)
        assert np.array_equal(found[4], [[0.0, 3.0]])


def test_arguments_that_are_not_in_order_are_copied() -> None:
    f = ad.jit(lambda x, y: np.sum(x * y) + x[0, 1])
    x = np.arange(12.0).reshape(3, 4)
    for one in (
        x,
        x.T.copy().T,
        np.asfortranarray(x),
        x[::-1][::-1],
        np.ascontiguousarray(x[:, ::-1])[:, ::-1],
    ):
        assert f(one, x) == np.sum(x * x) + 1.0


def test_an_empty_array_is_passed() -> None:
    f = ad.jit(lambda x, y: np.sum(x) + np.sum(y))
    assert f(np.zeros(0), np.ones(30)) == 30.0
    assert f(np.zeros((0, 3)), np.zeros(0)) == 0.0


def test_what_is_no_array_is_not_passed_as_one() -> None:
    call = executable(lower(parse(TWICE), Config(threads=1)), this_machine().target.array_data)
    with pytest.raises(TypeError, match="argument 1 of f is no array"):
        call([3, [1.0, 2.0, 3.0]])


def test_a_shape_finds_its_program_again() -> None:
    f = ad.jit(lambda x, k: np.sum(x) * k)
    for _ in range(2):
        for length in (3, 40, 41, 40, 3):
            assert f(np.ones(length), 2.0) == 2.0 * length
        assert f(np.ones(40, np.float32), 2.0) == 80.0
        assert f(np.ones(40), 2) == 80.0
    assert f.compilations == 4


def test_not_every_shape_is_remembered() -> None:
    f = ad.jit(np.sum)
    for length in range(20, 2 * MOST_SHAPES):
        assert f(np.ones(length)) == length
    assert len(f._exact) <= MOST_SHAPES


def test_a_shape_does_not_find_a_program_that_is_no_longer_right() -> None:
    settings = {"scale": 2.0}
    f = ad.jit(lambda x: x * settings["scale"])
    x = np.ones(3)
    for scale in (2.0, 3.0, 2.0, 5.0, 5.0, 2.0):
        settings["scale"] = scale
        for _ in range(3):
            assert np.array_equal(f(x), scale * x)
