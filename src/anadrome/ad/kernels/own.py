"""Which buffers every thread touches in elements of its own only, as far as can be proved.

In some dimensions all accesses to the buffer have the same index, and these indices tell the thread. An index
is a sum of products; without what is the same for all threads, and without multiples of block · grid (the
strides of a loop over a grid), it tells

    c·thread + c·block·extent     the thread in the grid, in this direction
    c·thread                      the thread in its block
    c·block                       the block

Directions in which there is one thread only need not be told; in shared memory blocks need not be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from anadrome.ad.kernels.normal import Normal
from anadrome.ad.kernels.places import Places
from anadrome.kernel_ir.nodes import Atomic, Buffer, Compute, Const, Expr, Let, Load, Space, Store, Var
from anadrome.kernel_ir.walk import expressions, statements, subexpressions

Product = tuple[Var, ...]
"""Factors, ordered by identity."""
Sum = Mapping[Product, int]
"""Products with their factors that are constant."""


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

    def is_own(self, buffer: Buffer, accesses: list[tuple[Expr, ...]]) -> bool:
        """Whether indices that all accesses share tell the thread."""
        where = self.normal.kernel.geometry
        wanted = set(where.thread_index)
        if buffer.space is Space.GLOBAL:
            wanted |= set(where.block_index)
        wanted -= self.normal.alone
        for components in zip(*accesses, strict=True):
            first, *others = [self.sum(component) for component in components]
            if all(other == first for other in others):
                wanted -= self.told(first)
        return not wanted

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
