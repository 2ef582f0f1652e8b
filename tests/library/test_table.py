"""Every row of the table of library operations: what the layers have for it, and that its facts are true."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from anadrome.ad.library.table import FORWARD, REVERSE
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse
from anadrome.dtypes import ALL
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import FAILURES
from anadrome.kernel_ir.routines import ROUTINES, routine
from anadrome.library.record import LibraryOperation, signature
from anadrome.library.table import LIBRARY
from anadrome.targets.cpu import compile_cpu
from anadrome.targets.llvm_calls import WRITERS
from tests.ad.oracles import assert_derivatives
from tests.lower.oracle import CONFIG, agree, kernel_arguments, lowered
from tests.sparsity.test_pattern import jacobian, pattern

Call = tuple[LibraryOperation, tuple[bool, ...]]

CALLS: dict[str, Call] = {
    f"{row.name}-{''.join('fT'[flag] for flag in flags)}".rstrip("-"): (row, flags)
    for row in LIBRARY.values()
    for flags in itertools.product((False, True), repeat=len(row.attributes))
}
every_row = pytest.mark.parametrize("row", LIBRARY.values(), ids=repr)
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


# ---------------------------------------------------------------------------- programs of one call
def program(call: Call, dtype: str = "f64") -> Function:
    """A function that makes the call and gives all results; its sizes are symbolic."""
    row, attributes = call
    parameters = []
    for argument in row.arguments:
        sizes = (*(("batch",) if argument.is_batched else ()), *row.named_sizes(argument, attributes))
        parameters.append(f"{argument.name}: {argument.dtype or dtype}[{', '.join(sizes)}]")
    names = [argument.name for argument in row.arguments]
    flags = [
        f"{name}={'true' if flag else 'false'}" for name, flag in zip(row.attributes, attributes, strict=True)
    ]
    results = ", ".join(f"{result.name}_" for result in row.results)
    text = f"{results} = call {row.name}({', '.join([*names, *flags])})"
    fn = parse(f"fn f({', '.join(parameters)}) {{ {text}; return {results} }}")
    check(fn)
    return fn


def arguments(call: Call, seed: int = 0) -> list[np.ndarray]:
    """The row's own sample, transposed where the call says so."""
    row, attributes = call
    drawn = row.sample(np.random.default_rng(seed))
    return [
        np.ascontiguousarray(array.T) if row.is_turned(argument, attributes) else array
        for argument, array in zip(row.arguments, drawn, strict=True)
    ]


def compiled(call: Call, args: Sequence[Any], dtype: str = "f64") -> list[Any]:
    """What the machine code gives."""
    fn = program(call, dtype)
    return [*compile_cpu(lowered(fn, CONFIG), CONFIG)(kernel_arguments(fn, args))]


# ---------------------------------------------------------------------------- completeness
def test_every_layer_has_what_it_needs_and_nothing_else() -> None:
    differentiable = {row.name for row in LIBRARY.values() if row.has_derivative}
    multilinear = {row.name for row in LIBRARY.values() if row.is_multilinear}
    assert set(REVERSE) == differentiable
    assert set(FORWARD) == differentiable - multilinear
    assert set(WRITERS) == {row.routine_name for row in LIBRARY.values()}
    assert set(ROUTINES) == {
        routine(row.routine_name, dtype) for row in LIBRARY.values() for dtype in row.types
    }
    assert all(name == row.name for name, row in LIBRARY.items())


@every_row
def test_names(row: LibraryOperation) -> None:
    """The names of a row are different ones, and facts speak of those."""
    operands = [operand.name for operand in (*row.arguments, *row.results)]
    names = [*operands, *row.sizes, *row.attributes, "status", "accumulate"]
    assert len(names) == len(set(names))
    read = {argument.name for argument in row.arguments if argument.is_read}
    grouped = [name for group in row.groups for name in group]
    assert len(grouped) == len(set(grouped)) and read.issuperset([*grouped, *row.triangle])
    sizes = {size for operand in (*row.arguments, *row.results) for size in operand.sizes}
    assert sizes.issuperset(row.apart.split()) and sizes == set(row.sizes) - {"batch"}
    from_arguments = {size for argument in row.arguments for size in argument.sizes}
    assert from_arguments == sizes
    assert {name.removeprefix("transpose_") for name in row.attributes if "transpose_" in name} <= read
    assert set(row.types) <= set(ALL)
    assert row.is_adding is (len(row.results) == 1 and row.plain == "product")


def test_signatures_are_read_as_they_are_written() -> None:
    found = signature("real[..., n], room[k] -> out[..., k]:i64, one")
    assert [one.is_batched for one in found.arguments] == [True, False]
    assert [one.is_read for one in found.arguments] == [True, False]
    assert [(one.name, one.sizes, one.is_batched) for one in found.results] == [
        ("out", ("k",), True),
        ("one", (), False),
    ]
    assert [str(one.dtype) for one in found.results] == ["i64", "None"]


# ---------------------------------------------------------------------------- every answer
@every_call
def test_interpreters_and_machine_code_agree(call: Call) -> None:
    """Of the meaning on NumPy, the routine by its meaning, and the routine as it is written for the CPU."""
    for seed in range(3):
        agree(program(call), *arguments(call, seed))


@every_call
def test_types_and_sizes(call: Call) -> None:
    """The meaning gives what the type rule says, and work grows with the sizes."""
    row, attributes = call
    args = arguments(call)
    outcome = run(program(call), args)
    sizes = row.measured([arg.shape for arg in args], attributes)
    batch = row.batch([arg.shape for arg in args])
    for operand, result in zip(row.results, outcome.results, strict=True):
        own = tuple(sizes[name] for name in operand.sizes)
        assert np.shape(result) == ((*batch, *own) if operand.is_batched else own)
        assert np.asarray(result).dtype == (np.float64 if operand.dtype is None else operand.dtype.numpy)
    assert outcome.work.operations == row.operations([arg.shape for arg in args], attributes) > 0


@every_call
def test_single_precision(call: Call) -> None:
    row, _ = call
    if row.types == ALL:
        return  # sorting does not round
    for found, wanted in zip(
        compiled(call, arguments(call), "f32"), run(program(call), arguments(call)).results, strict=True
    ):
        assert np.asarray(found).dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@every_call
def test_nothing_to_do(call: Call) -> None:
    """Where every size is zero, machine code and interpreters give the same."""
    agree(program(call), *(np.zeros([0] * array.ndim, array.dtype) for array in arguments(call)))


@every_call
def test_derivatives(call: Call) -> None:
    """Forward mode, reverse mode and differences, and those of the reverse mode's program."""
    row, _ = call
    if row.has_derivative:
        assert_derivatives(program(call), arguments(call), tolerance=3e-6, order=2)
    else:
        assert not any(result.dtype is None or result.dtype.is_float for result in row.results)


# ---------------------------------------------------------------------------- facts
@every_row
def test_total(row: LibraryOperation) -> None:
    """An operation that has something for every argument says no failure, whatever it is given."""
    call = row, (False,) * len(row.attributes)
    for fill in (0.0, np.nan, np.inf):
        args = [np.full_like(one, fill) if one.dtype.kind == "f" else one for one in arguments(call)]
        if row.is_total:
            with np.errstate(all="ignore"):
                compiled(call, args)
        elif fill == 0.0 if row.error == "singular" else np.isnan(fill):
            with pytest.raises(FAILURES[row.error], match=row.failure):
                compiled(call, args)
            with pytest.raises(FAILURES[row.error], match=row.failure):
                run(program(call), args)


@every_call
def test_linear(call: Call) -> None:
    """f(…, 2·x + 3·y, …) = 2·f(…, x, …) + 3·f(…, y, …) for each group, and for no other argument."""
    row, _ = call
    one, two = arguments(call), arguments(call, 1)
    singles = [(argument.name,) for argument in row.arguments if argument.is_read and not argument.dtype]
    for group in {*row.groups, *singles}:
        inside = [argument.name in group for argument in row.arguments]

        def results(inside: Sequence[bool], first: float, second: float) -> list[np.ndarray]:
            mixed = [
                first * x + second * y if is_in else x for x, y, is_in in zip(one, two, inside, strict=True)
            ]
            return [np.asarray(found) for found in run(program(call), mixed).results]

        found, left, right = (results(inside, *by) for by in ((2.0, 3.0), (1.0, 0.0), (0.0, 1.0)))
        is_linear = all(
            np.allclose(a, 2 * b + 3 * c, atol=1e-9) for a, b, c in zip(found, left, right, strict=True)
        )
        grouped = {name for names in row.groups for name in names}
        if group in row.groups:
            assert is_linear
        elif row.has_derivative and not grouped.intersection(group):
            assert not is_linear


@every_call
def test_triangle(call: Call) -> None:
    """What stands in the other triangle is not read."""
    row, attributes = call
    for place, argument in enumerate(row.arguments):
        args = arguments(call)
        if argument.name not in row.triangle:
            continue
        wanted = compiled(call, args)
        rows = np.arange(len(args[place]))
        hidden = np.less.outer(rows, rows) if row.reads_lower(attributes) else np.greater.outer(rows, rows)
        args[place] = np.where(hidden, np.nan, args[place])
        for found in (compiled(call, args), run(program(call), args).results):
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@every_call
def test_pattern(call: Call) -> None:
    """No derivative stands outside the pattern, which is not full where the row keeps something out of it.

    There is one by every element that is read, save by imaginary parts, some of which count as zero.
    """
    row, _ = call
    if not row.has_derivative:
        return
    args = arguments(call)
    active = tuple(argument.is_read for argument in row.arguments)
    fn = program(call)
    slopes = [jacobian(fn, arguments(call, seed), active) for seed in range(2)]
    seen = [np.any([np.abs(one) > 1e-9 for one in parts], axis=0) for parts in zip(*slopes, strict=True)]
    for known, found in zip(pattern(fn, args, active), seen, strict=True):
        assert not (found & ~known).any()
        if row.apart or row.triangle or "batch" in row.sizes:
            assert not known.all()
    is_read, is_real = read_elements(call, args)
    reached = np.any(np.concatenate(seen), axis=0)
    np.testing.assert_array_equal(reached[is_real], is_read[is_real])
    assert not (reached & ~is_read).any()


def read_elements(call: Call, args: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Which elements of the arguments are read, as the row says, save positions; which are not imaginary."""
    row, attributes = call
    found, real = [], []
    for argument, arg in zip(row.arguments, args, strict=True):
        if argument.is_read:
            lower = np.tri(len(arg), dtype=bool)
            triangle = lower if row.reads_lower(attributes) else lower.T
            every = np.full(arg.shape, argument.dtype is None)
            found.append((triangle if argument.name in row.triangle else every).ravel())
            real.append(np.full(arg.size, argument.name != "imag"))
    return np.concatenate(found), np.concatenate(real)


MISFITS = {
    "n is both n and m": "a: f64[n, m], b: f64[n, k] -> call solve(a, b, transpose=true)",
    "n is both 2 and 3": "a: f64[2, 3], b: f64[2, 1] -> call solve(a, b, transpose=true)",
    "right[n, m] cannot be f32[2, 1]": "a: f64[2, 2], b: f32[2, 1] -> call solve(a, b, transpose=true)",
    "right[n, m] cannot be f64[2]": "a: f64[2, 2], b: f64[2] -> call solve(a, b, transpose=true)",
    "inner is both 3 and 2": "a: f64[2, 3], b: f64[2, 3] -> call matmul(a, b, transpose_left=false, "
    "transpose_right=false)",
    "the leading dimensions differ": "a: f64[2, 3], b: f64[4, 3] -> call fourier(a, b, backward=true)",
    "fourier takes 2 arguments": "a: f64[2, 3], b: f64[2, 3] -> call fourier(a, backward=true)",
}


@pytest.mark.parametrize("words", MISFITS)
def test_a_call_that_does_not_fit_is_refused(words: str) -> None:
    parameters, _, call = MISFITS[words].partition(" -> ")
    targets = "c, d" if "fourier" in call else "c"
    with pytest.raises(IRError, match=re.escape(words)):
        check(parse(f"fn f({parameters}) {{ {targets} = {call}; return c }}"))
