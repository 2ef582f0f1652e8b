"""The dense linear algebra routines as LLVM: row-major wrappers around BLAS and LAPACK.

BLAS is column-major and takes 32-bit sizes by address. A row-major matrix read column-major is its
transpose, so nothing is ever transposed in memory: C = A·B becomes Cᵀ = Bᵀ·Aᵀ, and A·X = B becomes
Xᵀ·Aᵀ = Bᵀ, a solve from the right. Every wrapper returns 0, or -1 where memory or 32-bit sizes run out.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.dtypes import DType
from anadrome.kernel_ir.work import ALWAYS
from anadrome.targets.llvm_text import ModuleText, Value, literal
from anadrome.targets.llvm_wrapper import Wrapper


# ---------------------------------------------------------------------------- products
def gemm(module: ModuleText, name: str, dtype: DType) -> None:
    """Cᵀ = op(B)ᵀ·op(A)ᵀ; a product with a vector is a matrix-vector product, which BLAS does much faster."""
    w = Wrapper(
        module,
        name,
        dtype,
        "ptr %left, ptr %right, ptr %out, i64 %rows, i64 %columns, i64 %inner, "
        "i1 %transpose_left, i1 %transpose_right, i1 %accumulate",
    )
    text = w.text
    w.limit("%rows", "%columns", "%inner")
    one, beta, step = w.number(1.0), w.number_if("%accumulate", 1.0, 0.0), w.integer("1")
    rows, columns, inner = w.integer("%rows"), w.integer("%columns"), w.integer("%inner")

    def vector_product(matrix: Value, vector: Value, first: Value, second: Value, letter: Value) -> None:
        ld = w.leading(text.value(f"load i64, ptr {first}"))
        m, n = (w.integer(text.value(f"load i64, ptr {size}")) for size in (first, second))
        w.fortran("gemv", letter, m, n, one, matrix, ld, vector, step, beta, "%out", step)

    def sizes(condition: Value, then: Value, other: Value) -> tuple[Value, Value]:
        first = text.value(f"select i1 {condition}, i64 {then}, i64 {other}")
        second = text.value(f"select i1 {condition}, i64 {other}, i64 {then}")
        return w.put("i64", first), w.put("i64", second)

    def matrix_vector() -> None:
        first, second = sizes("%transpose_left", "%rows", "%inner")
        vector_product("%left", "%right", first, second, w.letter_if("%transpose_left", "N", "T"))

    def vector_matrix() -> None:
        first, second = sizes("%transpose_right", "%inner", "%columns")
        vector_product("%right", "%left", first, second, w.letter_if("%transpose_right", "T", "N"))

    def matrix_matrix() -> None:
        ld_left = w.leading(text.value("select i1 %transpose_left, i64 %rows, i64 %inner"))
        ld_right = w.leading(text.value("select i1 %transpose_right, i64 %inner, i64 %columns"))
        trans_left = w.letter_if("%transpose_left", "T", "N")
        trans_right = w.letter_if("%transpose_right", "T", "N")
        w.fortran(
            "gemm", trans_right, trans_left, columns, rows, inner, one,
            "%right", ld_right, "%left", ld_left, beta, "%out", w.leading("%columns"),
        )  # fmt: skip

    some = text.value("icmp sgt i64 %inner, 0")
    is_column = text.value("icmp eq i64 %columns, 1")
    is_row = text.value("icmp eq i64 %rows, 1")
    column_case, row_case = text.value(f"and i1 {some}, {is_column}"), text.value(f"and i1 {some}, {is_row}")
    w.when(column_case, matrix_vector, lambda: w.when(row_case, vector_matrix, matrix_matrix))
    w.finish()


# ---------------------------------------------------------------------------- systems
def solve(module: ModuleText, name: str, dtype: DType) -> None:
    """With the column-major M = Aᵀ = S₁…Sₙ·L·U (S: the row swaps of LAPACK) and Y = Xᵀ:

    A·X = B:   Y·M = Bᵀ,   Y = Bᵀ·U⁻¹·L⁻¹·Sₙ…S₁
    Aᵀ·X = B:  Y·Mᵀ = Bᵀ,  Y = Bᵀ·S₁…Sₙ·L⁻ᵀ·U⁻ᵀ
    """
    w = Wrapper(
        module, name, dtype, "ptr %matrix, ptr %right, ptr %out, ptr %status, i64 %n, i64 %m, i1 %transpose"
    )
    text = w.text
    w.limit("%n", "%m")
    factors, pivots = _factorise(w)
    w.copy("%out", "%right", text.value("mul i64 %n, %m"))
    n, m, ld, ld_out = w.integer("%n"), w.integer("%m"), w.leading("%n"), w.leading("%m")
    one, step = w.number(1.0), w.integer("1")
    right, upper, lower = w.letter("R"), w.letter("U"), w.letter("L")
    unit, general, plain, transposed = w.letter("U"), w.letter("N"), w.letter("N"), w.letter("T")

    def swap(row: Value) -> None:
        pivot32 = text.value(f"load i32, ptr {w.element(pivots, row, 'i32')}")
        pivot = text.value(f"sext i32 {pivot32} to i64")
        other = text.value(f"sub i64 {pivot}, 1")
        first = w.element("%out", text.value(f"mul i64 {row}, %m"))
        second = w.element("%out", text.value(f"mul i64 {other}, %m"))
        differ = text.value(f"icmp ne i64 {row}, {other}")
        w.when(differ, lambda: w.fortran("swap", m, first, step, second, step))

    def solve_with(triangle: Value, trans: Value, diagonal: Value) -> None:
        w.fortran("trsm", right, triangle, trans, diagonal, m, n, one, factors, ld, "%out", ld_out)

    def of_transpose() -> None:
        w.loop("%n", swap)
        solve_with(lower, transposed, unit)
        solve_with(upper, transposed, general)

    def of_matrix() -> None:
        solve_with(upper, plain, general)
        solve_with(lower, plain, unit)
        last = text.value("sub i64 %n, 1")
        w.loop("%n", lambda k: swap(text.value(f"sub i64 {last}, {k}")))

    exists = text.value(f"icmp eq i64 {text.value('load i64, ptr %status')}, 0")
    w.when(exists, lambda: w.when("%transpose", of_transpose, of_matrix))
    w.finish()


def _factorise(w: Wrapper) -> tuple[Value, Value]:
    """LU factors of a copy of %matrix and their pivots; %status says whether a pivot is zero."""
    factors = w.scratch(w.text.value("mul i64 %n, %n"), w.dtype.bytes)
    pivots = w.scratch("%n", 4)
    w.copy(factors, "%matrix", w.text.value("mul i64 %n, %n"))
    getrf(w, factors, pivots, "%status")
    return factors, pivots


def getrf(w: Wrapper, matrix: Value, pivots: Value, status: Value) -> None:
    """LU factors in place and their pivots; the status says whether a pivot is zero."""
    info = w.integer("0")
    w.fortran("getrf", w.integer("%n"), w.integer("%n"), matrix, w.leading("%n"), pivots, info)
    report(w, info, status)


def report(w: Wrapper, info: Value, status: Value) -> None:
    """The status of the call from LAPACK's 32-bit one."""
    wide = w.text.value(f"sext i32 {w.text.value(f'load i32, ptr {info}')} to i64")
    w.text.do(f"store i64 {wide}, ptr {status}")


def triangular_solve(module: ModuleText, name: str, dtype: DType) -> None:
    """With the column-major M = Aᵀ, upper where A is lower: Y·M = Bᵀ, or Y·Mᵀ = Bᵀ."""
    parameters = "ptr %matrix, ptr %right, ptr %out, ptr %status, i64 %n, i64 %m, i1 %lower, i1 %transpose"
    w = Wrapper(module, name, dtype, parameters)
    text = w.text
    w.limit("%n", "%m")
    w.copy("%out", "%right", text.value("mul i64 %n, %m"))
    text.do("store i64 0, ptr %status")
    last, stride = text.value("sub i64 %n, 1"), text.value("add i64 %n, 1")

    def look(k: Value) -> None:
        row = text.value(f"sub i64 {last}, {k}")
        at = w.element("%matrix", text.value(f"mul i64 {row}, {stride}"))
        diagonal = text.value(f"load {w.kind}, ptr {at}")
        is_zero = text.value(f"fcmp oeq {w.kind} {diagonal}, {literal(0.0, dtype)}")
        old = text.value("load i64, ptr %status")
        new = text.value(f"select i1 {is_zero}, i64 {text.value(f'add i64 {row}, 1')}, i64 {old}")
        text.do(f"store i64 {new}, ptr %status")

    w.loop("%n", look)
    w.fortran(
        "trsm", w.letter("R"), w.letter_if("%lower", "U", "L"), w.letter_if("%transpose", "T", "N"),
        w.letter("N"), w.integer("%m"), w.integer("%n"), w.number(1.0),
        "%matrix", w.leading("%n"), "%out", w.leading("%m"),
    )  # fmt: skip
    w.finish()


def inv(module: ModuleText, name: str, dtype: DType) -> None:
    """(Aᵀ)⁻¹ = (A⁻¹)ᵀ: the order of the elements does not matter."""
    w = Wrapper(module, name, dtype, "ptr %matrix, ptr %out, ptr %status, i64 %n")
    text = w.text
    w.limit(text.value("mul i64 %n, 64"))
    pivots = w.scratch("%n", 4)
    length = text.value("mul i64 %n, 64")
    work = w.scratch(length, dtype.bytes)
    w.copy("%out", "%matrix", text.value("mul i64 %n, %n"))
    getrf(w, "%out", pivots, "%status")

    def invert() -> None:
        info = w.integer("0")
        w.fortran("getri", w.integer("%n"), "%out", w.leading("%n"), pivots, work, w.leading(length), info)
        report(w, info, "%status")

    w.when(text.value(f"icmp eq i64 {text.value('load i64, ptr %status')}, 0"), invert)
    w.finish()


def det(module: ModuleText, name: str, dtype: DType) -> None:
    """The product of the pivots, negated for every row swap; a zero pivot makes it 0."""
    w = Wrapper(module, name, dtype, "ptr %matrix, ptr %out, i64 %n")
    text, kind = w.text, w.kind
    w.limit("%n")
    factors = w.scratch(text.value("mul i64 %n, %n"), dtype.bytes)
    pivots = w.scratch("%n", 4)
    w.copy(factors, "%matrix", text.value("mul i64 %n, %n"))
    getrf(w, factors, pivots, text.alloca("i64"))
    text.do(f"store {kind} {literal(1.0, dtype)}, ptr %out")
    stride = text.value("add i64 %n, 1")

    def multiply(k: Value) -> None:
        at = w.element(factors, text.value(f"mul i64 {k}, {stride}"))
        diagonal = text.value(f"load {kind}, ptr {at}")
        narrow = text.value(f"load i32, ptr {w.element(pivots, k, 'i32')}")
        pivot = text.value(f"sext i32 {narrow} to i64")
        swapped = text.value(f"icmp ne i64 {pivot}, {text.value(f'add i64 {k}, 1')}")
        negated = text.value(f"fneg {kind} {diagonal}")
        factor = text.value(f"select i1 {swapped}, {kind} {negated}, {kind} {diagonal}")
        product = text.value(f"fmul {kind} {text.value(f'load {kind}, ptr %out')}, {factor}")
        text.do(f"store {kind} {product}, ptr %out")

    w.loop("%n", multiply)
    w.finish()


def cholesky(module: ModuleText, name: str, dtype: DType) -> None:
    """A = L·Lᵀ row-major is A = Uᵀ·U column-major with U the same elements as L."""
    w = Wrapper(module, name, dtype, "ptr %matrix, ptr %out, ptr %status, i64 %n")
    w.limit("%n")
    _copy_lower(w, "%out", "%matrix")
    info = w.integer("0")
    w.fortran("potrf", w.letter("U"), w.integer("%n"), "%out", w.leading("%n"), info)
    report(w, info, "%status")
    w.finish()


def _copy_lower(w: Wrapper, target: Value, source: Value) -> None:
    """The lower triangle of an n × n matrix, with zeros above it."""
    text, kind = w.text, w.kind

    def row(i: Value) -> None:
        start = text.value(f"mul i64 {i}, %n")

        def column(j: Value) -> None:
            at = text.value(f"add i64 {start}, {j}")
            value = text.value(f"load {kind}, ptr {w.element(source, at)}")
            is_lower = text.value(f"icmp sle i64 {j}, {i}")
            kept = text.value(f"select i1 {is_lower}, {kind} {value}, {kind} {literal(0.0, w.dtype)}")
            text.do(f"store {kind} {kept}, ptr {w.element(target, at)}")

        w.loop("%n", column)

    w.loop("%n", row)


# ---------------------------------------------------------------------------- adjoint of Cholesky
BLOCK = 32
"""How many rows and columns of a Cholesky factor are gone back through at once."""


def cholesky_adjoint(module: ModuleText, name: str, dtype: DType) -> None:
    """Back through the blocks of the factor, from the last to the first, in place (Murray 2016, §4).

    With D on the diagonal, R left of it, C below it, B below R, and of each the adjoint:

        C_adj = C_adj·D⁻¹,  B_adj -= C_adj·R,  R_adj -= C_adjᵀ·B,  D_adj -= C_adjᵀ·C
        D_adj = what the algorithm without blocks makes of it,  R_adj -= (D_adj + D_adjᵀ)·R
    """
    w = Wrapper(module, name, dtype, "ptr %factor, ptr %adjoint, ptr %out, i64 %n")
    text = w.text
    w.limit("%n")
    _copy_lower(w, "%out", "%adjoint")
    ld, one, minus = w.leading("%n"), w.number(1.0), w.number(-1.0)
    left, right, upper = w.letter("L"), w.letter("R"), w.letter("U")
    plain, transposed = w.letter("N"), w.letter("T")

    def block(k: Value) -> None:
        end = text.value(f"sub i64 %n, {text.value(f'mul i64 {k}, {BLOCK}')}")
        first = text.value(f"sub i64 {end}, {BLOCK}")
        start = text.intrinsic("llvm.smax.i64", "i64", [("i64", first), ("i64", "0")])
        size, rest = text.value(f"sub i64 {end}, {start}"), text.value(f"sub i64 %n, {end}")
        before, wide, below = w.integer(start), w.integer(size), w.integer(rest)

        def corners(row: Value) -> tuple[Value, ...]:
            """Of the factor and the adjoint: where the rows begin, and where in them the block does."""
            line = text.value(f"mul i64 {row}, %n")
            inside = text.value(f"add i64 {line}, {start}")
            return tuple(w.element(base, at) for at in (line, inside) for base in ("%factor", "%out"))

        r, r_adj, d, d_adj = corners(start)

        def from_below() -> None:
            b, b_adj, c, c_adj = corners(end)
            w.fortran("trsm", left, upper, plain, plain, wide, below, one, d, ld, c_adj, ld)
            w.fortran("gemm", plain, plain, before, below, wide, minus, r, ld, c_adj, ld, one, b_adj, ld)
            w.fortran("gemm", plain, transposed, before, wide, below, minus, b, ld, c_adj, ld, one, r_adj, ld)
            w.fortran("gemm", plain, transposed, wide, wide, below, minus, c, ld, c_adj, ld, one, d_adj, ld)

        w.when(text.value(f"icmp sgt i64 {rest}, 0"), from_below)
        _reverse_block(w, d, d_adj, size)
        w.fortran("symm", right, upper, before, wide, minus, d_adj, ld, r, ld, one, r_adj, ld)
        _cut_block(w, d_adj, size)

    w.loop(text.value(f"udiv i64 {text.value(f'add i64 %n, {BLOCK - 1}')}, {BLOCK}"), block, work=ALWAYS)
    w.finish()


def _reverse_block(w: Wrapper, factor: Value, adjoint: Value, size: Value) -> None:
    """Back through the columns of a block, in place; the diagonal is left twice what it is.

    With s_ij = a_ij - Σ_k l_ik·l_jk over k < j:  l_jj = √s_jj,  l_ij = s_ij / l_jj
    """
    text, kind = w.text, w.kind
    last = text.value(f"sub i64 {size}, 1")

    def subtract(at: Value, left: Value, right: Value) -> None:
        place = w.element(adjoint, at)
        old = text.value(f"load {kind}, ptr {place}")
        term = text.value(f"fmul {kind} {left}, {right}")
        text.do(f"store {kind} {text.value(f'fsub {kind} {old}, {term}')}, ptr {place}")

    def value_at(base: Value, at: Value) -> Value:
        return text.value(f"load {kind}, ptr {w.element(base, at)}")

    def divided(at: Value, diagonal: Value) -> Value:
        """The adjoint there over the diagonal, which takes its place."""
        quotient = text.value(f"fdiv {kind} {value_at(adjoint, at)}, {diagonal}")
        text.do(f"store {kind} {quotient}, ptr {w.element(adjoint, at)}")
        return quotient

    def column(k: Value) -> None:
        j = text.value(f"sub i64 {last}, {k}")
        row = text.value(f"mul i64 {j}, %n")
        middle = text.value(f"add i64 {row}, {j}")
        diagonal = value_at(factor, middle)

        def below(step: Value) -> None:
            i = text.value(f"sub i64 {last}, {step}")
            other = text.value(f"mul i64 {i}, %n")
            at = text.value(f"add i64 {other}, {j}")
            s_adj = divided(at, diagonal)
            subtract(middle, s_adj, value_at(factor, at))

            def both(c: Value) -> None:
                own, across = text.value(f"add i64 {row}, {c}"), text.value(f"add i64 {other}, {c}")
                subtract(across, s_adj, value_at(factor, own))
                subtract(own, s_adj, value_at(factor, across))

            w.loop(j, both)

        w.loop(k, below)
        twice = divided(middle, diagonal)

        def own(c: Value) -> None:
            at = text.value(f"add i64 {row}, {c}")
            subtract(at, twice, value_at(factor, at))

        w.loop(j, own)

    w.loop(size, column)


def _cut_block(w: Wrapper, block: Value, size: Value) -> None:
    """Half of the diagonal, and zeros above it."""
    text, kind = w.text, w.kind
    zero, half = literal(0.0, w.dtype), literal(0.5, w.dtype)

    def row(i: Value) -> None:
        middle = text.value(f"add i64 {text.value(f'mul i64 {i}, %n')}, {i}")
        diagonal = w.element(block, middle)
        halved = text.value(f"fmul {kind} {half}, {text.value(f'load {kind}, ptr {diagonal}')}")
        text.do(f"store {kind} {halved}, ptr {diagonal}")
        right = text.value(f"add i64 {middle}, 1")

        def above(c: Value) -> None:
            text.do(f"store {kind} {zero}, ptr {w.element(block, text.value(f'add i64 {right}, {c}'))}")

        w.loop(text.value(f"sub i64 {text.value(f'sub i64 {size}, 1')}, {i}"), above)

    w.loop(size, row)


FORTRAN: Sequence[tuple[str, str]] = (
    ("blas", "gemm"),
    ("blas", "gemv"),
    ("blas", "swap"),
    ("blas", "symm"),
    ("blas", "trsm"),
    ("lapack", "getrf"),
    ("lapack", "getri"),
    ("lapack", "potrf"),
)
"""What the wrappers call: library and name without its letter for the type."""
