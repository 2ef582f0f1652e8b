"""QR, eigenvalues, singular values and log-determinants as LLVM: row-major wrappers around LAPACK.

The matrix is copied column by column, so that LAPACK gets what NumPy gives it and chooses the same signs;
what comes back is copied row by row. Every wrapper returns 0, or -1 where memory or 32-bit sizes run out.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.dtypes import F32, DType
from anadrome.targets.llvm_linalg import getrf, report
from anadrome.targets.llvm_text import ModuleText, Value, literal
from anadrome.targets.llvm_wrapper import Wrapper


def turned(w: Wrapper, target: Value, source: Value, rows: Value, columns: Value) -> None:
    """target[j·rows + i] = source[i·columns + j]: the one is the other, column by column."""
    text = w.text

    def row(i: Value) -> None:
        start = text.value(f"mul i64 {i}, {columns}")

        def column(j: Value) -> None:
            value = text.value(f"load {w.kind}, ptr {w.element(source, text.value(f'add i64 {start}, {j}'))}")
            at = text.value(f"add i64 {text.value(f'mul i64 {j}, {rows}')}, {i}")
            text.do(f"store {w.kind} {value}, ptr {w.element(target, at)}")

        w.loop(columns, column)

    w.loop(rows, row)


def sum_of(w: Wrapper, *terms: tuple[int, Sequence[Value]]) -> Value:
    """Σ factor · Π sizes: how large a work array has to be."""
    total = "0"
    for factor, sizes in terms:
        product = str(factor)
        for size in sizes:
            product = w.text.value(f"mul i64 {product}, {size}")
        total = w.text.value(f"add i64 {total}, {product}")
    return total


def qr(module: ModuleText, name: str, dtype: DType) -> None:
    """A = Q·R with A m × n, m ≥ n: Householder reflections, then the first n columns of their product."""
    w = Wrapper(module, name, dtype, "ptr %matrix, ptr %q, ptr %r, i64 %m, i64 %n")
    text, kind = w.text, w.kind
    w.limit("%m", "%n")
    columns = w.scratch(text.value("mul i64 %m, %n"), dtype.bytes)
    tau, info = w.scratch("%n", dtype.bytes), w.integer("0")
    length = sum_of(w, (32, ["%n"]), (1, []))
    work, work_size = w.scratch(length, dtype.bytes), w.integer(length)
    turned(w, columns, "%matrix", "%m", "%n")
    m, n, ld = w.integer("%m"), w.integer("%n"), w.leading("%m")
    w.fortran("geqrf", m, n, columns, ld, tau, work, work_size, info)

    def row(i: Value) -> None:
        def column(j: Value) -> None:
            at = text.value(f"add i64 {text.value(f'mul i64 {j}, %m')}, {i}")
            value = text.value(f"load {kind}, ptr {w.element(columns, at)}")
            is_upper = text.value(f"icmp sle i64 {i}, {j}")
            kept = text.value(f"select i1 {is_upper}, {kind} {value}, {kind} {literal(0.0, dtype)}")
            place = text.value(f"add i64 {text.value(f'mul i64 {i}, %n')}, {j}")
            text.do(f"store {kind} {kept}, ptr {w.element('%r', place)}")

        w.loop("%n", column)

    w.loop("%n", row)
    w.fortran("orgqr", m, n, n, columns, ld, tau, work, work_size, info)
    turned(w, "%q", columns, "%n", "%m")
    w.finish()


def eigh(module: ModuleText, name: str, dtype: DType) -> None:
    """A·v = w·v of the symmetric matrix of which one triangle is that of A, by divide and conquer."""
    w = Wrapper(module, name, dtype, "ptr %matrix, ptr %values, ptr %vectors, ptr %status, i64 %n, i1 %lower")
    text = w.text
    w.limit("%n")
    columns = w.scratch(text.value("mul i64 %n, %n"), dtype.bytes)
    length = sum_of(w, (2, ["%n", "%n"]), (64, ["%n"]), (64, []))
    indices = sum_of(w, (5, ["%n"]), (8, []))
    work, work32 = w.scratch(length, dtype.bytes), w.scratch(indices, 4)
    info = w.integer("0")
    turned(w, columns, "%matrix", "%n", "%n")
    w.fortran(
        "syevd", w.letter("V"), w.letter_if("%lower", "L", "U"), w.integer("%n"), columns, w.leading("%n"),
        "%values", work, w.integer(length), work32, w.integer(indices), info,
    )  # fmt: skip
    turned(w, "%vectors", columns, "%n", "%n")
    report(w, info, "%status")
    w.finish()


def svd(module: ModuleText, name: str, dtype: DType) -> None:
    """A = U·diag(s)·Vᵀ with A m × n and k = min(m, n) columns of U and rows of Vᵀ, by divide and conquer."""
    parameters = "ptr %matrix, ptr %u, ptr %s, ptr %vt, ptr %status, i64 %m, i64 %n, i64 %k"
    w = Wrapper(module, name, dtype, parameters)
    text = w.text
    w.limit("%m", "%n")
    columns = w.scratch(text.value("mul i64 %m, %n"), dtype.bytes)
    u = w.scratch(text.value("mul i64 %m, %k"), dtype.bytes)
    vt = w.scratch(text.value("mul i64 %k, %n"), dtype.bytes)
    length = sum_of(w, (8, ["%k", "%k"]), (64, ["%k"]), (64, ["%m"]), (64, ["%n"]), (64, []))
    work, work32 = w.scratch(length, dtype.bytes), w.scratch(sum_of(w, (8, ["%k"]), (8, [])), 4)
    info = w.integer("0")
    turned(w, columns, "%matrix", "%m", "%n")
    w.fortran(
        "gesdd", w.letter("S"), w.integer("%m"), w.integer("%n"), columns, w.leading("%m"), "%s",
        u, w.leading("%m"), vt, w.leading("%k"), work, w.integer(length), work32, info,
    )  # fmt: skip
    turned(w, "%u", u, "%k", "%m")
    turned(w, "%vt", vt, "%n", "%k")
    report(w, info, "%status")
    w.finish()


def slogdet(module: ModuleText, name: str, dtype: DType) -> None:
    """The determinant's sign and the sum of the logarithms of its pivots' magnitudes; 0, -∞ for det = 0."""
    w = Wrapper(module, name, dtype, "ptr %matrix, ptr %sign, ptr %logarithm, i64 %n")
    text, kind = w.text, w.kind
    w.limit("%n")
    factors, pivots = w.scratch(text.value("mul i64 %n, %n"), dtype.bytes), w.scratch("%n", 4)
    w.copy(factors, "%matrix", text.value("mul i64 %n, %n"))
    getrf(w, factors, pivots, text.alloca("i64"))
    text.do(f"store {kind} {literal(1.0, dtype)}, ptr %sign")
    text.do(f"store {kind} {literal(0.0, dtype)}, ptr %logarithm")
    stride = text.value("add i64 %n, 1")

    def choice(condition: Value, then: Value, other: Value) -> Value:
        return text.value(f"select i1 {condition}, {kind} {then}, {kind} {other}")

    def multiply(k: Value) -> None:
        at = w.element(factors, text.value(f"mul i64 {k}, {stride}"))
        diagonal = text.value(f"load {kind}, ptr {at}")
        narrow = text.value(f"load i32, ptr {w.element(pivots, k, 'i32')}")
        pivot = text.value(f"sext i32 {narrow} to i64")
        swapped = text.value(f"icmp ne i64 {pivot}, {text.value(f'add i64 {k}, 1')}")
        zero, one, minus = (literal(number, dtype) for number in (0.0, 1.0, -1.0))
        negative = text.value(f"fcmp olt {kind} {diagonal}, {zero}")
        turned = choice(text.value(f"xor i1 {swapped}, {negative}"), minus, one)
        sign = choice(text.value(f"fcmp oeq {kind} {diagonal}, {zero}"), zero, turned)
        product = text.value(f"fmul {kind} {text.value(f'load {kind}, ptr %sign')}, {sign}")
        text.do(f"store {kind} {product}, ptr %sign")
        suffix = "f32" if dtype is F32 else "f64"
        magnitude = text.intrinsic(f"llvm.fabs.{suffix}", kind, [(kind, diagonal)])
        logarithm = text.intrinsic(f"llvm.log.{suffix}", kind, [(kind, magnitude)])
        total = text.value(f"fadd {kind} {text.value(f'load {kind}, ptr %logarithm')}, {logarithm}")
        text.do(f"store {kind} {total}, ptr %logarithm")

    w.loop("%n", multiply)
    w.finish()


FORTRAN: Sequence[tuple[str, str]] = (
    ("lapack", "geqrf"),
    ("lapack", "orgqr"),
    ("lapack", "syevd"),
    ("lapack", "gesdd"),
)
"""What the wrappers call: library and name without its letter for the type."""
