"""Walks over the kernel IR: what an expression or statement contains, reads and binds."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.kernel_ir.arithmetic import add, multiply, row_number
from anadrome.kernel_ir.nodes import (
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
from anadrome.prims.node import replace

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
"""How many lanes a loop in lanes may have."""


SUMS = ("add", "sub", "and", "or", "xor")
"""Atomic operations that any number of threads may do in any order."""


def runs_in_lanes(stmt: Stmt) -> bool:
    """Whether the lanes of a vector can run a statement together; those inside it are asked by themselves."""
    match stmt:
        case Let() | Store() | View() | Fill() | Copy() | If() | While() | Check():
            return True
        case For(binding=binding):
            return binding in (Binding.SEQUENTIAL, Binding.PARALLEL)
        case Alloc(buffer=buffer, size=size):
            return buffer.space is Space.LOCAL and isinstance(size, Const)
        case Atomic(operation=operation, old=old, beside=beside):
            return operation in (*SUMS, "min", "max") and old is None and not beside
        case Free() | Swap() | Print() | Call() | Barrier() | Warp() | Fence() | Launch():
            return False
        case _:
            assert_never(stmt)


UNROLLED = 16
"""Inner loops of at most this constant extent LLVM unrolls; the loop around may run in lanes then."""


def trip_count(loop: For) -> int | None:
    """The iterations of a loop, if they are known."""
    if isinstance(loop.lo, Const) and isinstance(loop.hi, Const):
        return max(int(loop.hi.value) - int(loop.lo.value), 0)
    return None


def is_zero(expr: Expr) -> bool:
    """Whether an expression is the constant whose bytes are all zero; -0.0 is not."""
    return isinstance(expr, Const) and str(expr.value) in ("0", "0.0", "False")


def is_same(one: Expr, other: Expr) -> bool:
    """Whether two expressions are written alike, and read no memory."""
    match one, other:
        case Compute(), Compute():
            return one.prim is other.prim and all(map(is_same, one.args, other.args))
        case Const(), Const():
            return (one.value, one.dtype) == (other.value, other.dtype)
        case _:
            return one is other and isinstance(one, Var)


def stays_loop(stmt: Stmt) -> bool:
    """Whether a statement is a loop that is not unrolled."""
    match stmt:
        case For():
            trip = trip_count(stmt)
            return trip is None or trip > UNROLLED
        case While():
            return True
        case _:
            return False


def bodies(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists inside a statement, in the order they run."""
    match stmt:
        case If(then=then, other=other):
            return (then, other)
        case For(body=body):
            return (body,)
        case While(prelude=prelude, body=body):
            return (prelude, body)
        case Let() | Alloc() | Free() | View() | Swap() | Store() | Atomic() | Fill() | Copy():
            return ()
        case Check() | Print() | Call() | Barrier() | Warp() | Fence() | Launch():
            return ()
        case _:
            assert_never(stmt)


def with_bodies(stmt: Stmt, inner: Sequence[tuple[Stmt, ...]]) -> Stmt:
    """A statement with others inside, in the order of `bodies`."""
    match stmt:
        case If(condition=condition):
            then, other = inner
            return If(condition, then, other)
        case For():
            return replace(stmt, body=inner[0])
        case While():
            prelude, body = inner
            return replace(stmt, prelude=prelude, body=body)
        case _:
            return stmt


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself, those of its bodies excluded."""
    match stmt:
        case Let(value=value):
            return (value,)
        case Alloc(size=size) | Copy(size=size):
            return (size,)
        case View(offset=offset):
            return (offset,)
        case Store(indices=indices, value=value):
            return (*indices, value)
        case Atomic(indices=indices, value=value, expected=expected, beside=beside):
            also = tuple(more for _, more in beside)
            return (*indices, value, *also) if expected is None else (*indices, value, expected, *also)
        case Fill(size=size, value=value):
            return (size, value)
        case If(condition=condition) | While(condition=condition):
            return (condition,)
        case For(lo=lo, hi=hi):
            return (lo, hi)
        case Check(condition=condition, values=values):
            return (condition, *values)
        case Print(values=values):
            parts = (value.shape if isinstance(value, Shown) else (value,) for value in values)
            return tuple(expr for part in parts for expr in part)
        case Call(args=args):
            return tuple(arg for arg in args if not isinstance(arg, Buffer))
        case Launch(grid=grid, block=block, shared=shared, args=args):
            return (*grid, *block, shared, *(arg for arg in args if not isinstance(arg, Buffer)))
        case Barrier(predicate=predicate):
            return () if predicate is None else (predicate,)
        case Warp(mask=mask, value=value, lane=lane):
            return tuple(part for part in (mask, value, lane) if part is not None)
        case Free() | Swap() | Fence():
            return ()
        case _:
            assert_never(stmt)


def buffers(stmt: Stmt) -> tuple[Buffer, ...]:
    """The buffers a statement names itself, loads and the statements inside excluded."""
    match stmt:
        case Alloc(buffer=buffer) | Free(buffer=buffer) | Store(buffer=buffer):
            return (buffer,)
        case Atomic(buffer=buffer, beside=beside):
            return (buffer, *(more for more, _ in beside))
        case Fill(buffer=buffer):
            return (buffer,)
        case View(buffer=buffer, base=base):
            return (buffer, base)
        case Swap(first=first, second=second):
            return (first, second)
        case Copy(target=target, source=source):
            return (target, source)
        case Call(args=args) | Launch(args=args):
            return tuple(arg for arg in args if isinstance(arg, Buffer))
        case Print(values=values):
            return tuple(value.buffer for value in values if isinstance(value, Shown))
        case Let() | If() | For() | While() | Check() | Barrier() | Warp() | Fence():
            return ()
        case _:
            assert_never(stmt)


def changes(stmt: Stmt) -> tuple[Buffer, ...]:
    """The buffers whose elements a statement may change itself; of a call, all that it is given."""
    match stmt:
        case Store(buffer=buffer) | Fill(buffer=buffer) | Copy(target=buffer):
            return (buffer,)
        case Atomic() | Swap() | Call():
            return buffers(stmt)
        case Launch(kernel=kernel, args=args):
            changed = written(kernel)
            pairs = zip(kernel.params, args, strict=True)
            return tuple(arg for param, arg in pairs if param in changed and isinstance(arg, Buffer))
        case _:
            return ()


def bound(stmt: Stmt) -> Var | None:
    """The variable that a statement binds, if it binds one."""
    match stmt:
        case Let(var=var) | For(index=var):
            return var
        case Atomic(old=result) | Barrier(result=result) | Warp(result=result):
            return result
        case _:
            return None


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and all inside it."""
    yield expr
    match expr:
        case Compute(args=args):
            for arg in args:
                yield from subexpressions(arg)
        case Load(indices=indices):
            for index in indices:
                yield from subexpressions(index)
        case Var() | Const() | Workers():
            pass
        case _:
            assert_never(expr)


def offset_of(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    """Where an element is, counted from the first one of its buffer: Σ_k i_k·s_k, or without strides its
    number in row-major order, which a single index is."""
    if buffer.strides:
        return functools.reduce(add, map(multiply, indices, buffer.strides))
    return row_number(indices, buffer.shape)


def statements(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """Every statement of a body, outer ones before those inside them."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from statements(inner)


@dataclass(slots=True)
class Names:
    """Variables and buffers in order of first appearance."""

    vars: dict[Var, None] = field(default_factory=dict)
    buffers: dict[Buffer, None] = field(default_factory=dict)

    def add_expr(self, expr: Expr) -> None:
        """Collect what an expression reads."""
        match expr:
            case Var():
                self.vars.setdefault(expr)
            case Compute(args=args):
                for arg in args:
                    self.add_expr(arg)
            case Load(buffer=buffer, indices=indices):
                self.add_buffer(buffer)
                for index in indices:
                    self.add_expr(index)
            case Const() | Workers():
                pass
            case _:
                assert_never(expr)

    def add_buffer(self, buffer: Buffer) -> None:
        """Collect a buffer, and what says where its elements are."""
        if buffer not in self.buffers:
            self.buffers[buffer] = None
            for expr in buffer.strides or buffer.shape[1:]:
                self.add_expr(expr)


def free_names(body: Iterable[Stmt]) -> Names:
    """The variables and buffers a body uses that it does not bind itself."""
    used, inside = Names(), Names()
    for stmt in statements(body):
        var = bound(stmt)
        if var is not None:
            inside.vars.setdefault(var)
        if isinstance(stmt, Alloc | View):
            inside.buffers.setdefault(stmt.buffer)
            for size in stmt.buffer.shape:
                used.add_expr(size)
        for expr in expressions(stmt):
            used.add_expr(expr)
        for buffer in buffers(stmt):
            used.add_buffer(buffer)
    return Names(
        {var: None for var in used.vars if var not in inside.vars},
        {buffer: None for buffer in used.buffers if buffer not in inside.buffers},
    )


def swapped_buffers(fn: Function) -> set[Buffer]:
    """The buffers whose storage a `Swap` may change."""
    found: set[Buffer] = set()
    for stmt in statements(fn.body):
        if isinstance(stmt, Swap):
            found |= {stmt.first, stmt.second}
    return found


def written(program: Kernel | Function) -> tuple[Buffer, ...]:
    """The parameters whose elements a kernel or a host program may change, in their order."""
    changed: set[Buffer] = set()
    bases: dict[Buffer, Buffer] = {}
    for stmt in statements(program.body):
        if isinstance(stmt, View):
            bases[stmt.buffer] = bases.get(stmt.base, stmt.base)
        changed.update(bases.get(buffer, buffer) for buffer in changes(stmt))
    return tuple(param for param in program.params if isinstance(param, Buffer) and param in changed)


def kernels(fn: Function) -> tuple[Kernel, ...]:
    """The kernels that a host program launches, each once, in order."""
    launches = (stmt for stmt in statements(fn.body) if isinstance(stmt, Launch))
    return tuple(dict.fromkeys(launch.kernel for launch in launches))
