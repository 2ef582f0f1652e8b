"""`sum`, `min`, `max`, `any`, `all`, `math.prod` over generators, lists and arrays.

A filter is an Iverson bracket: where it does not hold the item is the identity. The item is evaluated only
where the filter holds, so a guarded read outside an array never happens.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import FALSE, TRUE, Atom, Check, Const, Part, Reduce, Var, i64
from anadrome.dtypes import BOOL, DType
from anadrome.errors.frontend import (
    EscapingMutation,
    PrintsInParallel,
    StaticCallFailed,
    UnsupportedArgument,
    UnsupportedCall,
    UnsupportedType,
    WritesThroughView,
)
from anadrome.errors.parallel import DrawsInParallel
from anadrome.frontend.arrays import atom, describe, promote, type_of, weakness
from anadrome.frontend.complex_numbers.operators import binary as complex_binary
from anadrome.frontend.complex_numbers.operators import common_type as complex_type
from anadrome.frontend.complex_numbers.pairs import pair_product
from anadrome.frontend.complex_numbers.parts import complex_of, is_complex
from anadrome.frontend.comprehension import clause_frame, enter, evaluate_list, short_items
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import spend
from anadrome.frontend.generators import all_items, over
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.iterators import GeneratorCall, LazyGenerator, leave
from anadrome.frontend.merge import branch, tried
from anadrome.frontend.operators import ON_BOOLS, apply_prim, truth, type_of_bools
from anadrome.frontend.overloads import holds_own, own_truth
from anadrome.frontend.sizes import give_range, is_nonnegative
from anadrome.frontend.structures import is_number
from anadrome.frontend.values import (
    RETURN,
    Array,
    Complex,
    Exit,
    Frame,
    Scalar,
    Staged,
    Value,
    Weak,
    is_staged,
)


@dataclass(frozen=True, slots=True, eq=False)
class Monoid:
    """One of Python's reductions: its name, its operator, and whether there has to be an item."""

    name: str
    operator: str
    needs_item: bool = False
    is_logic: bool = False


SUM = Monoid("sum", "add")
PRODUCT = Monoid("math.prod", "mul")
LEAST = Monoid("min", "min", needs_item=True)
GREATEST = Monoid("max", "max", needs_item=True)
ANY = Monoid("any", "or", is_logic=True)
ALL = Monoid("all", "and", is_logic=True)


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """The reduction so far: its value (None: no item yet) and whether there was an item."""

    value: Value
    has_item: Atom


NOTHING = Partial(None, FALSE)


@dataclass(slots=True, eq=False)
class Reduction:
    """A reduction on the way. `total` is what a sum or product has so far, from its start on: its type and
    that of an item make the type in which the item is added."""

    monoid: Monoid
    total: Value


def reduce_values(
    context: Context, monoid: Monoid, values: Value, default: Sequence[Value] = (), start: Value = None
) -> Value:
    """The reduction of a generator, a container or an array; one of nothing is the `default`, if any. A sum
    or product begins with `start`: None is the number that it begins with in Python."""
    identity = _identity_value(monoid)
    is_plain = start is None or (type(start) is int and start == identity)
    reduction = Reduction(monoid, identity if is_plain else start)
    seed = NOTHING if is_plain else Partial(start, TRUE)
    given, prints = values, context.prints
    if isinstance(values, GeneratorCall):
        values = all_items(context, values)
    node = spend(context, values) if isinstance(values, LazyGenerator) and values.begun is None else None
    if isinstance(values, LazyGenerator) and node is not None:
        frame = clause_frame(values.frame, node)
        items = short_items(context, context.evaluate(frame, node.generators[0].iter))
        try:
            found = _clause(context, frame, node, 0, items, reduction, seed)
        except (WritesThroughView, EscapingMutation, PrintsInParallel, DrawsInParallel):
            if not isinstance(items, Iterated):
                raise
            made: Value = evaluate_list(context, values.frame, over(node, items))  # one item after the other
            if monoid.is_logic:
                raise _stops_early(context, monoid, monoid.name) from None
            found = Partial(reduce_values(context, monoid, made, default, start), TRUE)
    else:
        items = short_items(context, values)
        found = _over(context, reduction, items, lambda item: _item(context, reduction, item), seed)
    if monoid.is_logic and is_staged(found.value):
        if context.prints > prints:
            raise _stops_early(context, monoid, "print")
        leave(context, given)  # which item decides, only the run knows
    if not monoid.needs_item:
        return identity if found.value is None else found.value
    if found.value is None and default:
        return default[0]
    if found.value is None:
        raise StaticCallFailed(f"`{monoid.name}`", ValueError("nothing to compare"), context.span)
    if found.has_item is not TRUE and found.has_item != TRUE:
        if default:
            return _or_default(context, monoid, found, default[0])
        context.builder.let(Check(found.has_item, "empty", f"{monoid.name}() of nothing"))
    return found.value


def _without_effects(
    context: Context, monoid: Monoid, partial: Callable[[Value], Partial], item: Value
) -> Partial:
    """An item that Python asks only if none before has decided: asked in any case, it must change nothing."""
    found, scope, is_changing = tried(context, lambda: partial(item))
    if found is None or is_changing:
        raise _stops_early(context, monoid, monoid.name)
    for let in scope.builder.lets:
        context.builder.emit(let)
    return found


def _stops_early(context: Context, monoid: Monoid, what: str) -> UnsupportedCall:
    help = "write a `for` loop with `break`, or change and print outside of it"
    reason = f"`{monoid.name}` stops at the item that decides, which only the run knows"
    return UnsupportedCall(what, context.span, reason, help)


def _or_default(context: Context, monoid: Monoid, found: Partial, default: Value) -> Value:
    """The extremum where there was an item; a run-time choice between numbers."""
    if not (isinstance(default, Scalar) or is_number(default)):
        raise UnsupportedType(
            f"the `default` of `{monoid.name}`", describe(default), context.span, "give a number"
        )
    dtype, is_weak = promote(context, (found.value, default), monoid.name)
    pair = (atom(context, found.value, dtype), atom(context, default, dtype))
    return Scalar(context.builder.select(found.has_item, *pair), is_weak)


def _identity_value(monoid: Monoid) -> Value:
    """The reduction of nothing; None where there is none."""
    return {"add": 0, "mul": 1, "or": False, "and": True}.get(monoid.operator)


def _item(context: Context, reduction: Reduction, value: Value) -> Partial:
    monoid = reduction.monoid
    if monoid.is_logic:
        value = own_truth(context, value)
        return Partial(Scalar(truth(context, value), is_weak=True) if is_staged(value) else bool(value), TRUE)
    if is_complex(value) and monoid in (SUM, PRODUCT):
        return Partial(_as_part_of(context, reduction.total, value), TRUE)
    if not is_staged(value) and not is_number(value):
        help = (
            f"give it a list of objects alone: `{monoid.name}([f(x) for x in xs])`"
            if holds_own(value)
            else ""
        )
        raise UnsupportedType(f"an item of `{monoid.name}`", describe(value), context.span, help)
    if monoid.needs_item and isinstance(value, Array):
        raise UnsupportedType(f"an item of `{monoid.name}`", describe(value), context.span, "reduce numbers")
    return Partial(value if monoid.needs_item else _as_part_of(context, reduction.total, value), TRUE)


def _as_part_of(context: Context, total: Value, value: Value) -> Value:
    """An item in the type that it has where it is added to what there is so far. Items that are added among
    themselves first, in parallel, are added in this type as well."""
    if is_complex(total) or is_complex(value):
        dtype, is_weak = complex_type(context, (total, value), "+")
        both = complex_of(context, value)
        return Complex(*(_typed(context, part, dtype, is_weak) for part in (both.real, both.imag)))
    dtype, is_weak = promote(context, (total, value), "+")
    dtype = type_of_bools(context, "+", is_weak) if dtype is BOOL else dtype
    if is_staged(total) or is_staged(value):
        return _typed(context, value, dtype, is_weak)
    if type_of(context, value)[0] is dtype:
        return value
    kind: Any = (float if dtype.is_float else int) if is_weak else dtype.numpy.type
    return kind(value)


def _typed(context: Context, value: Value, dtype: DType, is_weak: Weak) -> Staged:
    """A number or array of a type, Python's own where it says so."""
    if isinstance(value, Array):
        return value if value.dtype is dtype else context.wrap(atom(context, value, dtype))
    return Scalar(atom(context, value, dtype), is_weak)


# ---------------------------------------------------------------------------- clauses
def _clause(
    context: Context,
    frame: Frame,
    node: ast.GeneratorExp,
    depth: int,
    items: Iterated | Iterable[Value],
    reduction: Reduction,
    seed: Partial = NOTHING,
) -> Partial:
    clause = node.generators[depth]

    def partial(item: Value) -> Partial:
        enter(context, frame, node, clause.target, item)
        return _filtered(context, frame, clause.ifs, reduction.monoid, inner)

    def inner() -> Partial:
        if depth + 1 < len(node.generators):
            within = short_items(context, context.evaluate(frame, node.generators[depth + 1].iter))
            return _clause(context, frame, node, depth + 1, within, reduction)
        return _item(context, reduction, context.evaluate(frame, node.elt))

    return _over(context, reduction, items, partial, seed)


def _over(
    context: Context,
    reduction: Reduction,
    items: Iterated | Iterable[Value],
    partial: Callable[[Value], Partial],
    seed: Partial,
) -> Partial:
    """All items behind the seed."""
    monoid = reduction.monoid
    if not isinstance(items, Iterated):
        found = seed
        for item in items:
            is_open = monoid.is_logic and is_staged(found.value)
            part = _without_effects(context, monoid, partial, item) if is_open else partial(item)
            found = _combined(context, monoid, found, part)
            if found.value is not None and reduction.total is not None:
                reduction.total = found.value
            if monoid.is_logic and found.value is (monoid is ANY):
                break
        return found
    parts: list[Partial] = []

    def body(builder: Builder, index: Var) -> Sequence[Part]:
        with context.filling(builder):
            give_range(context, index, i64(0), items.extent)
            part = partial(items.item(context, index))
            parts.append(part)
            yields = _yields(context, monoid, part.value)
            if monoid.needs_item and not isinstance(part.has_item, Const):
                yields.append(Reduce.of("or", (part.has_item,)))
        return yields

    results = context.builder.parfor(items.extent, body)
    first = parts[0].value
    if isinstance(first, Complex):
        pair = (context.wrap(part, first.is_weak) for part in results[:2])
        return _combined(context, monoid, seed, Partial(Complex(*pair), _is_not_empty(context, items)))
    has_item = results[1] if len(results) > 1 else _is_not_empty(context, items)
    found = Partial(context.wrap(results[0], weakness(first)), has_item)
    return _combined(context, monoid, seed, found)


def _yields(context: Context, monoid: Monoid, value: Value) -> list[Part]:
    """What is reduced: a complex sum is two sums, a complex product one of pairs."""
    if not isinstance(value, Complex):
        item, name = atom(context, value), monoid.operator
        return [Reduce.of(ON_BOOLS.get(name, name) if item.type.dtype is BOOL else name, (item,))]
    pair = (atom(context, value.real), atom(context, value.imag))
    if monoid is SUM:
        return [Reduce.of("add", (one,)) for one in pair]
    if value.shape:
        raise UnsupportedType("an item of `math.prod`", describe(value), context.span, "use np.prod")
    return [Reduce.of(pair_product(context.builder, value.dtype), pair)]


def _is_not_empty(context: Context, items: Iterated) -> Atom:
    builder = context.builder
    if is_nonnegative(context, builder.size("sub", items.extent, i64(1))):
        return TRUE
    return builder.apply("gt", items.extent, i64(0))


def _combined(context: Context, monoid: Monoid, left: Partial, right: Partial) -> Partial:
    if left.value is None:
        return right
    if right.value is None:
        return left
    value = combine(context, monoid, left.value, right.value)
    return Partial(value, context.builder.apply("or", left.has_item, right.has_item))


def combine(context: Context, monoid: Monoid, left: Any, right: Any) -> Value:
    """left ⊕ right; min and max keep the first of equals, as Python's do."""
    if isinstance(left, Complex) or isinstance(right, Complex):
        kind = ast.Add if monoid is SUM else ast.Mult
        return complex_binary(context, kind, left, right)
    if not is_staged(left) and not is_staged(right):
        match monoid.operator:
            case "add":
                return left + right
            case "mul":
                return left * right
            case "min":
                return min(left, right)
            case "max":
                return max(left, right)
            case "or":
                return left or right
            case _:
                return left and right
    return apply_prim(context, monoid.operator, left, right)


# ---------------------------------------------------------------------------- filters
def _filtered(
    context: Context, frame: Frame, tests: Sequence[ast.expr], monoid: Monoid, inner: Callable[[], Partial]
) -> Partial:
    """The item where the filters hold, else the identity; nothing is evaluated where a filter fails."""
    if not tests:
        return inner()
    test = own_truth(context, context.evaluate(frame, tests[0]))
    if not is_staged(test):
        return _filtered(context, frame, tests[1:], monoid, inner) if test else _empty(context, monoid, inner)
    condition = truth(context, test)
    kept: list[Partial] = []

    def then() -> Exit:
        kept.append(_filtered(context, frame, tests[1:], monoid, inner))
        return Exit(RETURN, frozenset({RETURN}), (kept[0].value, Scalar(kept[0].has_item)))

    def other() -> Exit:
        identity = _identity(context, monoid, kept[0].value)
        return Exit(RETURN, frozenset({RETURN}), (identity, Scalar(FALSE)))

    found = branch(context, frame, condition, then, other).value
    assert isinstance(found, tuple)
    value, has_item = found
    assert isinstance(has_item, Scalar)
    return Partial(value, has_item.atom)


def _empty(context: Context, monoid: Monoid, inner: Callable[[], Partial]) -> Partial:
    return NOTHING


def _identity(context: Context, monoid: Monoid, value: Value) -> Value:
    if isinstance(value, Complex):
        nothing = _identity(context, SUM, value.imag)
        return Complex(_identity(context, monoid, value.real), nothing)  # type: ignore[arg-type]
    constant = identity_of(monoid.operator, type_of(context, value)[0])
    if isinstance(value, Array):
        return context.wrap(context.builder.full(value.shape, constant))
    return Scalar(constant, weakness(value))


def identity_of(operator: str, dtype: DType) -> Const:
    """The number that leaves the other operand of a named operator as it is."""
    if operator in ("min", "max"):
        if dtype is BOOL:
            return number(operator == "min", dtype)
        if dtype.is_float:
            return number(np.inf if operator == "min" else -np.inf, dtype)
        info = np.iinfo(dtype.numpy_name)
        return number(int(info.max if operator == "min" else info.min), dtype)
    return number({"add": 0, "mul": 1, "or": 0, "and": 1}[operator], dtype)


def refuse_keywords(context: Context, name: str, kwargs: dict[str, Value]) -> None:
    """Keywords such as `key=` have no compiled form."""
    if kwargs:
        raise UnsupportedArgument(name, f"`{next(iter(kwargs))}=` is not supported", context.span)
