"""Growing kernel programs: nested blocks, allocation hoisted out of loops, copies and fills.

Scratch in a loop is allocated once, before the outermost loop in which its size does not change. The bodies
of THREADS and OUTER loops are borders: what is allocated inside belongs to the worker, or to the iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from anadrome.dtypes import I64, DType
from anadrome.errors import Span
from anadrome.errors.kernels_launch import KernelArray
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ONE, ZERO, multiply, product
from anadrome.kernel_ir.check import LOCAL_BYTES
from anadrome.kernel_ir.nodes import Binding, Buffer, Expr, Space, Stmt, Var
from anadrome.lower.values import Place, Splat, Storage, capacity, dimensions
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS

SMALL_ARRAY = 256
"""Arrays of at most this many elements, known at compile time, are local: registers or the stack."""
UNROLLED_COPY = 8
"""Copies and fills of at most this constant size are written out."""

BlockKind = Literal["function", "loop", "branch", "threads", "lanes"]
BORDERS = ("threads", "lanes")
_KINDS: dict[Binding, BlockKind] = {Binding.THREADS: "threads", Binding.OUTER: "lanes"}

ElementRule = Callable[[Expr], Expr]
"""The offset of an element from the start of its array -> its value."""


@dataclass(slots=True, eq=False)
class Block:
    """A statement list being filled. `is_shared`: iterations share scratch that was hoisted out of them."""

    kind: BlockKind
    depth: int
    parent: Block | None = None
    stmts: list[Stmt] = field(default_factory=list)
    owned: dict[Buffer, Storage] = field(default_factory=dict)
    is_shared: bool = False


ROUNDED = ("add", "mul")
"""Reductions whose result depends on their order, on floats."""


class Emitter:
    """Appends statements to the innermost open block."""

    def __init__(self, is_kernel: bool = False, reorders: bool = True) -> None:
        self.is_kernel = is_kernel
        self.reorders = reorders
        """Whether floats may be added up in any order."""
        self.block = Block("function", 0)
        self.span: Span | None = None
        self._depths: dict[Var, int] = {}
        self._homes: dict[Buffer, int] = {}
        """buffer -> the depth of the block that allocates it; parameters are not among them"""

    # ------------------------------------------------------------------ blocks
    @contextmanager
    def open(self, kind: BlockKind) -> Iterator[Block]:
        """A nested block; what it allocated is freed at its end. The caller places its statements."""
        outer = self.block
        self.block = Block(kind, outer.depth + 1, outer)
        try:
            yield self.block
            for buffer in self.block.owned:
                self.emit(kernel_ir.Free(buffer))
        finally:
            inner, self.block = self.block, outer
        outer.is_shared |= inner.is_shared and inner.kind not in BORDERS

    def emit(self, stmt: Stmt) -> None:
        """Append a statement, in a kernel with the source place that says so."""
        if self.is_kernel and isinstance(stmt, kernel_ir.Let | kernel_ir.Store) and stmt.span is None:
            stmt = replace(stmt, span=self.span)
        self.block.stmts.append(stmt)

    def at_start(self, alloc: kernel_ir.Alloc) -> None:
        """Put memory at the start of the outermost block, before all that may use it."""
        block = self.block
        while block.parent is not None:
            block = block.parent
        place = next(
            (at for at, stmt in enumerate(block.stmts) if not isinstance(stmt, kernel_ir.Alloc)),
            len(block.stmts),
        )
        block.stmts.insert(place, alloc)

    def know(self, var: Var) -> None:
        """A variable that another statement than `Let` binds here."""
        self._depths[var] = self.block.depth

    @property
    def is_host(self) -> bool:
        """Whether the open block runs on the calling thread."""
        block: Block | None = self.block
        while block is not None:
            if block.kind == "threads":
                return False
            block = block.parent
        return True

    @property
    def is_in_loop(self) -> bool:
        """Whether the open block is inside a loop."""
        block: Block | None = self.block
        while block is not None:
            if block.kind in ("loop", "lanes"):
                return True
            block = block.parent
        return False

    @property
    def _depth_of_lanes(self) -> int:
        """The depth of the body of the OUTER loop around, 0 where there is none."""
        block: Block | None = self.block
        while block is not None:
            if block.kind == "lanes":
                return block.depth
            block = block.parent
        return 0

    @contextmanager
    def loop(
        self, name: str, lo: Expr, hi: Expr, binding: Binding = Binding.SEQUENTIAL, *, is_map: bool = False
    ) -> Iterator[Var]:
        """A `For` around what is emitted inside; none where that does nothing or has no iteration, as for
        rows without elements. A map (each iteration writes its own elements only) becomes PARALLEL where
        nothing in it stands against that."""
        index = Var(name, I64)
        with self.open(_KINDS.get(binding, "loop")) as block:
            self._depths[index] = block.depth
            yield index
        is_idle = _is_empty(lo, hi) or all(isinstance(stmt, kernel_ir.Let) for stmt in block.stmts)
        if is_idle and not self.is_kernel:  # what a kernel reads is looked at for races
            return
        is_free = binding is Binding.SEQUENTIAL and not (self.is_kernel or block.is_shared or block.owned)
        if is_map and is_free:
            binding = Binding.PARALLEL
        self.emit(kernel_ir.For(index, lo, hi, tuple(block.stmts), binding, self.span))

    # ------------------------------------------------------------------ scalars
    def let(self, name: str, dtype: DType, value: Expr) -> Expr:
        """Bind an expression to a fresh variable; variables and constants are themselves."""
        match value:
            case kernel_ir.Var() | kernel_ir.Const():
                return value
            case _:
                var = Var(name, dtype)
                self._depths[var] = self.block.depth
                self.emit(kernel_ir.Let(var, value))
                return var

    def cell(self, name: str, dtype: DType, start: Expr) -> Buffer:
        """A mutable scalar: a local buffer of one element."""
        buffer = Buffer(name, dtype, Space.LOCAL)
        self._homes[buffer] = self.block.depth
        self.emit(kernel_ir.Alloc(buffer, ONE))
        self.emit(kernel_ir.Store(buffer, (ZERO,), start))
        return buffer

    def combine_element(self, operator: str, buffer: Buffer, indices: tuple[Expr, ...], value: Expr) -> None:
        """buffer[indices] = buffer[indices] ⊕ value; of several lanes that may meet there, each."""
        if self._homes.get(buffer, 0) < self._depth_of_lanes:
            self.emit(kernel_ir.Atomic(operator, buffer, indices, value, is_alone=True))
        else:
            old = kernel_ir.Load(buffer, indices)
            self.emit(kernel_ir.Store(buffer, indices, self.fold(operator, buffer.dtype, old, value)))

    def fold(self, operator: str, dtype: DType, left: Expr, right: Expr) -> Expr:
        """left ⊕ right, of a reduction whose order is open, or as it stands where settings say so."""
        is_rounded = dtype.is_float and operator in ROUNDED
        return kernel_ir.Compute(PRIMS[operator], (left, right), self.reorders or not is_rounded)

    def load(self, name: str, buffer: Buffer, offset: Expr = ZERO) -> Expr:
        """Bind an element."""
        return self.let(name, buffer.dtype, kernel_ir.Load(buffer, (offset,)))

    def element(self, name: str, place: Place, offset: Expr = ZERO) -> Expr:
        """Bind the element of an array that stands at an offset."""
        return self.let(name, place.dtype, kernel_ir.Load(place.buffer, place.at(offset)))

    def depth(self, expr: Expr) -> int:
        """The depth of the innermost block an expression depends on."""
        match expr:
            case kernel_ir.Var():
                return self._depths.get(expr, 0)
            case kernel_ir.Compute(args=args):
                return max((self.depth(arg) for arg in args), default=0)
            case kernel_ir.Load():
                return self.block.depth
            case _:
                return 0

    # ------------------------------------------------------------------ memory
    def allocate(self, name: str, dtype: DType, shape: tuple[Expr, ...], *, is_shared: bool = False) -> Place:
        """An array without a value. `is_shared`: threads opened later read it, so it is never local."""
        size = capacity(shape)
        if self.is_kernel:
            bytes_ = int(size.value) * dtype.bytes if isinstance(size, kernel_ir.Const) else None
            if bytes_ is None or bytes_ > LOCAL_BYTES:
                raise KernelArray(self.span)
        if self.is_kernel or (is_small(shape) and not is_shared):
            buffer = Buffer(name, dtype, Space.LOCAL, () if self.is_kernel else dimensions(shape))
            self._homes[buffer] = self.block.depth
            self.emit(kernel_ir.Alloc(buffer, size))
            return Place(Storage(buffer, is_whole=True), ZERO, shape)
        return self._on_heap(Buffer(name, dtype, Space.GLOBAL, dimensions(shape)), shape)

    def allocate_side_by_side(self, name: str, dtype: DType, shape: tuple[Expr, ...]) -> Place:
        """An array without a value, whose rows lie element by element side by side: the first dimension is
        the fastest."""
        strides: list[Expr] = [ONE]
        below = shape[0]
        for size in reversed(shape[1:]):
            strides.insert(1, below)
            below = multiply(below, size)
        return self._on_heap(Buffer(name, dtype, Space.GLOBAL, shape, tuple(strides)), shape)

    def _on_heap(self, buffer: Buffer, shape: tuple[Expr, ...]) -> Place:
        """An array on the heap, allocated before the loops in which its size does not change."""
        size = capacity(shape)
        home = self._home((size, *buffer.shape))
        self._homes[buffer] = home.depth
        home.stmts.append(kernel_ir.Alloc(buffer, size, self.span))
        storage = home.owned[buffer] = Storage(buffer, is_whole=not buffer.strides)
        if home is not self.block:
            self.block.is_shared = True
        return Place(storage, ZERO, shape)

    def _home(self, sizes: tuple[Expr, ...]) -> Block:
        """The block around the outermost loop in which no size changes."""
        depth = max(map(self.depth, sizes))
        home = block = self.block
        while block.kind in ("loop", "branch") and block.parent is not None and depth < block.depth:
            if block.kind == "loop":
                home = block.parent
            block = block.parent
        return home

    def copy(self, target: Place, source: Place) -> None:
        """target[k] = source[k]"""
        self.each(target, lambda k: kernel_ir.Load(source.buffer, source.at(k)))

    def call(self, routine: str, args: tuple[Buffer | Expr, ...]) -> None:
        """Call a routine."""
        self.emit(kernel_ir.Call(routine, args))

    def launch(self, launch: kernel_ir.Launch) -> None:
        """Launch a kernel."""
        self.emit(launch)

    def fill(self, target: Place, value: Expr) -> None:
        """target[k] = value"""
        self.each(target, lambda _: value)

    def combine(self, target: Place, source: Place | Splat, operator: str) -> None:
        """target[k] = target[k] ⊕ source[k]"""

        def combined(k: Expr) -> None:
            match source:
                case Splat(value=value):
                    pass
                case Place():
                    value = kernel_ir.Load(source.buffer, source.at(k))
            self.combine_element(operator, target.buffer, target.at(k), value)

        self._elements(target, combined)

    def each(self, target: Place, value: ElementRule) -> None:
        """target[k] = value(k) for every element in row-major order; `value` reads no other element of it."""
        self._elements(target, lambda k: self.emit(kernel_ir.Store(target.buffer, target.at(k), value(k))))

    def _elements(self, target: Place, put: Callable[[Expr], None]) -> None:
        """What is done for the offset of every element in row-major order, of other elements for each."""
        size = product(target.shape)
        if isinstance(size, kernel_ir.Const) and int(size.value) <= UNROLLED_COPY:
            for k in range(int(size.value)):
                put(kernel_ir.i64(k))
            return
        with self.loop("k", ZERO, size, is_map=True) as index:
            put(index)


def is_small(shape: tuple[Expr, ...]) -> bool:
    """Whether an array of this shape is kept in registers or on the stack."""
    size = capacity(shape)
    return isinstance(size, kernel_ir.Const) and int(size.value) <= SMALL_ARRAY


def _is_empty(lo: Expr, hi: Expr) -> bool:
    """Whether a loop between these has no iteration, whatever is read."""
    return isinstance(lo, kernel_ir.Const) and isinstance(hi, kernel_ir.Const) and lo.value >= hi.value
