"""What the lanes of a loop compute and where it is in memory: values of all lanes at once (`llvm_lanes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import assert_never

from anadrome.dtypes import BOOL, I64, DType
from anadrome.kernel_ir.nodes import Buffer, Compute, Const, Expr, For, Load, Var, Workers
from anadrome.kernel_ir.walk import offset_of
from anadrome.prims.record import Prim
from anadrome.targets.llvm_rows import WHOLE, Columns, interleaved, part_of, parts, runs, shuffled, turned
from anadrome.targets.llvm_scalars import RELATIONS, emit_scalar, whole_number, wrapped
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import Value, is_literal, literal, memory_type
from anadrome.targets.varying import varying_in


@dataclass(frozen=True, slots=True)
class Spread:
    """A number that differs between lanes: a vector, or (of type i64) base + stride · lane, both of them the
    same in all lanes.

    `root`: a vector that differs between two lanes exactly where this one does: the number before something
    was added to it that is the same in all lanes. (Two numbers may have one multiple, which wraps around.)
    """

    vector: Value = ""
    base: Value = ""
    stride: Value = "0"
    root: Value = ""

    @property
    def steps(self) -> int | None:
        """The stride, where it is known to be a constant."""
        return int(self.stride) if not self.vector and is_literal(self.stride) else None


Operand = Value | Spread
"""A number that is the same in all lanes, or not."""

LONGEST = 1 << 31
"""The longest stride: no multiple of it by a lane's number wraps around."""

SHUFFLED = 4
"""Elements apart up to which all between the first and the last are read, and those wanted picked out."""

FULL = "splat (i1 true)"
"""The mask of all lanes."""

_HARMLESS = {"acosh": 1.5}
"""Where a function is a number that is none at a half."""


class Vectors:
    """The lanes of one loop, and which of them are here: values and memory."""

    def __init__(self, scope: Scope, loop: For, width: int) -> None:
        self.scope = scope
        self.text = scope.text
        self.width = width
        self.varying = varying_in(loop)
        self.vars: dict[Var, Spread] = {}
        self.views: dict[Buffer, tuple[Buffer, Operand]] = {}
        """view -> the buffer it looks into, and where it begins there"""
        self.own: dict[Buffer, Value] = {}
        """Arrays of which each lane has its own: where they are."""
        self.owners: dict[Buffer, Value] = {}
        """The mask of the lanes that have such an array; what stands in it for others nobody reads."""
        self.mask: Value = FULL
        self.held: set[Var] = set()
        """Conditions that were checked: they hold for all lanes that are here."""
        self.moved: dict[Value, tuple[Value, int]] = {}
        """Sums of a number and a constant."""
        self.waiting: list[Columns] = []
        """What is to be stored to rows of one array, as long as nothing else is done to memory there."""

    # ------------------------------------------------------------------ vectors
    @contextmanager
    def wide(self) -> Iterator[None]:
        """Operations are written for all lanes."""
        self.text.lanes = self.width
        try:
            yield
        finally:
            self.text.lanes = 1

    def kind(self, dtype: DType) -> str:
        """The type of a vector of registers."""
        return f"<{self.width} x {dtype.llvm}>"

    def memory_kind(self, dtype: DType) -> str:
        """The type of a vector in memory."""
        return f"<{self.width} x {memory_type(dtype)}>"

    def vector(self, operand: Operand, dtype: DType) -> Value:
        """A number as a vector."""
        if isinstance(operand, Spread):
            return operand.vector or self._line(operand)
        if not operand.startswith("%"):
            return f"splat ({dtype.llvm} {operand})"
        kind = self.kind(dtype)
        first = self.text.value(f"insertelement {kind} poison, {dtype.llvm} {operand}, i64 0")
        return self.text.value(
            f"shufflevector {kind} {first}, {kind} poison, <{self.width} x i32> zeroinitializer"
        )

    def _line(self, line: Spread) -> Value:
        base, kind = self.vector(line.base, I64), self.kind(I64)
        steps = 1 if line.steps is None else line.steps
        multiples = "<" + ", ".join(f"i64 {steps * lane}" for lane in range(self.width)) + ">"
        if line.steps is None:
            multiples = self.text.value(f"mul {kind} {self.vector(line.stride, I64)}, {multiples}")
        return self.text.value(f"add {kind} {base}, {multiples}")

    def any_of(self, mask: Value) -> Value:
        """Whether a mask has any lane."""
        return self.text.intrinsic(f"llvm.vector.reduce.or.v{self.width}i1", "i1", [(self.kind(BOOL), mask)])

    def within(self, condition: Value) -> Value:
        """The lanes that are here and for which a condition holds. What it is elsewhere may be anything."""
        kind = self.kind(BOOL)
        settled = condition if is_literal(condition) else self.text.value(f"freeze {kind} {condition}")
        if self.mask == FULL:
            return settled
        return settled if self.mask == FULL else self.text.value(f"and {kind} {self.mask}, {settled}")

    @contextmanager
    def under(self, mask: Value) -> Iterator[None]:
        """Statements are written for the lanes of a mask."""
        around, self.mask = self.mask, mask
        try:
            yield
        finally:
            self.mask = around

    # ------------------------------------------------------------------ expressions
    def typed(self, expr: Expr) -> tuple[Operand, DType]:
        """The value of an expression and its type."""
        match expr:
            case Var(dtype=dtype):
                return self.vars.get(expr) or self.scope.vars[expr], dtype
            case Const(value=value, dtype=dtype):
                return literal(value, dtype), dtype
            case Workers():
                return self.scope.typed(expr)
            case Compute():
                return self._compute(expr)
            case Load(buffer=buffer, indices=indices):
                return self.load(buffer, self.index(buffer, indices)), buffer.dtype
            case _:
                assert_never(expr)

    def holds(self, condition: Expr) -> bool:
        """Whether a condition is known to hold."""
        match condition:
            case Var():
                return condition in self.held
            case Compute(prim=prim, args=args):
                return prim.name == "and" and all(map(self.holds, args))
            case _:
                return False

    def _compute(self, expr: Compute) -> tuple[Operand, DType]:
        if expr.prim.name == "select" and self.holds(expr.args[0]):
            return self.typed(expr.args[1])
        pairs = [self.typed(arg) for arg in expr.args]
        operands, types = [value for value, _ in pairs], tuple(dtype for _, dtype in pairs)
        result = self.scope.program.result_type(expr.prim, types)
        flags = self.text.module.flags(expr.is_reassociable)
        if expr.prim.name == "select" and operands[0] in ("true", "false"):
            return operands[1 if operands[0] == "true" else 2], result
        scalars = [value for value in operands if not isinstance(value, Spread)]
        if len(scalars) == len(operands):
            return emit_scalar(self.text, expr.prim, scalars, types, result, flags), result
        decided = self._decided(expr.prim, operands) if types[0] is I64 else None
        if decided:
            return decided, result
        if result is I64 and len(operands) == 2:
            line = self.on_lines(expr.prim.name, *operands)
            if line is not None:
                return line, result
        vectors = [self.vector(value, dtype) for value, dtype in pairs]
        if expr.prim.libm and self.mask != FULL:
            vectors = [self._tamed(expr.prim, *pair) for pair in zip(vectors, types, strict=True)]
        root = self._root(expr.prim.name, operands) if result is I64 and len(operands) == 2 else ""
        with self.wide():
            found = emit_scalar(self.text, expr.prim, vectors, types, result, flags)
        return Spread(found, root=root), result

    def _tamed(self, prim: Prim, vector: Value, dtype: DType) -> Value:
        """An argument of a function, in the lanes that are not here one of which it is a number: all others
        vector functions compute by themselves, lane by lane."""
        kind, harmless = self.kind(dtype), literal(_HARMLESS.get(prim.name, 0.5), dtype)
        return self.text.value(
            f"select {self.kind(BOOL)} {self.mask}, {kind} {vector}, {kind} splat ({dtype.llvm} {harmless})"
        )

    def _decided(self, prim: Prim, operands: list[Operand]) -> Operand | None:
        """A comparison of numbers that are known in each lane."""
        relation = RELATIONS.get(prim.name)
        numbers = [self.known(operand) for operand in operands] if relation else []
        if relation is None or not all(numbers):
            return None
        truths = [literal(relation(*pair), BOOL) for pair in zip(*numbers, strict=True)]
        if len(set(truths)) == 1:
            return truths[0]
        return Spread("<" + ", ".join(f"i1 {truth}" for truth in truths) + ">")

    def known(self, operand: Operand) -> list[int]:
        """What a number is in each lane, where that is known."""
        line = _as_line(operand)
        if line is None or line.steps is None or not is_literal(line.base):
            return []
        return [wrapped(int(line.base) + line.steps * lane) for lane in range(self.width)]

    def _root(self, name: str, operands: list[Operand]) -> Value:
        left, right = operands
        spread, other = (left, right) if isinstance(left, Spread) else (right, left)
        if not isinstance(spread, Spread) or isinstance(other, Spread):
            return ""
        return (spread.root or spread.vector) if name in ("add", "sub") else ""

    def on_lines(self, name: str, left: Operand, right: Operand) -> Spread | None:
        """A sum or product of numbers of the form base + stride · lane, where it is of that form too."""
        one, two = _as_line(left), _as_line(right)
        if one is None or two is None:
            return None
        match name:
            case "add" | "sub":
                stride = self.whole(name, one.stride, two.stride)
            case "mul":
                line, factor = (one, two.base) if isinstance(left, Spread) else (two, one.base)
                if isinstance(left, Spread) and isinstance(right, Spread):
                    return None
                stride = self.whole(name, line.stride, factor)
            case _:
                return None
        if is_literal(stride) and abs(int(stride)) > LONGEST:
            return None
        return Spread(base=self.whole(name, one.base, two.base), stride=stride)

    def whole(self, name: str, left: Value, right: Value) -> Value:
        """A sum, difference or product of numbers that are the same in all lanes."""
        result = whole_number(self.text, name, left, right)
        if name == "add" and is_literal(right) and not is_literal(result) and result != left:
            origin, distance = self.moved.get(left, (left, 0))
            self.moved[result] = origin, distance + int(right)
        return result

    # ------------------------------------------------------------------ memory
    def index(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Operand:
        return self.typed(offset_of(buffer, indices))[0]

    def sum(self, left: Operand, right: Operand) -> Operand:
        if not isinstance(left, Spread) and not isinstance(right, Spread):
            return self.whole("add", left, right)
        line = self.on_lines("add", left, right)
        if line is not None:
            return line
        found = self.text.value(f"add {self.kind(I64)} {self.vector(left, I64)}, {self.vector(right, I64)}")
        return Spread(found, root=self._root("add", [left, right]))

    def resolved(self, buffer: Buffer, index: Operand) -> tuple[Buffer, Operand]:
        """The buffer that a view of these lanes looks into, and where."""
        while buffer in self.views:
            buffer, start = self.views[buffer]
            index = self.sum(start, index)
        return buffer, index

    def _own_place(self, storage: Value, index: Operand, dtype: DType) -> Operand:
        """Where an element of a lane's own array is; for all lanes one address, if they ask for the same."""
        kind = memory_type(dtype)
        if not isinstance(index, Spread):
            return storage if index == "0" else self._element(storage, index, self.memory_kind(dtype))
        wide = self.kind(I64)
        scaled = self.text.value(f"mul {wide} {self.vector(index, I64)}, splat (i64 {self.width})")
        at = self.text.value(f"add {wide} {scaled}, {self._line(Spread(base='0', stride='1'))}")
        return Spread(self.text.value(f"getelementptr {kind}, ptr {storage}, {wide} {at}"))

    def _element(self, pointer: Value, index: Value, kind: str) -> Value:
        return self.text.value(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")

    def _start(self, buffer: Buffer, base: Value) -> Value:
        """The address of the first lane's element, which may lie outside where that lane is not here."""
        pointer = self.scope.pointer(buffer)
        return self.text.value(f"getelementptr {memory_type(buffer.dtype)}, ptr {pointer}, i64 {base}")

    def _addresses(self, buffer: Buffer, index: Operand) -> Value:
        base = self.scope.pointer(buffer)
        wide = self.kind(I64)
        return self.text.value(
            f"getelementptr {memory_type(buffer.dtype)}, ptr {base}, {wide} {self.vector(index, I64)}"
        )

    def load(self, buffer: Buffer, index: Operand) -> Operand:
        buffer, index = self.resolved(buffer, index)
        if not self._is_other_column(buffer, index):
            self._finish_rows(buffer)
        dtype = buffer.dtype
        storage = self.own.get(buffer)
        if storage is not None:
            place = self._own_place(storage, index, dtype)
            if not isinstance(place, Spread):
                kind = self.memory_kind(dtype)
                return self._from_memory(self.text.value(f"load {kind}, ptr {place}, align 8"), dtype)
            return self._from_memory(self._gathered(place.vector, dtype), dtype)
        if not isinstance(index, Spread):
            return self.scope.load(buffer, index)
        if index.vector:
            return self._from_memory(self._gathered(self._addresses(buffer, index), dtype), dtype)
        match index.steps:
            case 0:
                return Spread(self.vector(self.scope.load(buffer, index.base), dtype))
            case 1:
                return self._from_memory(self._row(buffer, index.base, self.mask), dtype)
            case -1:
                row = self._row(buffer, self._last(index), self._turned(self.mask, self.kind(BOOL)))
                return self._from_memory(self._turned(row, self.memory_kind(dtype)), dtype)
            case _ if self.mask != FULL:
                return self._from_memory(self._gathered(self._addresses(buffer, index), dtype), dtype)
            case int(steps) if abs(steps) <= SHUFFLED:
                return self._from_memory(self._every(buffer, index, steps), dtype)
            case _ if self.text.module.target.gathers_fast:
                return self._from_memory(self._gathered(self._addresses(buffer, index), dtype), dtype)
            case _:
                return self._from_memory(self._together(dtype, self._places(buffer, index)), dtype)

    def _last(self, line: Spread) -> Value:
        """The place of the last lane."""
        return self.whole("add", line.base, self.whole("mul", line.stride, str(self.width - 1)))

    def _places(self, buffer: Buffer, line: Spread) -> Iterator[Value]:
        """The address of each lane's element."""
        first, kind = self._start(buffer, line.base), memory_type(buffer.dtype)
        for lane in range(self.width):
            step = self.whole("mul", line.stride, str(lane))
            yield self.text.value(f"getelementptr {kind}, ptr {first}, i64 {step}") if lane else first

    def _together(self, dtype: DType, addresses: Iterable[Value]) -> Value:
        """A vector of elements that are read one by one."""
        kind, element, found = self.memory_kind(dtype), memory_type(dtype), "poison"
        for lane, address in enumerate(addresses):
            value = self.text.value(f"load {element}, ptr {address}, align {dtype.bytes}")
            found = self.text.value(f"insertelement {kind} {found}, {element} {value}, i64 {lane}")
        return found

    def _turned(self, vector: Value, kind: str) -> Value:
        """A vector with its lanes in reverse."""
        if vector == FULL:
            return FULL
        places = ", ".join(f"i32 {lane}" for lane in reversed(range(self.width)))
        return self.text.value(
            f"shufflevector {kind} {vector}, {kind} poison, <{self.width} x i32> <{places}>"
        )

    def _every(self, buffer: Buffer, line: Spread, stride: int) -> Value:
        """Elements some apart, put together from whole vectors between the first and the last of them."""
        text, dtype, width = self.text, buffer.dtype, self.width
        origin = self._start(buffer, line.base if stride > 0 else self._last(line))
        steps = range(0, abs(stride) * width, abs(stride))
        places = list(steps if stride > 0 else reversed(steps))
        end, found, where = steps[-1] + 1, "", places
        for start in (*range(0, end - width, width), end - width):  # the last two may share elements
            here = [place - start if place in range(start, start + width) else None for place in places]
            if not any(place is not None for place in here):
                continue
            step = f"getelementptr {memory_type(dtype)}, ptr {origin}, i64 {start}"
            address = text.value(step) if start else origin
            part = text.value(f"load {self.memory_kind(dtype)}, ptr {address}, align {dtype.bytes}")
            if found:
                where = [old if new is None else width + new for old, new in zip(where, here, strict=True)]
                part, here = shuffled(text, found, part, where, width, dtype), list(range(width))
            found, where = part, [place or 0 for place in here]
        return found

    def _holds_all(self, buffer: Buffer, base: Value) -> bool:
        """Whether an array in registers or on the stack has an element for each lane, whoever is here."""
        return is_literal(base) and 0 <= int(base) <= self.scope.places[buffer].room - self.width

    def _row(self, buffer: Buffer, base: Value, mask: Value) -> Value:
        """Neighbouring elements, one for each lane of a mask.

        Not by `llvm.masked.load`: of a select between what it gave and something else, under the same mask,
        LLVM 22 makes a load where the select stands, behind stores in between.
        """
        kind, align = self.memory_kind(buffer.dtype), buffer.dtype.bytes
        address = self._start(buffer, base)
        if mask == FULL or self._holds_all(buffer, base):
            return self.text.value(f"load {kind}, ptr {address}, align {align}")
        return self.text.intrinsic(
            f"llvm.vp.load.{self.suffix(buffer.dtype)}.p0",
            kind,
            [(f"ptr align {align}", address), (self.kind(BOOL), mask), ("i32", str(self.width))],
        )

    def _gathered(self, addresses: Value, dtype: DType) -> Value:
        kind = self.memory_kind(dtype)
        return self.text.intrinsic(
            f"llvm.masked.gather.{self.suffix(dtype)}.v{self.width}p0",
            kind,
            [
                (f"<{self.width} x ptr> align {dtype.bytes}", addresses),
                (self.kind(BOOL), self.mask),
                (kind, "zeroinitializer"),
            ],
        )

    def suffix(self, dtype: DType) -> str:
        """How names of intrinsics spell a vector in memory."""
        return f"v{self.width}{'f' if dtype.is_float else 'i'}{dtype.bytes * 8}"

    def _from_memory(self, value: Value, dtype: DType) -> Spread:
        if dtype is not BOOL:
            return Spread(value)
        return Spread(self.text.value(f"icmp ne {self.memory_kind(dtype)} {value}, zeroinitializer"))

    def _in_memory(self, value: Value, dtype: DType) -> Value:
        if dtype is not BOOL:
            return value
        return self.text.value(f"zext {self.kind(BOOL)} {value} to {self.memory_kind(dtype)}")

    def store(self, buffer: Buffer, index: Operand, value: Operand) -> None:
        buffer, index = self.resolved(buffer, index)
        dtype = buffer.dtype
        storage = self.own.get(buffer)
        if storage is None and self._waits(buffer, index, value):
            return
        self._finish_rows(buffer)
        if storage is None and not isinstance(index, Spread) and not isinstance(value, Spread):
            self.scope.store(buffer, index, value)
            return
        stored, kind = self._in_memory(self.vector(value, dtype), dtype), self.memory_kind(dtype)
        if storage is not None:
            place = self._own_place(storage, index, dtype)
            if isinstance(place, Spread):
                self._scattered(place.vector, stored, dtype)
                return
            if self.mask != self.owners[buffer]:
                before = self.text.value(f"load {kind}, ptr {place}, align 8")
                stored = self.text.value(
                    f"select {self.kind(BOOL)} {self.mask}, {kind} {stored}, {kind} {before}"
                )
            self.text.do(f"store {kind} {stored}, ptr {place}, align 8")
            return
        if isinstance(index, Spread) and index.steps in (1, -1):
            mask, base = self.mask, index.base
            if index.steps == -1:
                stored, mask = self._turned(stored, kind), self._turned(mask, self.kind(BOOL))
                base = self._last(index)
            address, align = self._start(buffer, base), dtype.bytes
            if mask != FULL and self._holds_all(buffer, base):
                before = self.text.value(f"load {kind}, ptr {address}, align {align}")
                stored = self.text.value(f"select {self.kind(BOOL)} {mask}, {kind} {stored}, {kind} {before}")
                self.text.do(f"store {kind} {stored}, ptr {address}, align {align}")
                return
            if mask == FULL:
                self.text.do(f"store {kind} {stored}, ptr {address}, align {align}")
                return
            self._call(
                f"llvm.masked.store.{self.suffix(dtype)}.p0",
                [(kind, stored), (f"ptr align {align}", address), (self.kind(BOOL), mask)],
            )
            return
        self._spread(buffer, index, stored)

    def _spread(self, buffer: Buffer, index: Operand, stored: Value) -> None:
        """Store to elements that are not side by side."""
        is_fast = self.text.module.target.gathers_fast
        if is_fast or self.mask != FULL or not isinstance(index, Spread) or index.vector:
            self._scattered(self._addresses(buffer, index), stored, buffer.dtype)
            return
        kind, element, align = self.memory_kind(buffer.dtype), memory_type(buffer.dtype), buffer.dtype.bytes
        for lane, address in enumerate(self._places(buffer, index)):
            value = self.text.value(f"extractelement {kind} {stored}, i64 {lane}")
            self.text.do(f"store {element} {value}, ptr {address}, align {align}")

    def _waits(self, buffer: Buffer, index: Operand, value: Operand) -> bool:
        """Whether a store to a column of rows waits for those to other columns."""
        stride = index.steps if isinstance(index, Spread) and self.mask == FULL else None
        if not isinstance(index, Spread) or stride is None or stride < 2:
            return False
        origin, column = self.moved.get(index.base, (index.base, 0))
        if self.waiting and (self.waiting[0].buffer, self.waiting[0].origin) != (buffer, origin):
            self.finish_rows()
        if not self.waiting:
            self.waiting.append(Columns(buffer, origin, stride))
        (columns,) = self.waiting
        reach = {*columns.values, column}
        if columns.stride != stride or max(reach) - min(reach) >= stride:
            self.finish_rows()
            return self._waits(buffer, index, value)
        columns.values[column] = self._in_memory(self.vector(value, buffer.dtype), buffer.dtype)
        return True

    def _is_other_column(self, buffer: Buffer, index: Operand) -> bool:
        """Whether a place is in a column of the rows to which stores wait, and none of them goes there."""
        if not self.waiting or not isinstance(index, Spread) or index.steps is None:
            return False
        (columns,) = self.waiting
        origin, column = self.moved.get(index.base, (index.base, 0))
        reach = {*columns.values, column}
        return (
            (columns.buffer, columns.origin, columns.stride) == (buffer, origin, index.steps)
            and column not in columns.values
            and max(reach) - min(reach) < columns.stride
        )

    def _finish_rows(self, buffer: Buffer) -> None:
        """What waits is stored, if it may be seen in a buffer."""
        if not self.waiting or buffer in self.own:
            return
        one, other = self.scope.places[buffer], self.scope.places[self.waiting[0].buffer]
        if one.root == other.root or one.may_alias or other.may_alias:
            self.finish_rows()

    def finish_rows(self) -> None:
        """What waits is stored."""
        waiting, self.waiting = self.waiting, []
        for columns in waiting:
            for run in runs(columns):
                self._store_run(columns, run)

    def _store_run(self, columns: Columns, run: tuple[int, ...]) -> None:
        text, dtype, width = self.text, columns.buffer.dtype, self.width
        vectors = [columns.values[column] for column in run]
        if len(run) == 1:
            index = Spread(base=self.whole("add", columns.origin, str(run[0])), stride=str(columns.stride))
            self._spread(columns.buffer, index, vectors[0])
        elif len(run) == columns.stride <= WHOLE:
            whole = interleaved(text, vectors, width, dtype)
            self._store_row(columns, run[0], 0, whole, width * len(run))
        else:
            for part in parts(run, width):
                rows = turned(text, [columns.values[column] for column in part], width, dtype)
                for lane in range(width):
                    within = lane % len(part)
                    row = part_of(text, rows[within], lane - within, len(part), width, dtype)
                    self._store_row(columns, part[0], lane, row, len(part))

    def _store_row(self, columns: Columns, column: int, lane: int, row: Value, count: int) -> None:
        dtype = columns.buffer.dtype
        place = self.whole("add", columns.origin, str(column + columns.stride * lane))
        address = self._start(columns.buffer, place)
        kind = f"<{count} x {memory_type(dtype)}>"
        self.text.do(f"store {kind} {row}, ptr {address}, align {dtype.bytes}")

    def _scattered(self, addresses: Value, stored: Value, dtype: DType) -> None:
        self._call(
            f"llvm.masked.scatter.{self.suffix(dtype)}.v{self.width}p0",
            [
                (self.memory_kind(dtype), stored),
                (f"<{self.width} x ptr> align {dtype.bytes}", addresses),
                (self.kind(BOOL), self.mask),
            ],
        )

    def _call(self, name: str, arguments: list[tuple[str, Value]]) -> None:
        types = ", ".join(kind for kind, _ in arguments)
        self.text.module.declare(name, f"declare void @{name}({types})")
        given = ", ".join(f"{kind} {value}" for kind, value in arguments)
        self.text.do(f"call void @{name}({given})")


def _as_line(operand: Operand) -> Spread | None:
    """A number in the form base + stride · lane, if it has it."""
    if isinstance(operand, Spread):
        return None if operand.vector else operand
    return Spread(base=operand)
