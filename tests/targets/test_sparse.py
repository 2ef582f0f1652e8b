"""Sparse systems in machine code: factors are used again inside a call and go at its end; what is raised is
raised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse
from anadrome.library.table import LIBRARY
from anadrome.targets import cpu_sparse
from anadrome.targets.cpu import compile_cpu
from anadrome.targets.cpu_call import Executable
from anadrome.targets.cpu_machine import this_machine
from tests.lower.oracle import CONFIG, kernel_arguments, lowered

SOLVE = """fn f(data: f64[k], rows: i64[k], columns: i64[k], right: f64[n, m]) -> f64[n, m] {
  once = call sparse_solve(data, rows, columns, right)
  turned = call sparse_solve(data, columns, rows, once)
  again = call sparse_solve(data, rows, columns, turned)
  return again
}"""


def compiled(text: str = SOLVE) -> tuple[Function, Executable]:
    fn = parse(text)
    return fn, compile_cpu(lowered(fn, CONFIG), CONFIG)


def sample() -> list[np.ndarray]:
    return list(LIBRARY["sparse_solve"].sample(np.random.default_rng(0)))


def test_a_matrix_is_factored_once_in_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also its transpose; and nothing is kept after the call."""
    sizes = []

    def counted(*matrix: Any) -> Any:
        sizes.append(matrix[3])
        return factored(*matrix)

    factored = cpu_sparse.factored
    monkeypatch.setattr(cpu_sparse, "factored", counted)
    fn, program = compiled()
    data, rows, columns, right = sample()
    (found,) = program(kernel_arguments(fn, [data, rows, columns, right]))
    dense = np.zeros((5, 5))
    np.add.at(dense, (rows, columns), data)
    wanted = np.linalg.solve(dense, np.linalg.solve(dense.T, np.linalg.solve(dense, right)))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
    assert sizes == [5]
    assert not this_machine().sparse._kept


def test_an_error_in_the_solver_ends_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next call works."""
    fn, program = compiled()
    args = kernel_arguments(fn, sample())
    before = program(args)

    def interrupted(*matrix: Any) -> Any:
        raise KeyboardInterrupt("while factoring")

    with monkeypatch.context() as patched:
        patched.setattr(cpu_sparse, "factored", interrupted)
        with pytest.raises(KeyboardInterrupt, match="while factoring"):
            program(args)
    assert not this_machine().sparse._kept
    np.testing.assert_array_equal(program(args)[0], before[0])


def test_an_entry_outside_the_matrix_is_an_error() -> None:
    fn, program = compiled()
    data, rows, columns, right = sample()
    for outside in (5, -1, 2**40):
        rows[3] = outside
        with pytest.raises(ValueError, match="index"):
            program(kernel_arguments(fn, [data, rows, columns, right]))


def test_numbers_that_are_not_finite_make_nan() -> None:
    """SuperLU never sees them."""
    fn, program = compiled()
    data, rows, columns, right = sample()
    for number in (np.nan, np.inf):
        data[2] = number
        (found,) = program(kernel_arguments(fn, [data, rows, columns, right]))
        assert np.isnan(found).all()
