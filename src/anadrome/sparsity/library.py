"""The search for a sparsity pattern in library calls.

An element of a result depends on those elements of each argument that stand at its own place along the sizes
that the operation keeps `apart` and along the leading dimensions, and of a triangular argument only on those
in the triangle that is read:

    matmul:    D(y_ij) = ∪_k D(a_ik) ∪ ∪_k D(b_kj)
    solve:     D(x_ij) = D(all of a) ∪ ∪_k D(b_kj)
    fourier:   D(y_ij) = ∪_k D(a_ik), for both parts, with i all dimensions but the last
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anadrome.array_ir.library import run_library
from anadrome.array_ir.nodes import Library, Var
from anadrome.library.record import LibraryOperation
from anadrome.library.table import LIBRARY
from anadrome.sparsity.sets import Ints, Sets, grouped, pick, spans, union
from anadrome.sparsity.state import State
from anadrome.sparsity.values import Block, Lanes, Store, contiguous


def library(state: State, targets: Sequence[Var], expr: Library, lanes: Lanes) -> None:
    """The results of a library call."""
    args = [contiguous(state.block(arg, lanes)) for arg in expr.args]
    outs = [state.blank(state.shape(target.type, lanes), lanes) for target in targets]
    known = _values(state, targets, expr, args, lanes)
    for position, (target, out, data) in enumerate(zip(targets, outs, known, strict=True)):
        sets = _sets(expr, args, out, position) if state.is_reached(target) else None
        state.bind(target, Block(lanes, out.offset, out.shape, Store(out.store.count, data, sets)))


def _sets(expr: Library, args: Sequence[Block], out: Block, position: int) -> Sets | None:
    """What the elements of one result depend on."""
    row = LIBRARY[expr.operation]
    made = _axes(row.results[position].sizes, out)
    found = []
    for argument, arg in zip(row.arguments, args, strict=True):
        if arg.store.sets is None or not argument.is_read:
            continue
        held = _axes(row.named_sizes(argument, expr.attributes), arg)
        kept = [
            name for name in held if name in made and (isinstance(name, int) or name in row.apart.split())
        ]
        _, owner, within = spans(arg.sizes())
        groups, starts, count = _groups(arg, [held[name] for name in kept], owner, within)
        if argument.name in row.triangle:
            groups = np.where(_is_read(row, expr, arg, owner, within), groups, -1)
        _, lane, at = spans(out.sizes())
        places = _places(out, [made[name] for name in kept], lane, at)
        found.append(pick(grouped(arg.store.sets, groups, count), starts[lane] + places))
    return union(found) if found else None


def _axes(sizes: Sequence[str], block: Block) -> dict[str | int, int]:
    """The axis of each size; leading dimensions are called by their number."""
    leading = len(block.shape) - len(sizes)
    return {name: axis for axis, name in enumerate((*range(leading), *sizes))}


def _groups(block: Block, axes: Sequence[int], owner: Ints, within: Ints) -> tuple[Ints, Ints, int]:
    """The group of each element, one for each place along some axes; where those of each lane begin."""
    counts = np.ones(block.lanes.count, np.int64)
    for axis in axes:
        counts = counts * block.shape[axis]
    starts, _, _ = spans(counts)
    return starts[owner] + _places(block, axes, owner, within), starts, int(counts.sum())


def _places(block: Block, axes: Sequence[int], owner: Ints, within: Ints) -> Ints:
    """Where each element stands along some axes, in row-major order of these."""
    found = np.zeros(len(within), np.int64)
    for axis in axes:
        found = found * block.shape[axis][owner] + _index(block, axis, owner, within)
    return found


def _index(block: Block, axis: int, owner: Ints, within: Ints) -> Ints:
    """The index of each element along one axis."""
    step = np.ones(block.lanes.count, np.int64)
    for size in block.shape[axis + 1 :]:
        step = step * size
    size = np.maximum(block.shape[axis], 1)[owner]
    found: Ints = within // np.maximum(step, 1)[owner] % size
    return found


def _is_read(
    row: LibraryOperation, expr: Library, block: Block, owner: Ints, within: Ints
) -> npt.NDArray[np.bool_]:
    """Whether each element of a square matrix is in the triangle that is read."""
    line, column = (_index(block, axis, owner, within) for axis in (0, 1))
    return line >= column if row.reads_lower(expr.attributes) else line <= column


def _values(
    state: State,
    targets: Sequence[Var],
    expr: Library,
    args: Sequence[Block],
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
        for part, one in zip(parts, found, strict=True):
            part.append(np.asarray(one).reshape(-1))
    return [
        np.concatenate(part).astype(target.type.dtype.numpy) if part else np.zeros(0)
        for part, target in zip(parts, targets, strict=True)
    ]
