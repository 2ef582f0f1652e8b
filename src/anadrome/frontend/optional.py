"""Values that a run-time loop carries and that are None in some iterations: a flag and the value.

Where the value is None a placeholder of the same type is carried, which nothing reads. The type is that of
the value that the name has where it is not None: before the loop, or after an iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anadrome.array_ir.nodes import FALSE, TRUE, ArrayType
from anadrome.dtypes import BOOL, I64
from anadrome.frontend.arrays import type_of, weakness
from anadrome.frontend.complex_numbers.parts import lifted
from anadrome.frontend.context import Context
from anadrome.frontend.exchanged import leaves_of
from anadrome.frontend.rooms import is_outside
from anadrome.frontend.structures import Inside
from anadrome.frontend.values import Array, Maybe, Scalar, Scope, Value, Weak


@dataclass(frozen=True, slots=True, eq=False)
class Placeholder:
    """What stands for a value where it is None: the type of each leaf, whether it is a Python number, how
    many of its dimensions Python knows as a list, the value of leaves, and a value of these."""

    types: tuple[ArrayType, ...]
    weak: tuple[Weak, ...]
    depths: tuple[int, ...]
    rebuild: Callable[..., Value]
    example: Value

    def value(self, context: Context) -> Value:
        """Zeros in place of the value."""
        return self.rebuild(
            iter(
                [
                    _zero(context, type_, is_weak, depth)
                    for type_, is_weak, depth in zip(self.types, self.weak, self.depths, strict=True)
                ]
            )
        )

    def optional(self, context: Context, value: Value) -> Maybe:
        """A value as one that may be None."""
        if isinstance(value, Maybe):
            return value
        if value is None:
            return Maybe(Scalar(FALSE), self.value(context))
        return Maybe(Scalar(TRUE), value)


def placeholder_of(
    context: Context, scope: Scope, before: Value, after: Value, inside: Inside
) -> Placeholder | None:
    """The placeholder for a name that is None before an iteration or after it, and a value otherwise; None
    for other values, and where a size is known inside of the loop only. `inside`: what to go into."""
    values = [value for value in (before, after) if value is not None]
    if len(values) == 2 and not isinstance(after, Maybe):
        return None
    if any(isinstance(value, Maybe) and value.other is not None for value in values):
        return None
    value = before if before is not None else after
    example = value.value if isinstance(value, Maybe) else value
    leaves, rebuild = leaves_of(lifted(context, example, inside), inside)
    shapes = [leaf.shape if isinstance(leaf, Array) else () for leaf in leaves]
    if not leaves or not all(is_outside(scope, size) for shape in shapes for size in shape):
        return None
    dtypes = [type_of(context, leaf)[0] for leaf in leaves]
    types = tuple(ArrayType(dtype, shape) for dtype, shape in zip(dtypes, shapes, strict=True))
    depths = tuple(leaf.list_depth if isinstance(leaf, Array) else 0 for leaf in leaves)
    return Placeholder(types, tuple(map(weakness, leaves)), depths, rebuild, example)


def _zero(context: Context, type_: ArrayType, is_weak: Weak, depth: int) -> Value:
    """Zeros of a type; a number of Python's is one that a loop may make a float."""
    if is_weak:
        return False if type_.dtype is BOOL else 0 if type_.dtype is I64 else 0.0
    made = context.wrap(context.builder.zeros(type_), is_weak)
    return Array(made.cell, None, depth) if isinstance(made, Array) else made
