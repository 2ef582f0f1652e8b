"""Growing programs: a builder per body, folding what is known as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal as OneOf

import numpy as np

from anadrome.array_ir.affine import Affine, affine, affine_apply
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.infer import result_types
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Const,
    Expr,
    Full,
    Function,
    If,
    Index,
    Let,
    Literal,
    Loop,
    ParFor,
    Part,
    Reduce,
    Reshape,
    Size,
    Stack,
    SumType,
    Type,
    Update,
    Var,
    WithSum,
    i64,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors import Span
from anadrome.prims.record import Algebra, Bracket, bracket_of
from anadrome.prims.table import PRIMS

SizeOperation = OneOf["add", "sub", "mul", "floordiv", "min", "max"]


class Builder(Algebra[Atom]):
    """Grows one body. A child builder grows a nested body and sees what is bound around it.

    `span` is the source place given to the statements that follow; a child starts with its parent's.
    Integer operations whose value is a size go through `size`, which puts them in the outermost body
    where their operands are bound and gives equal sizes the same variable, so that types that mention
    them compare equal.
    """

    def __init__(self, parent: Builder | None = None) -> None:
        self.parent = parent
        self.lets: list[Let] = []
        self.span: Span | None = parent.span if parent else None
        self._bound: set[Var] = set()
        self._root: Builder = parent._root if parent else self
        self._definitions: dict[Var, Expr] = self._root._definitions if parent else {}
        self._brackets: dict[Atom, Bracket[Atom]] = self._root._brackets if parent else {}
        self._sizes: dict[object, Size] = {}

    # ------------------------------------------------------------------ scopes
    def child(self) -> Builder:
        """A builder of a body nested here."""
        return Builder(self)

    def bind(self, *variables: Var) -> None:
        """Say that these variables (parameters, indices, carried values) are bound in this body."""
        self._bound.update(variables)

    def owns(self, atom: Atom) -> bool:
        """Whether an atom is bound in this very body, not around it."""
        return isinstance(atom, Var) and atom in self._bound

    def is_around(self, one: Var, other: Var) -> bool:
        """Whether a variable is bound in a body around the one that binds the other."""
        scope: Builder | None = self
        while scope is not None:
            if one in scope._bound:
                return False
            if other in scope._bound:
                return True
            scope = scope.parent
        return False

    def binds(self, var: Var) -> bool:
        """Whether a variable is bound in this body itself."""
        return var in self._bound

    def body(self, results: Sequence[Atom] = ()) -> Body:
        """The finished body."""
        return Body(tuple(self.lets), tuple(results))

    def _scopes(self) -> list[Builder]:
        chain: list[Builder] = []
        scope: Builder | None = self
        while scope is not None:
            chain.append(scope)
            scope = scope.parent
        return chain[::-1]

    def _home(self, atoms: Sequence[Atom]) -> Builder:
        """The outermost body in which all these atoms are bound."""
        chain = self._scopes()
        depth = 0
        for atom in atoms:
            if isinstance(atom, Var):
                depth = max(depth, next((d for d, s in enumerate(chain) if atom in s._bound), 0))
        return chain[depth]

    # ------------------------------------------------------------------ statements
    def let(self, expr: Expr, name: str = "") -> tuple[Var, ...]:
        """Bind the results of an expression to fresh variables."""
        types = result_types(expr)
        names = [name] * len(types) if name else _default_names(expr, len(types))
        targets = tuple([Var(own, type_) for own, type_ in zip(names, types, strict=True)])
        self.lets.append(Let(targets, expr, self.span))
        self._bound.update(targets)
        self._learn(expr, targets)
        return targets

    def let_one(self, expr: Expr, name: str = "") -> Var:
        """Bind the only result of an expression."""
        (target,) = self.let(expr, name)
        return target

    def emit(self, let: Let) -> None:
        """Append a statement as it stands, its targets included."""
        self.lets.append(let)
        self._bound.update(let.targets)
        self._learn(let.expr, let.targets)

    def _learn(self, expr: Expr, targets: tuple[Var, ...]) -> None:
        if is_told(expr, targets):
            self._definitions[targets[0]] = expr
        elif isinstance(expr, Apply):
            found = bracket_of(expr.prim, expr.args, of_bool=expr.args[0].type.dtype is BOOL)
            if found is not None:
                self._brackets[targets[0]] = found

    # ------------------------------------------------------------------ scalars
    def apply(self, name: str, *args: Atom) -> Atom:
        """A scalar operation on scalars, folded where constants or units allow it."""
        folded = _fold(name, args)
        return folded if folded is not None else self.let_one(Apply(PRIMS[name], tuple(args)))

    def constant(self, value: float, like: Atom) -> Atom:
        """A constant of the same scalar type as `like`."""
        return number(value, like.type.dtype)

    def bracket(self, value: Atom) -> Bracket[Atom] | None:
        """The Iverson bracket that a value is, where this builder knows it."""
        return self._brackets.get(value)

    def convert(self, value: Atom, dtype: DType) -> Atom:
        """The scalar as another type; itself where it has that type already."""
        return value if value.type.dtype is dtype else self.apply(f"to_{dtype.name}", value)

    def affine(self, atom: Atom) -> Affine:
        """The affine form of an index or size, as far as this builder knows its definition."""
        return affine(atom, self._definitions)

    def definition(self, atom: Atom) -> Apply | None:
        """The operation that an integer or a bool is the result of, where this builder knows it."""
        found = self._definitions.get(atom) if isinstance(atom, Var) else None
        return found if isinstance(found, Apply) else None

    def made(self, atom: Atom) -> Expr | None:
        """What an array was made by, where this builder knows it: an update, or an array of one value."""
        found = self._definitions.get(atom) if isinstance(atom, Var) else None
        return None if isinstance(found, Apply) else found

    def sees(self, var: Var) -> bool:
        """Whether a variable is bound here or in a body around."""
        return any(var in scope._bound for scope in self._scopes())

    def integers(self) -> dict[Var, Apply]:
        """The operations that integers are the results of, as far as this builder knows them."""
        return {var: found for var, found in self._definitions.items() if isinstance(found, Apply)}

    def size(self, operation: SizeOperation, left: Atom, right: Atom) -> Size:
        """Integer arithmetic on sizes: folded, canonical, and in the outermost body possible."""
        known = self._known_size(operation, left, right)
        if known is not None:
            return known
        home = self._home((left, right))
        key = self._size_key(operation, left, right)
        for scope in home._scopes():
            if key in scope._sizes:
                return scope._sizes[key]
        new = home.let_one(Apply(PRIMS[operation], (left, right)), "size")
        home._sizes[key] = new
        return new

    def emit_affine(self, form: Affine) -> Size:
        """The value of an affine form, computed in the outermost body possible."""
        total: Size = i64(form.constant)
        for var, coefficient in form.terms:
            total = self.size("add", total, self.size("mul", var, i64(coefficient)))
        return total

    def _known_size(self, operation: SizeOperation, left: Atom, right: Atom) -> Size | None:
        folded = _fold(operation, (left, right))
        if folded is not None:
            return folded
        if operation in ("min", "max") and left is right:
            return left
        if operation in ("add", "sub", "mul"):
            form = self._form(operation, left, right)
            atom = None if form is None else form.atom
            return i64(atom) if isinstance(atom, int) else atom
        return None

    def _form(self, operation: SizeOperation, left: Atom, right: Atom) -> Affine | None:
        return affine_apply(Apply(PRIMS[operation], (left, right)), self._definitions)

    def _size_key(self, operation: SizeOperation, left: Atom, right: Atom) -> object:
        form = self._form(operation, left, right)
        if form is not None:
            return form
        return (
            (operation, frozenset((left, right)))
            if operation in ("mul", "min", "max")
            else (operation, left, right)
        )

    # ------------------------------------------------------------------ arrays
    def index(self, array: Var, indices: Sequence[Atom], bounds: Bounds = Bounds.PROVED) -> Atom:
        """`array[indices]`; the array itself where there is no index."""
        return self.let_one(Index(array, tuple(indices), bounds)) if indices else array

    def update(self, array: Var, indices: Sequence[Atom], value: Atom, bounds: Bounds = Bounds.PROVED) -> Var:
        """The array with one place replaced."""
        return self.let_one(Update(array, tuple(indices), value, bounds))

    def full(self, shape: Sequence[Size], value: Atom) -> Atom:
        """An array of one value; the value itself for shape ()."""
        return self.let_one(Full(tuple(shape), value)) if shape else value

    def zeros(self, type_: ArrayType | SumType) -> Atom:
        """Zeros of a type."""
        return self.full(type_.shape, number(0, type_.dtype))

    def literal(self, elements: Sequence[Atom]) -> Var:
        """An array of the given rows."""
        return self.let_one(Literal(tuple(elements)))

    def reshape(self, array: Var, shape: Sequence[Size]) -> Var:
        """The elements under another shape."""
        return self.let_one(Reshape(array, tuple(shape)))

    def add_to(self, token: Var, indices: Sequence[Atom], value: Atom, bounds: Bounds = Bounds.PROVED) -> Var:
        """A contribution to an accumulator; the next token."""
        return self.let_one(AddTo(token, tuple(indices), value, bounds))

    # ------------------------------------------------------------------ nested bodies
    def parfor(
        self, extent: Size, body: Callable[[Builder, Var], Sequence[Part]], name: str = "i"
    ) -> tuple[Var, ...]:
        """The parallel construct: `body(inner, index)` fills the inner builder and gives the yields with
        what they take."""
        inner, index = self.child(), Var(name, ArrayType(I64))
        inner.bind(index)
        parts = body(inner, index)
        return self.let(ParFor.of(index, extent, inner.lets, parts))

    def stack(self, extent: Size, row: Callable[[Builder, Var], Atom], name: str = "i") -> Var:
        """The array of `row(inner, index)` for every index."""
        (result,) = self.parfor(extent, lambda inner, index: (Stack.of(row(inner, index)),), name)
        return result

    def reduce(self, operator: str, extent: Size, value: Callable[[Builder, Var], Atom]) -> Var:
        """The reduction of `value(inner, index)` over every index by a named operator."""
        (result,) = self.parfor(extent, lambda inner, index: (Reduce.of(operator, (value(inner, index),)),))
        return result

    def build(self, shape: Sequence[Size], element: Callable[[Builder, tuple[Var, ...]], Atom]) -> Atom:
        """The array with `element(inner, indices)` everywhere: a nest of stacks, a scalar for shape ()."""

        def level(builder: Builder, outer: tuple[Var, ...]) -> Atom:
            if len(outer) == len(shape):
                return element(builder, outer)
            return builder.stack(shape[len(outer)], lambda inner, index: level(inner, (*outer, index)))

        return level(self, ())

    def array(self, shape: Sequence[Size], element: Callable[[Builder, tuple[Var, ...]], Atom]) -> Var:
        """The same for a shape that is not ()."""
        return as_var(self.build(shape, element))

    def loop(
        self,
        trip: Size,
        init: Sequence[Atom],
        body: Callable[[Builder, Var, tuple[Var, ...]], Sequence[Atom]],
        checkpoint: Checkpoint | None = None,
    ) -> tuple[Var, ...]:
        """A sequential `for`: `body(inner, index, carried)` gives the next carried values."""
        inner, index = self.child(), Var("i", ArrayType(I64))
        carried = tuple(Var(_name(atom), atom.type) for atom in init)
        inner.bind(index, *carried)
        results = tuple(body(inner, index, carried))
        return self.let(Loop(carried, tuple(init), inner.body(results), index, trip, None, checkpoint))

    def while_loop(
        self,
        init: Sequence[Atom],
        condition: Callable[[Builder, tuple[Var, ...]], Atom],
        body: Callable[[Builder, tuple[Var, ...]], Sequence[Atom]],
    ) -> tuple[Var, ...]:
        """A sequential `while`."""
        test, inner = self.child(), self.child()
        carried = tuple(Var(_name(atom), atom.type) for atom in init)
        test.bind(*carried)
        condition_results = (condition(test, carried),)
        condition_body = test.body(condition_results)
        inner.bind(*carried)
        results = tuple(body(inner, carried))
        return self.let(Loop(carried, tuple(init), inner.body(results), condition=condition_body))

    def branch(
        self,
        condition: Atom,
        then: Callable[[Builder], Sequence[Atom]],
        other: Callable[[Builder], Sequence[Atom]],
    ) -> tuple[Var, ...]:
        """An `if` of which one branch runs."""
        first, second = self.child(), self.child()
        then_results = tuple(then(first))
        other_results = tuple(other(second))
        return self.let(If(condition, first.body(then_results), second.body(other_results)))

    def with_sum(
        self, init: Sequence[Var], body: Callable[[Builder, tuple[Var, ...]], Sequence[Atom]]
    ) -> tuple[Var, ...]:
        """Accumulators over `init` for the extent of `body(inner, tokens)`, which ends with the tokens."""
        inner = self.child()
        tokens = tuple(Var("sum", SumType(var.type.dtype, var.type.shape)) for var in init)
        inner.bind(*tokens)
        results = tuple(body(inner, tokens))
        return self.let(WithSum(tuple(init), tokens, inner.body(results)))

    # ------------------------------------------------------------------ copies
    def inline(self, body: Body, mapping: Mapping[Var, Atom]) -> tuple[Atom, ...]:
        """Append a fresh copy of a body with free variables replaced; its results in the copy."""
        renaming = Renaming(mapping)
        for let in body.lets:
            self.emit(renaming.let(let))
        return renaming.atoms(body.results)

    def call(self, fn: Function, args: Sequence[Atom]) -> tuple[Atom, ...]:
        """Append a fresh copy of a function on arguments; sizes are taken from the arguments' types."""
        mapping: dict[Var, Atom] = dict(zip(fn.params, args, strict=True))
        for param, arg in zip(fn.params, args, strict=True):
            for size, actual in zip(param.type.shape, arg.type.shape, strict=True):
                if isinstance(size, Var):
                    mapping.setdefault(size, actual)
        return self.inline(fn.body, mapping)


def is_told(expr: Expr, targets: tuple[Var, ...]) -> bool:
    """Whether builders remember what a variable is the result of."""
    match expr:
        case Apply():
            return targets[0].type.dtype in (I64, BOOL)
        case Update() | Full():
            return True
        case _:
            return False


def build_function(
    name: str, types: Sequence[Type], body: Callable[[Builder, tuple[Var, ...]], Sequence[Atom]]
) -> Function:
    """A function of parameters of these types: `body(builder, params)` gives the results."""
    builder = Builder()
    params = tuple(Var(f"x{position}", type_) for position, type_ in enumerate(types))
    builder.bind(*params)
    results = body(builder, params)
    return Function(name, params, builder.body(results))


def as_var(atom: Atom) -> Var:
    """An array, an accumulator, or a number that is no constant: surely a variable."""
    assert isinstance(atom, Var)
    return atom


def number(value: float, dtype: DType) -> Const:
    """A constant of a scalar type."""
    if dtype.is_float:
        return Const(float(value), dtype)
    return Const(bool(value) if dtype.kind == "bool" else int(value), dtype)


def _name(atom: Atom) -> str:
    return atom.name if isinstance(atom, Var) else "c"


def _default_names(expr: Expr, count: int) -> list[str]:
    """What the results of an expression are called: of what goes on with a variable, that is its name."""
    match expr:
        case Apply() | Index():
            return [UNNAMED[0]] * count
        case Update(array=array):
            return [array.name]
        case Loop(carried=carried):
            return [var.name for var in carried]
        case _:
            return [UNNAMED[1]] * count


UNNAMED = ("v", "a")
"""What numbers and arrays are called that have no name of their own."""


def give_name(var: Var, name: str) -> None:
    """Call a variable otherwise: of all that a program is made of this alone means nothing to any stage."""
    var.name = name  # type: ignore[misc]


# ---------------------------------------------------------------------------- folding
_UNITS = {
    ("add", 1): -0.0,
    ("sub", 1): 0.0,
    ("mul", 0): 1.0,
    ("mul", 1): 1.0,
    ("div", 1): 1.0,
    ("add", 0): -0.0,
}
"""(operation, argument) -> the float constant that leaves the other argument as it is, zeros' signs too."""


def _fold(name: str, args: Sequence[Atom]) -> Atom | None:
    """What an operation is known to be, or None."""
    constants = [arg for arg in args if isinstance(arg, Const)]
    if len(constants) == len(args) and constants:
        return _evaluate(name, constants)
    if name == "select" and isinstance(args[0], Const):
        return args[1] if args[0].value else args[2]
    if name == "select" and args[1] is args[2]:
        return args[1]
    if len(args) == 2 and constants:
        position = 0 if isinstance(args[0], Const) else 1
        return _fold_unit(name, position, constants[0], args[1 - position])
    return None


def _fold_unit(name: str, position: int, constant: Const, other: Atom) -> Atom | None:
    unit = _UNITS.get((name, position))
    if constant.dtype is not other.type.dtype or unit is None:
        return None
    if constant.dtype.is_float:
        return other if repr(float(constant.value)) == repr(unit) else None
    if constant.dtype.is_integer and name != "div":
        if constant.value == int(unit):
            return other
        if name == "mul" and constant.value == 0:
            return constant
    return None


def _evaluate(name: str, constants: Sequence[Const]) -> Const | None:
    prim = PRIMS[name]
    dtype = prim.types(tuple(constant.dtype for constant in constants))
    if dtype is None:
        return None
    with np.errstate(all="ignore"):
        value = prim.numpy(*(constant.dtype.numpy.type(constant.value) for constant in constants))
    return Const(dtype.numpy.type(value).item(), dtype)
