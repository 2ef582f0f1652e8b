"""What a derivative rule of a library operation takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var
from anadrome.library.record import LibraryOperation

Lazy = Callable[[], Atom]
Vars = Sequence[Var | None]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A library call of the new program: its arguments, its attributes, its results."""

    operation: LibraryOperation
    args: tuple[Var, ...]
    attributes: tuple[bool, ...]
    results: tuple[Var, ...]

    def again(self, builder: Builder, args: Sequence[Var]) -> tuple[Var, ...]:
        """The results of the operation for other arguments that are read."""
        given = iter(args)
        own = zip(self.operation.arguments, self.args, strict=True)
        new = tuple(next(given) if argument.is_read else arg for argument, arg in own)
        return builder.let(Library(self.operation.name, new, self.attributes))


ReverseRule = Callable[[Builder, Call, Vars], tuple[Lazy, ...]]
"""(builder, call, adjoints of the results or None where zero) -> for each argument that is read, what
computes its adjoint. One adjoint at least is not None."""
ForwardRule = Callable[[Builder, Call, Vars], tuple[Atom, ...]]
"""(builder, call, tangents of the arguments that are read or None where zero) -> the tangents of the results.
One tangent at least is not None."""


def only(items: Vars) -> Var:
    """The adjoint of the only result, or the tangent of the only argument."""
    (found,) = items
    assert found is not None
    return found
