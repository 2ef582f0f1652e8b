"""Merging what stands in one body: parfors of one extent, branches on one condition.

Two parfors of the same extent become one where every path of dependences between them is a read of a stack
at the reader's own index (then the stacked value itself is used), or where there is no path and they read a
common array. What reads prefixes one by one stays apart from what reads them otherwise, such as backwards: it
runs with the scan in the end (`schedule.fuse`). Two branches on the same condition become one where no path
leads through a third statement. Paths are held as bit sets over the statements of the body; a merged group
stands where its last dependence is known. What prints depends on what prints or checks before it, and the
other way round; what overwrites an array depends on those that read it.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import (
    Atom,
    Body,
    Carry,
    Const,
    Expr,
    Full,
    Function,
    If,
    Index,
    Let,
    Loop,
    ParFor,
    Part,
    Scan,
    Stack,
    SumType,
    Var,
    WithSum,
)
from anadrome.array_ir.overwriting import last_reads, overwritten_around
from anadrome.array_ir.own_reads import cleared, closed_to_readers
from anadrome.array_ir.rewrite import BodyChange, Substitution, remade, with_body
from anadrome.array_ir.walk import (
    all_lets,
    bodies,
    expression_variables,
    has_effect,
    let_variables,
    map_bodies,
    operands,
    outer_operands,
    prints,
    type_sizes,
)
from anadrome.errors import Span
from anadrome.passes.value_numbering import expression_key


def merge_siblings(fn: Function) -> Function:
    """The function with siblings merged in every body, outermost first."""
    return with_body(fn, _merged_body(fn.body))


def _merged_body(body: Body) -> Body:
    """Merge in this body, then in the bodies nested in what came of it."""
    lets = body.lets
    keys = [key for let in lets if (key := _key(let)) is not None]
    if len(set(keys)) < len(keys):
        plan = _Plan(body)
        plan.merge()
        lets = plan.written() if plan.is_changed else lets
    return remade(body, [_merged_let(let) for let in lets], body.results)


def _merged_let(let: Let) -> Let:
    """The same in the bodies of a statement, if it has any."""
    if not isinstance(let.expr, ParFor | Loop | If | WithSum):
        return let
    return remade(let, let.targets, map_bodies(let.expr, _merged_body, operators=True))


def _key(let: Let) -> Hashable:
    """What statements that may become one have in common; None where nothing may be merged."""
    if isinstance(let.expr, If):
        return ("if", let.expr.condition)
    parfor = parfor_of(let)
    if parfor is None:
        return None
    return ("parfor", parfor.extent.key if isinstance(parfor.extent, Const) else parfor.extent)


@dataclass(slots=True, eq=False)
class _Group:
    """Statements that become one, in order, as positions in the body."""

    key: Hashable
    members: list[int]
    mask: int
    before: int
    """Statements some member reads a result of."""
    ancestors: int
    """Statements outside the group on which it depends, by whatever path."""
    arrays: set[Var]
    """The arrays it reads."""
    ends: set[Var]
    """Those it overwrites that others may not read beside it: they would be copied for later iterations."""
    clears: set[Var]
    """Those it sets to a constant, place by place."""
    opens: bool
    """Whether an accumulator is opened for it."""
    carries: bool
    """Whether it goes on with an accumulator that was opened around."""


@dataclass(slots=True, eq=False)
class _Order:
    """What is printed keeps its place among what is printed and checked before and after it."""

    last: list[int] = field(default_factory=list)
    """The last statement that prints."""
    since: list[int] = field(default_factory=list)
    """Those with checks behind it."""

    def before(self, position: int, expr: Expr) -> list[int]:
        """The statements that a statement must stay behind."""
        if not has_effect(expr):
            return []
        found = list(self.last)
        if prints(expr):
            found += self.since
            self.last, self.since = [position], []
        else:
            self.since.append(position)
        return found


class _Plan:
    """Which statements of a body become one."""

    def __init__(self, body: Body) -> None:
        self.lets = body.lets
        self.is_changed = False
        self.makers: dict[Var, int] = {}
        self.stacks: set[Var] = set()
        self.prefixes: set[Var] = set()
        self.tokens: set[Var] = set()
        self.sums: set[Var] = set()
        self.readers: dict[Var, int] = dict.fromkeys(
            (atom for atom in body.results if isinstance(atom, Var)), 1
        )
        self.uses: list[Mapping[Var, None]] = []
        self.other: dict[int, set[Var]] = {}
        self.groups: list[_Group] = []
        self.order = _Order()
        self.last = last_reads(body)
        self.read_at: dict[Var, list[int]] = {}
        for position, let in enumerate(body.lets):
            self.enter(position, let)
        self.group_of = list(self.groups)
        self.apart = dict.fromkeys(self.groups)
        self.readers_of: dict[tuple[Hashable, Var | None], int] = {}
        """Key, array -> the statements that read it, of a group one."""

    def enter(self, position: int, let: Let) -> None:
        """A group of one statement."""
        uses = let_variables(let)
        self.uses.append(uses)
        before = ancestors = 0
        for var in uses:
            self.readers[var] = self.readers.get(var, 0) + 1
            maker = self.makers.get(var)
            if maker is not None:
                before |= 1 << maker
                ancestors |= 1 << maker | self.groups[maker].ancestors
        ended = {array for array in overwritten_around(let) if self.last.get(array) is let}
        readers = [earlier for array in ended for earlier in self.read_at.get(array, ())]
        for var in uses:
            self.read_at.setdefault(var, []).append(position)
        for earlier in (*self.order.before(position, let.expr), *readers):
            before |= 1 << earlier
            ancestors |= 1 << earlier | self.groups[earlier].ancestors
        self.makers.update(dict.fromkeys(let.targets, position))
        parfor, names = parfor_of(let), _names(let)
        for part, where in () if parfor is None else parfor.slices():
            if isinstance(part.item, Stack):
                self.stacks.update(names[where])
            if isinstance(part.item, Scan):
                self.prefixes.update(name for name in names[where] if len(name.type.shape) == 1)
            if isinstance(part.item, Carry):
                (self.tokens if parfor is let.expr else self.sums).update(names[where])
        arrays = {var for var in uses if var.type.shape}
        opens, carries = isinstance(let.expr, WithSum), _carries(let.expr)
        ends = closed_to_readers(let, parfor) & ended if ended and parfor is not None else set()
        clears = cleared(parfor) if parfor is not None else set()
        mask = 1 << position
        group = _Group(_key(let), [position], mask, before, ancestors, arrays, ends, clears, opens, carries)
        self.groups.append(group)

    # ------------------------------------------------------------------ planning
    def merge(self) -> None:
        """Merge greedily, later statements into earlier groups."""
        for group in self.groups:
            current = group
            for candidate in [] if group.key is None else self.related(group):
                if self.may_merge(candidate, current):
                    current = self.union(candidate, current)

    def related(self, group: _Group) -> list[_Group]:
        """The earlier groups that a statement may become one with, the latest first: those of which it reads
        a result or an array that they read as well, of branches all on its condition, but for those from
        which a path leads to it through a third.

        No other one needs to be asked again. Of two groups that were asked and stayed apart, one reads of the
        other what it may not, or a path leads through a third, and what joins them changes neither.
        """
        (position,) = group.members
        hidden = 0
        for earlier in _bits(group.before):
            hidden |= self.group_of[earlier].ancestors
        found = {self.group_of[earlier]: None for earlier in _bits(group.before & ~hidden)}
        is_branch = isinstance(self.lets[position].expr, If)
        for array in [None] if is_branch else group.arrays:
            readers = self.readers_of.get((group.key, array), 0)
            groups = dict.fromkeys(self.group_of[reader] for reader in _bits(readers & ~hidden))
            found.update(groups)
            readers = readers & hidden | 1 << position
            for reading in groups:
                readers |= 1 << reading.members[0]
            self.readers_of[group.key, array] = readers
        alike = [earlier for earlier in found if earlier.key == group.key]
        return sorted(alike, key=lambda earlier: earlier.members[-1], reverse=True)

    def may_merge(self, first: _Group, second: _Group) -> bool:
        """Whether two groups may become one and gain by it."""
        if self.has_detour(first, second) or self.has_detour(second, first):
            return False
        is_direct = bool(second.before & first.mask or first.before & second.mask)
        if isinstance(self.lets[first.members[0]].expr, If):
            return True
        if (first.opens or second.opens) and (first.carries or second.carries):
            return False  # accumulators opened here beside ones that come from around
        if is_direct:
            is_apart = _is_apart(first, second) and _is_apart(second, first)
            return is_apart and self.reads_own(first, second) and self.reads_own(second, first)
        common = first.arrays & second.arrays
        prefixes = common & self.prefixes
        return bool(common) and all(
            self.go_along(first, one) is self.go_along(second, one) for one in prefixes
        )

    def go_along(self, group: _Group, array: Var) -> bool:
        """Whether a group reads of an array only elements at its own index."""
        return not any(array in self.other_uses(position) for position in group.members)

    def has_detour(self, first: _Group, second: _Group) -> bool:
        """Whether a path leads from the first to the second through a third."""
        if not second.ancestors & first.mask:
            return False
        between = second.before & ~first.mask & ~second.mask
        while between:
            lowest = between & -between
            if self.group_of[lowest.bit_length() - 1].ancestors & first.mask:
                return True
            between ^= lowest
        return False

    def reads_own(self, maker: _Group, reader: _Group) -> bool:
        """Whether the reader takes of the maker only elements of stacks at its own index."""
        if not reader.before & maker.mask:
            return True
        for position in reader.members:
            for var in self.uses[position]:
                origin = self.makers.get(var)
                if origin is None or not maker.mask >> origin & 1:
                    continue
                if var in self.tokens and self.carries(position, var):
                    continue
                if var in self.sums and self.goes_on(position, var):
                    continue
                if var not in self.stacks or var in self.other_uses(position):
                    return False
        return True

    def carries(self, position: int, token: Var) -> bool:
        """Whether a parfor goes on with an accumulator."""
        expr = self.lets[position].expr
        if not isinstance(expr, ParFor):
            return False
        return any(isinstance(item, Carry) and item.source is token for item in expr.yields)

    def goes_on(self, position: int, total: Var) -> bool:
        """Whether a statement opens its accumulator on a sum made before, and nobody else reads that."""
        expr, parfor = self.lets[position].expr, parfor_of(self.lets[position])
        if not isinstance(expr, WithSum) or parfor is None or self.readers[total] > 1:
            return False
        return expr.init.count(total) == 1 and total not in expression_variables(parfor)

    def other_uses(self, position: int) -> set[Var]:
        """What a parfor reads in another way than at its own index."""
        found = self.other.get(position)
        if found is None:
            let = self.lets[position]
            expr = parfor_of(let)
            assert expr is not None
            found = self.other[position] = _other_uses(expr)
            if isinstance(let.expr, WithSum):
                found.update(let.expr.init)
        return found

    def union(self, first: _Group, second: _Group) -> _Group:
        """One group of two; what depended on either now depends on both."""
        self.is_changed = True
        mask = first.mask | second.mask
        ancestors = (first.ancestors | second.ancestors) & ~mask
        before = (first.before | second.before) & ~mask
        members, arrays = sorted(first.members + second.members), first.arrays | second.arrays
        opens, carries = first.opens or second.opens, first.carries or second.carries
        ends, clears = first.ends | second.ends, first.clears | second.clears
        group = _Group(first.key, members, mask, before, ancestors, arrays, ends, clears, opens, carries)
        for position in members:
            self.group_of[position] = group
        del self.apart[first], self.apart[second]
        for other in self.apart:
            if other.ancestors & mask:
                other.ancestors |= (ancestors | mask) & ~other.mask
        self.apart[group] = None
        return group

    # ------------------------------------------------------------------ writing
    def written(self) -> tuple[Let, ...]:
        """The statements in an order that keeps every dependence."""
        order: list[tuple[int, int]] = []
        waiting: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        for group in {id(found): found for found in self.group_of}.values():
            head = group.members[0]
            makers = {self.group_of[position].members[0] for position in _bits(group.before)}
            waiting[head] = len(makers)
            for maker in makers:
                readers.setdefault(maker, []).append(head)
            if not makers:
                heapq.heappush(order, (group.members[-1], head))
        lets: list[Let] = []
        while order:
            _, head = heapq.heappop(order)
            lets.append(self.one(self.group_of[head]))
            for reader in readers.get(head, ()):
                waiting[reader] -= 1
                if not waiting[reader]:
                    heapq.heappush(order, (self.group_of[reader].members[-1], reader))
        return tuple(lets)

    def one(self, group: _Group) -> Let:
        """The statement that a group becomes."""
        members = [self.lets[position] for position in group.members]
        if len(members) == 1:
            return members[0]
        if isinstance(members[0].expr, If):
            return _one_branch(members)
        return _one_parfor(members)


def _carries(expr: Expr) -> bool:
    return isinstance(expr, ParFor) and any(isinstance(item, Carry) for item in expr.yields)


def _is_apart(writer: _Group, reader: _Group) -> bool:
    return writer.ends.isdisjoint(reader.arrays) and not (reader.opens and writer.clears)


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def _other_uses(expr: ParFor) -> set[Var]:
    """The variables a parfor reads otherwise than as `a[i, …]` with its own index i."""
    found: set[Var] = set()
    for let in (let for _, body in bodies(expr) for let in all_lets(body)):
        inner: Expr = let.expr
        if isinstance(inner, Index) and inner.indices and inner.indices[0] is expr.index:
            atoms = inner.indices
        else:
            atoms = operands(inner)
        found.update(atom for atom in atoms if isinstance(atom, Var))
        for target in let.targets:
            found.update(type_sizes(target.type))
        for _, nested in bodies(inner):
            found.update(atom for atom in nested.results if isinstance(atom, Var))
    outer = [atom for item in expr.yields for atom in outer_operands(item)]
    found.update(atom for atom in (*outer, *expr.body.results) if isinstance(atom, Var))
    return found


def _one_branch(members: list[Let]) -> Let:
    """Branches on one condition as one; what an earlier one results in is known in a later one, and an
    accumulator that it passes on to a later one is no result."""
    then, other = _Merging(), _Merging()
    lets: tuple[list[Let], list[Let]] = ([], [])
    targets: list[Var] = []
    condition = None
    passed_on: set[Var] = set()
    for member in members:
        expr = member.expr
        assert isinstance(expr, If)
        passed_on.update(var for var in let_variables(member) if isinstance(var.type, SumType))
        condition = expr.condition if condition is None else condition
        for side, written, body in ((then, lets[0], expr.then), (other, lets[1], expr.other)):
            new = side.body(body)
            written.extend(new.lets)
            for target, atom in zip(member.targets, new.results, strict=True):
                side.replace(target, atom)
        targets.extend(member.targets)
    assert condition is not None
    targets = [target for target in targets if target not in passed_on]
    results = then.atoms(targets), other.atoms(targets)
    merged = If(condition, Body(tuple(lets[0]), results[0]), Body(tuple(lets[1]), results[1]))
    return Let(tuple(targets), merged, members[0].span)


def parfor_of(let: Let) -> ParFor | None:
    """The parfor a statement is, or the one that is all an accumulator is opened for."""
    expr = let.expr
    if isinstance(expr, ParFor):
        return expr
    if isinstance(expr, WithSum) and len(expr.body.lets) == 1:
        (inner,) = expr.body.lets
        if isinstance(inner.expr, ParFor) and set(expr.body.results) == set(inner.targets):
            return inner.expr
    return None


def _names(let: Let) -> tuple[Var, ...]:
    """What the results of a parfor are called outside of the accumulator that may be opened for it."""
    if not isinstance(let.expr, WithSum) or parfor_of(let) is None:
        return let.targets
    names = dict(zip(let.expr.body.results, let.targets, strict=True))
    return tuple(names[target] for target in let.expr.body.lets[0].targets)


def _one_parfor(members: list[Let]) -> Let:
    """Parfors of one extent as one, inside the accumulators that some of them open. Where one opens its
    accumulator on what another one made, both add to one."""
    merging = _Merging()
    opened = [member for member in members if isinstance(member.expr, WithSum)]
    plain: list[tuple[Var, Var]] = []
    sums: dict[Var, Atom] = {}
    for member in members:
        expr = parfor_of(member)
        assert expr is not None
        inner = member.targets
        going_on: dict[Var, Atom] = {}
        if isinstance(member.expr, WithSum):
            inner = member.expr.body.lets[0].targets
            starts = zip(member.expr.init, member.expr.tokens, strict=True)
            going_on = {token: sums[start] for start, token in starts if start in sums}
            sums.update(zip(member.targets, member.expr.body.results, strict=True))
        if opened and isinstance(member.expr, ParFor):
            inner = tuple(Var(target.name, target.type) for target in member.targets)
            plain.extend(zip(member.targets, inner, strict=True))
        merging.member(expr, _names(member), inner, going_on)
    merged = merging.merged(members[-1].span)
    return _opened(opened, merged, plain) if opened else merged


def _opened(opened: list[Let], merged: Let, plain: list[tuple[Var, Var]]) -> Let:
    """One opening of all accumulators around the parfor; other results are passed through."""
    sums: dict[Var, tuple[Var, Var, Atom]] = {}
    further: list[tuple[Var, Atom]] = list(plain)
    for let in opened:
        expr = let.expr
        assert isinstance(expr, WithSum)
        count = len(expr.tokens)
        results = expr.body.results
        for target, init, token, result in zip(let.targets, expr.init, expr.tokens, results, strict=False):
            begin = sums.pop(init)[:2] if init in sums else (init, token)
            sums[target] = (*begin, result)
        further.extend(zip(let.targets[count:], results[count:], strict=True))
    body = Body((merged,), (*(result for *_, result in sums.values()), *(result for _, result in further)))
    inits, tokens = tuple(init for init, _, _ in sums.values()), tuple(token for _, token, _ in sums.values())
    around = WithSum(inits, tokens, body)
    targets = (*sums, *(target for target, _ in further))
    return Let(targets, around, merged.span)


class _Merging(Substitution):
    """Replacing in bodies that are put together: also reads of stacks made in the same body."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: dict[Var, Atom] = {}
        self.first: ParFor | None = None
        self.lets: list[Let] = []
        self.seen: dict[Hashable, tuple[Var, ...]] = {}
        self.parts: list[tuple[Part, tuple[Var, ...]]] = []

    def member(
        self,
        expr: ParFor,
        names: tuple[Var, ...],
        targets: tuple[Var, ...],
        going_on: Mapping[Var, Atom],
    ) -> None:
        """Add a parfor; the others know its results as `names`.

        A stack read at the index is the stacked value; an accumulator passed on by a former member, or opened
        on what that one made (`going_on`), is carried through both. What a former member computes is not
        computed again.
        """
        if self.first is None:
            self.first = expr
        else:
            self.replace(expr.index, self.first.index)
        carried = self.continued(expr, going_on)
        for let in expr.body.lets:
            self.written(let)
        for part, where in expr.slices():
            new = self.part(part)
            if isinstance(part.item, Carry) and part.item.source in carried:
                new = Carry.of(carried[part.item.source], new.value)
            if isinstance(new.item, Stack):
                self.elements[names[where.start]] = new.value
            self.parts.append((new, targets[where]))

    def continued(self, expr: ParFor, going_on: Mapping[Var, Atom]) -> dict[Var, Var]:
        """The accumulators with which a parfor goes on where a former member ends, and where those began."""
        sources = {
            going_on.get(item.source, item.source): item.source
            for item in expr.yields
            if isinstance(item, Carry)
        }
        found: dict[Var, Var] = {}
        for part, targets in list(self.parts):
            if isinstance(part.item, Carry) and targets[0] in sources:
                self.parts.remove((part, targets))
                source = sources[targets[0]]
                self.replace(targets[0], part.value)
                self.replace(source, part.value)
                found[source] = part.item.source
        return found

    def written(self, let: Let) -> None:
        """Add a statement, unless the value is there."""
        element = self.element(let)
        if element is not None:
            self.replace(let.targets[0], element)
            return
        new = self.let(let)
        is_made_afresh = isinstance(new.expr, Full) or any(
            isinstance(target.type, SumType) for target in new.targets
        )
        key = expression_key(new.expr)
        before = None if is_made_afresh else self.seen.setdefault(key, new.targets)
        alike = () if before is None else zip(before, new.targets, strict=True)
        if before is None or before is new.targets or any(one.type != other.type for one, other in alike):
            self.lets.append(new)
            return
        for target, known in zip(let.targets, before, strict=True):
            self.replace(target, known)

    def merged(self, span: Span | None) -> Let:
        """The statement of all members."""
        assert self.first is not None
        parts = [part for part, _ in self.parts]
        targets = tuple(target for _, group in self.parts for target in group)
        return Let(targets, ParFor.of(self.first.index, self.first.extent, self.lets, parts), span)

    def body(self, body: Body) -> Body:
        """A body with everything replaced; a read that is an element disappears."""
        lets: list[Let] = []
        for let in body.lets:
            element = self.element(let)
            if element is None:
                lets.append(self.let(let))
            else:
                self.replace(let.targets[0], element)
        return remade(body, lets, self.atoms(body.results))

    def element(self, let: Let) -> Atom | None:
        """What a statement reads at the index of a stack made in the same body; None where it does something
        else, or reads on in the element."""
        expr = let.expr
        if self.first is None or not isinstance(expr, Index) or expr.array not in self.elements:
            return None
        indices = self.atoms(expr.indices)
        if len(indices) != 1 or indices[0] is not self.first.index:
            return None
        return self.elements[expr.array]

    def expr(self, expr: Expr, change: BodyChange | None = None) -> Expr:
        """An expression with everything replaced; what reads on in an element reads that."""
        if self.first is not None and isinstance(expr, Index) and expr.array in self.elements:
            indices = self.atoms(expr.indices)
            element = self.elements[expr.array]
            if len(indices) > 1 and indices[0] is self.first.index:
                assert isinstance(element, Var)
                return Index(element, indices[1:], expr.bounds)
        return super().expr(expr, change)
