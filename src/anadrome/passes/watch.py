"""Watch for the first NaN or infinity: a check behind every operation that can make one.

A number *arises* where it is NaN and no operand is, or infinite and every operand is finite; what follows
from it is not its fault. Sums and products of many ask whether one of the many was not finite. The check
names the operation, its operands, and the iteration of every loop and parfor around it; a `while` counts for
that.

Not in any pipeline: `trace_nan` runs it on a program that has given a NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    FALSE,
    Apply,
    ArrayType,
    Atom,
    Body,
    Check,
    Function,
    If,
    Let,
    Library,
    Loop,
    ParFor,
    Part,
    Reduce,
    Scan,
    Var,
    WithSum,
    i64,
)
from anadrome.array_ir.rewrite import with_body
from anadrome.array_ir.walk import map_bodies
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.prims.node import replace
from anadrome.prims.record import Prim

Around = tuple[tuple[str, Var], ...]
"""The loops around a statement: what to call each, and the variable that counts it."""

SILENT = frozenset(
    {"select", "neg", "abs", "stop_gradient", "linked", "whole", "optimization_barrier", "min", "max"}
)
"""Operations whose result is an operand, its sign aside."""


def watch(fn: Function, config: Config) -> Function:
    """The function with a check wherever a NaN or an infinity can arise."""
    return with_body(fn, _Watcher().body(fn.body, ()))


@dataclass(frozen=True, slots=True)
class _Watcher:
    """One walk over one function."""

    def body(self, body: Body, around: Around, extra: Sequence[Atom] = ()) -> Body:
        """A body with its checks."""
        builder = Builder()
        self.statements(builder, body, around)
        return builder.body((*body.results, *extra))

    def statements(self, builder: Builder, body: Body, around: Around) -> None:
        """Append the statements of a body, each with its check behind it."""
        for let in body.lets:
            builder.span = let.span
            self.statement(builder, let, around)

    def statement(self, builder: Builder, let: Let, around: Around) -> None:
        """Append one statement and its check."""
        match let.expr:
            case Apply(prim=prim, args=args) if let.targets[0].type.dtype.is_float:
                builder.emit(let)
                if prim.name not in SILENT:
                    _check_operation(builder, prim, args, let.targets[0], around)
            case Library(operation=operation, args=args):
                builder.emit(let)
                before = _any_bad(builder, [arg for arg in args if arg.type.dtype.is_float])
                for target in let.targets:
                    if target.type.dtype.is_float:
                        _check_many(builder, f"`{operation}`", target, before, around)
            case ParFor() as expr:
                self.parfor(builder, let, expr, around)
            case Loop() as expr:
                self.loop(builder, let, expr, around)
            case If() | WithSum() as expr:
                new = map_bodies(expr, lambda body: self.body(body, around))
                builder.emit(Let(let.targets, new, let.span))
            case _:
                builder.emit(let)

    def parfor(self, builder: Builder, let: Let, expr: ParFor, around: Around) -> None:
        """A parfor; sums, products and scans of numbers are watched by whether one of them was bad."""
        inner = Builder()
        self.statements(inner, expr.body, (*around, (expr.index.name, expr.index)))
        watched: list[tuple[Var, str]] = []
        bad: list[Var] = []
        extra: list[Part] = []
        for part, where in expr.slices():
            match part.item:
                case Reduce(operator=("add" | "mul") as name) | Scan(operator=("add" | "mul") as name) if (
                    not part.value.type.shape and part.value.type.dtype.is_float
                ):
                    extra.append(Reduce.of("or", (_is_bad(inner, part.value),)))
                    bad.append(Var("bad", ArrayType(FALSE.dtype)))
                    watched.append((let.targets[where.start], "sum" if name == "add" else "product"))
                case _:
                    pass
        new = ParFor.of(expr.index, expr.extent, inner.lets, (*expr.parts, *extra))
        builder.emit(Let((*let.targets, *bad), new, let.span))
        for (target, words), before in zip(watched, bad, strict=True):
            _check_many(builder, f"a {words} of finite numbers", target, before, around)

    def loop(self, builder: Builder, let: Let, expr: Loop, around: Around) -> None:
        """A sequential loop; one without an index carries a count."""
        if expr.index is not None:
            inside = (*around, (expr.index.name, expr.index))
            builder.emit(Let(let.targets, replace(expr, body=self.body(expr.body, inside)), let.span))
            return
        count, total = Var("step", ArrayType(I64)), Var("steps", ArrayType(I64))
        inner = Builder()
        self.statements(inner, expr.body, (*around, ("step", count)))
        following = inner.add(count, i64(1))
        new = replace(
            expr,
            carried=(*expr.carried, count),
            init=(*expr.init, i64(0)),
            body=inner.body((*expr.body.results, following)),
        )
        builder.emit(Let((*let.targets, total), new, let.span))


# ---------------------------------------------------------------------------- conditions
def _not(builder: Builder, condition: Atom) -> Atom:
    return builder.apply("eq", condition, FALSE)


def _all(builder: Builder, conditions: Sequence[Atom]) -> Atom | None:
    return builder.chain("and", conditions) if conditions else None


def _is_bad(builder: Builder, value: Atom) -> Atom:
    return _not(builder, builder.apply("isfinite", value))


def _any_bad(builder: Builder, atoms: Sequence[Atom]) -> Atom:
    """Whether an element of any of these is NaN or infinite."""
    return builder.chain("or", map(partial(_bad_in, builder), atoms)) if atoms else FALSE


def _bad_in(builder: Builder, atom: Atom, indices: tuple[Var, ...] = ()) -> Atom:
    if len(indices) == len(atom.type.shape):
        element = builder.index(atom, indices) if isinstance(atom, Var) and indices else atom
        return _is_bad(builder, element)
    extent = atom.type.shape[len(indices)]
    return builder.reduce("or", extent, lambda inner, index: _bad_in(inner, atom, (*indices, index)))


# ---------------------------------------------------------------------------- checks
def _check_operation(builder: Builder, prim: Prim, args: Sequence[Atom], result: Var, around: Around) -> None:
    """A NaN arises where no operand is one, an infinity where every operand is finite."""
    floats = [arg for arg in args if isinstance(arg, Var) and arg.type.dtype.is_float]
    no_nan = _all(builder, [_not(builder, builder.apply("isnan", arg)) for arg in floats])
    finite = _all(builder, [builder.apply("isfinite", arg) for arg in floats])
    is_nan, is_inf = builder.apply("isnan", result), builder.apply("isinf", result)
    is_new_nan = is_nan if no_nan is None else builder.apply("and", is_nan, no_nan)
    is_new_inf = is_inf if finite is None else builder.apply("and", is_inf, finite)
    words = _call_words(prim, args)
    _check(builder, _not(builder, builder.apply("or", is_new_nan, is_new_inf)), words, result, args, around)


def _check_many(builder: Builder, words: str, result: Var, before: Atom, around: Around) -> None:
    """Something not finite among many results, of which none was before."""
    is_new = builder.apply("and", _any_bad(builder, [result]), _not(builder, before))
    shown = (result,) if not result.type.shape else ()
    told = f"{words} is {{0}}" if shown else f"{words} gives a number that is not finite"
    _emit(builder, _not(builder, is_new), told, shown, around)


def _check(
    builder: Builder, condition: Atom, words: str, result: Var, args: Sequence[Atom], around: Around
) -> None:
    _emit(builder, condition, f"{words} is {{0}}", (result, *args), around)


def _emit(builder: Builder, condition: Atom, words: str, values: tuple[Atom, ...], around: Around) -> None:
    places = [f"{name} = {{{len(values) + position}}}" for position, (name, _) in enumerate(around)]
    where = f", in iteration {', '.join(places)}" if places else ""
    builder.let(Check(condition, "nonfinite", words + where, (*values, *(index for _, index in around))))


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "mod": "%"}


def _call_words(prim: Prim, args: Sequence[Atom]) -> str:
    """The operation with a place for each operand: `{1} / {2}`, `log({1})`."""
    places = [f"{{{position + 1}}}" for position in range(len(args))]
    sign = _SIGNS.get(prim.name)
    return f"{places[0]} {sign} {places[1]}" if sign else f"{prim.name}({', '.join(places)})"
