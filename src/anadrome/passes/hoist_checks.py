"""Index checks that leave their loops: one check before a loop says what every iteration would have said.

An index is inside where polynomials p(i) of the loop's index are ≥ 0. Of a p that is linear in i the worst
iteration is known, and for i < e

    ∀i: p(i) ≥ 0   ⇔   e ≤ 0  or  p(0) ≥ 0        where p does not fall,
                        e ≤ 0  or  p(e - 1) ≥ 0   where it falls by one a step

Where e ≤ 0 implies the other side it need not be asked; where it is asked, the fact is known to loops that
run over e again. The error is that of the first iteration to fail, 0 or p(0) + 1, or of the last one where it
is not known that p(0) + 1 ≥ 0; where neither is, p(0) ≥ 0 is asked first. A check is lifted to the top of the
function or not at all: only there does a failed one end the call at once, and what follows may rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Check,
    Expr,
    Index,
    Let,
    ParFor,
    Var,
    i64,
)
from anadrome.array_ir.rewrite import Substitution
from anadrome.array_ir.walk import all_lets, prints
from anadrome.dtypes import BOOL, I64
from anadrome.errors import Span
from anadrome.errors.runtime import INDEX_MESSAGE
from anadrome.passes.ranges import Ranges
from anadrome.prims.polynomials import Polynomial, number
from anadrome.prims.table import PRIMS


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One inequality, the values of the error where it does not hold, and the extents of loops around it: it
    is asked where they are all positive."""

    poly: Polynomial
    values: tuple[Polynomial, ...]
    extents: tuple[Polynomial, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """A check on its way out: the statement it stands in, and what is left to be asked."""

    origin: Let
    parts: tuple[Part, ...]
    error: str
    message: str
    span: Span | None


def begin(ranges: Ranges, let: Let) -> Lift | None:
    """The check that a statement makes, where it is one that may leave its loop."""
    match let.expr:
        case Check(condition=condition, error="index", message=message, values=values):
            polys = _conjuncts(ranges, condition)
            shown = tuple(ranges.form(value) for value in values)
            parts = tuple(Part(poly, shown) for poly in polys)
            return Lift(let, parts, "index", message, let.span) if parts else None
        case Index(array=array, indices=indices, bounds=Bounds.CHECKED):
            found: list[Part] = []
            for index, size in zip(indices, array.type.shape, strict=False):
                place, extent = ranges.form(index), ranges.form(size)
                shown = (place, extent)
                found.append(Part(place, shown))
                found.append(Part(extent.plus(place, -1).plus(-1), shown))
            open_parts = tuple(part for part in found if not ranges.proves(part.poly))
            return Lift(let, open_parts, "index", INDEX_MESSAGE, let.span)
        case _:
            return None


def _conjuncts(ranges: Ranges, condition: Atom) -> list[Polynomial]:
    """The inequalities that hold exactly where a condition does; none where they are not known."""
    definition = ranges.definitions.get(condition) if isinstance(condition, Var) else None
    if definition is None:
        return []
    if definition.prim.name == "and":
        sides = [_conjuncts(ranges, arg) for arg in definition.args]
        return [poly for side in sides for poly in side] if all(sides) else []
    found = ranges.differences(definition.prim.name, definition.args, True)
    return [poly for poly in found if not ranges.proves(poly)] or found


def leave(
    ranges: Ranges, lift: Lift, index: Var, extent: Atom, body: Body, carried: Collection[Var] = ()
) -> Lift | None:
    """The check before the loop `index < extent`, or None where it has to stay inside."""
    bound = {*carried, *(target for let in body.lets for target in let.targets)}
    parts: list[Part] = []
    for part in lift.parts:
        found = _leave_any(ranges, part, index, ranges.form(extent), bound)
        if found is None:
            return None
        parts += (one for one in found if not ranges.proves(one.poly))
    return Lift(lift.origin, tuple(parts), lift.error, lift.message, lift.span)


def _leave_any(
    ranges: Ranges, part: Part, index: Var, extent: Polynomial, bound: Collection[Var]
) -> tuple[Part, ...] | None:
    """The inequality before the loop, as it stands or with one side of an extremum that the body computes.

    With m = min(a, b) and a coefficient below 0, p[m := a] ≥ 0 asks for more than p, but for no more where
    a ≤ b in the worst iteration. The same holds of max where the coefficient is above 0.
    """
    found = _leave(ranges, part, index, extent, bound)
    if found is not None:
        return found
    for monomial, coefficient in part.poly.terms.items():
        definition = ranges.definitions.get(monomial[0]) if len(monomial) == 1 else None
        wanted = "min" if coefficient < 0 else "max"
        if definition is None or monomial[0] not in bound or definition.prim.name != wanted:
            continue
        for side, other in (definition.args, definition.args[::-1]):
            form = ranges.form(side)
            chosen = Part(
                part.poly.at(monomial[0], form),
                tuple(value.at(monomial[0], form) for value in part.values),
                part.extents,
            )
            distance = ranges.form(other).plus(form, -1)
            worst = _at_worst(chosen.poly, distance if wanted == "min" else distance.times(-1), index, extent)
            with ranges.scope():
                ranges.learn(extent.plus(-1))
                is_taken = worst is not None and ranges.proves(worst)
            if is_taken:
                found = _leave(ranges, chosen, index, extent, bound)
                if found is not None:
                    return found
    return None


def _at_worst(poly: Polynomial, asked: Polynomial, index: Var, extent: Polynomial) -> Polynomial | None:
    """A polynomial in the worst iteration of another: the first where that rises, else the last."""
    if not _is_linear(poly, index) or not _is_linear(asked, index):
        return None
    return asked.at(index, number(0) if poly.terms.get((index,), 0) > 0 else extent.plus(-1))


def _is_linear(poly: Polynomial, index: Var) -> bool:
    return not any(index in monomial and monomial != (index,) for monomial in poly.terms)


def _leave(
    ranges: Ranges, part: Part, index: Var, extent: Polynomial, bound: Collection[Var]
) -> tuple[Part, ...] | None:
    """The inequality before the loop, from its worst iteration; two of them where it is not known which
    iteration fails first."""
    slope = part.poly.terms.get((index,), 0)
    if slope < -1 or not all(_is_linear(poly, index) for poly in (part.poly, *part.values)):
        return None

    def at(place: Polynomial, poly: Polynomial, *asked_of: Polynomial) -> Part | None:
        found = Part(poly, tuple(value.at(index, place) for value in part.values), (*part.extents, *asked_of))
        return None if _mentions(found, {index, *bound}) else found

    start = part.poly.without(index)
    if slope > -1:
        found = [at(number(0), start, *([] if _asks_nothing_when_empty(ranges, start, extent) else [extent]))]
    else:
        last, first = extent.plus(-1), start.plus(1)
        worst = first.plus(extent, -1)
        if ranges.proves(first):
            found = [at(first, worst)]
        elif ranges.proves(last):
            found = [at(last, worst)]
        else:
            found = [at(number(0), start, extent), at(first, worst, extent)]
    return tuple(one for one in found if one is not None) if None not in found else None


def _asks_nothing_when_empty(ranges: Ranges, poly: Polynomial, extent: Polynomial) -> bool:
    """Whether e ≤ 0 ⇒ p ≥ 0, or 1 ≤ e."""
    if ranges.proves(extent.plus(-1)):
        return True
    with ranges.scope():
        ranges.learn(extent.times(-1))
        return ranges.proves(poly)


def _mentions(part: Part, variables: Collection[Var]) -> bool:
    polys = (part.poly, *part.values, *part.extents)
    return any(poly.has(variables) for poly in polys)


# ---------------------------------------------------------------------------- at the top of the function
def write(lift: Lift, emit: Callable[[Let], Atom]) -> None:
    """The lifted check as statements, given to `emit`, which answers with what stands for the target."""
    truth = ArrayType(BOOL)
    for part in lift.parts:
        low = Polynomial({monomial: -c for monomial, c in part.poly.terms.items() if c < 0})
        high = Polynomial({monomial: c for monomial, c in part.poly.terms.items() if c > 0})
        less, more = _atom(low, emit, lift.span), _atom(high, emit, lift.span)
        holds = emit(_apply("le", truth, lift.span, less, more))
        for extent in part.extents:
            is_empty = emit(_apply("le", truth, lift.span, _atom(extent, emit, lift.span), i64(0)))
            holds = emit(_apply("or", truth, lift.span, is_empty, holds))
        values = tuple(_atom(value, emit, lift.span) for value in part.values)
        emit(Let((), Check(holds, lift.error, lift.message, values), lift.span))


def _atom(poly: Polynomial, emit: Callable[[Let], Atom], span: Span | None) -> Atom:
    integer = ArrayType(I64)
    constant = poly.added
    total: Atom | None = None
    for monomial, coefficient in poly.terms.items():
        if not monomial:
            continue
        term: Atom = monomial[0]
        for var in monomial[1:]:
            term = emit(_apply("mul", integer, span, term, var))
        if coefficient != 1:
            term = emit(_apply("mul", integer, span, term, i64(coefficient)))
        total = term if total is None else emit(_apply("add", integer, span, total, term))
    if total is None or constant == 0:
        return i64(constant) if total is None else total
    return emit(_apply("add", integer, span, total, i64(constant)))


def _apply(name: str, type_: ArrayType, span: Span | None, *args: Atom) -> Let:
    return Let((Var("v", type_),), Apply(PRIMS[name], args), span)


def without(let: Let, lifted: Collection[Let]) -> Let:
    """A statement whose nested checks have been lifted: reads are proved, checks are gone."""
    change = Substitution()

    def body(old: Body) -> Body:
        lets: list[Let] = []
        for inner in old.lets:
            match inner.expr:
                case Check() if inner in lifted:
                    continue
                case Index(array=array, indices=indices) if inner in lifted:
                    lets.append(Let(inner.targets, Index(array, indices), inner.span))
                case _:
                    lets.append(inner if not _is_nest(inner.expr) else nest(inner))
        return Body(tuple(lets), old.results)

    def nest(old: Let) -> Let:
        return Let(old.targets, change.expr(old.expr, body), old.span)

    return nest(let)


def may_be_lifted(let: Let) -> bool:
    """Whether every check inside is one of an index: another one may have to be met before those, and so may
    what is printed."""
    if prints(let.expr):
        return False
    match let.expr:
        case ParFor(body=body):
            lets = all_lets(body)
        case _:
            lets = all_lets(Body((let,)))
    return all(inner.expr.error == "index" for inner in lets if isinstance(inner.expr, Check))


def _is_nest(expr: Expr) -> bool:
    return hasattr(expr, "body") or hasattr(expr, "then")
