"""An atomic operation that nobody can meet is a read, an operation and a write.

The threads of a block run on one worker, one after the other, so that is every atomic operation on the shared
memory of a block, and every one on the memory of all where one worker runs all blocks.

Before:
    kernel count(x: i64 buffer, bins: i64 buffer)
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let k: i64 = x[tx]
      atomic add bins[k] = 1
    }
    fn main(x: i64 buffer) {
      alloc bins: i64 global [8]
      launch count [1, 1, 1] [32, 1, 1] [0] (x, bins)
      return bins as i64 [8]
    }
After:
    fn main(x: i64 buffer) {
      alloc bins: i64 global [8]
      for block in 0 .. 1 sequential {
        for tx in 0 .. 32 sequential {
          let k: i64 = x[tx]
          let old: i64 = bins[k]
          bins[k] = add(old, 1)
        }
      }
      return bins as i64 [8]
    }

"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.dtypes import BOOL, I64, DType
from anadrome.kernel_ir.arithmetic import compute
from anadrome.kernel_ir.nodes import Atomic, Buffer, Compute, Const, Expr, If, Let, Load, Stmt, Store, Var

_INTEGERS = {"and": "bitand", "or": "bitor", "xor": "bitxor"}
_NEARER = {"min": "lt", "max": "gt"}


def plain(
    stmt: Atomic,
    buffer: Buffer,
    indices: tuple[Expr, ...],
    value: Expr,
    expected: Expr | None,
    beside: Sequence[tuple[Buffer, tuple[Expr, ...], Expr]] = (),
) -> tuple[list[Stmt], Var]:
    """The statements of an atomic operation on an element that no other thread touches in the meantime, and
    the variable that holds what was there before."""
    body: list[Stmt] = []

    def let(name: str, dtype: DType, expr: Expr) -> Expr:
        if isinstance(expr, Var | Const):
            return expr
        var = Var(name, dtype)
        body.append(Let(var, expr))
        return var

    places = tuple(let("at", I64, index) for index in indices)
    given = let("value", buffer.dtype, value)
    wanted = None if expected is None else let("expected", buffer.dtype, expected)
    old = Var("old" if stmt.old is None else stmt.old.name, buffer.dtype)
    body.append(Let(old, Load(buffer, places)))
    if beside:
        puts = tuple((more, (at, let("put", more.dtype, put))) for more, at, put in beside)
        keys, (at, key) = puts[0]
        smaller = compute("lt", key, Load(keys, at))
        wins = compute(
            "or", _takes(stmt.operation, old, given), compute("and", compute("eq", given, old), smaller)
        )
        stores = tuple(Store(more, at, put, stmt.span) for more, (at, put) in puts)
        body.append(If(wins, stores))
    body.append(Store(buffer, places, combined(stmt.operation, old, given, wanted), stmt.span))
    return body, old


def _takes(operation: str, old: Var, value: Expr) -> Compute:
    """Whether the value of a min or max takes the place of the element."""
    nearer = compute(_NEARER[operation], value, old)
    return compute("or", nearer, compute("isnan", old)) if old.dtype.is_float else nearer


def combined(operation: str, old: Var, value: Expr, expected: Expr | None = None) -> Expr:
    """What an atomic operation leaves where `old` was. In `min` and `max` a number wins over a NaN."""
    match operation:
        case "exchange":
            return value
        case "compare":
            assert expected is not None
            return compute("select", compute("eq", old, expected), value, old)
        case "min" | "max" if old.dtype.is_float:
            return compute("select", _takes(operation, old, value), value, old)
        case "and" | "or" | "xor" if old.dtype is not BOOL:
            return compute(_INTEGERS[operation], old, value)
        case _:
            return compute(operation, old, value)
