"""The nodes of the kernel IR: buffers, expressions, statements, functions, kernels.

Memory is explicit: a `Buffer` holds elements of one scalar type, addressed by one i64 index for each of its
dimensions. Scalars are bound once by `Let`; a mutable scalar is a local buffer of one element, which the
emitter turns into a register. Nodes never change and never compare structurally.

A `Function` is a host program. A `Kernel` is what each thread of a grid does (SPMD); a host program runs it
by `Launch`. `Barrier`, `Warp` and `Fence` stand in kernels alone.
"""

from __future__ import annotations

import enum
from typing import TypeVar

from anadrome.dtypes import I64, DType
from anadrome.errors import Span
from anadrome.prims.node import node
from anadrome.prims.record import Prim

Item = TypeVar("Item")
Triple = tuple[Item, Item, Item]
"""One thing for each of the directions x, y, z."""


class Space(enum.Enum):
    """Where a buffer lives: memory every thread sees, a block's shared memory, or one thread's own."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"


class Binding(enum.Enum):
    """What runs the iterations of a `For`: worker threads; one thread, in any order; lanes of vectors, as
    many as there are, whatever loops are inside; the lanes of one vector, from 0 to a constant extent; or one
    thread, in order."""

    THREADS = "threads"
    PARALLEL = "parallel"
    OUTER = "outer"
    LANES = "lanes"
    SEQUENTIAL = "sequential"


# ---------------------------------------------------------------------------- expressions
@node
class Var:
    """A scalar, bound once."""

    name: str
    dtype: DType

    def __repr__(self) -> str:
        return self.name


@node
class Const:
    """A scalar constant."""

    value: bool | int | float
    dtype: DType


@node
class Compute:
    """A scalar operation of the table; `is_reassociable` lets a target reorder a chain of it (a sum)."""

    prim: Prim
    args: tuple[Expr, ...]
    is_reassociable: bool = False


@node
class Load:
    """The element of a buffer at indices that are known to be inside: one for each dimension, or in a host
    program, where the elements lie row-major, a single one that counts them from the first."""

    buffer: Buffer
    indices: tuple[Expr, ...]


@node
class Workers:
    """How many worker threads this call may use (an i64 of at least 1)."""


Expr = Var | Const | Compute | Load | Workers


# ---------------------------------------------------------------------------- buffers
@node
class Buffer:
    """Elements of one type. Two different buffers never overlap, except through `View`.

    Without a `shape` it is a run of elements with one index. With one it has several dimensions, whose
    elements lie `strides` apart (in elements); without strides they lie row-major.
    """

    name: str
    dtype: DType
    space: Space = Space.GLOBAL
    shape: tuple[Expr, ...] = ()
    strides: tuple[Expr, ...] = ()

    @property
    def rank(self) -> int:
        """How many indices an element has."""
        return len(self.shape) or 1

    def __repr__(self) -> str:
        return self.name


# ---------------------------------------------------------------------------- statements
@node
class Let:
    """Bind a scalar. `span`, here and below: the source place that says so."""

    var: Var
    value: Expr
    span: Span | None = None


@node
class Alloc:
    """Give a buffer storage of `size` elements, uninitialised, until `Free` or the end of the call.

    LOCAL buffers have a constant size and live in registers or on the stack; in a kernel they are the
    thread's own, and the size may be any that is the same for all threads. SHARED ones are a block's, and
    stand in no branch or loop of a kernel. GLOBAL ones are on the heap of a host program; where memory runs
    out the call ends in an error. `span` is the source place that asks for it.
    """

    buffer: Buffer
    size: Expr
    span: Span | None = None


@node
class Free:
    """Give back a GLOBAL buffer's storage."""

    buffer: Buffer


@node
class View:
    """Let `buffer` name the part of `base` that begins at an offset, in elements of the storage whatever the
    dimensions of `base` are; `buffer` may have others."""

    buffer: Buffer
    base: Buffer
    offset: Expr


@node
class Swap:
    """Exchange the storage of two buffers of the same type and size (double buffering of a loop)."""

    first: Buffer
    second: Buffer


@node
class Store:
    """Put a value at indices that are known to be inside."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr
    span: Span | None = None


ATOMICS = ("add", "sub", "min", "max", "and", "or", "xor", "exchange", "compare")
"""The operations of `Atomic`."""


@node
class Atomic:
    """Combine a value into an element as one indivisible operation; `old` is bound to what was there before.

    "compare" puts the value where the element equals `expected`, else leaves it. A min or max in which NaN
    meets a number keeps the number.

    `beside`, of a min or max: what else is put, at the same indices of other buffers, where the value takes
    the place of the element. The first of these are keys (i64): of equal values the smallest key wins.

    `is_alone`: no other worker can meet it, only lanes of the same vector can.
    """

    operation: str
    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr
    old: Var | None = None
    expected: Expr | None = None
    span: Span | None = None
    beside: tuple[tuple[Buffer, Expr], ...] = ()
    is_alone: bool = False


@node
class Fill:
    """Set `size` elements from the start of a buffer to one value."""

    buffer: Buffer
    size: Expr
    value: Expr


@node
class Copy:
    """Copy `size` elements from the start of one buffer to the start of another that does not overlap it."""

    target: Buffer
    source: Buffer
    size: Expr


@node
class If:
    """One branch runs."""

    condition: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...] = ()


@node
class For:
    """`body` for index = lo, lo + 1, … while index < hi, run as the binding says.

    Iterations of any binding but SEQUENTIAL are independent of one another, while no check in them fails.
    A THREADS loop is a fork and a join; each iteration may run on its own thread. A GLOBAL buffer allocated
    inside belongs to the thread, or to the iteration of an OUTER loop, which no target runs: `schedule` makes
    loops of LANES of it.
    """

    index: Var
    lo: Expr
    hi: Expr
    body: tuple[Stmt, ...]
    binding: Binding = Binding.SEQUENTIAL
    span: Span | None = None


@node
class While:
    """`prelude` runs before each test of `condition`, which may read what it binds; then `body`."""

    prelude: tuple[Stmt, ...]
    condition: Expr
    body: tuple[Stmt, ...]
    span: Span | None = None


@node
class Check:
    """Where the condition is false, remember failure `code` with its values; the call goes on to the next
    point where it can end (the end of the innermost loops around), and then ends in an error.

    What follows may therefore still run once with the condition false: offsets are clamped by whoever
    emits the check.
    """

    condition: Expr
    code: int
    values: tuple[Expr, ...] = ()


@node
class Shown:
    """An array that is printed: the elements from the start of a buffer on, row-major, and its shape."""

    buffer: Buffer
    shape: tuple[Expr, ...]


@node
class Print:
    """Write the function's message `code` with these values, in the order of the program; a failure to write
    ends the call at once. Checks before it have been looked at. It stands in no loop but sequential ones."""

    code: int
    values: tuple[Expr | Shown, ...] = ()


@node
class Call:
    """A routine of `kernel_ir.routines` (BLAS, LAPACK, our runtime) on buffers and scalars, in its order."""

    routine: str
    args: tuple[Buffer | Expr, ...]


@node
class Barrier:
    """Wait for every thread of the block: what any of them wrote before is seen by all after.

    With an operation `result` is bound to what the predicates of the block's threads come to: how many hold
    ("count", an i64), whether all do ("and") or any ("or").
    """

    operation: str = ""
    predicate: Expr | None = None
    result: Var | None = None
    span: Span | None = None


BARRIERS = ("", "count", "and", "or")
"""The operations of `Barrier`."""

WARP = 32
"""The threads of a warp: neighbours in the block, x running fastest."""

WARPS = ("sync", "shuffle", "up", "down", "xor", "ballot", "any", "all")
"""The operations of `Warp`."""


@node
class Warp:
    """What the threads of a warp that `mask` names (bit k is lane k) do together.

    `result` is bound to the `value` that another lane brought: lane `lane` ("shuffle"), so many lanes below
    ("up") or above ("down"), or at the own number xor `lane`; a thread for which there is no such lane keeps
    its own. "ballot" gives the mask of the lanes whose value holds, "any" and "all" whether they do. "sync"
    only waits.
    """

    operation: str
    mask: Expr
    value: Expr | None = None
    lane: Expr | None = None
    result: Var | None = None
    span: Span | None = None


@node
class Fence:
    """What the thread wrote before is seen by others before what it writes after."""


@node
class Launch:
    """Run a kernel for every thread of a grid, three extents each, with so many bytes of dynamic shared
    memory. Arguments stand in the order of the kernel's parameters; two written buffers never overlap."""

    kernel: Kernel
    grid: Triple[Expr]
    block: Triple[Expr]
    shared: Expr
    args: tuple[Buffer | Expr, ...]


Stmt = (
    Let
    | Alloc
    | Free
    | View
    | Swap
    | Store
    | Atomic
    | Fill
    | Copy
    | If
    | For
    | While
    | Check
    | Print
    | Call
    | Barrier
    | Warp
    | Fence
    | Launch
)


# ---------------------------------------------------------------------------- functions
@node
class Output:
    """One result of a function: a scalar (no `shape`, `value` an expression) or a whole buffer that was
    allocated in it, or donated, and passes to the caller, with its dimensions."""

    value: Expr | Buffer
    dtype: DType
    shape: tuple[Expr, ...] = ()


@node
class Failure:
    """What a `Check` of this code says: a name of `errors.runtime.FAILURES`, its words, the source place."""

    error: str
    message: str
    span: Span | None


@node
class Function:
    """A host program: scalars and buffers in, outputs out. Input buffers are only read, save those `donated`,
    which the caller gives away: they are written, swapped and returned as if they were allocated here, but
    their storage stays the caller's, so that no `Free` gives it back."""

    name: str
    params: tuple[Var | Buffer, ...]
    body: tuple[Stmt, ...]
    outputs: tuple[Output, ...]
    failures: tuple[Failure, ...] = ()
    messages: tuple[str, ...] = ()
    """What it prints: lines of `printing.Message`."""
    sizes: tuple[Var, ...] = ()
    """Those of the parameters that are lengths of arrays, and so never negative."""
    donated: tuple[Buffer, ...] = ()


@node
class Geometry:
    """What tells the threads of a launch apart, three i64 each (x, y, z), and the bytes of its dynamic shared
    memory."""

    grid: Triple[Var]
    block: Triple[Var]
    block_index: Triple[Var]
    thread_index: Triple[Var]
    shared: Var

    @property
    def variables(self) -> tuple[Var, ...]:
        """All of them."""
        return (*self.grid, *self.block, *self.block_index, *self.thread_index, self.shared)


@node
class Kernel:
    """What one thread of a grid does. Buffers that come in may be written."""

    name: str
    params: tuple[Var | Buffer, ...]
    geometry: Geometry
    body: tuple[Stmt, ...]
    failures: tuple[Failure, ...] = ()


def i64(value: int) -> Const:
    """An i64 constant."""
    return Const(value, I64)
