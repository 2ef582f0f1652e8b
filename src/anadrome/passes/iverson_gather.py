"""The elements of a sum, asked for instead of contributed to: from Σ_i [at(i) = k]·v(i) to one for each k.

For each dimension the equation at(i) = k is solved for a loop index that has the coefficient 1 or -1 in it;
that index becomes an expression of k, and the bounds of its loop become conditions. A dimension that leaves
no index to solve for becomes a condition as well. The indices that are left are summed over. Loops are opened
and conditions asked as soon as everything they read is known, so an element that gets nothing costs a
comparison, and `tighten` turns conditions on what is summed over into extents:

    parfor i < n { parfor j < i + 1 { add_to s[j] v(i, j) } }        s[k] = Σ_{i < n} [k < i + 1]·v(i, k)
                                                                          = Σ_{k ≤ i < n} v(i, k)

What an element needs of the nest is computed again where it is cheap, and else kept by the nest: stacked over
the loops around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.affine import Affine, affine
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Bounds,
    Const,
    Expr,
    Index,
    ParFor,
    Part,
    Reduce,
    Size,
    Var,
    i64,
)
from anadrome.passes.iverson_sites import Binding, Guard, Site
from anadrome.prims.costs import EXPENSIVE, SHORT

MOST_REPEATED = 16
"""Scalar operations and reads that one contribution may take to be computed again."""

Definitions = Mapping[Var, Expr]
Keep = Callable[[Site, Var], Var]
"""(site, variable of the nest) -> the array of its values, over the loops around it."""


class CannotGatherError(Exception):
    """The site cannot be gathered this way; another way is tried, or the accumulator stays."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One way to gather a site: the dimension that each solved loop index is found from."""

    site: Site
    forms: tuple[Affine, ...]
    solved: Mapping[Var, int]
    is_moved: bool
    """Whether nothing else of the nest stays, so that nothing is computed twice."""

    @property
    def summed(self) -> tuple[Var, ...]:
        """The loop indices that are summed over."""
        return tuple(loop.index for loop in self.site.loops if loop.index not in self.solved)


def ways(site: Site, definitions: Definitions, is_moved: bool) -> Iterator[Way]:
    """The ways to solve for loop indices: those that solve for most, and for outer ones, first."""
    indices = [loop.index for loop in site.loops]
    forms = tuple(affine(atom, definitions) for atom in site.at)

    def extend(dimension: int, taken: dict[Var, int]) -> Iterator[dict[Var, int]]:
        if dimension == len(forms):
            yield taken
            return
        form = forms[dimension]
        free = [index for index in indices if index not in taken and abs(form.coefficient(index)) == 1]
        for index in free:
            yield from extend(dimension + 1, {**taken, index: dimension})
        if not free:
            yield from extend(dimension + 1, taken)

    for solved in sorted(extend(0, {}), key=len, reverse=True):
        way = Way(site, forms, solved, is_moved)
        if _reads_along(way, definitions):
            yield way


def is_dense(site: Site, shape: Sequence[Size], definitions: Definitions) -> bool:
    """Whether there can be as many contributions as elements: a long loop for each long dimension."""
    loops = sum(not _is_short(loop.extent, definitions) for loop in site.loops)
    return loops >= sum(not _is_short(size, definitions) for size in shape)


def _reads_along(way: Way, definitions: Definitions) -> bool:
    """Whether the innermost sum reads along rows more often than down columns.

    Where all extents are free of the nest `lower.interchange` turns such loops; short ones do not matter.
    """
    loops = {loop.index: loop for loop in way.site.loops}
    if not way.summed:
        return True
    index = way.summed[-1]
    position = list(loops).index(index)
    is_short = any(_is_short(loop.extent, definitions) for loop in list(loops.values())[position:])
    is_regular = not way.site.guards and not any(
        loop.extent in loops or loop.extent in way.site.bindings for loop in loops.values()
    )
    if is_short or is_regular:
        return True
    along, down = _reads(way.site, lambda form: _slope(form, index, way), definitions)
    return along >= down


def turns_along(site: Site, definitions: Definitions) -> bool:
    """Whether a nest that adds up rows reads along rows more often than down columns where the loops of its
    own rows are the outer ones."""
    index = [loop.index for loop in site.loops if loop.index not in site.at][-1]
    along, down = _reads(site, lambda form: form.coefficient(index), definitions)
    return along > down


def _reads(site: Site, slope: Callable[[Affine], int], definitions: Definitions) -> tuple[int, int]:
    """How many reads inside of all loops go along a row, and how many down a column, with a loop's index."""
    along = down = 0
    for binding in set(site.bindings.values()):
        match binding.let.expr:
            case Index(indices=(_, _, *_) as indices) if binding.depth == len(site.loops):
                slopes = [slope(affine(atom, definitions)) for atom in indices]
                along += slopes[-1] != 0
                down += slopes[-1] == 0 and any(slopes)
            case _:
                pass
    return along, down


def _is_short(extent: Atom, definitions: Definitions) -> bool:
    """Whether an extent is at most `SHORT`, whatever the sizes."""

    def bounded(form: Affine) -> bool:
        if not form.terms:
            return form.constant <= SHORT
        for var, coefficient in form.terms:
            sides = _sides(var, coefficient, definitions)
            if any(bounded(form.without(var).plus(side, coefficient)) for side in sides):
                return True
        return False

    return bounded(affine(extent, definitions))


def _sides(var: Var, coefficient: int, definitions: Definitions) -> tuple[Affine, ...]:
    """The forms whose least (c > 0) or greatest (c < 0) a variable is: none of them gives less than c·var."""
    definition = definitions.get(var)
    wanted = "min" if coefficient > 0 else "max"
    if not isinstance(definition, Apply) or definition.prim.name != wanted:
        return ()
    return tuple(affine(arg, definitions) for arg in definition.args)


def _slope(form: Affine, index: Var, way: Way) -> int:
    """How an index of the nest changes with a summed one, the solved ones following it."""
    total = form.coefficient(index)
    for solved, dimension in way.solved.items():
        at = way.forms[dimension]
        total -= form.coefficient(solved) * at.coefficient(solved) * at.coefficient(index)
    return total


# ---------------------------------------------------------------------------- one element
@dataclass(slots=True, eq=False)
class Element:
    """The value of one element of the sum, as far as a site contributes to it, being written."""

    way: Way
    places: Sequence[Var]
    """The indices of the element."""
    definitions: Definitions
    keep: Keep
    zero: Const
    known: dict[Var, Atom] = field(default_factory=dict)
    """What stands for variables of the nest."""
    values: dict[Var, Affine] = field(default_factory=dict)
    """The solved indices as forms of the element's place and of other variables of the nest."""
    valid: set[Var] = field(default_factory=set)
    """The loop indices that are known to be in their ranges."""
    guards_asked: int = 0
    equations_asked: set[int] = field(default_factory=set)
    sums_open: int = 0
    cost: int = 0

    def write(self, builder: Builder) -> Atom:
        """The value: conditions that can be asked, then a loop that can be opened, then the contribution."""
        self.solve(builder)
        condition = self.condition(builder)
        if condition is not None:
            (value,) = builder.branch(
                condition, lambda inner: (self.write(inner),), lambda other: (self.zero,)
            )
            return value
        loop = self.next_sum()
        if loop is not None:
            return self.sum(builder, loop)
        site = self.way.site
        is_open = self.guards_asked < len(site.guards) or any(
            dimension not in self.equations_asked for dimension in self.equations
        )
        if is_open or any(loop.index not in self.valid for loop in site.loops):
            raise CannotGatherError
        return self.contribution(builder)

    @property
    def equations(self) -> list[int]:
        """The dimensions that no index was solved from."""
        solved = self.way.solved.values()
        return [dimension for dimension in range(len(self.way.forms)) if dimension not in solved]

    # ------------------------------------------------------------------ indices
    def is_known(self, form: Affine, besides: Var | None = None) -> bool:
        """Whether every variable of the nest in a form, but one, is known or can be computed."""
        indices = {loop.index for loop in self.way.site.loops}
        return all(
            var is besides or var in self.known or (var not in indices and self.can_clone(var))
            for var, _ in form.terms
        )

    def is_affine(self, form: Affine) -> bool:
        """Whether a form holds nothing that the nest computes but its indices."""
        return all(var not in self.way.site.bindings for var, _ in form.terms)

    def solve(self, builder: Builder) -> None:
        """i = ±(k - rest), of every equation a·i + rest = k whose rest is known."""
        for loop in self.way.site.loops:
            dimension = self.way.solved.get(loop.index)
            if dimension is None or loop.index in self.known:
                continue
            form = self.way.forms[dimension]
            if not self.is_known(form, loop.index):
                continue
            if sum(form.coefficient(index) != 0 for index in self.way.summed) > 1:
                raise CannotGatherError  # loops would run in vain between the two
            place, rest = self.places[dimension], self.value_of(builder, form.without(loop.index))
            is_rising = form.coefficient(loop.index) > 0
            sign = 1 if is_rising else -1
            self.values[loop.index] = Affine(((place, sign),), 0).plus(form.without(loop.index), -sign)
            self.known[loop.index] = builder.apply("sub", *((place, rest) if is_rising else (rest, place)))

    def value_of(self, builder: Builder, form: Affine) -> Atom:
        """An affine form of loop indices and of what is around the nest."""
        total: Atom = i64(form.constant)
        for var, coefficient in form.terms:
            term = builder.apply("mul", self.clone(builder, var), i64(coefficient))
            total = builder.apply("add", total, term)
        return total

    def can_clone(self, atom: Atom) -> bool:
        """Whether what makes a variable of the nest may be computed here."""
        site = self.way.site
        if isinstance(atom, Const):
            return True
        binding = site.bindings.get(atom)
        if binding is None:
            return atom in self.valid or all(atom is not loop.index for loop in site.loops)
        around = site.loops[: binding.depth]
        return self.guards_asked >= binding.guards and all(loop.index in self.valid for loop in around)

    # ------------------------------------------------------------------ conditions and sums
    def condition(self, builder: Builder) -> Atom | None:
        """The conditions that can be asked now, in one; None where there is none."""
        found = [*self.ranges(builder), *self.equalities(builder)]
        if not found:
            guard = self.next_guard()
            if guard is None:
                return None
            self.guards_asked += 1
            condition = self.clone(builder, guard.condition)
            found = [condition if guard.holds else builder.apply("not", condition)]
        return builder.chain("and", found)

    def ranges(self, builder: Builder) -> Iterator[Atom]:
        """0 ≤ i < e of the solved indices."""
        new: list[Var] = []
        for loop in self.way.site.loops:
            if loop.index in self.known and loop.index not in self.valid:
                found = self.range(builder, loop)
                if found is not None:
                    new.append(loop.index)
                    yield from found
        self.valid.update(new)

    def range(self, builder: Builder, loop: ParFor) -> list[Atom] | None:
        """0 ≤ i < e of a solved index; None where the extent cannot be computed yet.

        Behind a sum these have to be affine, to become its extent.
        """
        value, form = self.known[loop.index], self.values[loop.index]
        extent = affine(loop.extent, self.definitions)
        if not (self.is_affine(form) and self.is_affine(extent)):
            asked = self.split(form), self.split(Affine(extent.terms, extent.constant - 1).plus(form, -1))
            forms = [part for side in asked for part in side]
            if all(asked):
                is_ready = all(map(self.is_known, forms))
                return [self.is_positive(builder, part) for part in forms] if is_ready else None
            if self.sums_open:
                raise CannotGatherError
        if not self.can_know(loop.extent):
            return None
        below = builder.apply("lt", value, self.extent(builder, loop.extent))
        is_place = any(value is place for place in self.places)
        return [below] if is_place else [builder.apply("ge", value, i64(0)), below]

    def split(self, form: Affine) -> list[Affine]:
        """The affine forms that are all ≥ 0 where a form with extrema is; none where there are no such."""
        for var, coefficient in form.terms:
            if var in self.way.site.bindings:
                sides = _sides(var, coefficient, self.definitions)
                found = [self.split(form.without(var).plus(side, coefficient)) for side in sides]
                return [part for side in found for part in side] if all(found) else []
        return [form]

    def is_positive(self, builder: Builder, form: Affine) -> Atom:
        """form ≥ 0"""
        more = Affine(tuple((var, c) for var, c in form.terms if c > 0), 0)
        less = Affine(tuple((var, -c) for var, c in form.terms if c < 0), -form.constant)
        return builder.apply("ge", self.value_of(builder, more), self.value_of(builder, less))

    def can_know(self, extent: Atom) -> bool:
        """Whether an extent can be computed: from any indices where it is affine, else from valid ones."""
        form = affine(extent, self.definitions)
        return self.is_known(form) if self.is_affine(form) else self.can_clone(extent)

    def extent(self, builder: Builder, extent: Atom) -> Atom:
        """An extent of the nest, of which it is known that it can be computed."""
        form = affine(extent, self.definitions)
        return self.value_of(builder, form) if self.is_affine(form) else self.clone(builder, extent)

    def equalities(self, builder: Builder) -> Iterator[Atom]:
        """at = k of the dimensions from which nothing was solved."""
        for dimension in self.equations:
            form = self.way.forms[dimension]
            if dimension not in self.equations_asked and self.is_known(form):
                if self.sums_open and not self.is_affine(form):
                    raise CannotGatherError
                self.equations_asked.add(dimension)
                yield builder.apply("eq", self.places[dimension], self.value_of(builder, form))

    def next_guard(self) -> Guard | None:
        """The next branch of the nest, where its condition can be computed.

        Where a sum goes over a loop around it while an element fixes a loop inside, the loop inside would not
        have run where the condition fails, but the sum goes on.
        """
        site = self.way.site
        if self.guards_asked == len(site.guards):
            return None
        guard = site.guards[self.guards_asked]
        around, within = site.loops[: guard.depth], site.loops[guard.depth :]
        if not all(loop.index in self.valid for loop in around) or not self.can_clone(guard.condition):
            return None
        is_summed = any(loop.index not in self.way.solved for loop in around)
        if is_summed and any(loop.index in self.way.solved for loop in within):
            raise CannotGatherError
        return guard

    def next_sum(self) -> ParFor | None:
        """The outermost loop that is summed over, where its extent can be computed."""
        for loop in self.way.site.loops:
            if loop.index not in self.known and loop.index not in self.way.solved:
                return loop if self.can_know(loop.extent) else None
        return None

    def sum(self, builder: Builder, loop: ParFor) -> Atom:
        """Σ over a loop of the nest."""

        def body(inner: Builder, index: Var) -> Sequence[Part]:
            self.known[loop.index] = index
            self.valid.add(loop.index)
            return (Reduce.of("add", (self.write(inner),)),)

        extent = self.extent(builder, loop.extent)
        self.sums_open += 1
        return builder.parfor(extent, body)[0]

    # ------------------------------------------------------------------ values
    def contribution(self, builder: Builder) -> Atom:
        """The value that the site adds to the element."""
        site = self.way.site
        rest = self.places[len(site.at) :]
        if not rest:
            value = self.clone(builder, site.value)
        else:
            assert isinstance(site.value, Var)
            value = self.element_of(builder, site.value, rest)
        if self.cost > MOST_REPEATED and not self.way.is_moved:
            raise CannotGatherError
        return value

    def element_of(self, builder: Builder, array: Var, indices: Sequence[Atom]) -> Atom:
        """An element of an array that is around the nest, or a row of one."""
        binding = self.way.site.bindings.get(array)
        if binding is None:
            return builder.index(array, tuple(indices))
        match binding.let.expr:
            case Index(array=base, indices=first, bounds=Bounds.PROVED):
                places = tuple(self.clone(builder, atom) for atom in first)
                return self.element_of(builder, base, (*places, *indices))
            case _ if binding.depth == 0:
                return builder.index(self.keep(self.way.site, array), tuple(indices))
            case _:
                raise CannotGatherError

    def clone(self, builder: Builder, atom: Atom) -> Atom:
        """What stands for a scalar of the nest: computed again, or read where it was kept."""
        if isinstance(atom, Const):
            return atom
        found = self.known.get(atom)
        if found is not None:
            return found
        binding = self.way.site.bindings.get(atom)
        if binding is None and all(atom is not loop.index for loop in self.way.site.loops):
            return atom
        if binding is None or not self.can_clone(atom) or atom.type.shape:
            raise CannotGatherError
        self.known[atom] = value = self.computed(builder, atom, binding)
        return value

    def computed(self, builder: Builder, var: Var, binding: Binding) -> Atom:
        """A scalar of the nest, from its statement or from where it is kept."""
        match binding.let.expr:
            case Apply(prim=prim, args=args) if prim.cost < EXPENSIVE or self.way.is_moved:
                self.cost += prim.cost
                return builder.apply(prim.name, *(self.clone(builder, arg) for arg in args))
            case Index(array=array, indices=indices, bounds=Bounds.PROVED):
                self.cost += 1
                places = tuple(self.clone(builder, atom) for atom in indices)
                return self.element_of(builder, array, places)
            case _:
                self.cost += 1
                loops = self.way.site.loops[: binding.depth]
                is_small = len(loops) <= 1 or all(loop.index in self.way.solved for loop in loops)
                if not is_small:
                    raise CannotGatherError
                kept = self.keep(self.way.site, var)
                return builder.index(kept, [self.known[loop.index] for loop in loops])


def element(builder: Builder, way: Way, places: Sequence[Var], definitions: Definitions, keep: Keep) -> Atom:
    """What the site adds to the element at these places, a scalar.

    Raises CannotGatherError where the way leads nowhere.
    """
    zero = number(0, _dtype(way).dtype)
    return Element(way, places, definitions, keep, zero).write(builder)


def _dtype(way: Way) -> ArrayType:
    type_ = way.site.value.type
    assert isinstance(type_, ArrayType)
    return type_
