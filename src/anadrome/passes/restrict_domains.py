"""Filters become extents: a reduction whose terms vanish outside an interval goes over the interval alone.

A term is guarded by conditions outside of which it is the identity of its operator (an Iverson bracket).
Where a condition that all yields of a parfor share is affine in its index j, it says where j lies,

    a·j + r ≤ 0   ⇔   j < ⌊-r / a⌋ + 1  (a > 0),   j ≥ ⌈r / -a⌉  (a < 0),        |e| ≤ c  ⇔  e ≤ c ∧ -e ≤ c

so j runs from the greatest lower bound to the least upper one, if at all, and the condition holds of itself.
An equation j = e leaves one iteration, a branch on whether e is an index at all (Bernstein et al. 2020, §6:
indicator elimination). What a dropped iteration would have computed beside its terms is dropped only where it
can neither fail nor be seen; stacks keep their places, so parfors that stack are left alone.

Before:
    fn f(a: f64[n, n], x: f64[n], i: i64) -> f64 {
      s = parfor j < n {
        c = le j i
        v = if c { u = a[i, j]?; w = x[j]; p = mul u w; return p } else { return 0.0 }
        yield reduce add v
      }
      return s
    }
After:
    fn f(a: f64[n, n], x: f64[n], i: i64) -> f64 {
      h = add i 1
      m = min n h
      e = max m 0
      s = parfor j < e { u = a[i, j]?; w = x[j]; p = mul u w; yield reduce add p }
      return s
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anadrome.array_ir.affine import Affine, affine, affine_apply
from anadrome.array_ir.dead import STRUCTURED
from anadrome.array_ir.nodes import (
    FALSE,
    TRUE,
    Accumulate,
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Carry,
    Const,
    Expr,
    Full,
    Function,
    If,
    Let,
    ParFor,
    Part,
    Reduce,
    Scatter,
    Stack,
    Type,
    Var,
    Yield,
    i64,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, bound_in, has_effect
from anadrome.config import Config
from anadrome.dtypes import BOOL, I64
from anadrome.errors import Span
from anadrome.passes.simplify import simplify
from anadrome.prims.table import PRIMS

Condition = tuple[Var, bool]
"""A bool variable, and what it must be."""
Conditions = frozenset[Condition]

_AT_MOST = {"lt": (1, 1), "le": (1, 0), "gt": (-1, 1), "ge": (-1, 0)}
"""left ⋈ right as s·(left - right) + c ≤ 0: comparison -> (s, c)"""
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "ne": "eq"}


def restrict_domains(fn: Function, config: Config) -> Function:
    """The function with every affine filter of a reduction turned into the extent of its parfor."""
    walk = _Tightener()
    body = walk.body(fn.body)
    return simplify(with_body(fn, body), config) if walk.changes else fn


# ---------------------------------------------------------------------------- where an index lies
@dataclass(frozen=True, slots=True, eq=False)
class _Quotient:
    """⌊form / divisor⌋ + shift"""

    form: Affine
    divisor: int
    shift: int


@dataclass(slots=True, eq=False)
class _Interval:
    """Bounds on an index: it is at least each of `lows`, below each of `highs`, equal to each of `places`."""

    lows: list[_Quotient] = field(default_factory=list)
    highs: list[_Quotient] = field(default_factory=list)
    places: list[_Quotient] = field(default_factory=list)
    met: list[Condition] = field(default_factory=list)
    """The conditions that hold inside."""


class _Statements:
    """Integer statements being written."""

    def __init__(self, span: Span | None) -> None:
        self.lets: list[Let] = []
        self.span = span

    def full(self, type_: Type, operator: str) -> Atom:
        """What combining nothing gives: a constant, or an array of it."""
        constant = identity(operator, type_.dtype)
        if not type_.shape:
            return constant
        array = Var("nothing", ArrayType(type_.dtype, type_.shape))
        self.lets.append(Let((array,), Full(type_.shape, constant), self.span))
        return array

    def apply(self, name: str, *args: Atom, dtype: ArrayType = ArrayType(I64)) -> Atom:  # noqa: B008 - frozen
        """One operation."""
        target = Var(name, dtype)
        self.lets.append(Let((target,), Apply(PRIMS[name], args), self.span))
        return target

    def affine(self, form: Affine) -> Atom:
        """The value of an affine form."""
        total: Atom | None = None
        for var, coefficient in form.terms:
            term = var if coefficient == 1 else self.apply("mul", var, i64(coefficient))
            total = term if total is None else self.apply("add", total, term)
        if total is None:
            return i64(form.constant)
        return total if form.constant == 0 else self.apply("add", total, i64(form.constant))

    def quotient(self, bound: _Quotient) -> Atom:
        """The value of a bound."""
        if bound.divisor == 1:
            return self.affine(Affine(bound.form.terms, bound.form.constant + bound.shift))
        found = self.apply("floordiv", self.affine(bound.form), i64(bound.divisor))
        return found if bound.shift == 0 else self.apply("add", found, i64(bound.shift))


# ---------------------------------------------------------------------------- the walk
class _Tightener:
    """One walk, inside out."""

    def __init__(self) -> None:
        self.definitions: dict[Var, Expr] = {}
        self.sources: dict[Var, tuple[Expr, int]] = {}
        self.changes: list[Let] = []
        """The statements that were written anew."""
        self.rebuild = Substitution()

    def body(self, body: Body) -> Body:
        """A body with its parfors tightened."""
        lets: list[Let] = []
        for let in body.lets:
            lets.extend(self.statement(let))
        return remade(body, lets, body.results)

    def statement(self, let: Let) -> list[Let]:
        """What becomes of a statement."""
        expr = let.expr
        if not isinstance(expr, STRUCTURED):
            self.register(let)
            return [let]
        before = len(self.changes)
        new = self.rebuild.expr(expr, self.body)
        if len(self.changes) > before:
            expr, let = new, Let(let.targets, new, let.span)
        found = list(self.parfor(let, expr)) if isinstance(expr, ParFor) else [let]
        for part in found if found == [let] else all_lets(Body(tuple(found))):
            self.register(part)
        return found

    def register(self, let: Let) -> None:
        """Remember who makes what."""
        match let.expr:
            case ParFor() | If():
                for position, target in enumerate(let.targets):
                    self.sources[target] = (let.expr, position)
            case Apply() | AddTo():
                self.definitions[let.targets[0]] = let.expr
            case _:
                pass

    def parfor(self, let: Let, expr: ParFor) -> Iterator[Let]:
        """A parfor over the interval that its terms live in."""
        shared = frozenset() if any(map(_is_checked, expr.yields)) else self.shared(expr)
        interval = self.interval(expr, shared) if shared else _Interval()
        if interval.places and all(_is_scalar_term(part) for part in expr.parts):
            self.changes.append(let)
            yield from self.at_place(let, expr, interval)
        elif interval.lows or interval.highs or interval.places:
            self.changes.append(let)
            yield from self.over_interval(let, expr, interval)
        else:
            yield let

    # ------------------------------------------------------------------ writing
    def over_interval(self, let: Let, expr: ParFor, interval: _Interval) -> Iterator[Let]:
        """parfor j < n  as  parfor k < hi - lo, j = lo + k"""
        write = _Statements(let.span)
        lows = [*interval.lows, *interval.places]
        highs = [*interval.highs, *(_after(place) for place in interval.places)]
        high: Atom = expr.extent
        for bound in highs:
            high = write.apply("min", high, write.quotient(bound))
        low: Atom = i64(0)
        for bound in lows:
            low = write.apply("max", write.quotient(bound), low)
        inside = _given(interval.met)
        if not lows:
            new = ParFor(expr.index, write.apply("max", high, i64(0)), expr.body, expr.yields)
            yield from write.lets
            yield Let(let.targets, inside.expr(new, inside.body), let.span)
            return
        extent = write.apply("max", write.apply("sub", high, low), i64(0))
        index = Var(expr.index.name, expr.index.type)
        begin = Let((expr.index,), Apply(PRIMS["add"], (low, index)), let.span)
        body = Body((begin, *expr.body.lets), expr.body.results)
        yield from write.lets
        yield Let(let.targets, inside.expr(ParFor(index, extent, body, expr.yields), inside.body), let.span)

    def at_place(self, let: Let, expr: ParFor, interval: _Interval) -> Iterator[Let]:
        """The only iteration, where there is one; else what combining nothing gives."""
        write = _Statements(let.span)
        bool_type = ArrayType(BOOL)
        place = write.quotient(interval.places[0])
        condition = write.apply("ge", place, i64(0), dtype=bool_type)
        below = write.apply("lt", place, expr.extent, dtype=bool_type)
        condition = write.apply("and", condition, below, dtype=bool_type)
        for other in interval.places[1:]:
            equal = write.apply("eq", place, write.quotient(other), dtype=bool_type)
            condition = write.apply("and", condition, equal, dtype=bool_type)
        for bound in interval.lows:
            holds = write.apply("ge", place, write.quotient(bound), dtype=bool_type)
            condition = write.apply("and", condition, holds, dtype=bool_type)
        for bound in interval.highs:
            holds = write.apply("lt", place, write.quotient(bound), dtype=bool_type)
            condition = write.apply("and", condition, holds, dtype=bool_type)
        inside = _given(interval.met)
        inside.replace(expr.index, place)
        otherwise: list[Atom] = []
        nothing = _Statements(let.span)
        for part, where in expr.slices():
            match part.item:
                case Reduce(operator=str() as operator):
                    otherwise.append(nothing.full(let.targets[where][0].type, operator))
                case Carry(source=source):
                    otherwise.append(source)
                case _:
                    raise TypeError(f"a {type(part.item).__name__} is no scalar term")
        then = inside.body(expr.body)
        yield from write.lets
        yield Let(let.targets, If(condition, then, Body(tuple(nothing.lets), tuple(otherwise))), let.span)

    # ------------------------------------------------------------------ conditions
    def shared(self, expr: ParFor) -> Conditions:
        """The conditions outside of which no yield takes anything from an iteration."""
        found: Conditions | None = None
        for part in expr.parts:
            own = self.of_part(part)
            found = own if found is None else (found if own is None else found & own)
            if found is not None and not found:
                break
        return found or frozenset()

    def of_part(self, part: Part) -> Conditions | None:
        """The conditions of one yield; None where it takes nothing in any case."""
        match part.item:
            case Reduce(operator=str() as operator):
                return self.of_value(part.value, operator)
            case Accumulate(operator=str() as operator):
                return self.of_value(part.value, operator)
            case Carry(source=source):
                return self.of_token(part.value, source)
            case _:
                return frozenset()

    def of_value(self, value: Atom, operator: str) -> Conditions | None:
        """The conditions outside of which a value is the identity of the operator."""
        if isinstance(value, Const):
            return None if value.key == identity(operator, value.dtype).key else frozenset()
        definition = self.definitions.get(value)
        if isinstance(definition, Apply) and definition.prim.name == "select":
            condition, left, right = definition.args
            return _either(
                self.of_value(left, operator),
                self.of_value(right, operator),
                self.conjuncts(condition, True),
                self.conjuncts(condition, False),
            )
        if isinstance(definition, Apply) and definition.prim.name == "bracket" and operator == "add":
            condition, inner = definition.args
            return _either(self.of_value(inner, operator), None, self.conjuncts(condition, True), frozenset())
        expr, position = self.sources.get(value, (None, 0))
        match expr:
            case If(condition=condition, then=then, other=other):
                return _either(
                    self.of_value(then.results[position], operator),
                    self.of_value(other.results[position], operator),
                    self.conjuncts(condition, True),
                    self.conjuncts(condition, False),
                )
            case ParFor() as parfor:
                part = parfor.part_of(position)
                if isinstance(part.item, Stack):
                    return self.of_value(part.value, operator)
                is_same = isinstance(part.item, Reduce) and part.item.operator == operator
                return self.of_part(part) if is_same else frozenset()
            case _:
                return frozenset()

    def of_token(self, token: Atom, source: Var) -> Conditions | None:
        """The conditions outside of which nothing is added between an accumulator and a later state of it."""
        if token is source:
            return None
        assert isinstance(token, Var)
        added = self.definitions.get(token)
        if isinstance(added, AddTo):
            return _meet(self.of_value(added.value, "add"), self.of_token(added.token, source))
        expr, position = self.sources.get(token, (None, 0))
        match expr:
            case If(condition=condition, then=then, other=other):
                sides = (then.results[position], other.results[position])
                entered = next(
                    (side for side, body in zip(sides, (then, other), strict=True) if not _binds(body, side)),
                    None,
                )
                if not isinstance(entered, Var):
                    return frozenset()
                left, right = (self.of_token(side, entered) for side in sides if isinstance(side, Var))
                own = _either(left, right, self.conjuncts(condition, True), self.conjuncts(condition, False))
                return _meet(own, self.of_token(entered, source))
            case ParFor() as parfor:
                part = parfor.part_of(position)
                if not isinstance(part.item, Carry):
                    return frozenset()
                entered = part.item.source
                return _meet(self.of_token(part.value, entered), self.of_token(entered, source))
            case _:
                return frozenset()

    def conjuncts(self, condition: Atom, holds: bool) -> Conditions:
        """The conditions that a condition is made of, where it holds (or does not)."""
        if not isinstance(condition, Var):
            return frozenset()
        definition = self.definitions.get(condition)
        if isinstance(definition, Apply):
            name, args = definition.prim.name, definition.args
            if name == "not":
                return self.conjuncts(args[0], not holds)
            if name == ("and" if holds else "or"):
                return frozenset().union(*(self.conjuncts(arg, holds) for arg in args))
        expr, position = self.sources.get(condition, (None, 0))
        if isinstance(expr, If):
            then, other = expr.then.results[position], expr.other.results[position]
            failing = FALSE if holds else TRUE
            if isinstance(other, Const) and other.key == failing.key:
                return self.conjuncts(expr.condition, True) | self.conjuncts(then, holds)
            if isinstance(then, Const) and then.key == failing.key:
                return self.conjuncts(expr.condition, False) | self.conjuncts(other, holds)
        return frozenset({(condition, holds)})

    # ------------------------------------------------------------------ bounds
    def interval(self, expr: ParFor, shared: Conditions) -> _Interval:
        """What the shared conditions say of the index, in terms of what is bound around the parfor."""
        inside = set(bound_in(expr.body))
        found = _Interval()
        for condition in sorted(shared, key=lambda pair: pair[0].name):
            if not self.is_safe(expr.body, condition):
                continue
            forms = self.at_most(condition)
            if not forms or not all(
                form.coefficient(expr.index) and not any(var in inside for var, _ in form.terms)
                for form in forms
            ):
                continue
            found.met.append(condition)
            definition = self.definitions[condition[0]]
            assert isinstance(definition, Apply)
            if definition.prim.name in ("eq", "ne") and abs(forms[0].coefficient(expr.index)) == 1:
                found.places.append(_bound(forms[0], expr.index)[1])
                continue
            for form in forms:
                is_high, bound = _bound(form, expr.index)
                (found.highs if is_high else found.lows).append(_after(bound) if is_high else bound)
        return found

    def at_most(self, condition: Condition) -> list[Affine]:
        """The affine forms that are ≤ 0 exactly where a comparison of integers holds; none where unknown."""
        var, holds = condition
        definition = self.definitions.get(var)
        if not isinstance(definition, Apply):
            return []
        name, args = definition.prim.name, definition.args
        if len(args) != 2 or args[0].type != ArrayType(I64):
            return []
        if not holds:
            name = _OPPOSITE.get(name, "")
        difference = affine_apply(Apply(PRIMS["sub"], args), self.definitions)
        if difference is None:
            return []
        if name == "eq":
            return [difference, difference.times(-1)]
        if name not in _AT_MOST:
            return []
        sign, shift = _AT_MOST[name]
        form = difference.times(sign)
        return self.without_magnitude(Affine(form.terms, form.constant + shift))

    def without_magnitude(self, form: Affine) -> list[Affine]:
        """|e| + r ≤ 0  as  e + r ≤ 0 and -e + r ≤ 0"""
        for var, coefficient in form.terms:
            definition = self.definitions.get(var)
            if isinstance(definition, Apply) and definition.prim.name == "abs" and coefficient == 1:
                inner = affine(definition.args[0], self.definitions)
                rest = form.without(var)
                return [rest.plus(inner, sign) for sign in (1, -1)]
        return [form]

    def is_safe(self, body: Body, condition: Condition) -> bool:
        """Whether every statement that may fail runs only where the condition holds."""
        for let in body.lets:
            if not has_effect(let.expr):
                continue
            match let.expr:
                case If(condition=test, then=then, other=other):
                    for side, holds in ((then, True), (other, False)):
                        if condition not in self.conjuncts(test, holds) and not self.is_safe(side, condition):
                            return False
                case ParFor(body=inner, yields=yields):
                    if any(map(_is_checked, yields)) or not self.is_safe(inner, condition):
                        return False
                case _:
                    return False
        return True


# ---------------------------------------------------------------------------- small parts
def _binds(body: Body, atom: Atom) -> bool:
    return any(atom is target for let in body.lets for target in let.targets)


def _is_checked(item: Yield) -> bool:
    return isinstance(item, Accumulate | Scatter) and item.bounds is Bounds.CHECKED


def _given(met: Iterable[Condition]) -> Substitution:
    """A substitution under which the conditions hold."""
    found = Substitution()
    for var, holds in met:
        found.replace(var, TRUE if holds else FALSE)
    return found


def _is_scalar_term(part: Part) -> bool:
    """Whether a yield's result can come out of a branch instead."""
    match part.item:
        case Reduce(operator=str()):
            return not part.value.type.shape
        case Carry():
            return True
        case _:
            return False


def _either(
    left: Conditions | None, right: Conditions | None, where: Conditions, elsewhere: Conditions
) -> Conditions | None:
    """The conditions of what is one thing under some conditions and another thing elsewhere."""
    left = None if left is None else left | where
    right = None if right is None else right | elsewhere
    return _meet(left, right)


def _meet(left: Conditions | None, right: Conditions | None) -> Conditions | None:
    """The conditions of two things together; None says that a thing is never there."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


def _after(bound: _Quotient) -> _Quotient:
    """The bound plus one."""
    return _Quotient(bound.form, bound.divisor, bound.shift + 1)


def _bound(form: Affine, index: Var) -> tuple[bool, _Quotient]:
    """a·j + r ≤ 0: whether it bounds j from above, and the greatest (least) j it allows."""
    coefficient = form.coefficient(index)
    rest = form.without(index)
    if coefficient > 0:
        return True, _Quotient(rest.times(-1), coefficient, 0)
    raised = Affine(rest.terms, rest.constant - coefficient - 1)
    return False, _Quotient(raised, -coefficient, 0)
