"""Stores of lanes to neighbouring columns of rows, put together: each lane writes its own row at once.

    x[stride · lane + k] = v_k    for k = 0 .. n - 1, one after the other

A scatter writes one element after the other; turned, p columns of W lanes are W stores of p elements. Where
the columns are the whole row, all lanes write W·n neighbours. A matrix of 2^s vectors is turned in s steps,
each exchanging blocks of 1, 2, 4, … elements between vectors that are as far apart (Eklundh 1972).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from anadrome.dtypes import DType
from anadrome.kernel_ir.nodes import Buffer
from anadrome.targets.llvm_text import FunctionText, Value, memory_type

WHOLE = 4
"""Columns up to which rows without gaps are written as neighbours."""


@dataclass(slots=True, eq=False)
class Columns:
    """Vectors that are to be stored: column -> the vector in memory's type; from `origin` on."""

    buffer: Buffer
    origin: Value
    stride: int
    values: dict[int, Value] = field(default_factory=dict)


def runs(columns: Columns) -> Iterator[tuple[int, ...]]:
    """Columns that are neighbours, in order."""
    run: list[int] = []
    for column in sorted(columns.values):
        if run and column != run[-1] + 1:
            yield tuple(run)
            run = []
        run.append(column)
    yield tuple(run)


def parts(run: tuple[int, ...], width: int) -> Iterator[tuple[int, ...]]:
    """A run in parts of powers of two, of which the last one may write some columns once more."""
    size = min(width, 1 << (len(run).bit_length() - 1))
    for start in range(0, len(run) - size + 1, size):
        yield run[start : start + size]
    if len(run) % size:
        yield run[-size:]


def interleaved(text: FunctionText, vectors: list[Value], width: int, dtype: DType) -> Value:
    """The elements of vectors, the first ones of all, then the second ones, and so on: one long vector."""
    joined, length = list(vectors), width
    while len(joined) > 1:
        pairs = [joined[k : k + 2] for k in range(0, len(joined), 2)]
        joined = [_joined(text, pair, length, dtype) for pair in pairs]
        length *= 2
    count = len(vectors)
    places = [lane + width * column for lane in range(width) for column in range(count)]
    return shuffled(text, joined[0], "poison", places, length, dtype)


def turned(text: FunctionText, vectors: list[Value], width: int, dtype: DType) -> list[Value]:
    """The transpose of n vectors, a power of two: the row of lane l stands in vector l mod n, from element
    l - l mod n on."""
    rows, distance = list(vectors), 1
    while distance < len(rows):
        for first in (row for row in range(len(rows)) if not row & distance):
            low, high = rows[first], rows[first + distance]
            lower = [p if not p & distance else width + p - distance for p in range(width)]
            upper = [p + distance if not p & distance else width + p for p in range(width)]
            rows[first] = shuffled(text, low, high, lower, width, dtype)
            rows[first + distance] = shuffled(text, low, high, upper, width, dtype)
        distance *= 2
    return rows


def part_of(text: FunctionText, vector: Value, start: int, count: int, width: int, dtype: DType) -> Value:
    """Neighbouring elements of a vector."""
    if count == width:
        return vector
    return shuffled(text, vector, "poison", list(range(start, start + count)), width, dtype)


def _joined(text: FunctionText, pair: list[Value], length: int, dtype: DType) -> Value:
    second = pair[1] if len(pair) > 1 else "poison"
    return shuffled(text, pair[0], second, list(range(2 * length)), length, dtype)


def shuffled(
    text: FunctionText, first: Value, second: Value, places: list[int], length: int, dtype: DType
) -> Value:
    """Elements of two vectors, those of the second counted on."""
    kind = f"<{length} x {memory_type(dtype)}>"
    listed = ", ".join(f"i32 {place}" for place in places)
    return text.value(f"shufflevector {kind} {first}, {kind} {second}, <{len(places)} x i32> <{listed}>")
