"""Library calls by the rows of `library.table`: their types, and running them."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir.nodes import ArrayType, Size, Var
from anadrome.errors import Span
from anadrome.errors.runtime import FAILURES
from anadrome.library.record import Array, LibraryOperation, NoResult, Operand
from anadrome.library.table import LIBRARY


def library_types(
    row: LibraryOperation, args: Sequence[ArrayType], attributes: Sequence[bool | int]
) -> tuple[ArrayType, ...] | str:
    """The types of the results, or what does not fit, in words."""
    sizes: dict[str, Size] = {}
    batches: set[tuple[Size, ...]] = set()
    for argument, given in zip(row.arguments, args, strict=True):
        names = row.named_sizes(argument, attributes)
        leading = given.rank - len(names)
        wanted = argument.dtype or args[0].dtype
        if given.dtype != wanted or leading < 0 or (leading and not argument.is_batched):
            found = f"{given.dtype}{_listed([_size(size) for size in given.shape])}"
            return f"{_shown(argument, names)} cannot be {found}"
        for name, size in zip(names, given.shape[leading:], strict=True):
            if sizes.setdefault(name, size) != size:
                return f"{name} is both {_size(sizes[name])} and {_size(size)}"
        if argument.is_batched:
            batches.add(given.shape[:leading])
    if len(batches) > 1:
        return "the leading dimensions differ"
    batch = next(iter(batches), ())

    def type_of(result: Operand) -> ArrayType:
        own = tuple(sizes[name] for name in result.sizes)
        return ArrayType(result.dtype or args[0].dtype, (*batch, *own) if result.is_batched else own)

    return tuple(type_of(result) for result in row.results)


def run_library(
    operation: str, args: Sequence[Array], attributes: Sequence[bool | int], span: Span | None
) -> tuple[Array, ...]:
    """The results of a call, in order; where there are none it fails as the operation's row says."""
    row = LIBRARY[operation]
    try:
        return row.run(args, attributes)
    except NoResult as error:
        raise FAILURES[row.error](f"{operation}: {row.failure}", span) from error


def _shown(argument: Operand, names: Sequence[str]) -> str:
    return f"{argument.name}{_listed(('...',) * argument.is_batched + tuple(names))}"


def _listed(parts: Sequence[str]) -> str:
    return f"[{', '.join(parts)}]" if parts else ""


def _size(size: Size) -> str:
    return size.name if isinstance(size, Var) else str(size.value)
