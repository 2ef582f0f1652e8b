"""Eigenvalues of any matrix, and decompositions of complex ones, as LLVM: wrappers around LAPACK.

LAPACK holds complex numbers as pairs, column by column; our matrices are two arrays, row by row. Every
wrapper returns 0, or -1 where memory or 32-bit sizes run out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from anadrome.dtypes import F32, DType
from anadrome.library.complex_decompositions import ROUNDING
from anadrome.targets.llvm_decompositions import sum_of, turned
from anadrome.targets.llvm_linalg import report
from anadrome.targets.llvm_text import ModuleText, Value, literal
from anadrome.targets.llvm_wrapper import Wrapper

Parts = tuple[Value, Value]


# ---------------------------------------------------------------------------- eigenvalues
def eig(module: ModuleText, name: str, dtype: DType) -> None:
    """A·v = λ·v of a real matrix: LAPACK holds a pair of conjugate vectors as its real and imaginary part."""
    w = Wrapper(
        module,
        name,
        dtype,
        "ptr %matrix, ptr %values_real, ptr %values_imag, ptr %vectors_real, ptr %vectors_imag, ptr %status, "
        "i64 %n",
    )
    text = w.text
    w.limit("%n")
    elements, ld, info = text.value("mul i64 %n, %n"), w.leading("%n"), w.integer("0")
    columns, vectors = w.scratch(elements, dtype.bytes), w.scratch(elements, dtype.bytes)
    turned(w, columns, "%matrix", "%n", "%n")

    def run(work: Value, length: Value) -> None:
        w.fortran(
            "geev", w.letter("N"), w.letter("V"), w.integer("%n"), columns, ld, "%values_real",
            "%values_imag", columns, ld, vectors, ld, work, w.integer(length), info,
        )  # fmt: skip
        report(w, info, "%status")

    best = _best_length(w, run, dtype.bytes)
    _if_finite(w, ("%matrix",), elements, lambda: run(*best))
    _paired_vectors(w, vectors)
    w.finish()


def _paired_vectors(w: Wrapper, vectors: Value) -> None:
    """The eigenvectors from LAPACK's columns: of eigenvalues j and j + 1 that are conjugates the vectors are
    column j plus and minus i times column j + 1."""
    text, kind, zero = w.text, w.kind, literal(0.0, w.dtype)

    def column(j: Value) -> None:
        turn = text.value(f"load {kind}, ptr {w.element('%values_imag', j)}")
        is_first = text.value(f"fcmp ogt {kind} {turn}, {zero}")
        is_second = text.value(f"fcmp olt {kind} {turn}, {zero}")
        real = text.value(f"sub i64 {j}, {text.value(f'zext i1 {is_second} to i64')}")
        imag = text.value(f"add i64 {j}, {text.value(f'zext i1 {is_first} to i64')}")
        sign = text.value(
            f"select i1 {is_first}, {kind} {literal(1.0, w.dtype)}, {kind} {literal(-1.0, w.dtype)}"
        )
        is_paired = text.value(f"or i1 {is_first}, {is_second}")
        starts = [text.value(f"mul i64 {at}, %n") for at in (real, imag)]

        def row(i: Value) -> None:
            x, y = (
                text.value(f"load {kind}, ptr {w.element(vectors, text.value(f'add i64 {start}, {i}'))}")
                for start in starts
            )
            y = text.value(f"fmul {kind} {sign}, {y}")
            y = text.value(f"select i1 {is_paired}, {kind} {y}, {kind} {zero}")
            place = text.value(f"add i64 {text.value(f'mul i64 {i}, %n')}, {j}")
            for part, target in ((x, "%vectors_real"), (y, "%vectors_imag")):
                text.do(f"store {kind} {part}, ptr {w.element(target, place)}")

        w.loop("%n", row)

    w.loop("%n", column)


def complex_eig(module: ModuleText, name: str, dtype: DType) -> None:
    """A·v = λ·v of a complex matrix."""
    w = Wrapper(
        module,
        name,
        dtype,
        "ptr %real, ptr %imag, ptr %values_real, ptr %values_imag, ptr %vectors_real, ptr %vectors_imag, "
        "ptr %status, i64 %n",
    )
    text, size = w.text, 2 * dtype.bytes
    w.limit("%n")
    elements, ld, info = text.value("mul i64 %n, %n"), w.leading("%n"), w.integer("0")
    columns, vectors = w.scratch(elements, size), w.scratch(elements, size)
    values, real_work = w.scratch("%n", size), w.scratch(text.value("mul i64 %n, 2"), dtype.bytes)
    _joined(w, columns, ("%real", "%imag"), "%n", "%n")

    def run(work: Value, length: Value) -> None:
        w.fortran(
            "geev", w.letter("N"), w.letter("V"), w.integer("%n"), columns, ld, values, columns, ld,
            vectors, ld, work, w.integer(length), real_work, info, is_complex=True,
        )  # fmt: skip
        report(w, info, "%status")

    best = _best_length(w, run, size)
    _if_finite(w, ("%real", "%imag"), elements, lambda: run(*best))
    _split(w, ("%values_real", "%values_imag"), values, "%n", "1")
    _split(w, ("%vectors_real", "%vectors_imag"), vectors, "%n", "%n")
    w.finish()


def _best_length(w: Wrapper, run: Callable[[Value, Value], None], size: int) -> tuple[Value, Value]:
    """A work array as long as LAPACK likes it, and its length.

    NumPy and SciPy ask for it as well: the order in which eigenvalues are found depends on it.
    """
    text, kind = w.text, w.kind
    answer = text.alloca(f"[2 x {kind}]")
    run(answer, "-1")
    found = text.value(f"fptosi {kind} {text.value(f'load {kind}, ptr {answer}')} to i64")
    length = text.intrinsic("llvm.smax.i64", "i64", [("i64", found), ("i64", "1")])
    return w.scratch(length, size), length


def _if_finite(w: Wrapper, arrays: Sequence[Value], count: Value, then: Callable[[], None]) -> None:
    """Run where every element is a finite number, as NumPy asks before it calls LAPACK; else status 1."""
    text, kind, zero = w.text, w.kind, literal(0.0, w.dtype)
    total = w.put(kind, zero)

    def look(k: Value) -> None:
        for array in arrays:
            value = text.value(f"load {kind}, ptr {w.element(array, k)}")
            nothing = text.value(f"fmul {kind} {value}, {zero}")
            new = text.value(f"fadd {kind} {text.value(f'load {kind}, ptr {total}')}, {nothing}")
            text.do(f"store {kind} {new}, ptr {total}")

    w.loop(count, look)
    is_finite = text.value(f"fcmp oeq {kind} {text.value(f'load {kind}, ptr {total}')}, {zero}")
    w.when(is_finite, then, lambda: text.do("store i64 1, ptr %status"))


# ---------------------------------------------------------------------------- Hermitian matrices
def complex_eigh(module: ModuleText, name: str, dtype: DType) -> None:
    """A·v = w·v of the Hermitian matrix of which one triangle is that of A, by divide and conquer."""
    w = Wrapper(
        module,
        name,
        dtype,
        "ptr %real, ptr %imag, ptr %values, ptr %vectors_real, ptr %vectors_imag, ptr %status, i64 %n, "
        "i1 %lower",
    )
    text, size = w.text, 2 * dtype.bytes
    w.limit("%n")
    columns = w.scratch(text.value("mul i64 %n, %n"), size)
    length = sum_of(w, (1, ["%n", "%n"]), (66, ["%n"]), (64, []))
    real_length = sum_of(w, (2, ["%n", "%n"]), (5, ["%n"]), (8, []))
    indices = sum_of(w, (5, ["%n"]), (8, []))
    work, real_work = w.scratch(length, size), w.scratch(real_length, dtype.bytes)
    work32, info = w.scratch(indices, 4), w.integer("0")
    _joined(w, columns, ("%real", "%imag"), "%n", "%n")
    w.fortran(
        "heevd", w.letter("V"), w.letter_if("%lower", "L", "U"), w.integer("%n"), columns, w.leading("%n"),
        "%values", work, w.integer(length), real_work, w.integer(real_length), work32, w.integer(indices),
        info, is_complex=True,
    )  # fmt: skip
    phases = _phases(w, columns, "%n", "%n")
    _split(w, ("%vectors_real", "%vectors_imag"), columns, "%n", "%n", phases)
    report(w, info, "%status")
    w.finish()


# ---------------------------------------------------------------------------- singular values
def complex_svd(module: ModuleText, name: str, dtype: DType) -> None:
    """A = U·diag(s)·Vᴴ with A m × n and k = min(m, n) columns of U and rows of Vᴴ, by divide and conquer."""
    w = Wrapper(
        module,
        name,
        dtype,
        "ptr %real, ptr %imag, ptr %u_real, ptr %u_imag, ptr %s, ptr %vh_real, ptr %vh_imag, ptr %status, "
        "i64 %m, i64 %n, i64 %k",
    )
    text, size = w.text, 2 * dtype.bytes
    w.limit("%m", "%n")
    columns = w.scratch(text.value("mul i64 %m, %n"), size)
    u, vh = w.scratch(text.value("mul i64 %m, %k"), size), w.scratch(text.value("mul i64 %k, %n"), size)
    length = sum_of(w, (2, ["%k", "%k"]), (66, ["%k"]), (64, ["%m"]), (64, ["%n"]), (64, []))
    longer = text.intrinsic("llvm.smax.i64", "i64", [("i64", "%m"), ("i64", "%n")])
    real_length = sum_of(w, (7, ["%k", "%k"]), (2, ["%k", longer]), (8, ["%k"]), (8, []))
    work, real_work = w.scratch(length, size), w.scratch(real_length, dtype.bytes)
    work32, info = w.scratch(sum_of(w, (8, ["%k"]), (8, [])), 4), w.integer("0")
    _joined(w, columns, ("%real", "%imag"), "%m", "%n")
    w.fortran(
        "gesdd", w.letter("S"), w.integer("%m"), w.integer("%n"), columns, w.leading("%m"), "%s", u,
        w.leading("%m"), vh, w.leading("%k"), work, w.integer(length), real_work, work32, info,
        is_complex=True,
    )  # fmt: skip
    phases = _phases(w, u, "%m", "%k")
    _split(w, ("%u_real", "%u_imag"), u, "%m", "%k", phases)
    _split(w, ("%vh_real", "%vh_imag"), vh, "%k", "%n", phases, is_row=True)
    report(w, info, "%status")
    w.finish()


# ---------------------------------------------------------------------------- parts
def _place(w: Wrapper, i: Value, j: Value, rows: Value) -> tuple[Value, Value]:
    """Where the parts of element (i, j) stand in a complex matrix, column by column."""
    text = w.text
    at = text.value(f"add i64 {text.value(f'mul i64 {j}, {rows}')}, {i}")
    first = text.value(f"shl i64 {at}, 1")
    return first, text.value(f"or i64 {first}, 1")


def _number(w: Wrapper, base: Value, i: Value, j: Value, rows: Value) -> Parts:
    real, imag = (
        w.text.value(f"load {w.kind}, ptr {w.element(base, place)}") for place in _place(w, i, j, rows)
    )
    return real, imag


def _joined(w: Wrapper, target: Value, parts: Parts, rows: Value, columns: Value) -> None:
    """A complex matrix, column by column, from its parts, row by row."""
    text = w.text

    def row(i: Value) -> None:
        start = text.value(f"mul i64 {i}, {columns}")

        def column(j: Value) -> None:
            at = text.value(f"add i64 {start}, {j}")
            for part, place in zip(parts, _place(w, i, j, rows), strict=True):
                value = text.value(f"load {w.kind}, ptr {w.element(part, at)}")
                text.do(f"store {w.kind} {value}, ptr {w.element(target, place)}")

        w.loop(columns, column)

    w.loop(rows, row)


def _split(
    w: Wrapper,
    parts: Parts,
    source: Value,
    rows: Value,
    columns: Value,
    phases: Parts | None = None,
    is_row: bool = False,
) -> None:
    """The parts of a complex matrix; each column times its phase, or each row times the conjugate of its."""
    text, kind = w.text, w.kind

    def times(one: Value, other: Value) -> Value:
        return text.value(f"fmul {kind} {one}, {other}")

    def row(i: Value) -> None:
        start = text.value(f"mul i64 {i}, {columns}")

        def column(j: Value) -> None:
            x, y = _number(w, source, i, j, rows)
            if phases is not None:
                u, v = (
                    text.value(f"load {kind}, ptr {w.element(part, i if is_row else j)}") for part in phases
                )
                v = text.value(f"fneg {kind} {v}") if is_row else v
                real = text.value(f"fsub {kind} {times(x, u)}, {times(y, v)}")
                x, y = real, text.value(f"fadd {kind} {times(x, v)}, {times(y, u)}")
            at = text.value(f"add i64 {start}, {j}")
            for value, part in zip((x, y), parts, strict=True):
                text.do(f"store {kind} {value}, ptr {w.element(part, at)}")

        w.loop(columns, column)

    w.loop(rows, row)


def _phases(w: Wrapper, vectors: Value, rows: Value, columns: Value) -> Parts:
    """For each column the number of size 1 that makes the first of its largest components real, positive."""
    text, kind, dtype = w.text, w.kind, w.dtype
    found = w.scratch(columns, dtype.bytes), w.scratch(columns, dtype.bytes)
    precision = 2.0**-23 if dtype is F32 else 2.0**-52
    limit, best = text.alloca(kind), (text.alloca(kind), text.alloca(kind))

    def put(slot: Value, value: float) -> None:
        text.do(f"store {kind} {literal(value, dtype)}, ptr {slot}")

    def over_rows(j: Value, order: str, take: Callable[[Value, Parts], None]) -> None:
        """`take(square, number)` for each component whose square is to the limit as `order` says."""

        def row(i: Value) -> None:
            number = _number(w, vectors, i, j, rows)
            square = _square_of_size(w, number)
            is_so = text.value(f"fcmp {order} {kind} {square}, {text.value(f'load {kind}, ptr {limit}')}")
            w.when(is_so, lambda: take(square, number))

        w.loop(rows, row)

    def take_square(square: Value, number: Parts) -> None:
        text.do(f"store {kind} {square}, ptr {limit}")

    def take_number(square: Value, number: Parts) -> None:
        put(limit, math.inf)  # the first only
        for value, slot in zip(number, best, strict=True):
            text.do(f"store {kind} {value}, ptr {slot}")

    def column(j: Value) -> None:
        for slot, start in ((limit, 0.0), (best[0], 1.0), (best[1], 0.0)):
            put(slot, start)
        over_rows(j, "ogt", take_square)
        most, share = text.value(f"load {kind}, ptr {limit}"), literal(1.0 - ROUNDING * precision, dtype)
        text.do(f"store {kind} {text.value(f'fmul {kind} {share}, {most}')}, ptr {limit}")
        over_rows(j, "oge", take_number)
        x, y = (text.value(f"load {kind}, ptr {slot}") for slot in best)
        name = f"llvm.sqrt.{dtype.name}"
        length = text.intrinsic(name, kind, [(kind, _square_of_size(w, (x, y)))])
        for value, target in zip((x, text.value(f"fneg {kind} {y}")), found, strict=True):
            text.do(
                f"store {kind} {text.value(f'fdiv {kind} {value}, {length}')}, ptr {w.element(target, j)}"
            )

    w.loop(columns, column)
    return found


def _square_of_size(w: Wrapper, number: Parts) -> Value:
    squares = [w.text.value(f"fmul {w.kind} {part}, {part}") for part in number]
    return w.text.value(f"fadd {w.kind} {squares[0]}, {squares[1]}")


FORTRAN: Sequence[tuple[str, str]] = (("lapack", "geev"),)
COMPLEX_FORTRAN: Sequence[tuple[str, str]] = (
    ("lapack", "geev"),
    ("lapack", "heevd"),
    ("lapack", "gesdd"),
)
"""What the wrappers call: library and name without its letter for the type."""
