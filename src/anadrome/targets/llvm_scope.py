"""What the emitter knows while it writes one function: values of variables, places of buffers, ways out.

A `Program` is one host function with everything outlined from it; a `Scope` is one LLVM function of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from anadrome.dtypes import I64, DType
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.affine import bindings_of
from anadrome.kernel_ir.likeness import apart
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import (
    Alloc,
    Buffer,
    Check,
    Compute,
    Const,
    Expr,
    Function,
    Load,
    Space,
    Stmt,
    Var,
    View,
    Workers,
)
from anadrome.kernel_ir.walk import changes, offset_of, statements, swapped_buffers
from anadrome.kernel_ir.work import Works
from anadrome.prims.record import Prim
from anadrome.targets.llvm_scalars import convert, emit_scalar
from anadrome.targets.llvm_text import FunctionText, ModuleText, Value, is_literal, literal, memory_type

MEMORY_FAILURE = -1
"""The code of the failure that an allocation raises; it is in no function's table."""

STATUS, WORKERS, LOOK_AGAIN, RAISED, FINISHED, PARAMS = 0, 1, 2, 3, 6, 7
"""The first slots of the call frame, see `FrameLayout`."""
SMALL = 64
"""The slots of the frame for the elements of an array that is given back."""
MANY_ARRAYS = 32
"""Allocations above which what is to be freed is held side by side in memory, not in registers."""
INTERRUPTED = -1
"""The status of a call that a signal handler has ended."""


PRINT_FAILURE = -2
"""The code of the failure that printing raises; it is in no function's table."""


@dataclass(frozen=True, slots=True)
class PrintSite:
    """One place in the code that prints: the message's code, the type and the rank of each of its values."""

    code: int
    kinds: tuple[tuple[DType, int], ...]


@dataclass(frozen=True, slots=True)
class Site:
    """One place in the code that can fail: the failure's code and the types of the values it reports."""

    code: int
    types: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """Where things stand in the call frame, a run of 8-byte slots that caller and program share.

    `STATUS`: 0, or 1 + the site that failed, or `INTERRUPTED`. `WORKERS`. `LOOK_AGAIN`: when signals are next
    looked at, in nanoseconds, 0 at the start of a call. `RAISED`: three slots for the exception that a signal
    handler has raised. `FINISHED`: 1 at the end of the call. `PARAMS`: the parameters, then per output its
    value or pointer and its dimensions, then `SMALL` slots for each array, which hold the elements of those
    that have room there and whose pointer is null, then the function that prints in a program that does, then
    the values of the failed check.
    """

    params: int
    outputs: int
    small: int
    printer: int
    values: int

    @staticmethod
    def of(fn: Function) -> FrameLayout:
        """The layout for a function."""
        outputs = PARAMS + len(fn.params)
        small = outputs + sum(1 + len(output.shape) for output in fn.outputs)
        printer = small + SMALL * sum(isinstance(output.value, Buffer) for output in fn.outputs)
        return FrameLayout(PARAMS, outputs, small, printer, printer + bool(fn.messages))


class Program:
    """The module being written for one host function."""

    def __init__(self, fn: Function, module: ModuleText, is_measured: bool = False) -> None:
        self.fn = fn
        self.module = module
        self.is_measured = is_measured
        self.layout = FrameLayout.of(fn)
        self.sites: list[Site] = []
        self._memory_failure = 0
        self.prints: list[PrintSite] = []
        self.swapped = swapped_buffers(fn)
        arrays = [stmt for stmt in statements(fn.body) if isinstance(stmt, Alloc)]
        self.has_many_arrays = sum(one.buffer.space is Space.GLOBAL for one in arrays) > MANY_ARRAYS
        self.unlikely = module.metadata('!{!"branch_weights", i32 1, i32 1048575}')
        self.no_unrolling = module.metadata('!{!"llvm.loop.unroll.disable"}')
        self.no_runtime_unrolling = module.metadata('!{!"llvm.loop.unroll.runtime.disable"}')
        self.works = Works(Limits(bindings_of(fn.body)))
        self.apart = apart(fn.body, self.works)
        """The loops that are functions of their own, with what those have in common that are alike."""
        self.outlines: dict[Hashable, Outlined] = {}
        """The functions of these, by what they are and what is known of what they read."""
        self.uses_threads = False
        self.routines: set[str] = set()
        self._types: dict[tuple[Prim, tuple[DType, ...]], DType] = {}

    @property
    def memory_failure(self) -> int:
        """The status of memory that there is not."""
        if not self._memory_failure:
            self._memory_failure = self.site(MEMORY_FAILURE, (I64, I64))
        return self._memory_failure

    def site(self, code: int, types: Sequence[DType]) -> int:
        """The status of a new place that can fail."""
        self.sites.append(Site(code, tuple(types)))
        return len(self.sites)

    def result_type(self, prim: Prim, types: tuple[DType, ...]) -> DType:
        """The type an operation gives."""
        found = self._types.get((prim, types))
        if found is None:
            found = prim.types(types)
            if found is None:
                raise IRError(f"{prim.name} is not defined on {types}")
            self._types[(prim, types)] = found
        return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer is: a root pointer (or the slot that holds it, if it may be swapped) and an offset."""

    root: Value
    offset: Value = ""
    slot: Value = ""
    is_swapped: bool = False
    may_alias: bool = False
    """Whether storage was swapped, so that another buffer's pointer may once have been this one's."""
    room: int = 0
    """Elements that an array in registers or on the stack has room for; 0 where that is not known."""


Parameter = tuple[str, Value, Value]
"""(type with attributes, value outside, name inside)"""

Copied = tuple[int, Value, Value]
"""(bytes, where the copy is that a function was given, where the caller has the array itself)"""


@dataclass(frozen=True, slots=True)
class Outlined:
    """A function `i64 name(ptr frame, i64 workers, …)`, which gives the operations since it last looked.

    `sites`: of one that several loops call, what each of its checks reports; None for one that cannot fail.
    `results`: what it has changed of what the caller has in registers.
    """

    name: str
    parameters: list[Parameter]
    sites: tuple[Site | None, ...] = ()
    results: Sequence[Copied] = ()

    def call(self, scope: Scope, *first: Value) -> str:
        """A call; the first parameters are whole numbers and none of what is captured."""
        numbers = "".join(f", i64 {number}" for number in first)
        given = "".join(f", {kind.split()[0]} {value}" for kind, value, _ in self.parameters)
        return f"call i64 @{self.name}(ptr {scope.frame}, i64 {scope.workers}{numbers}{given})"


class Scope:
    """One LLVM function being written."""

    def __init__(self, program: Program, text: FunctionText) -> None:
        self.program = program
        self.text = text
        self.frame: Value = "%frame"
        self.way_out = "cleanup"
        self.unlikely = program.unlikely
        self.workers: Value = "%workers"
        self.vars: dict[Var, Value] = {}
        self.origins: dict[Var, Expr] = {}
        self.places: dict[Buffer, Place] = {}
        self.slots: list[Value] = []
        """Where what is to be freed is held, each by itself."""
        self.rows: list[Value] = []
        """Rows of such slots."""
        self.in_rows: set[Value] = set()
        """The slots in them."""
        self.donated: list[Value] = []
        """The addresses of arguments that the caller gave away and slots may hold: nobody frees them here."""
        self.sizes: dict[Value, Value] = {}
        self.held: Value = ""
        self.loop_depth = 0
        self.in_threads = False
        self.statuses: dict[Check, Value] = {}
        """The checks of which the caller says which place of its own fails there."""
        self.sites: dict[Check, Site] = {}
        """What these report, of those that can fail."""
        self._patience: Value = ""

    # ------------------------------------------------------------------ expressions
    def bind(self, var: Var, value: Value) -> None:
        """Let a variable have a value."""
        self.vars[var] = value

    def let(self, var: Var, value: Expr) -> None:
        """Let a variable have the value of an expression."""
        self.bind(var, self.expr(value))
        self.origins[var] = value

    def expr(self, expr: Expr) -> Value:
        """The value of an expression."""
        return self.typed(expr)[0]

    def typed(self, expr: Expr) -> tuple[Value, DType]:
        """The value of an expression and its type."""
        match expr:
            case Var(dtype=dtype):
                return self.vars[expr], dtype
            case Const(value=value, dtype=dtype):
                return literal(value, dtype), dtype
            case Compute(prim=prim, args=args) if prim.name == "select" and self._counts_from_the_end(*args):
                return self._from_the_end(*map(self.expr, args)), I64
            case Compute(prim=prim, args=args, is_reassociable=is_reassociable):
                pairs = [self.typed(arg) for arg in args]
                types = tuple(dtype for _, dtype in pairs)
                result = self.program.result_type(prim, types)
                flags = self.text.module.flags(is_reassociable)
                return emit_scalar(
                    self.text, prim, [value for value, _ in pairs], types, result, flags
                ), result
            case Load(buffer=buffer, indices=indices):
                return self.load(buffer, self.expr(offset_of(buffer, indices))), buffer.dtype
            case Workers():
                return self.workers, I64
            case _:
                assert_never(expr)

    def _from_the_end(self, is_negative: Value, moved: Value, index: Value) -> Value:
        text = self.text
        before, negative, after, chosen = (
            text.block,
            text.fresh("negative"),
            text.fresh("after"),
            text.fresh(),
        )
        text.do(f"br i1 {is_negative}, label %{negative}, label %{after}, !prof {self.unlikely}")
        with text.branch(negative, is_negative):
            text.do(f"br label %{after}")
        text.label(after)
        text.do(f"{chosen} = phi i64 [{index}, %{before}], [{moved}, %{negative}]")
        return chosen

    def _counts_from_the_end(self, condition: Expr, then: Expr, other: Expr) -> bool:
        """Whether a choice is that of an index, `n + i` where i is negative and else i, which is rarely made.

        As a branch, it keeps three operations from standing between an index and what is read there.
        """
        if not isinstance(other, Var) or other.dtype is not I64:
            return False
        match self._origin(condition), self._origin(then):
            case Compute(prim=asks, args=(index, Const(value=0))), Compute(prim=moves, args=(start, _)):
                return (asks.name, moves.name) == ("lt", "add") and index is start is other
            case _:
                return False

    def _origin(self, expr: Expr) -> Expr | None:
        return self.origins.get(expr) if isinstance(expr, Var) else expr

    def patience(self, start: int) -> Value:
        """The variable that counts operations down, from `start` at the beginning of the function."""
        if not self._patience:
            self._patience = self.text.alloca("i64", str(start))
        return self._patience

    def status(self, check: Check, types: Sequence[DType]) -> Value:
        """The status of a check that fails."""
        given = self.statuses.get(check)
        if given is None:
            return str(self.program.site(check.code, types))
        self.sites[check] = Site(check.code, tuple(types))
        return given

    # ------------------------------------------------------------------ memory
    def pointer(self, buffer: Buffer) -> Value:
        """The address of a buffer's first element."""
        place = self.places[buffer]
        root = self.text.value(f"load ptr, ptr {place.slot}") if place.is_swapped else place.root
        if not place.offset:
            return root
        return self.text.value(
            f"getelementptr inbounds {memory_type(buffer.dtype)}, ptr {root}, i64 {place.offset}"
        )

    def address(self, buffer: Buffer, offset: Value) -> Value:
        """The address of an element."""
        base = self.pointer(buffer)
        if offset == "0":
            return base
        return self.text.value(
            f"getelementptr inbounds {memory_type(buffer.dtype)}, ptr {base}, i64 {offset}"
        )

    def allocate_local(self, buffer: Buffer, count: int) -> None:
        """An array in registers or on the stack; if it has several elements, with room for whole vectors."""
        room = max(count, 1)
        if count > 1:
            lanes = max(self.program.module.target.vector_bits // (8 * buffer.dtype.bytes), 1)
            room = -(-count // lanes) * lanes
        self.places[buffer] = Place(self.text.alloca(self.local_type(buffer.dtype, room)), room=room)

    def local_type(self, dtype: DType, room: int) -> str:
        """The type of so many elements in registers or on the stack."""
        kind = memory_type(dtype)
        return kind if room == 1 else f"[{room} x {kind}]"

    def is_known(self, var: Var) -> bool:
        """Whether a number is a constant."""
        return var in self.vars and is_literal(self.vars[var])

    def is_steady(self, var: Var) -> bool:
        """Whether the innermost loop does not change a number."""
        return var in self.vars and self.text.is_steady(self.vars[var])

    def is_kept(self, buffer: Buffer) -> bool:
        """Whether what is read of an array here may stand in front of the innermost loop."""
        return buffer in self.places and self.text.is_kept(self.places[buffer].root)

    def unchanged(
        self, body: Iterable[Stmt], views: Mapping[Buffer, Buffer] | None = None
    ) -> frozenset[Value]:
        """The roots of the arrays that statements leave as they are. `views`: what buffers look into of which
        only the caller knows."""
        bases, changed = dict(views or {}), set()
        for stmt in statements(body):
            if isinstance(stmt, View):
                bases[stmt.buffer] = stmt.base
            for buffer in changes(stmt):
                while buffer in bases:
                    buffer = bases[buffer]
                changed.add(buffer)
        kept = {place.root for place in self.places.values() if not place.may_alias}
        return frozenset(kept - {self.places[buffer].root for buffer in changed if buffer in self.places})

    def load(self, buffer: Buffer, offset: Value) -> Value:
        """An element, as a register holds it."""
        dtype = buffer.dtype
        address = self.address(buffer, offset)
        loaded = self.text.value(f"load {memory_type(dtype)}, ptr {address}, align {dtype.bytes}")
        return self.text.value(f"icmp ne i8 {loaded}, 0") if dtype.kind == "bool" else loaded

    def store(self, buffer: Buffer, offset: Value, value: Value) -> None:
        """Put a register into an element."""
        dtype = buffer.dtype
        stored = self.in_memory(value, dtype)
        address = self.address(buffer, offset)
        self.text.do(f"store {memory_type(dtype)} {stored}, ptr {address}, align {dtype.bytes}")

    def in_memory(self, value: Value, dtype: DType) -> Value:
        """A register's value as memory holds it."""
        return self.text.value(f"zext i1 {value} to i8") if dtype.kind == "bool" else value

    # ------------------------------------------------------------------ the frame
    def frame_slot(self, index: int) -> Value:
        """The address of a slot of the call frame."""
        return self.text.value(f"getelementptr inbounds i64, ptr {self.frame}, i64 {index}")

    def as_bits(self, value: Value, dtype: DType) -> Value:
        """A scalar as the i64 that stands for it in the frame: integers extended, floats as doubles."""
        if dtype.is_float:
            wide = value if dtype.bits == 64 else self.text.value(f"fpext float {value} to double")
            return self.text.value(f"bitcast double {wide} to i64")
        return convert(self.text, value, dtype, I64)

    def from_bits(self, bits: Value, dtype: DType) -> Value:
        """The inverse of `as_bits`."""
        if dtype.is_float:
            wide = self.text.value(f"bitcast i64 {bits} to double")
            return wide if dtype.bits == 64 else self.text.value(f"fptrunc double {wide} to float")
        return convert(self.text, bits, I64, dtype)
