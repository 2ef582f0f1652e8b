"""Faults planted in derived kernels: they are found, by the judge of the interpreter or by a wrong number.

A fault is planted in each place that there is. In some it does no harm: the judge is exact, so what it lets
pass with the right numbers is no fault (a barrier with nothing to order, zeroing what is never read again).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from anadrome.ad.kernels.derive import Derived, reverse_kernel
from anadrome.errors.base import AnadromeError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Compute,
    Const,
    For,
    If,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
)
from anadrome.kernel_ir.walk import statements
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS
from tests.ad.test_kernels import Launched, drawn, launched

Change = Callable[[Stmt], "tuple[Stmt, ...] | None"]
"""What stands in the place of a statement; None: itself."""


def changed(body: tuple[Stmt, ...], change: Change) -> Iterator[Stmt]:
    """The statements of a body with some of them exchanged."""
    for stmt in body:
        found = change(stmt)
        if found is not None:
            yield from found
            continue
        match stmt:
            case If(then=then, other=other):
                yield replace(stmt, then=tuple(changed(then, change)), other=tuple(changed(other, change)))
            case For(body=inner):
                yield replace(stmt, body=tuple(changed(inner, change)))
            case While(prelude=prelude, body=inner):
                yield replace(
                    stmt, prelude=tuple(changed(prelude, change)), body=tuple(changed(inner, change))
                )
            case _:
                yield stmt


def without(victim: Stmt) -> Change:
    """A change that drops one statement."""
    return lambda stmt: () if stmt is victim else None


def barriers(kernel: Kernel) -> Iterator[Change]:
    """Each barrier dropped."""
    return (without(stmt) for stmt in statements(kernel.body) if isinstance(stmt, Barrier))


def plain_additions(kernel: Kernel) -> Iterator[Change]:
    """Each atomic addition done by a load and a store."""

    def plain(victim: Atomic) -> Change:
        old = Var("old", victim.value.dtype)  # type: ignore[union-attr]
        new = Compute(PRIMS["add"], (old, victim.value))
        load = Let(old, Load(victim.buffer, victim.indices))
        return lambda stmt: (load, Store(victim.buffer, victim.indices, new)) if stmt is victim else None

    return (plain(stmt) for stmt in statements(kernel.body) if isinstance(stmt, Atomic))


def _is_zero(stmt: Stmt, space: Space) -> bool:
    return (
        isinstance(stmt, Store)
        and stmt.buffer.space is space
        and stmt.buffer.name.endswith("_adj")
        and isinstance(stmt.value, Const)
    )


def unzeroed_shared(kernel: Kernel) -> Iterator[Change]:
    """The shadows of shared memory not zeroed."""
    allocs = (stmt for stmt in kernel.body if isinstance(stmt, Alloc))
    for alloc in allocs:
        if alloc.buffer.space is Space.SHARED and alloc.buffer.name.endswith("_adj"):
            first = next(stmt for stmt in statements(kernel.body) if _writes_zero(stmt, alloc))
            yield without(first)


def _writes_zero(stmt: Stmt, alloc: Alloc) -> bool:
    return _is_zero(stmt, Space.SHARED) and isinstance(stmt, Store) and stmt.buffer is alloc.buffer


def kept_shadows(kernel: Kernel) -> Iterator[Change]:
    """The shadow of what was overwritten not zeroed, where it is read before."""
    read: set[Any] = set()
    for stmt in statements(kernel.body):
        if isinstance(stmt, Let) and isinstance(stmt.value, Load):
            read.add((stmt.value.buffer, stmt.value.indices))
        if _is_zero(stmt, Space.GLOBAL) and isinstance(stmt, Store) and (stmt.buffer, stmt.indices) in read:
            yield without(stmt)


def fetched_again(kernel: Kernel) -> Iterator[Change]:
    """A value that was kept read where it was before, which is overwritten."""
    origins: dict[Any, Load] = {}
    values = {
        stmt.var: stmt.value
        for stmt in statements(kernel.body)
        if isinstance(stmt, Let) and isinstance(stmt.value, Load)
    }
    for stmt in statements(kernel.body):
        if isinstance(stmt, Store) and stmt.buffer.name.endswith("_kept") and stmt.value in values:
            origins[stmt.buffer] = values[stmt.value]  # type: ignore[index]
        if isinstance(stmt, Let) and isinstance(stmt.value, Load) and stmt.value.buffer in origins:
            origin = origins[stmt.value.buffer]
            if origin.buffer.space is not Space.LOCAL and all(
                isinstance(index, Const) or index in _top(kernel) for index in origin.indices
            ):
                again = replace(stmt, value=origin)
                yield lambda other, victim=stmt, again=again: (again,) if other is victim else None


def _top(kernel: Kernel) -> set[Any]:
    bound = {stmt.var for stmt in kernel.body if isinstance(stmt, Let)}
    return bound | {*kernel.geometry.variables, *kernel.params}


FAULTS = {
    "a dropped barrier": (
        barriers,
        ("a block reduction", "a transpose by tiles", "shared memory in turns", "a stencil with a halo"),
    ),
    "an addition that is not atomic": (
        plain_additions,
        ("a gather", "two directions", "a stencil with a halo", "a map"),
    ),
    "a shadow of shared memory that is not zeroed": (
        unzeroed_shared,
        ("a block reduction", "shared memory in turns", "a stencil with a halo"),
    ),
    "a shadow that is kept": (kept_shadows, ("in place", "a loop in place", "two directions")),
    "a value that is fetched again": (
        fetched_again,
        ("a loop in place", "one step after the other in global memory", "shared memory in turns"),
    ),
}


def _adjoints(case: Launched, fn: Kernel, found: Derived, args: list[Any], shadows: Any) -> dict[int, Any]:
    """The adjoints of arrays; what a kernel leaves alone has the shadow it began with."""
    return {**shadows, **case.derived(replace(found, kernel=fn), args, shadows, [8])}


@pytest.mark.parametrize(
    ("fault", "name"), [(fault, name) for fault, (_, names) in FAULTS.items() for name in names]
)
def test_a_planted_fault_is_found(fault, name):
    case, args, random = launched(name)
    found = reverse_kernel(case.kernel, case.inputs, case.outputs, case.ones)
    shadows = {k: np.atleast_1d(one) for k, one in drawn(random, args, case.inputs).items()}
    right = _adjoints(case, found.sweep.kernel, found.sweep, args, shadows)
    plant, _ = FAULTS[fault]
    verdicts = []
    for change in plant(found.sweep.kernel):
        broken = replace(found.sweep.kernel, body=tuple(changed(found.sweep.kernel.body, change)))
        try:
            wrong = _adjoints(case, broken, found.sweep, args, shadows)
        except AnadromeError:
            verdicts.append(True)
            continue
        verdicts.append(any(not np.allclose(wrong[k], right[k], rtol=1e-9, atol=1e-12) for k in right))
    assert any(verdicts), "a fault of this kind in any place is found in one at least"
