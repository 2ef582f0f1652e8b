"""`reduce` and `scan`: one parfor over the items, with the operator in its yields.

reduce(⊕, x):   parfor i < n { v = x[i]; yield reduce ⊕ v }
scan(⊕, x):     parfor i < n { v = x[i]; yield scan ⊕ v }
"""

from __future__ import annotations

from collections.abc import Callable

from anadrome.array_ir.nodes import Atom, Part, Reduce, Scan, Var, i64
from anadrome.frontend.context import Context
from anadrome.frontend.library.common import axis_of, permuted, require, static_flag
from anadrome.frontend.parallel.items import Row, items_of, sweep, swept_row
from anadrome.frontend.parallel.operators import (
    check_inverse,
    combined,
    identity_atoms,
    lambda_of,
    named,
    named_for,
)
from anadrome.frontend.values import Value


def reduce_items(
    context: Context,
    operator: Value,
    xs: Value,
    identity: Value = None,
    axis: Value = 0,
    inverse: Value = None,
) -> Value:
    """`ad.reduce` in a program."""
    name = "ad.reduce"
    named(name, operator)
    check_inverse(name, inverse)
    items = items_of(context, name, xs, axis)
    swept = sweep(context, items)
    row = swept_row(context, name, swept, lambda item: item)
    operation = named_for(name, operator, [type_.dtype for type_ in row.types], row.value)
    if operation is None:
        function = lambda_of(context, name, operator, row, identity, inverse)
        return _wrapped(context, row, swept.close(context, [Reduce.of(function, row.atoms)]))
    if identity is None and operation in ("min", "max"):
        something = context.builder.apply("gt", items.extent, i64(0))
        require(context, something, "empty", f"{name}({operation!r}) of nothing without an identity")
    results: list[Atom] = list(swept.close(context, [Reduce.of(operation, (one,)) for one in row.atoms]))
    if identity is not None:
        start = identity_atoms(context, name, row, identity)
        results = [combined(context.builder, operation, *pair) for pair in zip(start, results, strict=True)]
    return _wrapped(context, row, results)


def _wrapped(context: Context, row: Row, results: tuple[Var, ...] | list[Atom]) -> Value:
    values = [context.wrap(found, is_weak) for found, is_weak in zip(results, row.weak, strict=True)]
    return row.rebuild(iter(values))


def scan_items(
    context: Context,
    operator: Value,
    xs: Value,
    identity: Value = None,
    exclusive: Value = False,
    axis: Value = 0,
) -> Value:
    """`ad.scan` in a program."""
    name = "ad.scan"
    named(name, operator)
    is_exclusive = static_flag(context, name, "exclusive", exclusive)
    swept = sweep(context, items_of(context, name, xs, axis))
    row = swept_row(context, name, swept, lambda item: item)
    operation = named_for(name, operator, [type_.dtype for type_ in row.types], row.value)
    yields: list[Part]
    if operation is None:
        yields = [Scan.of(lambda_of(context, name, operator, row, identity), row.atoms, is_exclusive)]
    else:
        yields = [Scan.of(operation, (one,), is_exclusive) for one in row.atoms]
    results = list(swept.close(context, yields))
    if operation is not None and identity is not None:
        start = identity_atoms(context, name, row, identity)
        results = [
            context.builder.stack(swept.items.extent, _prefixed(operation, first, result))
            for first, result in zip(start, results, strict=True)
        ]
    back = [_moved_back(context, name, result, axis) for result in results]
    return row.rebuild(iter([context.wrap(result) for result in back]))


def _prefixed(operation: str, first: Atom, prefixes: Var) -> Callable[..., Atom]:
    return lambda inner, index: combined(inner, operation, first, inner.index(prefixes, (index,)))


def _moved_back(context: Context, name: str, result: Var, axis: Value) -> Var:
    """The first axis of the result where it was in the array."""
    rank = len(result.type.shape)
    along = axis_of(context, name, axis, rank)
    if not along:
        return result
    return permuted(context.builder, result, [*range(1, along + 1), 0, *range(along + 1, rank)])
