"""Sizes that a check has found to be equal are one size from there on.

A check at the top of the function ends the call where it fails. So what follows `check n = m` may take m for
n: parfors over either become parfors of one extent, which fuse. An array whose type names m is read as it is
where elements of it are read, and reshaped where it is taken whole, which costs nothing.

The check itself is made before all that may wait for it, as soon as both sizes are known: not before another
check than that of an index, and not before what prints. (Where an index is outside as well, the sizes are now
what is complained of.)

Before:
    fn f(x: f64[n], y: f64[m], k: i64[n]) -> f64 {
      a = parfor i < n {
        j = k[i]
        v = x[j]?
        yield stack v
      }
      same = eq m n
      check same size "sizes {0} and {1} differ" m n
      b = parfor i1 < m {
        w = a[i1]
        u = y[i1]
        v1 = mul w u
        yield reduce add v1
      }
      return b
    }
After:
    fn f(x: f64[n], y: f64[m], k: i64[n]) -> f64 {
      same = eq m n
      check same size "sizes {0} and {1} differ" m n
      a = parfor i < n {
        j = k[i]
        v = x[j]?
        yield stack v
      }
      b = parfor i1 < n {
        w = a[i1]
        u = y[i1]
        v1 = mul w u
        yield reduce add v1
      }
      return b
    }
"""

from __future__ import annotations

from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Body,
    Check,
    Expr,
    Function,
    Index,
    Let,
    Reshape,
    Var,
)
from anadrome.array_ir.rewrite import BodyChange, Substitution, with_body
from anadrome.array_ir.walk import expression_variables, let_variables, type_sizes
from anadrome.config import Config
from anadrome.passes.hoist_checks import may_be_lifted


def equal_sizes(fn: Function, config: Config) -> Function:
    """The function with one size for those that its checks say are equal; itself where there are none."""
    if not any(isinstance(let.expr, Check) for let in fn.body.lets):
        return fn
    walk = _Equal(fn)
    walk.statements(_checks_first(fn.body.lets))
    if not walk.mapping:
        return fn
    results = tuple(walk.as_before(atom) for atom in fn.body.results)
    return with_body(fn, Body(_used(walk.written, results), results))


def _checks_first(lets: tuple[Let, ...]) -> list[Let]:
    """The statements with every check of sizes as early as it may be made."""
    bound = {target: place for place, let in enumerate(lets) for target in let.targets}
    before: list[list[Let]] = [[] for _ in range(len(lets) + 1)]
    moved: set[int] = set()
    earliest = 0
    for place, let in enumerate(lets):
        found = _compared(let, lets, bound)
        if found is not None:
            comparison, sizes = found
            known = [bound[size] + 1 for size in sizes if size in bound]
            earliest = max(earliest, *known) if known else earliest
            if comparison not in moved and comparison >= earliest:
                before[earliest].append(lets[comparison])
                moved.add(comparison)
            before[earliest].append(let)
            moved.add(place)
        elif not may_be_lifted(let):
            earliest = place + 1
    kept = [[] if place in moved else [let] for place, let in enumerate(lets)]
    return [let for first, own in zip(before, [*kept, []], strict=True) for let in (*first, *own)]


def _compared(let: Let, lets: tuple[Let, ...], bound: dict[Var, int]) -> tuple[int, list[Var]] | None:
    """Of a check of sizes: where they are compared, and the variables that it reads besides."""
    check = let.expr
    if not isinstance(check, Check) or check.error != "size":
        return None
    place = bound.get(check.condition) if isinstance(check.condition, Var) else None
    if place is None:
        return None
    comparison = lets[place].expr
    if not isinstance(comparison, Apply) or comparison.prim.name != "eq":
        return None
    read = {**expression_variables(check), **expression_variables(comparison)}
    return place, [var for var in read if var is not check.condition]


class _Equal(Substitution):
    """One walk along the statements of a function, with the sizes that are equal there."""

    def __init__(self, fn: Function) -> None:
        super().__init__()
        self.written: list[Let] = []
        self.rank = {size: number for number, size in enumerate(fn.sizes)}
        """In which order variables are bound; those that are bound around the function are before all."""
        self.arrays = [param for param in fn.params if param.type.shape]
        """The arrays of the program that are bound so far."""
        self.elements: dict[Var, Var] = {}
        """An array of the program whose type has other sizes now -> the array whose elements are read."""
        self.comparisons: dict[Atom, tuple[Atom, Atom]] = {}

    def statements(self, lets: list[Let]) -> None:
        """The statements of the function."""
        for let in lets:
            self.written.append(self.let(let))
            for target in let.targets:
                self.rank[target] = len(self.rank)
                if target.type.shape:
                    self.arrays.append(target)
            match self.written[-1].expr:
                case Apply(prim=prim, args=(left, right)) if prim.name == "eq":
                    self.comparisons[let.targets[0]] = left, right
                case Check(condition=condition) if condition in self.comparisons:
                    left, right = self.atoms(self.comparisons[condition])
                    if isinstance(left, Var) and isinstance(right, Var) and left is not right:
                        self.unite(*sorted((left, right), key=lambda size: self.rank.get(size, -1)))

    def unite(self, kept: Var, gone: Var) -> None:
        """From here on one size stands for another."""
        self.replace(gone, kept)
        for var, atom in self.mapping.items():
            if atom is gone:
                self.mapping[var] = kept
        for array in self.arrays:
            old = self.variable(array)
            if gone in type_sizes(old.type):
                assert isinstance(old.type, ArrayType)
                new = Var(old.name, ArrayType(old.type.dtype, self.atoms(old.type.shape)))
                self.written.append(Let((new,), Reshape(old, new.type.shape)))
                self.elements.setdefault(array, old)
                self.replace(array, new)

    def expr(self, expr: Expr, change: BodyChange | None = None) -> Expr:
        """An expression; elements are read of the array that was there in the first place."""
        match expr:
            case Index(array, indices, bounds) if array in self.elements and len(indices) == len(
                array.type.shape
            ):
                return Index(self.elements[array], self.atoms(indices), bounds)
            case _:
                return super().expr(expr, change)

    def as_before(self, result: Atom) -> Atom:
        """A result of the type that it has always had."""
        found = self.atom(result)
        if not isinstance(found, Var) or found.type == result.type:
            return found
        old = Var(found.name, result.type)
        self.written.append(Let((old,), Reshape(found, old.type.shape)))
        return old


def _used(lets: list[Let], results: tuple[Atom, ...]) -> tuple[Let, ...]:
    """The statements without arrays that were reshaped for nobody."""
    read = {atom for atom in results if isinstance(atom, Var)}
    kept: list[Let] = []
    for let in reversed(lets):
        if isinstance(let.expr, Reshape) and let.targets[0] not in read:
            continue
        read.update(let_variables(let))
        kept.append(let)
    return tuple(reversed(kept))
