"""Merging what stands in one body: parfors of one extent, branches on one condition.

Two parfors of the same extent become one where every path of dependences between them is a read of a stack
at the reader's own index (then the stacked value itself is used), or where there is no path and they read a
common array. Two branches on the same condition become one where no path leads through a third statement. Paths are
held as bit sets over the statements of the body; a merged group stands where its last dependence is known.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from dataclasses import dataclass

from anadrome.array_ir.nodes import (
    Body,
    Const,
    Expr,
    Function,
    If,
    Index,
    Let,
    ParFor,
    Stack,
    Var,
    Yield,
    yield_slices,
)
from anadrome.array_ir.walk import (
    all_lets,
    bodies,
    inner_operands,
    let_variables,
    operands,
    outer_operands,
    type_sizes,
)
from anadrome.passes.rewrite import Substitution


def merge_siblings(fn: Function) -> Function:
    """The function with siblings merged in every body, outermost first."""
    return Function(fn.name, fn.params, _merged_body(fn.body))


def _merged_body(body: Body) -> Body:
    """Merge in this body, then in the bodies nested in what came of it."""
    plan = _Plan(body)
    plan.merge()
    lets = plan.written() if plan.is_changed else body.lets
    identity = Substitution()
    results = plan.renamed.atoms(body.results)
    return Body(
        tuple(Let(let.targets, identity.expr(let.expr, _merged_body), let.span) for let in lets), results
    )


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


class _Plan:
    """Which statements of a body become one."""

    def __init__(self, body: Body) -> None:
        self.lets = body.lets
        self.renamed = Substitution()
        self.is_changed = False
        self.makers: dict[Var, int] = {}
        self.stacks: set[Var] = set()
        self.uses: list[dict[Var, None]] = []
        self.other: dict[int, set[Var]] = {}
        self.groups: list[_Group] = []
        for position, let in enumerate(body.lets):
            self.enter(position, let)
        self.group_of = list(self.groups)

    def enter(self, position: int, let: Let) -> None:
        """A group of one statement."""
        uses = let_variables(let)
        self.uses.append(uses)
        before = ancestors = 0
        for var in uses:
            maker = self.makers.get(var)
            if maker is not None:
                before |= 1 << maker
                ancestors |= 1 << maker | self.groups[maker].ancestors
        self.makers.update(dict.fromkeys(let.targets, position))
        key: Hashable = None
        match let.expr:
            case ParFor(extent=extent, yields=yields):
                key = ("parfor", extent.key if isinstance(extent, Const) else extent)
                for item, where in yield_slices(yields):
                    if isinstance(item, Stack):
                        self.stacks.update(let.targets[where])
            case If(condition=condition):
                key = ("if", condition)
            case _:
                pass
        self.groups.append(_Group(key, [position], 1 << position, before, ancestors))

    # ------------------------------------------------------------------ planning
    def merge(self) -> None:
        """Merge greedily, later statements into earlier groups."""
        by_key: dict[Hashable, list[_Group]] = {}
        for group in self.groups:
            if group.key is None:
                continue
            found = by_key.setdefault(group.key, [])
            current = group
            for candidate in reversed(list(found)):
                if self.may_merge(candidate, current):
                    found.remove(candidate)
                    if current is not group:
                        found.remove(current)
                    current = self.union(candidate, current)
                    found.append(current)
            if current is group:
                found.append(group)

    def may_merge(self, first: _Group, second: _Group) -> bool:
        """Whether two groups may become one and gain by it."""
        if self.has_detour(first, second) or self.has_detour(second, first):
            return False
        is_direct = bool(second.before & first.mask or first.before & second.mask)
        if isinstance(self.lets[first.members[0]].expr, If):
            return True
        if is_direct:
            return self.reads_own(first, second) and self.reads_own(second, first)
        return not self.arrays(first).isdisjoint(self.arrays(second))

    def has_detour(self, first: _Group, second: _Group) -> bool:
        """Whether a path leads from the first to the second through a third."""
        between = second.before & ~first.mask & ~second.mask
        while between:
            lowest = between & -between
            if self.group_of[lowest.bit_length() - 1].ancestors & first.mask:
                return True
            between ^= lowest
        return False

    def reads_own(self, maker: _Group, reader: _Group) -> bool:
        """Whether the reader takes of the maker only elements of stacks at its own index."""
        for position in reader.members:
            for var in self.uses[position]:
                origin = self.makers.get(var)
                if origin is None or not maker.mask >> origin & 1:
                    continue
                if var not in self.stacks or var in self.other_uses(position):
                    return False
        return True

    def other_uses(self, position: int) -> set[Var]:
        """What a parfor reads in another way than at its own index."""
        found = self.other.get(position)
        if found is None:
            expr = self.lets[position].expr
            assert isinstance(expr, ParFor)
            found = self.other[position] = _other_uses(expr)
        return found

    def arrays(self, group: _Group) -> set[Var]:
        """The arrays a group reads."""
        return {var for position in group.members for var in self.uses[position] if var.type.shape}

    def union(self, first: _Group, second: _Group) -> _Group:
        """One group of two; what depended on either now depends on both."""
        self.is_changed = True
        mask = first.mask | second.mask
        ancestors = (first.ancestors | second.ancestors) & ~mask
        before = (first.before | second.before) & ~mask
        group = _Group(first.key, sorted(first.members + second.members), mask, before, ancestors)
        for position in group.members:
            self.group_of[position] = group
        for other in {id(found): found for found in self.group_of}.values():
            if other is not group and other.ancestors & mask:
                other.ancestors |= (ancestors | mask) & ~other.mask
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
    for item in expr.yields:
        found.update(atom for atom in outer_operands(item) if isinstance(atom, Var))
        found.update(atom for atom in inner_operands(item) if isinstance(atom, Var))
    return found


def _one_branch(members: list[Let]) -> Let:
    """Branches on one condition as one; what an earlier one results in is known in a later one."""
    then, other = _Merging(), _Merging()
    lets: tuple[list[Let], list[Let]] = ([], [])
    targets: list[Var] = []
    condition = None
    for member in members:
        expr = member.expr
        assert isinstance(expr, If)
        condition = expr.condition if condition is None else condition
        for side, written, body in ((then, lets[0], expr.then), (other, lets[1], expr.other)):
            new = side.body(body)
            written.extend(new.lets)
            for target, atom in zip(member.targets, new.results, strict=True):
                side.replace(target, atom)
        targets.extend(member.targets)
    assert condition is not None
    results = then.atoms(targets), other.atoms(targets)
    merged = If(condition, Body(tuple(lets[0]), results[0]), Body(tuple(lets[1]), results[1]))
    return Let(tuple(targets), merged, members[0].span)


def _one_parfor(members: list[Let]) -> Let:
    """Parfors of one extent as one; a stack read at the index is the value that is stacked."""
    merging = _Merging()
    lets: list[Let] = []
    yields: list[Yield] = []
    targets: list[Var] = []
    first = members[0].expr
    assert isinstance(first, ParFor)
    merging.index = first.index
    for member in members:
        expr = member.expr
        assert isinstance(expr, ParFor)
        if expr is not first:
            merging.replace(expr.index, first.index)
        lets.extend(merging.body(expr.body).lets)
        items = [merging.item(item, merging.body) for item in expr.yields]
        for item, where in yield_slices(tuple(items)):
            if isinstance(item, Stack):
                merging.elements[member.targets[where][0]] = item.value
        yields.extend(items)
        targets.extend(member.targets)
    merged = ParFor(first.index, first.extent, Body(tuple(lets)), tuple(yields))
    return Let(tuple(targets), merged, members[-1].span)


class _Merging(Substitution):
    """Replacing in bodies that are put together: also reads of stacks made in the same body."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: dict[Var, Var | Const] = {}
        self.index: Var | None = None

    def body(self, body: Body) -> Body:
        """A body with everything replaced; a read that is an element disappears."""
        lets: list[Let] = []
        for let in body.lets:
            expr = let.expr
            if isinstance(expr, Index) and expr.array in self.elements:
                indices = self.atoms(expr.indices)
                if indices and indices[0] is self.index:
                    element = self.elements[expr.array]
                    if len(indices) == 1:
                        self.replace(let.targets[0], element)
                        continue
                    assert isinstance(element, Var)
                    read = Index(element, indices[1:], expr.bounds)
                    lets.append(Let(self.all_bound(let.targets), read, let.span))
                    continue
            lets.append(self.let(let))
        return Body(tuple(lets), self.atoms(body.results))
