"""The search for a sparsity pattern in library calls.

matmul:    D(y_ij) = ∪_k D(a_ik) ∪ ∪_k D(b_kj)
solve:     D(x_ij) = D(all of a) ∪ ∪_k D(b_kj)
fourier:   D(y_ij) = ∪_k D(a_ik), for both parts, with i all dimensions but the last
others:    every element of the result depends on all elements of all arguments
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anadrome.array_ir.interp_library import run_library
from anadrome.array_ir.nodes import Library, Var
from anadrome.array_ir.pattern_sets import Ints, Sets, grouped, pick, spans, union
from anadrome.array_ir.pattern_state import State
from anadrome.array_ir.pattern_values import Block, Lanes, Store, contiguous


def library(state: State, targets: Sequence[Var], expr: Library, lanes: Lanes) -> None:
    """The results of a library call."""
    args = [contiguous(state.block(arg, lanes)) for arg in expr.args]
    outs = [state.blank(state.shape(target.type, lanes), lanes) for target in targets]
    known = _values(state, targets, expr, args, outs, lanes)
    for target, out, data in zip(targets, outs, known, strict=True):
        sets = _sets(expr, args, out) if state.is_reached(target) else None
        state.bind(target, Block(lanes, out.offset, out.shape, Store(out.store.count, data, sets)))


def _sets(expr: Library, args: Sequence[Block], out: Block) -> Sets | None:
    _, lane, within = spans(out.sizes())
    match expr.operation:
        case "matmul":
            left, right = args
            is_transposed = [bool(attribute) for attribute in expr.attributes]
            columns = np.maximum(out.shape[1], 1)[lane]
            row, column = within // columns, within % columns
            lines = [
                _along(left, 1 if is_transposed[0] else 0, lane, row),
                _along(right, 0 if is_transposed[1] else 1, lane, column),
            ]
        case "solve" | "triangular_solve":
            matrix, right = args
            columns = np.maximum(out.shape[1], 1)[lane]
            lines = [_everything(matrix, lane), _along(right, 1, lane, within % columns)]
        case "fourier" | "fourier_of_real" | "fourier_to_real":
            row = within // np.maximum(out.shape[-1], 1)[lane]
            parts = args if expr.operation == "fourier" else args[:-1]
            lines = [_rows(part, lane, row) for part in parts]
        case _:
            lines = [_everything(arg, lane) for arg in args]
    found = [sets for sets in lines if sets is not None]
    return union(found) if found else None


def _along(block: Block, axis: int, lane: Ints, index: Ints) -> Sets | None:
    """The union along one row (axis 0) or column (axis 1) of a matrix, picked for each element."""
    if block.store.sets is None:
        return None
    _, owner, within = spans(block.sizes())
    columns = np.maximum(block.shape[1], 1)[owner]
    line = within // columns if axis == 0 else within % columns
    starts, _, _ = spans(block.shape[axis])
    lines = grouped(block.store.sets, starts[owner] + line, int(block.shape[axis].sum()))
    return pick(lines, starts[lane] + index)


def _rows(block: Block, lane: Ints, row: Ints) -> Sets | None:
    """The union along the last dimension, picked for each element by its row."""
    if block.store.sets is None:
        return None
    _, owner, within = spans(block.sizes())
    counts = np.ones(block.lanes.count, np.int64)
    for size in block.shape[:-1]:
        counts = counts * size
    starts, _, _ = spans(counts)
    own_row = within // np.maximum(block.shape[-1], 1)[owner]
    lines = grouped(block.store.sets, starts[owner] + own_row, int(counts.sum()))
    return pick(lines, starts[lane] + row)


def _everything(block: Block, lane: Ints) -> Sets | None:
    if block.store.sets is None:
        return None
    _, owner, _ = spans(block.sizes())
    return pick(grouped(block.store.sets, owner, block.lanes.count), lane)


def _values(
    state: State,
    targets: Sequence[Var],
    expr: Library,
    args: Sequence[Block],
    outs: Sequence[Block],
    lanes: Lanes,
) -> list[np.ndarray | None]:
    """The results where they are needed and all arguments are known: lane by lane."""
    if not any(state.is_needed(target) for target in targets) or any(arg.store.data is None for arg in args):
        return [None] * len(targets)
    parts: list[list[np.ndarray]] = [[] for _ in targets]
    for lane in range(lanes.count):
        values = []
        for arg in args:
            shape = [int(size[lane]) for size in arg.shape]
            start = int(arg.offset[lane])
            assert arg.store.data is not None
            values.append(arg.store.data[start : start + int(np.prod(shape, dtype=np.int64))].reshape(shape))
        found = run_library(expr.operation, values, expr.attributes, None)
        for part, one in zip(parts, found if len(targets) > 1 else (found,), strict=True):
            part.append(np.asarray(one).reshape(-1))
    return [
        np.concatenate(part).astype(target.type.dtype.numpy) if part else np.zeros(0)
        for part, target in zip(parts, targets, strict=True)
    ]
