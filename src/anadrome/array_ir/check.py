"""The verifier: a program that passes keeps every rule that passes, differentiation and lowering rely on.

* Scope: a variable is bound once in the whole function and read only where it is bound, also as a size in a
  type. So what a parfor, loop or branch results in mentions only sizes bound outside of it.
* Types: the types of a statement's targets are those `infer.result_types` gives.
* Operators: a lambda reads nothing of the iteration; its identity and its body see what the parfor sees.
* Accumulators are linear: each token is used exactly once, by an `AddTo`, a `Carry`, as the start of a
  carried value, or as a result of the body it is bound in. Both branches of an `If` use the same ones. A
  parfor uses only those it carries, a loop only those among its carried values; the chain of contributions
  that ends at a token began at the very accumulator it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NoReturn

from anadrome.array_ir.infer import result_types
from anadrome.array_ir.nodes import (
    AddTo,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Carry,
    Check,
    Const,
    Custom,
    Expr,
    Function,
    If,
    Index,
    Lambda,
    Let,
    Loop,
    ParFor,
    Print,
    Reshape,
    SumType,
    Type,
    Var,
    WithSum,
)
from anadrome.array_ir.text import show_body, show_type
from anadrome.array_ir.walk import bodies, operands, operator_of, outer_operands, prints
from anadrome.dtypes import I64
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import FAILURES
from anadrome.printing import Message

_Origins = dict[Var, Var]
"""Accumulator -> the one its chain of contributions began at."""
_I64 = ArrayType(I64)
_VALUES: dict[str, type] = {"bool": bool, "int": int, "uint": int, "float": float}
"""Kind of scalar type -> the Python type of its constants."""


def check(fn: Function) -> None:
    """Hold a function to the rules; raises `IRError` with the statement and the source place."""
    checker = _Checker()
    checker.bind(fn.sizes)
    scalars = tuple(param for param in fn.params if not param.type.shape)
    checker.bind(scalars)
    checker.bind(tuple(param for param in fn.params if param.type.shape))
    checker.whole(fn.body)


def check_body(body: Body, free: Iterable[Var] = ()) -> None:
    """Hold a body that may read the variables `free` to the rules."""
    checker = _Checker()
    checker.bind(tuple(free), is_open=True)
    checker.whole(body)


class _Checker:
    """One verification: what is in scope, what was ever bound, which accumulators may be used now."""

    def __init__(self) -> None:
        self.scope: set[Var] = set()
        self.ever: set[Var] = set()
        self.usable: set[Var] = set()
        self.origin: dict[Var, Var] = {}
        self.current: Let | None = None

    def fail(self, rule: str) -> NoReturn:
        """A broken rule, at the statement being checked."""
        let = self.current
        if let is None:
            raise IRError(rule)
        head = show_body(Body((let,))).splitlines()[0].removesuffix("{").strip()
        raise IRError(rule, f"in `{head}`", let.span)

    def hold(self, condition: bool, rule: str) -> None:
        """A rule."""
        if not condition:
            self.fail(rule)

    # ------------------------------------------------------------------ scope
    def bind(self, variables: Iterable[Var], is_open: bool = False) -> None:
        """New variables in scope; the sizes in their types are in scope already."""
        for var in variables:
            if not is_open:
                self.type(var.type)
            if var in self.ever:
                self.fail(f"{var} is bound twice")
            self.ever.add(var)
            self.scope.add(var)
            if isinstance(var.type, SumType):
                self.usable.add(var)
                self.origin[var] = var

    def type(self, type_: Type) -> None:
        """A type whose sizes are i64 and in scope."""
        for size in type_.shape:
            self.read(size)
            if isinstance(size, Const):
                self.hold(size.dtype is I64 and int(size.value) >= 0, f"{size.value} is no size")
            elif size.type != _I64:
                self.fail(f"the size {size} is not an i64")

    def read(self, atom: Atom) -> None:
        """An atom where it is read."""
        if isinstance(atom, Var):
            if atom not in self.scope:
                where = "outside the body that binds it" if atom in self.ever else "but bound nowhere before"
                self.fail(f"{atom} is read {where}")
        elif type(atom.value) is not _VALUES[atom.dtype.kind]:
            self.fail(f"the constant {atom.value!r} is not written as {atom.dtype} values are")

    def reads(self, atoms: Iterable[Atom]) -> None:
        """Arrays and scalars where they are read; an accumulator is not read."""
        for atom in atoms:
            self.read(atom)
            if isinstance(atom, Var) and isinstance(atom.type, SumType):
                self.fail(f"the accumulator {atom} is read")

    # ------------------------------------------------------------------ accumulators
    def use(self, atom: Atom) -> None:
        """An atom that is read, or an accumulator that is used up, here."""
        self.read(atom)
        if isinstance(atom, Var) and isinstance(atom.type, SumType):
            if atom not in self.usable:
                self.fail(f"the accumulator {atom} is used twice, or in a body it is not passed into")
            self.usable.discard(atom)

    def uses(self, atoms: Iterable[Atom]) -> None:
        """Several atoms, one after the other."""
        for atom in atoms:
            self.use(atom)

    def end(self, result: Atom, start: Var) -> None:
        """The chain of contributions that ends here began at this accumulator."""
        if isinstance(result, Var) and isinstance(start.type, SumType):
            begin = self.origin.get(result)
            self.hold(begin is start, f"the chain that ends at {result} does not begin at {start}")

    def all_used(self, outer: set[Var]) -> None:
        """Every accumulator bound in the body that ends here was used."""
        for var in self.usable - outer:
            self.fail(f"the accumulator {var} is not used")

    # ------------------------------------------------------------------ bodies
    def whole(self, body: Body) -> None:
        """A body and what it results in."""
        outer = set(self.usable)
        self.lets(body.lets)
        self.current = None
        self.uses(body.results)
        self.all_used(outer)

    def lets(self, lets: Sequence[Let]) -> None:
        """Statements in order."""
        for let in lets:
            outer = self.current
            self.current = let
            self.statement(let)
            self.current = outer

    def nested(self, bound: Sequence[Var], body: Body) -> set[Var]:
        """The statements of a nested body; what to put out of scope once the caller has seen its results."""
        self.bind(bound)
        self.lets(body.lets)
        return {*bound, *(target for let in body.lets for target in let.targets)}

    def statement(self, let: Let) -> None:
        """One statement."""
        expr = let.expr
        origins: _Origins = {}
        if isinstance(expr, ParFor | WithSum):
            self.hold(not prints(expr), "what runs in any order does not print")
        match expr:
            case ParFor():
                origins = self.parfor(let, expr)
            case Loop():
                origins = self.loop(let, expr)
            case If():
                origins = self.branch(let, expr)
            case WithSum():
                origins = self.with_sum(let, expr)
            case Custom(args=args):
                self.reads(args)
                self.custom(expr)
            case AddTo(token=token, indices=indices, value=value):
                self.reads((*indices, value))
                self.use(token)
                origins = self.continued(let.targets, (token,))
            case _:
                self.reads(operands(expr))
                self.simple(expr)
        self.targets(let)
        self.origin.update(origins)

    def targets(self, let: Let) -> None:
        """The types of the targets are the inferred ones; then they are bound."""
        try:
            types = result_types(let.expr)
        except IRError as error:
            self.fail(error.rule)
        if len(types) != len(let.targets):
            self.fail(f"{len(types)} results for {len(let.targets)} targets")
        for target, type_ in zip(let.targets, types, strict=True):
            if target.type != type_:
                self.fail(f"{target} is of type {show_type(target.type)}, its value of {show_type(type_)}")
        self.bind(let.targets)

    def continued(self, targets: Sequence[Var], tokens: Sequence[Atom]) -> _Origins:
        """Targets that continue the chains of these tokens: where those began."""
        pairs = zip(targets, tokens, strict=False)
        return {new: self.origin[old] for new, old in pairs if isinstance(old, Var) and old in self.origin}

    def simple(self, expr: Expr) -> None:
        """Rules of an expression without bodies that its types do not say."""
        match expr:
            case Index(bounds=bounds):
                self.hold(bounds is not Bounds.IGNORED, "an index that is read is not ignored")
            case Check(error=error):
                self.hold(error in FAILURES, f"no error is called {error}")
            case Print(message=message, values=values):
                is_whole = Message.decoded(message).text.places() == set(range(len(values)))
                self.hold(is_whole, "a text holds every value")
            case Reshape(array=array, shape=shape):
                before, after = _count(array.type.shape), _count(shape)
                self.hold(before is None or after is None or before == after, "a reshape keeps the elements")
            case _:
                pass

    def parfor(self, let: Let, expr: ParFor) -> _Origins:
        """A parfor: it uses the accumulators it carries, each iteration once."""
        self.read(expr.extent)
        carries = [item for item in expr.yields if isinstance(item, Carry)]
        for item in expr.yields:
            if not isinstance(item, Carry):
                self.reads(outer_operands(item))
        for carry in carries:
            self.hold(isinstance(carry.source.type, SumType), f"{carry.source} is no accumulator")
            self.use(carry.source)
        usable, self.usable = self.usable, {carry.source for carry in carries}
        begun = {carry.source: self.origin[carry.source] for carry in carries}
        self.origin.update({source: source for source in begun})
        inner = self.nested((expr.index,), expr.body)
        for part in expr.parts:
            match part.item:
                case Carry(source=source):
                    self.use(part.value)
                    self.end(part.value, source)
                case _:
                    self.reads(part.takes)
        self.leave(inner, usable)
        self.origin.update(begun)
        for item in expr.yields:
            operator = operator_of(item)
            if operator is not None:
                self.operator(operator)
        slices = list(expr.slices())
        pairs = [(part.item, let.targets[where]) for part, where in slices if isinstance(part.item, Carry)]
        return {target: begun[carry.source] for carry, targets in pairs for target in targets}

    def operator(self, operator: Lambda) -> None:
        """A lambda, which sees what the parfor sees."""
        self.reads(operator.identity)
        usable, self.usable = self.usable, set()
        self.bind((*operator.left, *operator.right))
        for body in (operator.body, operator.inverse):
            if body is not None:
                inner = self.nested((), body)
                self.reads(body.results)
                self.leave(inner, set())
        self.leave({*operator.left, *operator.right}, usable)

    def loop(self, let: Let, expr: Loop) -> _Origins:
        """A loop: it uses the accumulators among its carried values, each iteration once."""
        hint = expr.checkpoint
        if hint is not None:
            self.hold(
                hint.repeats > 0 or hint.policy != "repeats", "an iteration may run again at least once"
            )
            self.hold(hint.memory is not None or hint.policy != "budget", "a budget is a number of bytes")
        if expr.trip is not None:
            self.read(expr.trip)
        self.uses(expr.init)
        outer = self.usable
        self.usable = set()
        self.bind(expr.carried)
        if expr.condition is not None:
            is_silent = not any(prints(inner.expr) for inner in expr.condition.lets)
            self.hold(is_silent, "the condition of a loop does not print")
            inner = self.nested((), expr.condition)
            self.reads(expr.condition.results)
            self.leave(inner, set())
        self.usable = {var for var in expr.carried if isinstance(var.type, SumType)}
        inner = self.nested(() if expr.index is None else (expr.index,), expr.body)
        self.uses(expr.body.results)
        for carried, after in zip(expr.carried, expr.body.results, strict=False):
            self.end(after, carried)
        self.leave({*inner, *expr.carried}, outer)
        return self.continued(let.targets, expr.init)

    def branch(self, let: Let, expr: If) -> _Origins:
        """A branch: whichever side runs uses up the same accumulators."""
        self.reads((expr.condition,))
        before = set(self.usable)
        left: list[set[Var]] = []
        for body in (expr.then, expr.other):
            self.usable = set(before)
            inner = self.nested((), body)
            self.uses(body.results)
            self.all_used(before)
            self.scope -= inner
            left.append(self.usable)
        self.hold(left[0] == left[1], "the branches of an if use different accumulators")
        origins = self.continued(let.targets, expr.then.results)
        same = self.continued(let.targets, expr.other.results) == origins
        self.hold(same, "the branches of an if continue different accumulators")
        return origins

    def with_sum(self, let: Let, expr: WithSum) -> _Origins:
        """Accumulators that the body opens and finishes."""
        self.reads(expr.init)
        before = set(self.usable)
        inner = self.nested(expr.tokens, expr.body)
        results = expr.body.results
        self.uses(results)
        for token, after in zip(expr.tokens, results, strict=False):
            self.end(after, token)
        self.all_used(before)
        self.scope -= inner
        count = len(expr.tokens)
        return self.continued(let.targets[count:], results[count:])

    def custom(self, expr: Custom) -> None:
        """A primal and its rules, which close over no accumulator."""
        for bound, body in bodies(expr):
            usable, self.usable = self.usable, set()
            inner = self.nested(bound, body)
            self.reads(body.results)
            self.leave(inner, usable)

    def leave(self, bound: set[Var], usable: set[Var]) -> None:
        """The end of a body that closes over no accumulator: all it had are used up."""
        self.all_used(set())
        self.usable = usable
        self.scope -= bound


def _count(shape: Sequence[Atom]) -> int | None:
    """The number of elements, where it is known."""
    constants = [int(size.value) for size in shape if isinstance(size, Const)]
    return prod(constants) if len(constants) == len(shape) else None
