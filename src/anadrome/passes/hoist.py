"""Moving what does not change out of loops and parfors, as far as the branch or operator it stands in.

Every scalar operation is total, so it may move to where all it reads is bound. So may a parfor, a loop or a
branch without run-time checks, a matrix product and a reshape, where each of their reads is inside its array
whether or not the loops they leave run at all: an index is then a constant below a constant size, or the
index of a loop over that very size. Statements that may fail stay, unless every loop they leave surely
runs and prints nothing. Arrays that are often changed in place (`full`) stay where they are made.

`hoist_sums` does so before differentiation, with what it has to be done for, on the walk of this one.

Before:
    fn f(x: f64[n], c: f64[m]) -> f64[n] {
      y = parfor i < n {
        s = parfor j < m { v = c[j]; w = exp v; yield reduce add w }
        l = log s
        v = x[i]
        d = sub v l
        yield stack d
      }
      return y
    }
After:
    fn f(x: f64[n], c: f64[m]) -> f64[n] {
      s = parfor j < m { v = c[j]; w = exp v; yield reduce add w }
      l = log s
      y = parfor i < n { v = x[i]; d = sub v l; yield stack d }
      return y
    }
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from anadrome.array_ir.dead import STRUCTURED
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Bounds,
    Check,
    Collective,
    Const,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Print,
    Reshape,
    Scatter,
    Size,
    SumType,
    Update,
    Var,
    WithSum,
    Yield,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import expression_variables, holds, operands, operator_of, prints, type_sizes
from anadrome.config import Config
from anadrome.library.table import LIBRARY


def hoist(fn: Function, config: Config) -> Function:
    """The function with every invariant statement as far out as it may go."""
    return hoisted(fn, Hoister()) if holds(fn.body, *STRUCTURED) else fn


def hoisted(fn: Function, walk: Hoister) -> Function:
    """The function as a walk leaves it."""
    walk.levels.update(dict.fromkeys((*fn.params, *fn.sizes), 0))
    return with_body(fn, walk.body(fn.body, Scope(0, 0, False)))


@dataclass(slots=True, eq=False)
class Scope:
    """A body being written, and what is known of the statements in it, nested ones included."""

    level: int
    barrier: int
    """The outermost level to which statements may leave."""
    surely_runs: bool
    extent: Size | None = None
    """How often the body runs, where it is that of a loop; it runs where that is above 0."""
    is_in_order: bool = False
    """Whether it is the body of a sequential loop, or its condition."""
    lets: list[Let] = field(default_factory=list)
    used: int = 0
    """A bit for every level of which something is read."""
    is_risky: bool = False
    """Whether a statement may fail, or reads where only the loops around it make the index right."""


class Hoister:
    """One walk, inside out: the level of each variable is that of the body it is bound in."""

    def __init__(self) -> None:
        self.levels: dict[Var, int] = {}
        self.extents: dict[Var, Size] = {}
        self.scopes: list[Scope] = []

    def body(self, body: Body, scope: Scope) -> Body:
        """The body without what left it."""
        self.scopes.append(scope)
        for let in body.lets:
            self.statement(let, scope)
        for atom in body.results:
            self.read(atom, scope)
        self.scopes.pop()
        return remade(body, scope.lets, body.results)

    def read(self, atom: Atom, scope: Scope) -> None:
        """Note the level at which an atom is bound."""
        if isinstance(atom, Var):
            scope.used |= 1 << self.levels[atom]

    def statement(self, let: Let, scope: Scope) -> None:
        """Write a statement into the outermost body it may go to."""
        own = Scope(scope.level, scope.barrier, True)
        for atom in operands(let.expr):
            self.read(atom, own)
        for target in let.targets:
            for size in type_sizes(target.type):
                self.read(size, own)
        expr = self.nested(let.expr, own)
        own.is_risky = own.is_risky or self.may_fail(expr)
        new = remade(let, let.targets, expr)
        level = scope.level
        if not self.stays(let):
            lowest = max(own.used.bit_length() - 1, scope.barrier)
            while level > lowest and not (own.is_risky and not self.scopes[level].surely_runs):
                level -= 1
            level, new = self.left(new, scope.level, level)
        self.levels.update(dict.fromkeys(let.targets, level))
        self.scopes[level].lets.append(new)
        scope.used |= own.used
        scope.is_risky = scope.is_risky or (own.is_risky and level == scope.level)

    def left(self, let: Let, start: int, level: int) -> tuple[int, Let]:
        """Where a statement goes that may leave the body at `start` for that at `level`, and as what."""
        return level, let

    def stays(self, let: Let) -> bool:
        """Whether a statement keeps its body: accumulators are linear, arrays to change are made afresh, and
        each iteration prints."""
        if isinstance(let.expr, Full | Update | AddTo | Check | Launch | Collective) or prints(let.expr):
            return True
        return any(isinstance(target.type, SumType) for target in let.targets)

    def may_fail(self, expr: Expr) -> bool:
        """Whether the expression itself may fail where the loops around it do not run."""
        match expr:
            case Index():
                return not self.is_inside(expr)
            case Library(operation=operation):
                return not LIBRARY[operation].is_total
            case Check() | Print() | Update() | AddTo() | Loop(condition=Body()) | Custom():
                return True
            case Launch() | Collective():
                return True
            case ParFor(yields=yields):
                return any(_is_bounded(item) for item in yields)
            case Apply() | Full() | Literal() | Reshape() | Loop() | If() | WithSum():
                return False
            case _:
                assert_never(expr)

    def is_inside(self, expr: Index) -> bool:
        """Whether each index is below its size by its own loop, or both are constants."""
        if expr.bounds is not Bounds.PROVED:
            return False
        for index, size in zip(expr.indices, expr.array.type.shape, strict=False):
            extent = self.extents.get(index) if isinstance(index, Var) else None
            if isinstance(index, Const) and isinstance(size, Const):
                if not 0 <= index.value < size.value:
                    return False
            elif extent != size:
                return False
        return True

    # ------------------------------------------------------------------ nested bodies
    def enter(
        self,
        body: Body,
        bound: tuple[Var, ...],
        own: Scope,
        runs: bool,
        is_barrier: bool = False,
        extent: Size | None = None,
        is_in_order: bool = False,
    ) -> Body:
        """A nested body; what it uses and risks is the statement's own."""
        around = self.scopes[-1]
        level = around.level + 1
        scope = Scope(level, level if is_barrier else around.barrier, runs, extent, is_in_order)
        self.levels.update(dict.fromkeys(bound, level))
        new = self.body(body, scope)
        own.used |= scope.used & ((1 << level) - 1)
        own.is_risky = own.is_risky or scope.is_risky
        return new

    def nested(self, expr: Expr, own: Scope) -> Expr:
        """The expression with its bodies written."""
        match expr:
            case ParFor():
                return self.parfor(expr, own)
            case Loop(carried, init, body, index, trip, condition):
                test = (
                    None if condition is None else self.enter(condition, carried, own, True, is_in_order=True)
                )
                bound = carried if index is None else (*carried, index)
                if index is not None and trip is not None:
                    self.extents[index] = trip
                runs = trip is not None and _surely_runs(trip) and not prints(expr)
                new = self.enter(body, bound, own, runs, extent=trip, is_in_order=True)
                return remade(expr, carried, init, new, index, trip, test)
            case If(condition=condition, then=then, other=other):
                first = self.enter(then, (), own, False, is_barrier=True)
                return remade(expr, condition, first, self.enter(other, (), own, False, is_barrier=True))
            case Custom():
                for var in expression_variables(expr):
                    self.read(var, own)
                return expr
            case WithSum(init=init, tokens=tokens, body=body):
                return remade(expr, init, tokens, self.enter(body, tokens, own, True))
            case (
                Apply()
                | Index()
                | Update()
                | Full()
                | Literal()
                | Reshape()
                | AddTo()
                | Check()
                | Print()
                | Library()
                | Launch()
                | Collective()
            ):
                return expr
            case _:
                assert_never(expr)

    def parfor(self, expr: ParFor, own: Scope) -> ParFor:
        """A parfor, its yields read inside; operators keep what is theirs."""
        self.extents[expr.index] = expr.extent
        runs = _surely_runs(expr.extent)
        inner = self.enter(expr.body, (expr.index,), own, runs, extent=expr.extent)
        keep = Substitution()

        def operator_body(body: Body) -> Body:
            return self.enter(body, (), own, False, is_barrier=True)

        for item in expr.yields:
            operator = operator_of(item)
            if operator is not None:
                level = self.scopes[-1].level + 1
                self.levels.update(dict.fromkeys((*operator.left, *operator.right), level))
        yields = tuple(keep.item(item, operator_body) for item in expr.yields)
        return remade(expr, expr.index, expr.extent, inner, yields)


def _is_bounded(item: Yield) -> bool:
    return isinstance(item, Accumulate | Scatter) and item.bounds is not Bounds.IGNORED


def _surely_runs(extent: Size) -> bool:
    return isinstance(extent, Const) and extent.value >= 1
