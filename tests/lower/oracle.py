"""Run a function of the array IR three ways: interpreted, lowered and interpreted, lowered and compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anadrome.array_ir import interp as array_interp
from anadrome.array_ir.nodes import Function, Var
from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.kernel_ir import interp as kernel_interp
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir import text as kernel_text
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.walk import bodies
from anadrome.lower.function import lower
from anadrome.targets.cpu import compile_cpu

CONFIG = Config(threads=2)


def kernel_arguments(fn: Function, args: Sequence[Any]) -> list[Any]:
    """The implicit sizes, then the arguments: scalars as they are, arrays contiguous, an empty one as the
    zeros that its clamped indices may read."""
    sizes: dict[Var, int] = {}
    for param, arg in zip(fn.params, args, strict=True):
        for size, extent in zip(param.type.shape, np.shape(arg), strict=True):
            if isinstance(size, Var):
                sizes.setdefault(size, extent)
    values = [_value(param, arg) for param, arg in zip(fn.params, args, strict=True)]
    return [*(sizes[size] for size in fn.sizes), *values]


def _value(param: Var, arg: Any) -> Any:
    array = np.asarray(arg, dtype=param.type.dtype.numpy)
    if not param.type.shape:
        return array[()]
    return np.ascontiguousarray(array) if array.size else np.zeros([max(1, n) for n in array.shape])


def lowered(text: str | Function, config: Config = CONFIG) -> kernel_ir.Function:
    """The kernel of a program, verified."""
    kernel = lower(parse(text) if isinstance(text, str) else text, config)
    check(kernel)
    return kernel


def agree(text: str | Function, *args: Any, config: Config = CONFIG, interpret: bool = True) -> list[Any]:
    """Assert that the three give the same, that no argument changed, that no loop allocates; the results."""
    fn = parse(text) if isinstance(text, str) else text
    expected = array_interp.run(fn, args).results
    kernel = lowered(fn, config)
    given = kernel_arguments(fn, args)
    before = [np.array(arg) for arg in given]
    found = compile_cpu(kernel, config)(given)
    results = [found]
    if interpret:
        results.append(kernel_interp.run(kernel, given))
    for result in results:
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    for one, other in zip(given, before, strict=True):
        np.testing.assert_array_equal(one, other)
    return found


def agree_donated(
    text: str | Function, *args: Any, config: Config = CONFIG, is_exact: bool = False
) -> list[Any]:
    """Assert that a program that is given all of its arrays gives the same as one that is not, interpreted
    and compiled, to the bit where it rounds nothing; the results."""
    fn = parse(text) if isinstance(text, str) else text
    plain, donated = lowered(fn, config), lower(fn, config, range(len(fn.params)))
    check(donated)
    assert kernel_text.show(kernel_text.parse(kernel_text.show(donated))) == kernel_text.show(donated)
    assert set(donated.donated) <= {param for param in donated.params if isinstance(param, kernel_ir.Buffer)}
    assert allocations(donated) <= allocations(plain)
    given = kernel_arguments(fn, args)
    expected = compile_cpu(plain, config)(given)
    interpreted = kernel_interp.run(donated, given)
    own = [np.array(arg) if np.ndim(arg) else arg for arg in given]
    found = compile_cpu(donated, config)(own)
    for one, other, again in zip(found, expected, interpreted, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=0.0 if is_exact else 1e-12, atol=0.0 if is_exact else 1e-12
        )
        np.testing.assert_allclose(again, other, rtol=1e-12, atol=1e-12)
    arrays = [result for result in found if np.ndim(result)]
    for place, array in enumerate(arrays):
        assert not any(np.may_share_memory(array, other) for other in arrays[:place])
    return found


def allocations(kernel: kernel_ir.Function) -> int:
    """How many buffers are allocated on the heap."""
    found = statements_of(kernel, kernel_ir.Alloc)
    return sum(stmt.buffer.space is kernel_ir.Space.GLOBAL for stmt in found)


def loop_allocations(kernel: kernel_ir.Function) -> list[str]:
    """The heap buffers allocated in a loop, save those a worker allocates before its own loop."""

    def search(body: Sequence[kernel_ir.Stmt], in_loop: bool) -> list[str]:
        found: list[str] = []
        for stmt in body:
            if isinstance(stmt, kernel_ir.Alloc) and in_loop:
                found += [stmt.buffer.name] * (stmt.buffer.space is kernel_ir.Space.GLOBAL)
            is_loop = isinstance(stmt, kernel_ir.For | kernel_ir.While)
            is_fork = isinstance(stmt, kernel_ir.For) and stmt.binding is kernel_ir.Binding.THREADS
            for inner in bodies(stmt):
                found += search(inner, not is_fork and (in_loop or is_loop))
        return found

    return search(kernel.body, False)


def statements_of(kernel: kernel_ir.Function | kernel_ir.For, kind: type) -> list[Any]:
    """Every statement of a kind, wherever it stands."""

    def search(body: Sequence[kernel_ir.Stmt]) -> list[Any]:
        found: list[Any] = []
        for stmt in body:
            found += [stmt] if isinstance(stmt, kind) else []
            for inner in bodies(stmt):
                found += search(inner)
        return found

    return search(kernel.body)
