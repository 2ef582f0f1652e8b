"""Running a routine for the interpreter: the meaning of its operation on NumPy, on flat buffers in place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anadrome.kernel_ir.routines import Routine
from anadrome.library.record import BATCH, Attributes, LibraryOperation, NoResult, Operand


def run_routine(routine: Routine, given: Sequence[Any]) -> None:
    """Change the buffers among the arguments as a call does."""
    row = routine.operation
    values = {argument.name: value for argument, value in zip(routine.arguments, given, strict=True)}
    sizes = {name: int(values[name]) for name in row.sizes}
    attributes = [bool(values[name]) for name in row.attributes]
    arrays = [_argument(row, operand, values, sizes, attributes) for operand in row.arguments]
    if not row.is_total:
        values["status"][0] = 0
    try:
        found = row.run(arrays, attributes)
    except NoResult as error:
        values["status"][0] = error.status
        return
    for operand, result in zip(row.results, found, strict=True):
        target, elements = values[operand.name], np.ravel(result)
        is_added = row.is_adding and bool(values["accumulate"])
        target[: elements.size] = target[: elements.size] + elements if is_added else elements


def _argument(
    row: LibraryOperation,
    operand: Operand,
    values: Mapping[str, Any],
    sizes: Mapping[str, int],
    attributes: Attributes,
) -> Any:
    """An argument as an array; of one that is not read only the length counts."""
    shape = [sizes[name] for name in row.named_sizes(operand, attributes)]
    if operand.is_batched:
        shape = [sizes[BATCH], *shape]
    if not operand.is_read:
        return np.empty(shape)
    return values[operand.name][: math.prod(shape)].reshape(shape)
