"""Operators of reductions and scans as functions: applied, flipped, dual, and their Jacobians by parts.

An operator ⊕ on tuples of scalars is an ordinary body, so its derivatives are those of a body:

  dual (forward mode)     (l, l_tan) ⊕ (r, r_tan) = (l ⊕ r, ∂(l⊕r)/∂l·l_tan + ∂(l⊕r)/∂r·r_tan)
  pullback                (l, r, y_adj) → (l_adj, r_adj)
  blocks                  components that ∂(l⊕r)/∂l connects; between two blocks it is zero everywhere

The dual of an associative operator is associative. Blocks are what makes the Jacobian of a product of
matrices, or of a composition of linear functions, as small as the matrix (IFL23, §4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.activity import varied_variables
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import (
    Apply,
    Atom,
    Body,
    Function,
    Lambda,
    Operator,
    Type,
    Var,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.walk import free_variables

Derivative = Callable[[Function, Sequence[bool]], Function]
"""`jvp` or `vjp`, which is handed in: their own rules need what stands here."""

Lookup = Callable[[Var], Atom | None]
"""old variable -> its tangent in one direction, None where it is zero"""

LARGEST_BLOCK = 4
"""Components up to which a block of the Jacobian is composed with others; larger ones cost d³ a step."""


# ---------------------------------------------------------------------------- applying
def as_lambda(operator: Operator, types: Sequence[Type]) -> Lambda:
    """The operator on scalars of these types as a lambda of its own variables."""
    if isinstance(operator, Lambda):
        return _copy(operator)
    (type_,) = types
    builder = Builder()
    left, right = Var("left", type_), Var("right", type_)
    builder.bind(left, right)
    result = builder.apply(operator, left, right)
    return Lambda((left,), (right,), builder.body((result,)), (identity(operator, type_.dtype),))


def _copy(operator: Lambda) -> Lambda:
    copied = Renaming({}).operator(operator)
    assert isinstance(copied, Lambda)
    return copied


def flipped_operator(operator: Lambda) -> Lambda:
    """l ⊖ r = r ⊕ l"""
    copied = _copy(operator)
    return Lambda(copied.right, copied.left, copied.body, copied.identity)


def substitute(builder: Builder, body: Body, mapping: Mapping[Var, Atom]) -> tuple[Atom, ...]:
    """Append a copy of a body with free variables replaced, folded where constants came in; its results."""
    renaming = Renaming(mapping)
    for let in body.lets:
        if isinstance(let.expr, Apply):
            args = renaming.atoms(let.expr.args)
            renaming.mapping[let.targets[0]] = builder.apply(let.expr.prim.name, *args)
        else:
            builder.emit(renaming.let(let))
    return renaming.atoms(body.results)


# ---------------------------------------------------------------------------- structure
def captured(operator: Operator, varied: set[Var]) -> list[Var]:
    """The varied variables that an operator reads of what is around it."""
    if not isinstance(operator, Lambda):
        return []
    own = {*operator.left, *operator.right}
    return [var for var in free_variables(operator.body) if var in varied and var not in own]


def dependencies(operator: Lambda, moving: Sequence[int]) -> dict[int, list[int]]:
    """For each moving component of l ⊕ r, the moving components of l that its derivative depends on."""
    found: dict[int, list[int]] = {place: [] for place in moving}
    for position in moving:
        reached = varied_variables(operator.body, (operator.left[position],))
        for place in moving:
            if operator.body.results[place] in reached:
                found[place].append(position)
    return found


def blocks(operator: Lambda, moving: Sequence[int]) -> list[list[int]]:
    """The moving components of the operator in groups between which ∂(l⊕r)/∂l is zero."""
    group = list(range(len(operator.left)))

    def root(place: int) -> int:
        return place if group[place] == place else root(group[place])

    for place, parts in dependencies(operator, moving).items():
        for part in parts:
            group[root(part)] = root(place)
    found: dict[int, list[int]] = {}
    for place in moving:
        found.setdefault(root(place), []).append(place)
    return list(found.values())


def has_small_blocks(operator: Lambda, moving: Sequence[int]) -> bool:
    """Whether scans by the operator are differentiated by composing its Jacobians."""
    return all(
        len(block) <= LARGEST_BLOCK and len({operator.left[place].type.dtype for place in block}) == 1
        for block in blocks(operator, moving)
    )


# ---------------------------------------------------------------------------- derivatives
@dataclass(frozen=True, slots=True, eq=False)
class Pullback:
    """How cotangents of some components of l ⊕ r go back to some of its operands."""

    derivative: Function
    results: int

    def pull(
        self, builder: Builder, operands: Sequence[Atom], cotangents: Sequence[Atom]
    ) -> tuple[Atom, ...]:
        """The adjoints of the active operands; one cotangent for each float component that was chosen."""
        fn = self.derivative
        mapping = dict(zip(fn.params, (*operands, *cotangents), strict=True))
        return substitute(builder, fn.body, mapping)[self.results :]


def pullback(
    operator: Lambda, extra: Sequence[Var], active: Sequence[bool], chosen: Sequence[int], reverse: Derivative
) -> Pullback:
    """The pullback of the chosen components to the active ones of (left…, right…, extra…)."""
    params = (*operator.left, *operator.right, *extra)
    results = tuple(operator.body.results[place] for place in chosen)
    fn = Function("operator", params, Body(operator.body.lets, results))
    return Pullback(reverse(fn, active), len(results))


def jacobian(operator: Lambda, extra: Sequence[Var], block: Sequence[int], reverse: Derivative) -> Jacobian:
    """∂(l⊕r)/∂l between the components of a block, one row at a time."""
    depends = dependencies(operator, block)
    rows: list[tuple[int, list[int], Pullback]] = []
    rest = [False] * (len(operator.right) + len(extra))
    for place in block:
        if depends[place]:
            active = [position in depends[place] for position in range(len(operator.left))]
            rows.append((place, depends[place], pullback(operator, extra, active + rest, [place], reverse)))
    return Jacobian(tuple(rows))


@dataclass(frozen=True, slots=True, eq=False)
class Jacobian:
    """The rows of ∂(l⊕r)/∂l that are not zero: (component, the parts it depends on, their pullback)."""

    rows: tuple[tuple[int, list[int], Pullback], ...]

    @property
    def entries(self) -> list[tuple[int, int]]:
        """(component of l ⊕ r, component of l) wherever an entry is not zero."""
        return [(place, part) for place, parts, _ in self.rows for part in parts]

    def evaluate(self, builder: Builder, operands: Sequence[Atom]) -> dict[tuple[int, int], Atom]:
        """The entries at these operands."""
        found: dict[tuple[int, int], Atom] = {}
        for place, parts, row in self.rows:
            (result,) = row.derivative.body.results[:1]
            one = number(1.0, result.type.dtype)
            values = row.pull(builder, operands, (one,))
            found.update({(place, part): value for part, value in zip(parts, values, strict=True)})
        return found


def dual(operator: Lambda, moving: Sequence[int], extra: Mapping[Var, Atom], forward: Derivative) -> Lambda:
    """The operator on (values…, tangents of the moving components…); `extra` are captured variables with
    their tangents."""
    left, right = (tuple(Var(var.name, var.type) for var in side) for side in (operator.left, operator.right))
    left_tan, right_tan = (
        tuple(Var(f"{side[place].name}_tan", side[place].type) for place in moving) for side in (left, right)
    )
    sides = (left, left_tan, right, right_tan)
    zeros = tuple(number(0.0, operator.left[place].type.dtype) for place in moving)
    body = _dual_body(operator, operator.body, moving, extra, sides, forward)
    inverse = operator.inverse
    if inverse is not None:
        inverse = _dual_body(operator, inverse, moving, extra, sides, forward)
    return Lambda((*left, *left_tan), (*right, *right_tan), body, (*operator.identity, *zeros), inverse)


def _dual_body(
    operator: Lambda,
    body: Body,
    moving: Sequence[int],
    extra: Mapping[Var, Atom],
    sides: Sequence[Sequence[Var]],
    forward: Derivative,
) -> Body:
    """A body over the operator's operands with its tangents, over these variables: values and tangents of the
    left side, then of the right side."""
    left, left_tan, right, right_tan = sides
    chosen = [place in moving for place in range(len(operator.left))]
    fn = Function("operator", (*operator.left, *operator.right, *extra), body)
    derivative = forward(fn, (*chosen, *chosen, *(True for _ in extra)))
    builder = Builder()
    builder.bind(*left, *left_tan, *right, *right_tan)
    args = (*left, *right, *extra, *left_tan, *right_tan, *extra.values())
    results = builder.inline(derivative.body, dict(zip(derivative.params, args, strict=True)))
    count = len(operator.left)
    floats = [place for place, atom in enumerate(operator.body.results) if atom.type.dtype.is_float]
    tangents = tuple(results[count + floats.index(place)] for place in moving)
    return builder.body((*results[:count], *tangents))


def moving_components(
    operator: Lambda, varied_values: Sequence[bool], extra: Sequence[Atom]
) -> tuple[int, ...]:
    """The components of the running value that vary, from what varies of values and captured variables."""
    captured_variables = [atom for atom in extra if isinstance(atom, Var)]
    moving = {place for place, is_varied in enumerate(varied_values) if is_varied}
    while True:
        sides = [side[place] for side in (operator.left, operator.right) for place in moving]
        reached = varied_variables(operator.body, (*sides, *captured_variables))
        more = {place for place, atom in enumerate(operator.body.results) if atom in reached}
        if more <= moving:
            return tuple(place for place in sorted(moving) if operator.left[place].type.dtype.is_float)
        moving |= more
