"""Inlining cheap producers: the element of a stacked array is computed where it is read.

A *recipe* says how an element of an array is computed: the statements of the nest that stacks it, as far as
that element needs them. A read `a[e, f]` becomes a copy of the recipe with the indices put in; transposes,
slices, broadcasts, gathers and concatenations vanish into their readers.

What it may cost: an array goes when all of its reads are replaced. With k places that read it and c
operations in the recipe, (k - 1)·c ≤ 8 more operations for each element (k·c, if its nest makes other
arrays as well); where it is read more often than it has elements (deeper in the nest, or at indices that are
data), c ≤ 2. Deeper in the nest each load of the recipe but one counts as an operation, since what was stored
is read by one; at indices that are data a recipe reads one array at most, since each such read is one from
anywhere in memory. So work grows by at most 8 per element that was stored, and never in order. A recipe
without operations (c = 0) is put in otherwise.

`parts` does so before differentiation, where only a part of an array is read.

An array whose elements are compared with other numbers is computed once. The same text in two places may
round differently (fused multiply-adds, the order of a sum), and then nothing equals the minimum of all any
more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from anadrome.array_ir.nodes import (
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
    Size,
    Stack,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.overwriting import only_written, overwriting
from anadrome.array_ir.rewrite import Renaming, Substitution, remade, with_body
from anadrome.array_ir.walk import bodies, let_variables, operands

MATCHED_COST = 40
"""The operations of a recipe that is read in one place, each element once."""
REPEATED_COST = 8
"""The operations added for each element where several places read it."""
OFTEN_COST = 2
"""The operations of a recipe that is read more often than there are elements."""
MOST_STATEMENTS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """How an element is computed: for these indices, these statements, this result."""

    indices: tuple[Var, ...]
    lets: tuple[Let, ...]
    result: Atom
    cost: int
    loads: int


@dataclass(slots=True, eq=False)
class Reads:
    """How an array is used: the places that read elements, how, whether one of them stands in more loops than
    it has indices or reads a part of it, whether what they read is compared, and whether anything else uses
    it; whether data say which element is read."""

    places: int = 0
    fewest: int = 99
    is_often: bool = False
    is_deeper: bool = False
    is_gathered: bool = False
    is_part: bool = False
    is_needed: bool = False
    is_compared: bool = False


@dataclass(slots=True, eq=False)
class Census:
    """One walk over the program that counts how each array is used."""

    reads: dict[Var, Reads] = field(default_factory=dict)
    elements: dict[Var, Var] = field(default_factory=dict)
    depths: dict[Var, int] = field(default_factory=dict)
    extents: dict[Var, Size] = field(default_factory=dict)
    data: set[Var] = field(default_factory=set)
    """Scalars that are read from arrays, and what is computed from them."""
    makers: list[Var] = field(default_factory=list)
    """What the parfors around make."""
    sources: list[set[Var]] = field(default_factory=list)
    """The arrays that are read in each of them."""
    made_of: dict[Var, set[Var]] = field(default_factory=dict)
    """The arrays that are read where an array is made."""
    rows_in: dict[Var, set[Var]] = field(default_factory=dict)
    """The arrays that are made where rows of an array are read."""

    def parts(self) -> set[Var]:
        """The arrays of which only a part is read and which nothing else needs, what those are made of, and
        what is made of their rows."""
        found: set[Var] = set()
        waiting = [array for array, reads in self.reads.items() if reads.is_part and _may_grow(array)]
        while waiting:
            array = waiting.pop()
            if array not in found and array in self.reads and not self.reads[array].is_needed:
                found.add(array)
                waiting.extend((*self.made_of.get(array, ()), *self.rows_in.get(array, ())))
        return found

    def body(self, body: Body, depth: int) -> None:
        """Count in a body that stands in this many loops."""
        for let in body.lets:
            for target in let.targets:
                self.depths[target] = depth
            outer = len(self.makers)
            if isinstance(let.expr, ParFor):
                self.makers.extend(let.targets)
                self.sources.append(set())
                self.made_of.update(dict.fromkeys(let.targets, self.sources[-1]))
            self.statement(let.expr, depth)
            if isinstance(let.expr, ParFor):
                self.sources.pop()
            del self.makers[outer:]
            match let.expr:
                case Index(array=array):
                    self.elements[let.targets[0]] = array
                    self.data.add(let.targets[0])
                case Apply(args=args) if not self.data.isdisjoint(args):
                    self.data.add(let.targets[0])
        for atom in body.results:
            self.need(atom)

    def need(self, atom: Atom) -> None:
        """A use that is not the read of an element."""
        if isinstance(atom, Var) and atom.type.shape:
            self.reads.setdefault(atom, Reads()).is_needed = True

    def statement(self, expr: Expr, depth: int) -> None:
        """Count in one expression."""
        if isinstance(expr, Index):
            self.read(expr, depth)
            return
        if isinstance(expr, Apply):
            self.compare(expr)
            return
        for atom in operands(expr):
            self.need(atom)
        inside = depth + isinstance(expr, ParFor | Loop)
        if isinstance(expr, ParFor):
            self.extents[expr.index] = expr.extent
        for _, body in bodies(expr):
            self.body(body, inside)

    def compare(self, expr: Apply) -> None:
        """Remember the float arrays whose elements are compared with what is not constant."""
        if "comparison" not in expr.prim.facts or any(isinstance(arg, Const) for arg in expr.args):
            return
        for arg in expr.args:
            array = self.elements.get(arg) if isinstance(arg, Var) else None
            if array is not None and array.type.dtype.is_float:
                self.reads[array].is_compared = True

    def read(self, expr: Index, depth: int) -> None:
        """Count a read; it is often where indices are not those of loops over the array's own sizes."""
        reads = self.reads.setdefault(expr.array, Reads())
        for sources in self.sources:
            sources.add(expr.array)
        if len(expr.indices) < len(expr.array.type.shape):
            self.rows_in.setdefault(expr.array, set()).update(self.makers)
        if expr.bounds is not Bounds.PROVED:
            reads.is_needed = True
            return
        reads.places += 1
        reads.fewest = min(reads.fewest, len(expr.indices))
        pairs = list(zip(expr.indices, expr.array.type.shape, strict=False))
        is_matched = all(isinstance(i, Const) or self.extents.get(i) == size for i, size in pairs)
        distinct = {i for i, _ in pairs if isinstance(i, Var)}
        if not is_matched or len(distinct) < len(pairs):
            reads.is_part = True
        loops = depth - self.depths.get(expr.array, 0)
        reads.is_deeper |= loops > len(distinct)
        reads.is_often |= not is_matched or loops > len(distinct)
        if not self.data.isdisjoint(distinct):
            reads.is_gathered = True


def inline_producers(fn: Function) -> Function:
    """The function with every cheap array computed where it is read."""
    census = Census()
    census.body(fn.body, 0)
    return inlined(fn, census.reads, set(census.reads))


def inlined(fn: Function, reads: dict[Var, Reads], wanted: set[Var]) -> Function:
    """The function with the cheap ones of the wanted arrays computed where they are read."""
    return with_body(fn, _Inliner(reads, wanted, overwriting(fn.body)).body(fn.body))


class _Inliner(Substitution):
    """The program again, with recipes put in at the reads."""

    def __init__(self, reads: dict[Var, Reads], wanted: set[Var], ends: dict[Let, tuple[Var, ...]]) -> None:
        super().__init__()
        self.reads = reads
        self.wanted = wanted
        self.recipes: dict[Var, Recipe] = {}
        self.ends = ends
        self.overwritten: set[Var] = set()

    def body(self, body: Body) -> Body:
        """A body with its reads replaced."""
        lets: list[Let] = []
        for let in body.lets:
            match let.expr:
                case Index(array=array, indices=indices, bounds=Bounds.PROVED):
                    recipe = self.recipes.get(self.variable(array))
                    if recipe is not None and self.overwritten and self.is_late(recipe):
                        recipe = None
                    if recipe is not None and len(indices) >= len(recipe.indices):
                        self.put(lets, let, recipe, self.atoms(indices))
                        continue
                case _:
                    pass
            ended = self.ends.get(let, ())
            self.overwritten.update(only_written(let, ended))
            new = self.let(let)
            lets.append(new)
            if isinstance(new.expr, ParFor):
                self.learn(new)
            self.overwritten.update(ended)
        return remade(body, lets, self.atoms(body.results))

    def is_late(self, recipe: Recipe) -> bool:
        """Whether a recipe reads an array that is overwritten in place by now: it would have to be copied."""
        return any(isinstance(let.expr, Index) and let.expr.array in self.overwritten for let in recipe.lets)

    def put(self, lets: list[Let], let: Let, recipe: Recipe, indices: tuple[Atom, ...]) -> None:
        """A copy of a recipe in the place of a read."""
        count = len(recipe.indices)
        renaming = Renaming(dict(zip(recipe.indices, indices[:count], strict=True)))
        lets.extend(renaming.let(inner) for inner in recipe.lets)
        result = renaming.atom(recipe.result)
        rest = indices[count:]
        if not rest:
            self.replace(let.targets[0], result)
            return
        assert isinstance(result, Var)
        lets.append(remade(let, self.all_bound(let.targets), Index(result, rest)))

    def learn(self, let: Let) -> None:
        """The recipes of a parfor's stacks that may be put in."""
        expr = let.expr
        assert isinstance(expr, ParFor)
        used = sum(target in self.reads or not target.type.shape for target in let.targets)
        for part, where in expr.slices():
            target = let.targets[where.start]
            reads = self.reads.get(target)
            if (
                not isinstance(part.item, Stack)
                or reads is None
                or not reads.places
                or target not in self.wanted
            ):
                continue
            recipe = _recipe(expr, part.value)
            if recipe is not None and _is_worth(recipe, reads, used > 1):
                self.recipes[target] = recipe


def _is_worth(recipe: Recipe, reads: Reads, is_shared: bool) -> bool:
    """Whether the array is to go; a nest that makes more than this array may compute the same again."""
    if recipe.cost == 0:
        return True
    if reads.is_needed or reads.fewest < len(recipe.indices):
        return False
    if reads.is_compared and (is_shared or reads.is_often or reads.places > 1):
        return False
    if reads.is_gathered and recipe.loads > 1:
        return False
    if reads.is_often:
        more_loads = max(recipe.loads - 1, 0) if reads.is_deeper else 0
        return recipe.cost + more_loads <= OFTEN_COST
    if reads.places == 1 and not is_shared:
        return recipe.cost <= MATCHED_COST
    return recipe.cost * (reads.places - (not is_shared)) <= REPEATED_COST


def _recipe(expr: ParFor, value: Atom) -> Recipe | None:
    """The statements that one element of a stack needs, or None where they are not simple."""
    made = {target: let for let in expr.body.lets for target in let.targets}
    inner = made.get(value) if isinstance(value, Var) else None
    if inner is None or not isinstance(inner.expr, ParFor):
        lets = _slice(made, expr.body, [value])
        return _finished((expr.index,), lets, value)
    for nested, where in inner.expr.slices():
        if inner.targets[where.start] is value and isinstance(nested.item, Stack):
            below = _recipe(inner.expr, nested.value)
            if below is None:
                return None
            needed = [var for let in below.lets for var in let_variables(let)]
            outer = _slice(made, expr.body, [*needed, below.result])
            lets = None if outer is None else (*outer, *below.lets)
            return _finished((expr.index, *below.indices), lets, below.result)
    return None


def _finished(indices: tuple[Var, ...], lets: tuple[Let, ...] | None, result: Atom) -> Recipe | None:
    if lets is None or len(lets) > MOST_STATEMENTS:
        return None
    cost = 0
    for let in lets:
        price = _price(let.expr)
        if price is None:
            return None
        cost += price
    loads = sum(isinstance(let.expr, Index) for let in lets)
    return Recipe(indices, lets, result, cost, loads)


def _slice(made: dict[Var, Let], body: Body, wanted: list[Atom]) -> tuple[Let, ...] | None:
    """The statements of a body that the wanted atoms need, in order."""
    needed: set[Let] = set()
    stack: list[Atom] = list(wanted)
    while stack:
        atom = stack.pop()
        let = made.get(atom) if isinstance(atom, Var) else None
        if let is not None and let not in needed:
            if len(needed) >= MOST_STATEMENTS:
                return None
            needed.add(let)
            stack.extend(let_variables(let))
    return tuple(let for let in body.lets if let in needed)


def _price(expr: Expr) -> int | None:
    """The operations of a simple statement; None of one that is not simple or may fail."""
    match expr:
        case Apply(prim=prim):
            return prim.cost
        case Index(bounds=bounds):
            return 0 if bounds is Bounds.PROVED else None
        case Literal() | Reshape():
            return 0
        case If(then=then, other=other):
            prices = [_price(let.expr) for branch in (then, other) for let in branch.lets]
            known = [price for price in prices if price is not None]
            return 1 + sum(known) if len(known) == len(prices) else None
        case (
            ParFor()
            | Loop()
            | WithSum()
            | Update()
            | Full()
            | AddTo()
            | Check()
            | Print()
            | Library()
            | Launch()
            | Collective()
            | Custom()
        ):
            return None
        case _:
            assert_never(expr)


def _may_grow(array: Var) -> bool:
    return any(isinstance(size, Var) for size in array.type.shape)
