"""The rewrite table of scalar operations: what `simplify` knows of each by name.

A rule takes the arguments and a `Context` and gives the atom the operation equals, or None. On floats every
rule holds for all values, signed zeros, infinities and NaNs included (a NaN may change its payload):

    x + -0.0 = x        x - 0.0 = x          x·1 = x          x / 1 = x         0.0 - x is not -x (x = 0)
    x·(-1) = -x         x / 2ᵏ = x·2⁻ᵏ        --x = x          x + (-y) = x - y   x - (-y) = x + y
    (-x)·(-y) = x·y     pow(x, 2) = x·x      pow(x, 1) = x     pow(x, 0) = 1    ([c]·v)·x = [c]·(v·x)
    |x|·|x| = x·x       pow(|x|, n) = pow(x, n) for an even n: smooth at 0, as |x| is not

pow(x, ½) is not sqrt x: they differ at -∞ and at -0.0. x·0 = 0 and x - x = 0 hold for integers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.nodes import FALSE, TRUE, Apply, Atom, Const, Expr, Var
from anadrome.array_ir.walk import same_atom
from anadrome.prims.record import Prim
from anadrome.prims.table import PRIMS


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What a rule may ask for: definitions seen so far, and a way to write further operations."""

    definitions: Mapping[Var, Expr]
    apply: Callable[..., Atom]
    is_count: Callable[[Atom], bool]
    """Whether an integer is known not to be negative."""

    def argument_of(self, name: str, atom: Atom) -> Atom | None:
        """x where `atom` is name(x)."""
        definition = self.definition(atom, name)
        return None if definition is None else definition.args[0]

    def definition(self, atom: Atom, name: str) -> Apply | None:
        """The operation that makes `atom`, where it is one of this name."""
        found = self.definitions.get(atom) if isinstance(atom, Var) else None
        return found if isinstance(found, Apply) and found.prim.name == name else None


Args = tuple[Atom, ...]
Rule = Callable[[Context, Args], Atom | None]


def simplify_apply(prim: Prim, args: Args, context: Context) -> Atom | None:
    """What a scalar operation equals, where the table knows it."""
    if all(isinstance(arg, Const) for arg in args):
        return evaluate(prim, args)
    if len(args) == 2 and args[0] is args[1] and "idempotent" in prim.facts:
        return args[0]
    if len(args) == 1:
        inner = context.argument_of(prim.name, args[0])
        if inner is not None and "involution" in prim.facts:
            return inner
        if inner is not None and "projection" in prim.facts:
            return args[0]
        if "even" in prim.facts:
            negated = context.argument_of("neg", args[0])
            if negated is not None:
                return context.apply(prim.name, negated)
    if prim.name.startswith("to_") and prim.name == f"to_{args[0].type.dtype.name}":
        return args[0]
    rule = RULES.get(prim.name)
    return None if rule is None else rule(context, args)


def evaluate(prim: Prim, args: Args) -> Const | None:
    """The operation on constants."""
    constants = [arg for arg in args if isinstance(arg, Const)]
    dtype = prim.types(tuple(constant.dtype for constant in constants))
    if dtype is None:
        return None
    with np.errstate(all="ignore"):
        values = [np.asarray(constant.value).astype(constant.dtype.numpy)[()] for constant in constants]
        return Const(dtype.numpy.type(prim.numpy(*values)).item(), dtype)


# ---------------------------------------------------------------------------- what is known of an atom
def is_number(atom: Atom, value: float) -> bool:
    """Whether an atom is this constant; 0.0 is not -0.0."""
    if not isinstance(atom, Const):
        return False
    if atom.dtype.is_float:
        return atom.value == value and math.copysign(1.0, atom.value) == math.copysign(1.0, value)
    return atom.dtype.is_integer and atom.value == value


def _is_zero(atom: Atom) -> bool:
    """The zero that adding leaves things as they are: -0.0 of floats, 0 of integers."""
    return isinstance(atom, Const) and is_number(atom, -0.0 if atom.dtype.is_float else 0)


# ---------------------------------------------------------------------------- arithmetic
def _add(context: Context, args: Args) -> Atom | None:
    left, right = args
    if _is_zero(left):
        return right
    if _is_zero(right):
        return left
    negated = context.argument_of("neg", right)
    if negated is not None:
        return context.apply("sub", left, negated)
    negated = context.argument_of("neg", left)
    if negated is not None:
        return context.apply("sub", right, negated)
    if left.type.dtype.is_integer:
        return _add_integers(context, left, right)
    return None


def _add_integers(context: Context, left: Atom, right: Atom) -> Atom | None:
    """Constants gather on the right: (x + c) + d = x + (c + d), (x - c) + d = x + (d - c); (x - y) + y = x"""
    if isinstance(left, Const):
        left, right = right, left
    for one, two in ((left, right), (right, left)):
        difference = context.definition(one, "sub")
        if difference is not None and difference.args[1] is two:
            return difference.args[0]
    if not isinstance(right, Const):
        return None
    for name in ("add", "sub"):
        inner = context.definition(left, name)
        if inner is not None and isinstance(inner.args[1], Const):
            constant = context.apply(name, right, inner.args[1])
            return context.apply("add", inner.args[0], constant)
        if inner is not None and name == "add" and isinstance(inner.args[0], Const):
            return context.apply("add", inner.args[1], context.apply("add", right, inner.args[0]))
    return None


def _sub(context: Context, args: Args) -> Atom | None:
    """Of integers also x - x = 0, (x + y) - x = y, x - (x - y) = y"""
    left, right = args
    if is_number(right, 0):
        return left
    negated = context.argument_of("neg", right)
    if negated is not None:
        return context.apply("add", left, negated)
    if is_number(left, -0.0 if left.type.dtype.is_float else 0):
        return context.apply("neg", right)
    if not left.type.dtype.is_integer:
        return None
    if left is right:
        return Const(0, left.type.dtype)
    if isinstance(right, Const) and left.type.dtype.kind == "int":
        return context.apply("add", left, evaluate(PRIMS["neg"], (right,)))
    total = context.definition(left, "add")
    if total is not None and total.args[0] is right:
        return total.args[1]
    if total is not None and total.args[1] is right:
        return total.args[0]
    difference = context.definition(right, "sub")
    if difference is not None and same_atom(difference.args[0], left):
        return difference.args[1]
    return None


def _mul(context: Context, args: Args) -> Atom | None:
    for one, other in (args, args[::-1]):
        guarded = context.definition(one, "bracket")
        if guarded is not None:
            condition, value = guarded.args
            return context.apply("bracket", condition, context.apply("mul", value, other))
        if is_number(one, 1):
            return other
        if one.type.dtype.kind != "uint" and is_number(one, -1):
            return context.apply("neg", other)
        if one.type.dtype.is_integer and is_number(one, 0):
            return one
        if isinstance(one, Const):
            negated = context.argument_of("neg", other)
            if negated is not None:
                return context.apply("mul", negated, evaluate(PRIMS["neg"], (one,)))
            if one.type.dtype.is_float:
                bracket = _mul_bracket(context, one, other)
                if bracket is not None:
                    return bracket
    if args[0] is args[1]:
        magnitude = context.argument_of("abs", args[0])
        if magnitude is not None:
            return context.apply("mul", magnitude, magnitude)
    left, right = (context.argument_of("neg", arg) for arg in args)
    if left is not None and right is not None:
        return context.apply("mul", left, right)
    return None


def _mul_bracket(context: Context, constant: Const, other: Atom) -> Atom | None:
    """c·select(p, a, b) = select(p, c·a, c·b) of constants a, b"""
    choice = context.definition(other, "select")
    if choice is None or not all(isinstance(arg, Const) for arg in choice.args[1:]):
        return None
    scaled = tuple(evaluate(PRIMS["mul"], (constant, arg)) for arg in choice.args[1:])
    return context.apply("select", choice.args[0], *scaled)


def _div(context: Context, args: Args) -> Atom | None:
    left, right = args
    if is_number(right, 1):
        return left
    if is_number(right, -1):
        return context.apply("neg", left)
    if isinstance(right, Const) and _has_exact_reciprocal(right):
        return context.apply("mul", left, Const(1.0 / right.value, right.dtype))
    numerator, denominator = (context.argument_of("neg", arg) for arg in args)
    if numerator is not None and denominator is not None:
        return context.apply("div", numerator, denominator)
    guarded = context.definition(left, "bracket")
    if guarded is not None:
        return context.apply("bracket", guarded.args[0], context.apply("div", guarded.args[1], right))
    return None


def _has_exact_reciprocal(constant: Const) -> bool:
    """A power of two whose reciprocal is a normal number."""
    mantissa, exponent = math.frexp(float(constant.value))
    limit = 126 if constant.dtype.bits == 32 else 1022
    return abs(mantissa) == 0.5 and abs(exponent - 1) < limit


def _neg(context: Context, args: Args) -> Atom | None:
    """-(x - y) is not y - x on floats: x = y gives -0.0 and 0.0. On integers it is."""
    difference = context.definition(args[0], "sub")
    if difference is not None and args[0].type.dtype.is_integer:
        return context.apply("sub", difference.args[1], difference.args[0])
    guarded = context.definition(args[0], "bracket")
    if guarded is not None:
        return context.apply("bracket", guarded.args[0], context.apply("neg", guarded.args[1]))
    return None


def _bracket(context: Context, args: Args) -> Atom | None:
    """[true]·v = v, [false]·v = 0, [c]·[d]·v = [c ∧ d]·v"""
    condition, value = args
    if isinstance(condition, Const):
        return value if condition.value else Const(0.0, value.type.dtype)
    inner = context.definition(value, "bracket")
    if inner is not None:
        both = context.apply("and", condition, inner.args[0])
        return context.apply("bracket", both, inner.args[1])
    return None


def _max(context: Context, args: Args) -> Atom | None:
    """max(x, 0) = x of numbers of iterations"""
    for one, other in (args, args[::-1]):
        if is_number(one, 0) and one.type.dtype.is_integer and context.is_count(other):
            return other
    return None


def _pow(context: Context, args: Args) -> Atom | None:
    base, exponent = args
    if not base.type.dtype.is_float:
        return None
    if is_number(exponent, 2.0):
        return context.apply("mul", base, base)
    if is_number(exponent, 1.0):
        return base
    if isinstance(exponent, Const) and exponent.value == 0:
        return Const(1.0, base.type.dtype)
    if is_number(exponent, -1.0):
        return context.apply("div", Const(1.0, base.type.dtype), base)
    magnitude = context.argument_of("abs", base)
    if magnitude is not None and isinstance(exponent, Const) and exponent.value % 2 == 0:
        return context.apply("pow", magnitude, exponent)
    return None


def _floordiv(context: Context, args: Args) -> Atom | None:
    value, divisor = args
    if not value.type.dtype.is_integer:
        return None
    if is_number(divisor, 1):
        return value
    return context.apply("neg", value) if is_number(divisor, -1) else None


def _mod(context: Context, args: Args) -> Atom | None:
    if args[0].type.dtype.is_integer and is_number(args[1], 1):
        return Const(0, args[0].type.dtype)
    return None


# ---------------------------------------------------------------------------- logic
def _select(context: Context, args: Args) -> Atom | None:
    condition, then, other = args
    if isinstance(condition, Const):
        return then if condition.value else other
    if same_atom(then, other):
        return then
    negated = context.argument_of("not", condition)
    if negated is not None:
        return context.apply("select", negated, other, then)
    if then.type == TRUE.type:
        if other is condition or (isinstance(other, Const) and not other.value):
            return context.apply("and", condition, then)
        if then is condition or (isinstance(then, Const) and then.value):
            return context.apply("or", condition, other)
    if isinstance(then, Const) and isinstance(other, Const) and then.type == TRUE.type:
        return condition if then.value else context.apply("not", condition)
    inner = context.definition(then, "select")
    if inner is not None and inner.args[0] is condition:
        return context.apply("select", condition, inner.args[1], other)
    inner = context.definition(other, "select")
    if inner is not None and inner.args[0] is condition:
        return context.apply("select", condition, then, inner.args[2])
    return None


def _and(context: Context, args: Args) -> Atom | None:
    return _lattice(context, args, TRUE, FALSE)


def _or(context: Context, args: Args) -> Atom | None:
    return _lattice(context, args, FALSE, TRUE)


def _lattice(context: Context, args: Args, unit: Const, zero: Const) -> Atom | None:
    """x ∧ 1 = x, x ∧ 0 = 0, x ∧ ¬x = 0, and the same upside down."""
    for one, other in (args, args[::-1]):
        if isinstance(one, Const) and one.type == TRUE.type:
            return other if one.value == unit.value else zero
        negated = context.argument_of("not", one)
        if negated is not None and negated is other:
            return zero
    return None


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _not(context: Context, args: Args) -> Atom | None:
    """¬(x < y) = x ≥ y, on integers: a NaN makes both false."""
    for name, opposite in _OPPOSITE.items():
        compared = context.definition(args[0], name)
        if compared is not None and (compared.args[0].type.dtype.is_integer or name in ("eq", "ne")):
            return context.apply(opposite, *compared.args)
    return None


def _compare(name: str) -> Rule:
    """x ≤ x, x = x and their like, on integers and bools; comparing bools with constants."""
    is_reflexive = name in ("eq", "le", "ge")

    def rule(context: Context, args: Args) -> Atom | None:
        left, right = args
        if left is right and not left.type.dtype.is_float:
            return TRUE if is_reflexive else FALSE
        if name in ("eq", "ne") and left.type == TRUE.type:
            for one, other in (args, args[::-1]):
                if isinstance(one, Const):
                    return other if one.value == is_reflexive else context.apply("not", other)
        if left.type.dtype.kind == "int":
            return _compare_shifted(context, name, left, right)
        return None

    return rule


def _compare_shifted(context: Context, name: str, left: Atom, right: Atom) -> Atom | None:
    """x + c = d is x = d - c, of indices (which do not overflow); x + c = y + c is x = y."""
    if name not in ("eq", "ne") or not isinstance(right, Const):
        return None
    shifted = context.definition(left, "add")
    if shifted is None or not isinstance(shifted.args[1], Const):
        return None
    return context.apply(name, shifted.args[0], evaluate(PRIMS["sub"], (right, shifted.args[1])))


RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "bracket": _bracket,
    "max": _max,
    "pow": _pow,
    "floordiv": _floordiv,
    "mod": _mod,
    "select": _select,
    "and": _and,
    "or": _or,
    "not": _not,
    **{name: _compare(name) for name in _OPPOSITE},
}
"""Name of an operation -> what is known of it beside its facts."""
