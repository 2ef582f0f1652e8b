"""The verifier of the kernel IR: scopes, types, memory.

What it holds to:

* a variable or buffer is bound once, before it is used, in a body around the use;
* operands have types the operation takes; offsets, sizes and loop bounds are i64; conditions are bool;
* parameters are only read, unless they are donated; a LOCAL buffer has a constant size of at most
  `LOCAL_BYTES`;
* what is freed was allocated in the function, on the heap; what is swapped or returned too, or it is donated;
  nothing is used after it was freed in the same body; what a THREADS loop found outside it neither frees
  nor swaps;
* calls fit the table of routines, checks the table of failures, results their buffers;
* what threads do together (barriers, warps, fences) and shared memory stand in kernels alone; what a host
  program does (calls, printing, worker threads, memory on the heap) does not stand in a kernel. A kernel's
  shared memory, and local memory whose size is not constant, is bound outside of branches and loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import FAILURES
from anadrome.kernel_ir.nodes import (
    ATOMICS,
    BARRIERS,
    WARPS,
    Alloc,
    Atomic,
    Barrier,
    Binding,
    Buffer,
    Call,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Fence,
    Fill,
    For,
    Free,
    Function,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Output,
    Print,
    Shown,
    Space,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    Warp,
    While,
    Workers,
)
from anadrome.kernel_ir.routines import ROUTINES
from anadrome.kernel_ir.walk import SUMS, WIDTHS, kernels, runs_in_lanes, statements, written
from anadrome.printing import Message

LOCAL_BYTES = 1 << 16
"""The largest LOCAL buffer: it stands on a thread's stack."""


APART = (Barrier, Warp, Fence, Free, View, Swap, Call, Print, Launch)
"""Statements that stand either in kernels or in host programs: the first three in kernels."""


def check(fn: Function) -> None:
    """Raise `IRError` where the function or a kernel that it launches breaks a rule."""
    for kernel in kernels(fn):
        check_kernel(kernel)
    _Checker(fn).function(fn)


def check_kernel(kernel: Kernel) -> None:
    """Raise `IRError` where the kernel breaks a rule."""
    _Checker(kernel).kernel(kernel)


class _Checker:
    """The walk over one function or kernel: what is in scope, and how buffers came to be."""

    def __init__(self, fn: Function | Kernel) -> None:
        self.fn = fn
        self.messages = fn.messages if isinstance(fn, Function) else ()
        self.is_kernel = isinstance(fn, Kernel)
        self._depth = 0
        self._vars: set[Var] = set()
        self._buffers: set[Buffer] = set()
        self._ever: set[Var | Buffer] = set()
        self._params = {param for param in fn.params if isinstance(param, Buffer)}
        donated = set(fn.donated) if isinstance(fn, Function) else set()
        self._read_only = set() if self.is_kernel else self._params - donated
        self._heap: set[Buffer] = donated & self._params
        self._shared: set[Buffer] = set()
        """Heap buffers that a THREADS loop around found outside."""
        self._is_parallel = False

    def fail(self, rule: str) -> IRError:
        """The error for a broken rule."""
        return IRError(rule, f"in {'kernel' if self.is_kernel else 'kernel function'} {self.fn.name}")

    # ------------------------------------------------------------------ function
    def function(self, fn: Function) -> None:
        """Parameters, body, results, failures."""
        self._whole()
        for size in fn.sizes:
            if size not in fn.params:
                raise self.fail(f"the size {size} is no parameter")
            self._expect(size.dtype, I64, f"the size {size}")
        returned: set[Buffer] = set()
        for output in fn.outputs:
            self._output(output, returned)

    def kernel(self, kernel: Kernel) -> None:
        """Parameters, geometry, body, failures."""
        for var in kernel.geometry.variables:
            self._expect(var.dtype, I64, f"{var} of the geometry")
            self._bind(var)
        self._whole()

    def _whole(self) -> None:
        for param in self.fn.params:
            self._bind(param)
        for param in self._params:
            self._layout(param)
        for stmt in self.fn.body:
            self.statement(stmt)
        for failure in self.fn.failures:
            if failure.error not in FAILURES:
                raise self.fail(f"`{failure.error}` is no failure")

    def _output(self, output: Output, returned: set[Buffer]) -> None:
        for size in output.shape:
            self._index(size, "a result's dimension")
        if not isinstance(output.value, Buffer):
            if output.shape:
                raise self.fail("a result with a shape is a buffer")
            self._expect(self.expr(output.value), output.dtype, "a result")
            return
        buffer = self._use(output.value)
        self._expect(buffer.dtype, output.dtype, f"the result {buffer}")
        if buffer not in self._heap or buffer in returned:
            raise self.fail(f"the result {buffer} is not allocated in the function, or is returned twice")
        returned.add(buffer)

    # ------------------------------------------------------------------ names
    def _bind(self, item: Var | Buffer) -> None:
        if item in self._ever:
            raise self.fail(f"{item} is bound twice")
        self._ever.add(item)
        if isinstance(item, Var):
            self._vars.add(item)
        else:
            self._buffers.add(item)

    def _use(self, buffer: Buffer) -> Buffer:
        if buffer not in self._buffers:
            raise self.fail(f"the buffer {buffer} is used where it has no storage")
        return buffer

    def _write(self, buffer: Buffer) -> Buffer:
        if buffer in self._read_only:
            raise self.fail(f"the parameter {buffer} is written")
        return self._use(buffer)

    def _own(self, buffer: Buffer, what: str) -> None:
        self._use(buffer)
        if buffer not in self._heap or buffer in self._shared:
            raise self.fail(f"{buffer} is {what}, but was not allocated on the heap here")

    def _expect(self, got: DType, expected: DType, what: str) -> None:
        if got is not expected:
            raise self.fail(f"{what} has type {got}, not {expected}")

    def _index(self, expr: Expr, what: str) -> None:
        self._expect(self.expr(expr), I64, what)

    # ------------------------------------------------------------------ statements
    def body(self, body: Iterable[Stmt], *bound: Var) -> None:
        """A body in a scope of its own. What it frees stays freed."""
        vars_, buffers = set(self._vars), set(self._buffers)
        self._depth += 1
        for var in bound:
            self._bind(var)
        for stmt in body:
            self.statement(stmt)
        self._depth -= 1
        self._vars = vars_
        self._buffers &= buffers

    def statement(self, stmt: Stmt) -> None:
        """One statement."""
        if self.is_kernel is not isinstance(stmt, Barrier | Warp | Fence) and isinstance(stmt, APART):
            where = "a kernel" if self.is_kernel else "a host program"
            raise self.fail(f"{type(stmt).__name__} in {where}")
        match stmt:
            case Let(var=var, value=value):
                self._expect(self.expr(value), var.dtype, f"the value of {var}")
                self._bind(var)
            case Alloc():
                self._alloc(stmt)
            case Free(buffer=buffer):
                self._own(buffer, "freed")
                if buffer in self._params:
                    raise self.fail(f"the parameter {buffer} is freed")
                self._buffers.discard(buffer)
            case View(buffer=buffer, base=base, offset=offset):
                self._index(offset, "an offset")
                self._view(buffer, self._use(base))
            case Swap(first=first, second=second):
                self._own(first, "swapped")
                self._own(second, "swapped")
                self._expect(first.dtype, second.dtype, f"the swapped {first}")
            case Store(buffer=buffer, indices=indices, value=value):
                self._store(buffer, indices, value)
            case Atomic():
                self._atomic(stmt)
            case Fill(buffer=buffer, size=size, value=value):
                self._index(size, "a size")
                self._expect(self.expr(value), self._write(buffer).dtype, f"what fills {buffer}")
            case Copy(target=target, source=source, size=size):
                self._index(size, "a size")
                self._expect(
                    self._use(source).dtype, self._write(target).dtype, f"what {target} is copied from"
                )
            case If(condition=condition, then=then, other=other):
                self._expect(self.expr(condition), BOOL, "a condition")
                self.body(then)
                self.body(other)
            case For():
                self._for(stmt)
            case While(prelude=prelude, condition=condition, body=body):
                self._while(prelude, condition, body)
            case Check(condition=condition, code=code, values=values):
                self._expect(self.expr(condition), BOOL, "a check")
                for value in values:
                    self.expr(value)
                if not 0 <= code < len(self.fn.failures):
                    raise self.fail(f"check {code} has no failure")
            case Print():
                self._print(stmt)
            case Call():
                self._call(stmt)
            case Barrier():
                self._barrier(stmt)
            case Warp():
                self._warp(stmt)
            case Launch():
                self._launch(stmt)
            case Fence():
                pass
            case _:
                assert_never(stmt)

    def _atomic(self, stmt: Atomic) -> None:
        self._store(stmt.buffer, stmt.indices, stmt.value)
        if stmt.operation not in ATOMICS:
            raise self.fail(f"no atomic `{stmt.operation}`")
        if (stmt.expected is not None) is not (stmt.operation == "compare"):
            raise self.fail("an atomic `compare` expects a value, the others none")
        if stmt.expected is not None:
            self._expect(self.expr(stmt.expected), stmt.buffer.dtype, "what is expected")
        for number, (buffer, put) in enumerate(stmt.beside):
            self._store(buffer, stmt.indices, put)
            if stmt.operation not in ("min", "max") or (number == 0 and buffer.dtype is not I64):
                raise self.fail("a min or max puts something beside itself, the key (an i64) first")
        if stmt.operation in ("and", "or", "xor") and stmt.buffer.dtype.is_float:
            raise self.fail(f"no atomic `{stmt.operation}` of {stmt.buffer.dtype}")
        if stmt.operation in ("add", "sub") and stmt.buffer.dtype is BOOL:
            raise self.fail(f"no atomic `{stmt.operation}` of bool")
        is_sum = stmt.operation in SUMS and stmt.old is None
        if stmt.is_alone and not is_sum:
            raise self.fail("what is combined by lanes is a sum, or bits, whose old value nobody asks for")
        self._result(stmt.old, stmt.buffer.dtype)

    def _barrier(self, stmt: Barrier) -> None:
        if stmt.operation not in BARRIERS:
            raise self.fail(f"no barrier `{stmt.operation}`")
        if (stmt.predicate is not None) is not bool(stmt.operation):
            raise self.fail("a barrier with an operation has a predicate, another one none")
        if stmt.predicate is not None:
            self._expect(self.expr(stmt.predicate), BOOL, "a predicate")
        self._result(stmt.result, I64 if stmt.operation == "count" else BOOL)

    def _warp(self, stmt: Warp) -> None:
        if stmt.operation not in WARPS:
            raise self.fail(f"no warp operation `{stmt.operation}`")
        self._index(stmt.mask, "a mask")
        takes_lane = stmt.operation in ("shuffle", "up", "down", "xor")
        if (stmt.value is not None) is (stmt.operation == "sync"):
            raise self.fail("a warp operation but `sync` has a value")
        if (stmt.lane is not None) is not takes_lane:
            raise self.fail("a shuffle has a lane, another warp operation none")
        dtype = BOOL if stmt.value is None else self.expr(stmt.value)
        if stmt.lane is not None:
            self._index(stmt.lane, "a lane")
        elif stmt.value is not None:
            self._expect(dtype, BOOL, "a vote")
        self._result(stmt.result, I64 if stmt.operation == "ballot" else dtype)

    def _result(self, var: Var | None, dtype: DType) -> None:
        if var is not None:
            self._expect(var.dtype, dtype, f"the result {var}")
            self._bind(var)

    def _launch(self, stmt: Launch) -> None:
        for extent in (*stmt.grid, *stmt.block, stmt.shared):
            self._index(extent, "an extent of a launch")
        params = stmt.kernel.params
        if len(params) != len(stmt.args):
            raise self.fail(f"{stmt.kernel.name} takes {len(params)} arguments, got {len(stmt.args)}")
        changed: set[Buffer] = set()
        for param, given in zip(params, stmt.args, strict=True):
            what = f"the argument {param} of {stmt.kernel.name}"
            if isinstance(given, Buffer) is not isinstance(param, Buffer):
                raise self.fail(f"{what} is {'a buffer' if isinstance(param, Buffer) else 'a value'}")
            if not isinstance(given, Buffer):
                self._expect(self.expr(given), param.dtype, what)
                continue
            is_written = param in written(stmt.kernel)
            self._expect((self._write(given) if is_written else self._use(given)).dtype, param.dtype, what)
            if given in changed or (is_written and stmt.args.count(given) > 1):
                raise self.fail(f"{what} is written, and given twice")
            changed |= {given} if is_written else set()

    def _layout(self, buffer: Buffer) -> None:
        """The dimensions of a buffer are numbers in scope."""
        for size in (*buffer.shape, *buffer.strides):
            self._index(size, f"a dimension of {buffer}")
        if buffer.strides and len(buffer.strides) != len(buffer.shape):
            raise self.fail(f"{buffer} has not as many strides as dimensions")

    def _element(self, buffer: Buffer, indices: tuple[Expr, ...]) -> None:
        for index in indices:
            self._index(index, "an index")
        is_run = len(indices) == 1 and not self.is_kernel and not buffer.strides
        if len(indices) != buffer.rank and not is_run:
            raise self.fail(f"{buffer} has {buffer.rank} dimensions, not {len(indices)}")

    def _store(self, buffer: Buffer, indices: tuple[Expr, ...], value: Expr) -> None:
        self._element(buffer, indices)
        self._expect(self.expr(value), self._write(buffer).dtype, f"what is stored in {buffer}")

    def _alloc(self, stmt: Alloc) -> None:
        buffer = stmt.buffer
        self._index(stmt.size, "a size")
        self._layout(buffer)
        self._bind(buffer)
        if buffer.space is Space.GLOBAL:
            if self.is_kernel:
                raise self.fail(f"the kernel allocates the global buffer {buffer}")
            self._heap.add(buffer)
            return
        if buffer.space is Space.SHARED and (not self.is_kernel or self._depth):
            raise self.fail(f"the shared buffer {buffer} is bound inside of a branch, or in a host program")
        if self.is_kernel and not self._depth:
            return
        if not isinstance(stmt.size, Const):
            raise self.fail(f"the size of the {buffer.space.value} buffer {buffer} is not constant")
        if not 0 <= stmt.size.value * buffer.dtype.bytes <= LOCAL_BYTES:
            raise self.fail(f"the {buffer.space.value} buffer {buffer} takes more than {LOCAL_BYTES} bytes")

    def _view(self, buffer: Buffer, base: Buffer) -> None:
        self._expect(buffer.dtype, base.dtype, f"the view {buffer}")
        self._layout(buffer)
        if buffer.space is not base.space:
            raise self.fail(f"the view {buffer} is in another space than {base}")
        self._bind(buffer)
        if base in self._read_only:
            self._read_only.add(buffer)

    def _for(self, stmt: For) -> None:
        self._index(stmt.lo, "a loop's start")
        self._index(stmt.hi, "a loop's end")
        self._expect(stmt.index.dtype, I64, f"the index {stmt.index}")
        shared = self._shared
        if stmt.binding is Binding.THREADS:
            if self.is_kernel:
                raise self.fail("a loop of worker threads in a kernel")
            self._shared = shared | self._heap
        if stmt.binding is Binding.LANES:
            self._lanes(stmt)
        is_parallel = self._is_parallel
        self._is_parallel = is_parallel or stmt.binding is not Binding.SEQUENTIAL
        self.body(stmt.body, stmt.index)
        self._shared, self._is_parallel = shared, is_parallel

    def _lanes(self, stmt: For) -> None:
        """A vector has a constant number of lanes, and in it stands what they can all do together."""
        if not (isinstance(stmt.lo, Const) and isinstance(stmt.hi, Const)):
            raise self.fail("a loop in lanes whose extent is not constant")
        width = int(stmt.hi.value)
        if int(stmt.lo.value) or width not in WIDTHS:
            raise self.fail(f"a loop in lanes has {', '.join(map(str, WIDTHS))} iterations from 0 on")
        for inner in statements(stmt.body):
            if not runs_in_lanes(inner):
                raise self.fail(f"{type(inner).__name__} in a loop in lanes")

    def _while(self, prelude: tuple[Stmt, ...], condition: Expr, body: tuple[Stmt, ...]) -> None:
        vars_, buffers = set(self._vars), set(self._buffers)
        self._depth += 1
        for stmt in prelude:
            self.statement(stmt)
        self._expect(self.expr(condition), BOOL, "a condition")
        for stmt in body:
            self.statement(stmt)
        self._depth -= 1
        self._vars = vars_
        self._buffers &= buffers

    def _print(self, stmt: Print) -> None:
        if not 0 <= stmt.code < len(self.messages):
            raise self.fail(f"print {stmt.code} has no message")
        if Message.decoded(self.messages[stmt.code]).text.places() != set(range(len(stmt.values))):
            raise self.fail(f"the message of print {stmt.code} does not hold every value")
        if self._is_parallel:
            raise self.fail("a loop that prints is sequential")
        for value in stmt.values:
            if isinstance(value, Shown):
                self._use(value.buffer)
                for size in value.shape:
                    self._index(size, "a size")
            else:
                self.expr(value)

    def _call(self, stmt: Call) -> None:
        row = ROUTINES.get(stmt.routine)
        if row is None:
            raise self.fail(f"`{stmt.routine}` is no routine")
        if len(row.arguments) != len(stmt.args):
            raise self.fail(f"{stmt.routine} takes {len(row.arguments)} arguments, got {len(stmt.args)}")
        for argument, given in zip(row.arguments, stmt.args, strict=True):
            what = f"the argument {argument.name} of {stmt.routine}"
            if isinstance(given, Buffer) is not argument.is_buffer:
                raise self.fail(f"{what} is {'a buffer' if argument.is_buffer else 'a value'}")
            if isinstance(given, Buffer):
                buffer = self._use(given) if argument.role == "in" else self._write(given)
                self._expect(buffer.dtype, argument.dtype, what)
            else:
                self._expect(self.expr(given), argument.dtype, what)

    # ------------------------------------------------------------------ expressions
    def expr(self, expr: Expr) -> DType:
        """The type of an expression whose names are in scope."""
        match expr:
            case Var():
                if expr not in self._vars:
                    raise self.fail(f"the variable {expr} is used where it is not bound")
                return expr.dtype
            case Const(dtype=dtype):
                return dtype
            case Compute(prim=prim, args=args):
                types = tuple(self.expr(arg) for arg in args)
                result = prim.types(types) if len(types) == prim.arity else None
                if result is None:
                    raise self.fail(f"{prim.name} is not defined on ({', '.join(map(str, types))})")
                return result
            case Load(buffer=buffer, indices=indices):
                self._element(self._use(buffer), indices)
                return buffer.dtype
            case Workers():
                return I64
            case _:
                assert_never(expr)
