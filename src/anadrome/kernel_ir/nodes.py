"""The nodes of the kernel IR: buffers, expressions, statements, functions.

Memory is explicit: a `Buffer` is a run of elements of one scalar type, addressed by one i64 offset in
elements. Scalars are bound once by `Let`; a mutable scalar is a local buffer of one element, which the
emitter turns into a register. Nodes never change and never compare structurally.
"""

from __future__ import annotations

import enum

from anadrome.dtypes import I64, DType
from anadrome.errors import Span
from anadrome.prims.node import node
from anadrome.prims.record import Prim


class Space(enum.Enum):
    """Where a buffer lives: memory every thread sees, a block's shared memory, or one thread's own."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"


class Binding(enum.Enum):
    """What runs the iterations of a `For`: GPU grid or block, worker threads, SIMD lanes, or one thread."""

    GRID = "grid"
    BLOCK = "block"
    THREADS = "threads"
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
    """The element of a buffer at an offset that is known to be inside."""

    buffer: Buffer
    offset: Expr


@node
class Workers:
    """How many worker threads this call may use (an i64 of at least 1)."""


Expr = Var | Const | Compute | Load | Workers


# ---------------------------------------------------------------------------- buffers
@node
class Buffer:
    """A run of elements of one type. Two different buffers never overlap, except through `View`."""

    name: str
    dtype: DType
    space: Space = Space.GLOBAL

    def __repr__(self) -> str:
        return self.name


# ---------------------------------------------------------------------------- statements
@node
class Let:
    """Bind a scalar."""

    var: Var
    value: Expr


@node
class Alloc:
    """Give a buffer storage of `size` elements, uninitialised, until `Free` or the end of the call.

    LOCAL buffers have a constant size and live in registers or on the stack. GLOBAL ones are on the heap;
    where memory runs out the call ends in an error. `span` is the source place that asks for it.
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
    """Let `buffer` name the part of `base` that begins at an offset (in elements)."""

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
    """Put a value at an offset that is known to be inside."""

    buffer: Buffer
    offset: Expr
    value: Expr


@node
class Atomic:
    """Combine a value into an element as one indivisible operation ("add", "min", "max")."""

    operation: str
    buffer: Buffer
    offset: Expr
    value: Expr


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

    Iterations of any binding but SEQUENTIAL are independent of one another. A THREADS loop is a fork and a
    join; each iteration may run on its own thread. A GLOBAL buffer allocated inside belongs to the thread.
    """

    index: Var
    lo: Expr
    hi: Expr
    body: tuple[Stmt, ...]
    binding: Binding = Binding.SEQUENTIAL


@node
class While:
    """`prelude` runs before each test of `condition`, which may read what it binds; then `body`."""

    prelude: tuple[Stmt, ...]
    condition: Expr
    body: tuple[Stmt, ...]


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
    """Wait for every thread of the block."""


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
)


# ---------------------------------------------------------------------------- functions
@node
class Output:
    """One result of a function: a scalar (no `shape`, `value` an expression) or a whole buffer that was
    allocated in it and passes to the caller, with its dimensions."""

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
    """A host program: scalars and buffers in, outputs out. Input buffers are only read."""

    name: str
    params: tuple[Var | Buffer, ...]
    body: tuple[Stmt, ...]
    outputs: tuple[Output, ...]
    failures: tuple[Failure, ...] = ()
    messages: tuple[str, ...] = ()
    """What it prints: lines of `printing.Message`."""


def i64(value: int) -> Const:
    """An i64 constant."""
    return Const(value, I64)
