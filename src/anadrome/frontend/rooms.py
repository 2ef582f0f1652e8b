"""Arrays with room for more rows than there are, and how much room an array needs at most.

A run-time loop or branch keeps the shapes of what it carries, so an array whose length only the run knows is
carried in a buffer, of which the first rows count. How long it can get is found from how its size is
computed: forms of what is known before the loop or branch, the largest of which is no smaller than the size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Part, Scatter, Size, Var
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import differ_always, equals, is_at_most, is_size
from anadrome.frontend.values import Scope

Forms = tuple[Affine, ...]
"""Forms of which the largest is meant."""

DEPTH = 16
"""How many variables are replaced by their bounds, one after the other."""


# ---------------------------------------------------------------------------- buffers
def widened(builder: Builder, var: Var, type_: ArrayType) -> Atom:
    """The rows of an array, and zeros behind them."""
    size = var.type.shape[0]
    if size == type_.shape[0]:
        return var
    if isinstance(size, Const) and not int(size.value):
        return builder.zeros(type_)
    zero = builder.zeros(ArrayType(type_.dtype, type_.shape[1:]))

    def row(inner: Builder, index: Var) -> Atom:
        is_old = inner.apply("lt", index, size)
        return inner.branch(is_old, lambda one: (one.index(var, (index,)),), lambda one: (zero,))[0]

    return builder.stack(type_.shape[0], row)


def first_rows(builder: Builder, buffer: Var, extent: Size) -> Var:
    """The rows of a buffer that count."""
    if extent == buffer.type.shape[0]:
        return buffer
    return builder.stack(extent, lambda inner, index: inner.index(buffer, (index,)))


def put_rows(builder: Builder, buffer: Var, rows: Var, first: Atom) -> Var:
    """The buffer with these rows from a place on, which has room for them."""

    def put(inner: Builder, index: Var) -> Sequence[Part]:
        return [Scatter.of(buffer, (inner.apply("add", first, index),), inner.index(rows, (index,)))]

    (result,) = builder.parfor(rows.type.shape[0], put)
    return result


# ---------------------------------------------------------------------------- how large a size can be
def is_outside(scope: Scope, size: Size) -> bool:
    """Whether a size is known before a scope begins."""
    around = scope.parent
    while isinstance(size, Var) and around is not None:
        if around.builder.binds(size):
            return True
        around = around.parent
    return isinstance(size, Const)


def sources(context: Context, size: Size) -> set[Var]:
    """The sizes that a size is computed from, itself among them."""
    if isinstance(size, Const):
        return set()
    definition = context.builder.definition(size)
    args: Iterable[Atom] = () if definition is None else definition.args
    forms = () if args else context.most.get(size, ())
    below = [*args, *(var for form in forms for var, _ in form.terms)]
    return {size}.union(*(sources(context, one) for one in below))


def differ(context: Context, left: Size, right: Size) -> bool:
    """Whether two sizes are known to differ."""
    is_static = isinstance(left, Const) and isinstance(right, Const)
    return left != right if is_static else differ_always(context, left, right)


def ceilings(
    context: Context, form: Affine, is_kept: Callable[[Var], bool], above: tuple[Var, ...] = ()
) -> Forms | None:
    """Forms of kept variables, the largest of which is no smaller than this one; None where none is known.

    `above` are the variables that were replaced by their bounds on the way here.
    """
    term = next(((var, factor) for var, factor in form.terms if not is_kept(var)), None)
    if term is None:
        return (form,)
    if len(above) == DEPTH:
        return None
    var, factor = term
    rest, inner = form.without(var), (*above, var)
    choices = _choices(context, var, 1 if factor > 0 else -1, above)
    dividend, divisor = _quotient(context, var)
    if factor > 0 and dividend is not None:
        parts = ceilings(context, dividend, is_kept, inner)
        choices += [] if parts is None else _quotients(context, parts, divisor)
    found: list[Forms] = []
    for choice in choices:
        each = [ceilings(context, rest.plus(bound, factor), is_kept, inner) for bound in choice]
        if all(part is not None for part in each):
            found.append(tuple(one for part in each for one in part or ()))
    return min(found, key=_extent) if found else None


def _extent(forms: Forms) -> tuple[int, int]:
    """What says which of two bounds is the lower one, as far as that can be said."""
    return max((sum(abs(factor) for _, factor in form.terms), form.constant) for form in forms)


def _choices(context: Context, var: Var, sign: int, above: tuple[Var, ...]) -> list[Forms]:
    """Bounds of a variable from above (sign 1) or below (-1): of each, the outermost form is a bound."""
    builder, found = context.builder, list[Forms]()
    definition = builder.definition(var)
    name = "" if definition is None else definition.prim.name
    args = () if definition is None else definition.args
    match name:
        case "max" | "min":
            both = (builder.affine(args[0]), builder.affine(args[1]))
            found += [both] if (name == "max") is (sign > 0) else [(both[0],), (both[1],)]
        case "select":
            found.append((builder.affine(args[1]), builder.affine(args[2])))
        case _:
            pass
    if var in context.ranges:
        lo, hi = context.ranges[var]
        found.append((hi.plus(Affine((), -1)),) if sign > 0 else (lo,))
    if sign > 0 and var in context.most:
        found.append(context.most[var])
    if sign < 0 and is_size(context, var):
        found.append((Affine((), 0),))
    return found or [(builder.affine(other),) for other in equals(context, var) if other not in above]


def _quotient(context: Context, var: Var) -> tuple[Affine | None, int]:
    """What is divided, and by which positive number, where a variable is a quotient."""
    definition = context.builder.definition(var)
    if definition is None or definition.prim.name != "floordiv":
        return None, 1
    dividend, divisor = definition.args
    is_plain = isinstance(divisor, Const) and int(divisor.value) > 0
    return (context.builder.affine(dividend), int(divisor.value)) if is_plain else (None, 1)  # type: ignore[union-attr]


def _quotients(context: Context, forms: Forms, divisor: int) -> list[Forms]:
    """Bounds of ⌊(c + Σ aᵢ·xᵢ) / k⌋ from above, for no xᵢ below 0: ⌊c/k⌋ + Σ ⌈aᵢ/k⌉·xᵢ; and of
    ⌊(c + a·x) / k⌋, a < k, which is at most x from t = ⌈c / (k - a)⌉ on: of x and its value at t."""
    if any(not is_size(context, var) for form in forms for var, _ in form.terms):
        return []
    found: list[Affine] = []
    for form in forms:
        constant, slope = form.constant, form.terms[0][1] if len(form.terms) == 1 else 0
        if 0 < slope < divisor and constant > 0:
            turn = -(-constant // (divisor - slope))
            found += [Affine(((form.terms[0][0], 1),), 0), Affine((), (constant + slope * turn) // divisor)]
        else:
            terms = ((var, -(-factor // divisor)) for var, factor in form.terms)
            found.append(Affine(tuple(term for term in terms if term[1]), constant // divisor))
    return [tuple(found)]


def largest(context: Context, forms: Sequence[Affine], least: Size) -> Size:
    """The largest of these and of `least`, computed where they are known."""
    found = least
    for form in forms:
        found = larger(context, found, context.builder.emit_affine(form))
    return found


def larger(context: Context, left: Size, right: Size) -> Size:
    """The larger of two sizes, computed where it is not known which one that is."""
    if left == right or is_at_most(context, right, left):
        return left
    return right if is_at_most(context, left, right) else context.builder.size("max", left, right)
