"""A call of a function with derivative rules, staged: the primal and its rules as bodies of a `Custom`.

Arguments of the node are the floats among the leaves of the call's arguments. Everything else (integers,
static values, arguments named non-differentiable) is read by the bodies where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.api import pytree
from anadrome.api.closures import Result, leaf_result, like, parameter_value, staged_leaf
from anadrome.api.derivatives.conjugation import conjugated
from anadrome.api.derivatives.gradients import type_words
from anadrome.api.patterns import RETURN_VALUES, agree_patterns, refuse_sparse
from anadrome.api.places import place_of
from anadrome.api.pytree import Structure
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Const, Custom, JvpRule, Var, VjpRule
from anadrome.array_ir.rewrite import bind_residuals
from anadrome.errors import Span
from anadrome.errors.api import RuleMismatch, SizeUnknown
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.modes import Mode, Modes, after
from anadrome.frontend.sizes import retype
from anadrome.frontend.values import Array, Scalar, ScopeKind, Staged, Value

Rule = Callable[..., object]


RULE = "a rule is run as often as a derivative asks for it"
"""Why a rule does not print."""


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call: its arguments by position, which of them are never differentiated, and the names of the last
    ones, where the function takes these by name alone."""

    context: Context
    name: str
    function: Rule
    values: Sequence[Value]
    fixed: frozenset[int]
    keywords: Sequence[str] = ()

    @property
    def given(self) -> tuple[Value, ...]:
        """The arguments that rules get tangents of, or cotangents for."""
        return tuple(value for place, value in enumerate(self.values) if place not in self.fixed)

    @property
    def settings(self) -> tuple[Value, ...]:
        """The arguments that are not differentiated."""
        return tuple(value for place, value in enumerate(self.values) if place in self.fixed)

    def run(self, function: Rule, given: Sequence[Value]) -> Value:
        """The function, or one with its parameters, on others in place of what is differentiated."""
        supply = iter(given)
        found = [value if place in self.fixed else next(supply) for place, value in enumerate(self.values)]
        split = len(found) - len(self.keywords)
        named = dict(zip(self.keywords, found[split:], strict=True))
        return _run(self.context, function, found[:split], named)


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The leaves of the differentiated arguments, those of them that are floats, and their structure."""

    leaves: Sequence[Value]
    structure: Structure
    active: Mapping[int, Staged]

    @staticmethod
    def of(call: Call) -> Inputs:
        """The inputs of a call."""
        leaves, structure = pytree.flatten(call.given)
        active = {
            place: leaf
            for place, leaf in enumerate(leaves)
            if isinstance(leaf, Scalar | Array) and leaf.dtype.is_float
        }
        return Inputs(leaves, structure, active)

    def variables(self, context: Context, name: str) -> tuple[Var, ...]:
        """New variables of the types of the floats."""
        return tuple(Var(name, atom(context, leaf).type) for leaf in self.active.values())

    def primals(self, context: Context, params: Sequence[Var]) -> tuple[Value, ...]:
        """The arguments with these variables for their floats."""
        leaves = list(self.leaves)
        for (place, leaf), param in zip(self.active.items(), params, strict=True):
            leaves[place] = parameter_value(context, leaf, param)
        found: tuple[Value, ...] = pytree.unflatten(self.structure, leaves)
        return found

    def tangents(self, context: Context, tangents: Sequence[Var]) -> tuple[Value, ...]:
        """The same, with zeros for every other number and array that is no pattern of a sparse matrix."""
        places = pytree.pattern_places(self.structure)
        leaves = [
            leaf if place in self.active or places[place] else _zero(context, leaf)
            for place, leaf in enumerate(self.leaves)
        ]
        for (place, leaf), tangent in zip(self.active.items(), tangents, strict=True):
            leaves[place] = parameter_value(context, leaf, tangent)
        found: tuple[Value, ...] = pytree.unflatten(self.structure, leaves)
        return found


def _zero(context: Context, leaf: Value) -> Value:
    """The tangent of a value that is not differentiated: zeros where it is made of numbers, else itself."""
    if isinstance(leaf, Scalar | Array):
        return context.wrap(context.builder.zeros(ArrayType(leaf.dtype, leaf.shape)))
    if isinstance(leaf, bool | int | float | np.generic):
        return type(leaf)(0)
    return np.zeros_like(leaf) if isinstance(leaf, np.ndarray) else leaf


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """What the function results in: its structure, its leaves, and the types of those that are run-time
    values."""

    structure: Structure
    results: Sequence[Result]
    types: tuple[ArrayType, ...]

    @property
    def floats(self) -> list[int]:
        """The positions of the results that carry derivatives."""
        return [position for position, type_ in enumerate(self.types) if type_.dtype.is_float]

    def cotangent(self, context: Context, cotangents: Sequence[Var]) -> Value:
        """Cotangents in the form of the result; zeros for what is no float."""
        found: list[Atom] = [
            cotangents[self.floats.index(position)]
            if position in self.floats
            else context.builder.zeros(type_)
            for position, type_ in enumerate(self.types)
        ]
        return pytree.unflatten(self.structure, [result.value(context, found) for result in self.results])


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A rule with what it is called in messages."""

    kind: str
    function: str
    rule: Rule
    span: Span | None

    @staticmethod
    def of(call: Call, kind: str, rule: Rule) -> Named:
        """A rule of the function that is called."""
        return Named(kind, call.name, rule, _place(rule) or call.context.span)

    def refuse(self, what: str, expected: str, got: str) -> RuleMismatch:
        """The error that the rule does not give what it must."""
        return RuleMismatch(self.kind, self.function, what, expected, got).at(self.span)

    def parts(self, outcome: Value, count: int, what: str) -> tuple[Value, ...]:
        """What the rule gives, which must be a tuple of so many parts."""
        if isinstance(outcome, tuple | list) and len(outcome) == count:
            return tuple(outcome)
        raise self.refuse(what, f"a tuple of {count}", _words(outcome))

    def leaves(self, value: Value, structure: Structure, what: str) -> list[Value]:
        """The leaves of a value that must have this structure."""
        leaves, found = pytree.flatten(value)
        if found != structure:
            raise self.refuse(what, pytree.describe(structure), _words(value))
        return leaves

    def fitted(self, context: Context, leaf: Value, type_: ArrayType, what: str) -> Atom:
        """A leaf as an atom of this type; sizes that are not known now are compared at run time."""
        staged = staged_leaf(context, leaf)
        if staged is None:
            raise self.refuse(what, type_words(type_), describe(leaf))
        is_number = not staged.shape and not type_.shape and staged.dtype is not type_.dtype
        is_convertible = is_number and (staged.dtype.is_integer or getattr(staged, "is_weak", False))
        if len(staged.shape) != type_.rank or not (staged.dtype is type_.dtype or is_convertible):
            raise self.refuse(what, type_words(type_), type_words(ArrayType(staged.dtype, staged.shape)))
        for size, wanted in zip(staged.shape, type_.shape, strict=True):
            left, right = getattr(size, "value", None), getattr(wanted, "value", None)
            if left is not None and right is not None and left != right:
                raise self.refuse(what, type_words(type_), type_words(ArrayType(staged.dtype, staged.shape)))
        found = atom(context, staged, type_.dtype if is_convertible else None)
        if not isinstance(found, Var) or not type_.shape:
            return found
        context.span = self.span
        return retype(context, found, type_, f"{what} in the {self.kind} rule of `{self.function}`")


def _place(rule: Rule) -> Span | None:
    if isinstance(rule, StagedFunction):
        return rule.text.source.span(rule.text.node)
    return place_of(rule)


def _words(value: Value) -> str:
    _, structure = pytree.flatten(value)
    return describe(value) if isinstance(structure, pytree.Leaf) else pytree.describe(structure)


# ---------------------------------------------------------------------------- the whole
def stage_ruled(call: Call, jvp: Rule | None, forward: Rule | None, backward: Rule | None) -> Value:
    """The call as a `Custom` with the rules there are, and what it results in."""
    context = call.context
    inputs = Inputs.of(call)
    params = inputs.variables(context, "x")
    primal, outputs = _primal(call, inputs, params)
    if not outputs.types:
        return pytree.unflatten(outputs.structure, [result.static for result in outputs.results])
    modes = context.derivatives()
    forward_left, reverse_left = after(modes, Mode.FORWARD), after(modes, Mode.REVERSE)
    has_jvp, has_vjp = jvp is not None, forward is not None and backward is not None
    jvp_rule, vjp_rule = None, None
    if jvp is not None and (forward_left is not None or not has_vjp):
        left = modes[1:] if forward_left is None else forward_left
        jvp_rule = _jvp(call, inputs, outputs, jvp, left)
    if forward is not None and backward is not None and (reverse_left is not None or not has_jvp):
        left = modes[1:] if reverse_left is None else reverse_left
        vjp_rule = _vjp(call, inputs, outputs, forward, backward, left)
    args = tuple(atom(context, leaf) for leaf in inputs.active.values())
    found = context.builder.let(Custom(args, params, primal, jvp_rule, vjp_rule))
    return pytree.unflatten(outputs.structure, [result.value(context, found) for result in outputs.results])


def _run(
    context: Context, function: Rule, args: Sequence[Value], named: Mapping[str, Value] | None = None
) -> Value:
    return made_list(context, context.call(function, *args, **(named or {})))


def _primal(call: Call, inputs: Inputs, params: tuple[Var, ...]) -> tuple[Body, Outputs]:
    """The function itself, which no transform enters."""
    context = call.context
    with context.nested(ScopeKind.RULE, ()) as scope:
        scope.builder.bind(*params)
        leaves, structure = pytree.flatten(call.run(call.function, inputs.primals(context, params)))
        refuse_sparse(call.name, "return, as a function with a rule of its own,", structure, RETURN_VALUES)
        atoms: list[Atom] = []
        results = [leaf_result(context, leaf, atoms) for leaf in leaves]
        if any(scope.builder.owns(size) for found in atoms for size in found.type.shape):
            raise SizeUnknown(call.name)
    return scope.builder.body(atoms), Outputs(
        structure, results, tuple(_array_type(found) for found in atoms)
    )


def _fitting(
    context: Context, named: Named, value: Value, outputs: Outputs, what: str, wanted: Sequence[int]
) -> list[Atom]:
    """The atoms of a value in the form of the result, for the wanted positions."""
    leaves = named.leaves(value, outputs.structure, what)
    given = {result.position: leaf for result, leaf in zip(outputs.results, leaves, strict=True)}
    return [named.fitted(context, given[position], outputs.types[position], what) for position in wanted]


def _jvp(call: Call, inputs: Inputs, outputs: Outputs, rule: Rule, left: Modes) -> JvpRule:
    context, named = call.context, Named.of(call, "jvp", rule)
    params, tangents = inputs.variables(context, "x"), inputs.variables(context, "x_tan")
    with context.nested(ScopeKind.RULE, left) as scope, context.unprinted(RULE):
        scope.builder.bind(*params, *tangents)
        pairs = inputs.primals(context, params), inputs.tangents(context, tangents)
        outcome = named.parts(_run(context, rule, (*call.settings, *pairs)), 2, "what it returns")
        everything = range(len(outputs.types))
        atoms = _fitting(context, named, outcome[0], outputs, "the result", everything)
        atoms += _fitting(context, named, outcome[1], outputs, "the tangent", outputs.floats)
    return JvpRule(params, tangents, scope.builder.body(atoms))


def _vjp(call: Call, inputs: Inputs, outputs: Outputs, forward: Rule, backward: Rule, left: Modes) -> VjpRule:
    context, named = call.context, Named.of(call, "forward", forward)
    params = inputs.variables(context, "x")
    with context.nested(ScopeKind.RULE, left) as scope, context.unprinted(RULE):
        scope.builder.bind(*params)
        outcome = call.run(forward, inputs.primals(context, params))
        parts = named.parts(outcome, 2, "what it returns")
        atoms = _fitting(context, named, parts[0], outputs, "the result", range(len(outputs.types)))
        kept = _kept(context, named, parts[1])
    sizes = [size for found in kept for size in found.type.shape if scope.builder.owns(size)]
    saved = [found for found in dict.fromkeys((*sizes, *kept)) if isinstance(found, Var)]
    first = scope.builder.body((*atoms, *saved))
    residuals = bind_residuals(first, len(atoms), lambda _, type_: Var("saved", type_))
    names = dict(zip(saved, residuals, strict=True))
    cotangents, second = _backward(call, inputs, outputs, backward, (parts[1], names, left))
    return VjpRule(params, first, residuals, cotangents, second)


def _kept(context: Context, named: Named, value: Value) -> list[Atom]:
    """The run-time values among the residuals."""
    found: list[Atom] = []
    for leaf in pytree.flatten(value)[0]:
        if isinstance(leaf, Scalar | Array):
            found.append(atom(context, leaf))
        elif type(leaf).__module__.partition(".")[0] == "anadrome":
            raise named.refuse("a residual", "a number, an array or a static value", describe(leaf))
    return found


def _backward(
    call: Call, inputs: Inputs, outputs: Outputs, rule: Rule, kept: tuple[Value, Mapping[Var, Var], Modes]
) -> tuple[tuple[Var, ...], Body]:
    """The cotangents of the result as variables, and the body that makes those of the arguments of them."""
    context, named = call.context, Named.of(call, "backward", rule)
    value, names, left = kept
    cotangents = tuple(Var("y_adj", outputs.types[position]) for position in outputs.floats)

    def restored(leaf: Value) -> Value:
        if not isinstance(leaf, Scalar | Array):
            return leaf
        found = atom(context, leaf)
        return leaf if isinstance(found, Const) else like(context, names[found], leaf)

    with context.nested(ScopeKind.RULE, left) as scope, context.unprinted(RULE):
        scope.builder.bind(*names.values(), *cotangents)
        residuals = pytree.map_leaves(restored, value)
        given = conjugated(context, outputs.cotangent(context, cotangents))
        outcome = _run(context, rule, (*call.settings, residuals, given))
        parts = named.parts(outcome, len(call.given), "what it returns")
        atoms = _cotangents(context, named, call, inputs, parts)
    return cotangents, scope.builder.body(atoms)


def _cotangents(
    context: Context, named: Named, call: Call, inputs: Inputs, parts: Sequence[Value]
) -> list[Atom]:
    """A cotangent for each float among the leaves of the arguments."""
    atoms: list[Atom] = []
    place = 0
    for number, (arg, part) in enumerate(zip(call.given, parts, strict=True)):
        leaves, structure = pytree.flatten(arg)
        what = f"the cotangent of argument {number}"
        found = None if part is None else named.leaves(conjugated(context, part), structure, what)
        if found is not None:
            agree_patterns(context, what, structure, leaves, found)
        for offset in range(len(leaves)):
            leaf = inputs.active.get(place + offset)
            if leaf is None:
                continue
            type_ = ArrayType(leaf.dtype, leaf.shape)
            if found is None:
                atoms.append(context.builder.zeros(type_))
            else:
                atoms.append(named.fitted(context, found[offset], type_, what))
        place += len(leaves)
    return atoms


def _array_type(found: Atom) -> ArrayType:
    assert isinstance(found.type, ArrayType)
    return found.type
