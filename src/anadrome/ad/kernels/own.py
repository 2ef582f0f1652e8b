"""Which buffers every thread touches in elements of its own only, or writes once, as far as can be proved.

The indices of each access tell the thread, and accesses with other indices are apart: in some dimension they
are the same for all threads, and differ by a constant. An index is a sum of products; without what is the
same for all threads, and without multiples of block · grid (the strides of a loop over a grid), it tells

    c·thread + c·block·extent     the thread in the grid, in this direction
    c·thread                      the thread in its block
    c·block                       the block

Directions in which there is one thread only need not be told; in shared memory blocks need not be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from anadrome.ad.kernels.normal import Normal
from anadrome.ad.kernels.places import Places
from anadrome.kernel_ir.nodes import (
    Atomic,
    Barrier,
    Buffer,
    Compute,
    Const,
    Expr,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    Warp,
)
from anadrome.kernel_ir.walk import expressions, statements, subexpressions

Product = tuple[Var, ...]
"""Factors, ordered by identity."""
Sum = Mapping[Product, int]
"""Products with their factors that are constant."""


def written_once(normal: Normal, places: Places) -> frozenset[Buffer]:
    """The buffers of the launch of which every element is written once at most, and nothing else is done.

    So it is where no barrier lets a second thread write it, and no thread writes it twice: its stores stand
    in no loop, and either in different branches or at indices that differ by a constant.
    """
    stmts = list(statements(normal.kernel.body))
    if any(isinstance(stmt, Barrier | Warp) for stmt in stmts):
        return frozenset()
    read = {
        part.buffer
        for stmt in stmts
        for expr in expressions(stmt)
        for part in subexpressions(expr)
        if isinstance(part, Load)
    }
    search = _Search(normal, places)
    return frozenset(
        buffer
        for buffer, writes in places.writers.items()
        if buffer.space is Space.GLOBAL and buffer not in read and search.are_apart(writes)
    )


def own_buffers(normal: Normal, places: Places) -> frozenset[Buffer]:
    """The buffers whose elements belong to one thread each."""
    accesses: dict[Buffer, list[tuple[Expr, ...]]] = {}
    for stmt in statements(normal.kernel.body):
        if isinstance(stmt, Store | Atomic):
            accesses.setdefault(stmt.buffer, []).append(stmt.indices)
        for expr in expressions(stmt):
            for part in subexpressions(expr):
                if isinstance(part, Load):
                    accesses.setdefault(part.buffer, []).append(part.indices)
    search = _Search(normal, places)
    return frozenset(buffer for buffer, found in accesses.items() if search.is_own(buffer, found))


@dataclass(frozen=True, slots=True)
class _Search:
    normal: Normal
    places: Places

    def are_apart(self, writes: Sequence[Stmt]) -> bool:
        """Whether no two of these statements, run once by a thread, write one element."""
        stores = [write for write in writes if isinstance(write, Store)]
        if len(stores) < len(writes) or any(self.places.of[store].loops for store in stores):
            return False
        return all(self.is_apart(one, two) for one, two in combinations(stores, 2))

    def is_apart(self, one: Store, two: Store) -> bool:
        """Whether two stores stand in different branches, or differ by a constant in an index."""
        if self.places.are_in_other_branches(one, two):
            return True
        pairs = zip(one.indices, two.indices, strict=True)
        return any(_are_apart(self.sum(a), self.sum(b)) for a, b in pairs)

    def is_own(self, buffer: Buffer, accesses: list[tuple[Expr, ...]]) -> bool:
        """Whether the indices of each access tell the thread, and accesses with others are apart."""
        groups: list[tuple[Sum, ...]] = []
        for access in accesses:
            sums = tuple(map(self.sum, access))
            if sums not in groups:
                groups.append(sums)
        where = self.normal.kernel.geometry
        wanted = set(where.thread_index)
        if buffer.space is Space.GLOBAL:
            wanted |= set(where.block_index)
        wanted -= self.normal.alone
        if not all(wanted <= set().union(*map(self.told, sums)) for sums in groups):
            return False
        return all(self.are_other(*two) for two in combinations(groups, 2))

    def are_other(self, one: tuple[Sum, ...], two: tuple[Sum, ...]) -> bool:
        """Whether an index that is the same for all threads keeps the accesses of all of them apart."""
        return any(
            _are_apart(here, there) and self.is_uniform(here) and self.is_uniform(there)
            for here, there in zip(one, two, strict=True)
        )

    def is_uniform(self, index: Sum) -> bool:
        """Whether an index is the same for all threads."""
        return all(self.places.is_uniform(var) for product in index for var in product)

    def told(self, index: Sum) -> set[Var]:
        """The places of the geometry that an index tells."""
        where = self.normal.kernel.geometry
        varied = {
            product: factor
            for product, factor in index.items()
            if not all(map(self.places.is_uniform, product))
        }
        directions = zip(where.thread_index, where.block_index, where.block, where.grid, strict=True)
        for thread, block, extent, count in directions:
            rest = {key: factor for key, factor in varied.items() if not {extent, count} <= set(key)}
            factors = set(rest.values())
            if len(factors) != 1 or (len(rest) < len(varied) and factors != {1}):
                continue
            if set(rest) == {(thread,), _product((block, extent))}:
                return {thread, block}
            if len(rest) == len(varied) == 1 and (key := next(iter(rest))) in ((thread,), (block,)):
                return set(key)
        return set()

    def sum(self, expr: Expr) -> Sum:
        """An integer expression as a sum of products."""
        match expr:
            case Const(value=value):
                return {(): int(value)} if value else {}
            case Var():
                stmt = self.places.binders.get(expr)
                if isinstance(stmt, Let) and isinstance(stmt.value, Compute):
                    return self._compute(expr, stmt.value)
                return {(expr,): 1}
            case _:
                raise AssertionError("a kernel in normal form")

    def _compute(self, var: Var, value: Compute) -> Sum:
        match value.prim.name, value.args:
            case ("add" | "sub" as name, (left, right)):
                return _total([(self.sum(left), 1), (self.sum(right), 1 if name == "add" else -1)])
            case ("mul", (left, right)):
                return _times(self.sum(left), self.sum(right))
            case _:
                return {(var,): 1}


def _are_apart(one: Sum, two: Sum) -> bool:
    """Whether two sums differ by a constant that is not 0."""
    return set(_total([(one, 1), (two, -1)])) == {()}


def _product(factors: Iterable[Var]) -> Product:
    return tuple(sorted(factors, key=id))


def _total(parts: Iterable[tuple[Sum, int]]) -> Sum:
    found: dict[Product, int] = {}
    for part, sign in parts:
        for product, factor in part.items():
            found[product] = found.get(product, 0) + sign * factor
    return {product: factor for product, factor in found.items() if factor}


def _times(left: Sum, right: Sum) -> Sum:
    parts = [
        ({_product((*one, *other)): first * second}, 1)
        for one, first in left.items()
        for other, second in right.items()
    ]
    return _total(parts)
