"""Whether LLVM may turn the branches of a function's loops into masks when it vectorises them.

LLVM 22 vectorises a wrong program out of a right one in two cases (none of its own passes warns). In the
first three things meet:

* a condition from which LLVM concludes that a loop is at one certain iteration: of `i < 6` and `not i < 5`
  it makes `i = 5`, and replaces what depends on i along that edge by constants;
* an access under a condition, in the same loop, whose address has been merged from such a constant and from
  the formula in i: `p = φ(i - 1, 4)`;
* scalar evolution, which finds that the two are one formula, so that the access counts as contiguous. Its
  first address is then taken from the first lane, also where that lane is masked, and holds the other value.

Loops that are told where they are by conditions, or run as far as another loop says, are therefore vectorised
without masks (`WITHOUT_MASKS`). Conditions on data are no danger, for they say nothing of the iteration; nor
is `i < n` with a size that only the run knows, from which no constant follows, nor a loop up to `n - i`.

In the second, what a branch reads leaves it, as in `if c { t = a[i]; a[i] = 0; v = t }`. There LLVM loads
under a mask and then selects, by the same mask, between that and what v was; of the two it makes one load
under a mask that stands where the select stood: behind the store. Functions are vectorised without masks
where a branch in a loop reads an array that a loop writes, and something leaves the branch.
"""

from __future__ import annotations

from collections.abc import Iterable

from anadrome.kernel_ir.nodes import (
    Binding,
    Buffer,
    Call,
    Compute,
    Const,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    View,
    Workers,
)
from anadrome.kernel_ir.walk import (
    UNROLLED,
    bodies,
    changes,
    expressions,
    statements,
    stays_loop,
    subexpressions,
    trip_count,
)

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
ORDERS = ("lt", "le", "gt", "ge", "min", "max")
BOUNDING = ("min", "mod", "bitand", "select")
"""Operations whose result a constant bounds, or may be."""
SMOOTH = ("add", "sub", "mul", "neg", "div")


def masks_are_safe(fn: Function) -> bool:
    """Whether no branch inside a loop can meet conditions on where a loop is."""
    search = _Search(fn)
    search.body(fn.body, in_loop=False)
    return not (search.has_branch and search.asks_places) and not any(map(search.overwrites, search.loops))


class _Search:
    """A walk over statements in order, with the variables that are computed from the indices of loops, and
    those that are computed from what only the run knows."""

    def __init__(self, fn: Function) -> None:
        self.placed: set[Var] = set()
        self.open = {param for param in fn.params if isinstance(param, Var)}
        self.has_branch = False
        self.asks_places = False
        self.loops: list[For] = []
        """Loops that LLVM may vectorise: without others, except those that it may unroll."""
        self.values: dict[Var, Expr] = {}
        self._bases: dict[Buffer, Buffer] = {}

    def body(self, stmts: Iterable[Stmt], in_loop: bool) -> None:
        """Look at statements in the order in which they run."""
        for stmt in stmts:
            self._statement(stmt, in_loop)

    def _statement(self, stmt: Stmt, in_loop: bool) -> None:
        for expr in expressions(stmt):
            self.asks_places = self.asks_places or any(map(self._asks, subexpressions(expr)))
        match stmt:
            case Let(var=var, value=value):
                self.values[var] = value
                if self._is_placed(value):
                    self.placed.add(var)
                if self._is_open(value):
                    self.open.add(var)
            case For(binding=Binding.THREADS):  # it only hands out parts of the loops inside
                pass
            case For(index=index, lo=lo, hi=hi):
                self.placed.add(index)
                if self._says_where(lo) or self._says_where(hi):  # LLVM unrolls it to branches
                    self.has_branch = self.asks_places = True
            case If():
                self.has_branch = self.has_branch or in_loop
            case View(buffer=buffer, base=base):
                self._bases[buffer] = base
            case Call():  # its loops are text of their own
                self.has_branch = self.asks_places = True
            case _:
                pass
        for inner in bodies(stmt):
            self.body(inner, in_loop or not isinstance(stmt, If))
        if isinstance(stmt, For) and not any(map(self._stays, statements(stmt.body))):
            self.loops.append(stmt)

    def _stays(self, stmt: Stmt) -> bool:
        """Whether a statement is a loop that LLVM surely does not unroll: it may find a constant, or a least
        bound, that is not written here."""
        if not stays_loop(stmt) or not isinstance(stmt, For) or trip_count(stmt) is not None:
            return stays_loop(stmt)
        is_open = self._is_open(stmt.lo) or self._is_open(stmt.hi)
        return is_open and not any(map(self._is_bounded, (stmt.lo, stmt.hi)))

    def _is_bounded(self, expr: Expr) -> bool:
        """Whether an expression may be known to be small, or to be one of a few constants."""
        match expr:
            case Var():
                return expr in self.values and self._is_bounded(self.values[expr])
            case Compute(prim=prim, args=args):
                if prim.name in BOUNDING and any(map(_is_small, args)):
                    return True
                if prim.name in SMOOTH:
                    return all(self._is_bounded(arg) or _is_small(arg) for arg in args)
                return any(map(self._is_bounded, args))
            case _:
                return False

    def overwrites(self, loop: For) -> bool:
        """Whether a branch in a loop reads an array that the loop writes, and something leaves the branch."""
        inside = list(statements(loop.body))
        written = {self._root(buffer) for stmt in inside for buffer in changes(stmt)}
        branches = (stmt for stmt in inside if isinstance(stmt, If) and _leaves(stmt))
        return any(self._root(buffer) in written for branch in branches for buffer in _read_in(branch))

    def _root(self, buffer: Buffer) -> Buffer:
        """The array that a view looks into."""
        while buffer in self._bases:
            buffer = self._bases[buffer]
        return buffer

    def _asks(self, expr: Expr) -> bool:
        """Whether an operation may tell where a loop is: any but sums, products, smooth functions, and orders
        in which something takes part that only the run knows."""
        if not isinstance(expr, Compute) or not any(map(self._is_placed, expr.args)):
            return False
        prim = expr.prim
        if prim.name in ORDERS:
            return not any(map(self._is_open, expr.args))
        is_call = bool(prim.libm or prim.intrinsic or prim.special)
        return not (is_call or prim.name in SMOOTH or prim.converts_to is not None)

    def _says_where(self, bound: Expr) -> bool:
        """Whether the end of a loop tells where another one is; not where a number takes part that only the
        run knows, as in the last part of an array."""
        return self._is_placed(bound) and not self._is_open(bound)

    def _is_open(self, expr: Expr) -> bool:
        """Whether a number takes part in an expression that only the run knows. Elements do not count:
        LLVM may know what was stored."""
        match expr:
            case Var():
                return expr in self.open
            case Compute(args=args):
                return any(map(self._is_open, args))
            case Workers():
                return True
            case _:
                return False

    def _is_placed(self, expr: Expr) -> bool:
        """Whether an expression is computed from indices, or from counters that stand in local memory."""
        match expr:
            case Var():
                return expr in self.placed
            case Compute(prim=prim, args=args):
                return prim.name not in COMPARISONS and any(map(self._is_placed, args))
            case Load(buffer=buffer):
                return buffer.space is Space.LOCAL and buffer.dtype.is_integer
            case _:
                return False


def _leaves(branch: If) -> bool:
    """Whether a value of a branch may be used behind it, or is chosen by a condition in it."""
    inside = [stmt for body in bodies(branch) for stmt in statements(body)]
    is_kept = any(isinstance(stmt, Store) and stmt.buffer.space is Space.LOCAL for stmt in inside)
    parts = (part for stmt in inside for expr in expressions(stmt) for part in subexpressions(expr))
    return is_kept or any(isinstance(part, Compute) and part.prim.name == "select" for part in parts)


def _read_in(branch: If) -> set[Buffer]:
    """What is read in a branch."""
    inside = (stmt for body in bodies(branch) for stmt in statements(body))
    parts = (part for stmt in inside for expr in expressions(stmt) for part in subexpressions(expr))
    return {part.buffer for part in parts if isinstance(part, Load) and part.buffer.space is not Space.LOCAL}


def _is_small(expr: Expr) -> bool:
    return isinstance(expr, Const) and abs(expr.value) <= UNROLLED
