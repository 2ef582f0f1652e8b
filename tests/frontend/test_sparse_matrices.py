"""Sparse matrices in programs: every operation on every format, compared with SciPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import factorized, splu, spsolve

import anadrome as ad
from anadrome.errors import frontend, runtime

ARRAYS = (sp.csr_array, sp.csc_array, sp.coo_array)
MATRICES = (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix)
KINDS = (*ARRAYS, *MATRICES)


def entries(shape: tuple[int, int], seed: int = 0, count: int | None = None) -> Any:
    """Entries in any order, some of one place; about half of the rows are empty."""
    random = np.random.default_rng(seed)
    rows, columns = shape
    count = rows + columns if count is None else count
    row, column = random.integers(0, rows, count) // 2 * 2, random.integers(0, columns, count)
    row[-2:], column[-2:] = row[:2], column[:2]
    return random.normal(size=count), (row, column)


def made(kind: Any, shape: tuple[int, int], dtype: Any = np.float64) -> Any:
    data, places = entries(shape)
    data = np.abs(3 * data) if np.dtype(dtype).kind == "u" else 10 * data
    return kind(sp.coo_array((data.astype(dtype), places), shape=shape))


def regular(kind: Any, n: int = 30, dtype: Any = np.float64) -> Any:
    """A regular matrix; in COO format the places of some entries are equal."""
    data, (row, column) = entries((n, n))
    diagonal = np.arange(n)
    parts = np.concatenate([data, np.full(n, 9.0)]).astype(dtype)
    places = np.concatenate([row, diagonal]), np.concatenate([column, diagonal])
    return kind(sp.coo_array((parts, places), shape=(n, n)))


def agree(function: Callable[..., Any], *args: Any, tolerance: float = 1e-12) -> None:
    """The compiled function gives what Python gives: type, parts of a matrix, dtype, numbers."""
    same(ad.jit(function)(*args), function(*args), tolerance)


def same(found: Any, wanted: Any, tolerance: float) -> None:
    assert type(found) is type(wanted)
    if sp.issparse(wanted):
        for name in ("row", "col") if wanted.format == "coo" else ("indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
        assert found.shape == wanted.shape
        found, wanted = found.data, wanted.data
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


V, W = np.linspace(-1.0, 2.0, 23), np.linspace(3.0, 1.0, 31)
M = np.outer(np.sin(V), np.arange(1.0, 4.0))
D = np.cos(np.outer(W, V))

PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "A @ v": lambda A: A @ V,
    "A @ M": lambda A: A @ M,
    "w @ A": lambda A: W @ A,
    "M.T @ A": lambda A: D.T @ A,
    "A @ list": lambda A: A @ [float(k) for k in range(23)],
    "A.T @ w": lambda A: A.T @ W,
    "A.dot": lambda A: A.dot(V),
    "A.dot(number)": lambda A: A.dot(2.0),
    "A.transpose": lambda A: A.transpose(),
    "A.transpose(copy)": lambda A: A.transpose(copy=True) @ W,
    "T of T": lambda A: A.T.T @ V,
}
SCALED: dict[str, Callable[[Any], Any]] = {
    "A * 2": lambda A: A * 2,
    "2.5 * A": lambda A: 2.5 * A,
    "float32 * A": lambda A: np.float32(2.5) * A,
    "A / 3": lambda A: A / 3,
    "-A": lambda A: -A,
    "abs": lambda A: abs(A),
    "A.multiply(number)": lambda A: A.multiply(1.5),
    "A.multiply(dense)": lambda A: A.multiply(D),
    "A.multiply(row)": lambda A: A.multiply(V),
    "A.multiply(column)": lambda A: A.multiply(W[:, None]),
    "astype": lambda A: A.astype(np.float32),
    "copy": lambda A: A.copy(),
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "toarray": lambda A: A.toarray(),
    "diagonal": lambda A: A.diagonal(),
    "diagonal(2)": lambda A: A.diagonal(2),
    "diagonal(-9)": lambda A: A.diagonal(-9),
    "diagonal outside": lambda A: A.diagonal(23),
    "trace": lambda A: A.trace(),
    "sum": lambda A: A.sum(),
    "mean": lambda A: A.mean(),
    "tocsr": lambda A: A.tocsr(),
    "tocsc": lambda A: A.tocsc(),
    "tocoo": lambda A: A.tocoo(),
    "there and back": lambda A: A.tocsc().tocoo().tocsr() @ V,
    "data": lambda A: A.data,
    "shape": lambda A: A.shape[0] + 100 * A.shape[1] + 10000 * A.nnz + A.ndim + A.size,
    "A": lambda A: A,
    "2 * A - A": lambda A: A if A.format == "coo" else 2.0 * A - A,
}
OF_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "A * v": lambda A: A * V,
    "v * A": lambda A: V * A,
    "sum(0)": lambda A: A.sum(axis=0),
    "sum(1)": lambda A: A.sum(axis=1),
    "sum(-1)": lambda A: A.sum(axis=-1),
    "mean(0)": lambda A: A.mean(axis=0),
    "mean(1)": lambda A: A.mean(axis=1),
    "todense": lambda A: A.todense(),
    "A + D": lambda A: A + D,
    "D - A": lambda A: D - A,
}
OF_MATRICES: dict[str, Callable[[Any], Any]] = {
    "A * v": lambda A: A * V,
    "A * M": lambda A: A * M,
    "w * A": lambda A: W * A,
}
CASES = [
    *[(kind, name) for name in ("PRODUCTS", "SCALED", "FORMS") for kind in KINDS],
    *[(kind, "OF_ARRAYS") for kind in ARRAYS],
    *[(kind, "OF_MATRICES") for kind in MATRICES],
]


@pytest.mark.parametrize(("kind", "table"), CASES, ids=[f"{kind.__name__} {name}" for kind, name in CASES])
def test_operations(kind: Any, table: str) -> None:
    """With empty rows, and in COO format with entries of one place."""
    functions: dict[str, Callable[[Any], Any]] = globals()[table]
    found = ad.jit(lambda A: {name: function(A) for name, function in functions.items()})(
        made(kind, (31, 23))
    )
    for name, function in functions.items():
        same(found[name], function(made(kind, (31, 23))), 1e-12)  # SciPy may add up entries of its argument


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_small_and_empty_matrices(kind: Any) -> None:
    """Sizes below and above those that are constants of a program; no rows, no columns, no entries."""
    for shape in ((3, 2), (1, 2), (2, 1), (40, 3), (3, 40)):
        if kind is sp.coo_array and 1 in shape:  # SciPy gives a number where the result has one element
            continue
        agree(lambda A, x: A @ x, made(kind, shape), np.ones(shape[1]))
        agree(lambda A, x: x @ A, made(kind, shape), np.ones(shape[0]))
    for shape in ((3, 4), (20, 30), (0, 3), (3, 0)):
        agree(lambda A, x: A @ x, kind(shape), np.ones(shape[1]))
        agree(lambda A: A.toarray(), kind(shape))
        agree(lambda A: A.tocsr(), kind(shape))
        agree(lambda A: A.tocsc(), kind(shape))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.uint8])
def test_element_types(kind: Any, dtype: Any) -> None:
    matrix = made(kind, (31, 23), dtype)
    for x in (V, V.astype(np.float32), np.arange(23)):
        agree(lambda A, x: A @ x, matrix, x, tolerance=1e-5 if np.float32 in (dtype, x.dtype) else 1e-12)
    agree(lambda A: A.toarray(), matrix)
    agree(lambda A: A.sum(), matrix, tolerance=1e-5 if dtype is np.float32 else 1e-12)
    agree(lambda A: A.tocsr(), matrix)


def test_entries_of_one_place_in_compressed_formats() -> None:
    """SciPy adds them up where it must, and leaves them where it may."""
    values, places, bounds = np.array([1.0, -3.0, 2.0, 5.0]), np.array([2, 2, 1, 0]), np.array([0, 2, 4])
    for kind in (sp.csr_array, sp.csc_matrix):
        shape = (2, 3) if "csr" in kind.__name__ else (3, 2)
        for function in (
            abs,
            lambda A: A.astype(np.float32),
            lambda A: -A,
            lambda A: A.tocsr(),
            lambda A: A.T,
        ):
            given = [kind((values, places, bounds), shape=shape) for _ in range(2)]
            same(ad.jit(lambda A: function(A))(given[0]), function(given[1]), 1e-12)


def test_complex_matrices() -> None:
    agree(lambda A, x: A @ x, made(sp.csr_array, (31, 23)) * (1.0 + 2.0j), V)
    agree(lambda A, x: A @ x, made(sp.csr_array, (31, 23)), V * 1j)


# ---------------------------------------------------------------------------- systems
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:spsolve requires A be CSC or CSR")
def test_systems(kind: Any) -> None:
    A, b = regular(kind), np.sin(np.arange(30.0))
    several = np.outer(b, [1.0, 2.0, -1.0]) + np.eye(30, 3)
    agree(lambda A, b: spsolve(A, b), A, b)
    agree(lambda A, b: spsolve(A, b, use_umfpack=False), A, b)
    agree(lambda A, b: spsolve(A, b), A, several)
    agree(lambda A, b: spsolve(A, b), A, several[:, :1])
    agree(lambda A, b: spsolve(A.T, b), A, b)
    agree(lambda A, b: spsolve(2.0 * A, A @ b), A, b)
    agree(lambda A, b: spsolve(A, b), regular(kind, dtype=np.float32), b, tolerance=1e-6)
    agree(lambda A, b: spsolve(A, b), regular(kind, dtype=np.float32), b.astype(np.float32), tolerance=1e-5)
    agree(lambda A, b: spsolve(A, b), A, np.arange(30))
    agree(lambda A, b: spsolve(A, b), regular(kind, 3), b[:3])


def test_factors() -> None:
    A, b = regular(sp.csc_array), np.sin(np.arange(30.0))
    column = np.outer(b, [1.0])
    agree(lambda A, b: factorized(A)(b), A, b)
    agree(lambda A, b: splu(A).solve(b), A, b)
    agree(lambda A, b: splu(A).solve(b), A, column)
    agree(lambda A, b: splu(A).solve(b, "T"), A, b)

    def steps(A: Any, x: Any) -> Any:
        solve = factorized(A)
        for _ in range(20):
            x = solve(x) + 1.0
        return x

    agree(steps, A, b)

    def changed(A: Any, x: Any) -> Any:
        """Factors are of the matrix as it was."""
        B = 2.0 * A
        factors = splu(B)
        B.data[:] = 0.0
        return factors.solve(x)

    agree(changed, A, b)


def test_a_singular_matrix_is_an_error() -> None:
    """An empty row is one; and the next call works."""
    A, b = regular(sp.csr_array), np.ones(30)
    solve = ad.jit(lambda A, b: spsolve(A, b))
    singular = A.copy()
    singular.data[singular.indptr[3] : singular.indptr[4]] = 0.0
    for bad in (singular, sp.csr_array((30, 30)), sp.csr_array(np.ones((30, 30)))):
        with pytest.raises(runtime.SingularMatrix, match="the sparse matrix is singular"):
            solve(bad, b)
    np.testing.assert_allclose(A @ solve(A, b), b)


# ---------------------------------------------------------------------------- making matrices
ROW, COLUMN = np.array([0, 2, 1, 2, 0, 2]), np.array([1, 0, 1, 0, 2, 3])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_matrices_are_made_of_entries(kind: Any) -> None:
    values = np.linspace(1.0, 2.0, 6)
    agree(lambda v: kind((v, (ROW, COLUMN)), shape=(3, 4)), values)
    agree(lambda v, r, c: kind((v, (r, c)), shape=(3, 4)) @ np.ones(4), values, ROW, COLUMN)
    agree(lambda v: kind(sp.csr_matrix((v, (ROW, COLUMN)), shape=(3, 4))), values)
    with pytest.raises(runtime.SizeMismatch, match="is outside of the shape"):
        ad.jit(lambda v: kind((v, (ROW, COLUMN)), shape=(3, 3)))(values)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "coo" not in kind.__name__])
def test_matrices_are_made_of_their_parts(kind: Any) -> None:
    A = made(kind, (31, 23))
    agree(lambda v, i, p: kind((v, i, p), shape=(31, 23)), A.data, A.indices, A.indptr)
    agree(lambda v: kind((2.0 * v, A.indices, A.indptr), shape=A.shape), A.data)


def test_matrices_made_of_what_is_known() -> None:
    """They are SciPy's, made while compiling."""
    agree(lambda x: sp.eye_array(23, format="csr") @ x, V)
    agree(lambda x: sp.diags_array([1.0, 2.0], offsets=[0, 1], shape=(23, 23)).tocsr() @ x, V)
    agree(lambda x: sp.csr_matrix(sp.eye(23)) * x, V)


# ---------------------------------------------------------------------------- around the program
@dataclass
class Model:
    stiffness: Any
    load: Any


class Operator:
    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def apply(self, x: Any) -> Any:
        return self.matrix.T @ (self.matrix @ x)


AROUND = made(sp.csr_array, (31, 23))
SMALL = made(sp.coo_array, (3, 2))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_matrices_around_a_program(kind: Any) -> None:
    """Of globals, closures and attributes, in containers and dataclasses; what changes of them is seen."""
    A = made(kind, (31, 23))
    agree(lambda x: A @ x, V)
    agree(lambda x: AROUND @ x + SMALL.toarray()[0, 0], V)
    agree(Operator(A).apply, V)
    parts = {"A": [A, 2.0]}
    agree(lambda x: parts["A"][1] * (parts["A"][0] @ x), V)
    agree(lambda p: p["A"][0] @ p["x"], {"A": [A], "x": V})
    agree(lambda model: model.stiffness @ model.load, Model(A, V))
    compiled = ad.jit(lambda x: A @ x)
    np.testing.assert_allclose(compiled(V), A @ V)
    A.data *= 2.0
    np.testing.assert_allclose(compiled(V), A @ V)
    assert compiled.compilations == 1


def test_one_program_serves_every_size() -> None:
    product = ad.jit(lambda A, x: A @ x)
    for shape in ((31, 23), (40, 50), (23, 31)):
        A = made(sp.csr_array, shape)
        np.testing.assert_allclose(product(A, np.ones(shape[1])), A @ np.ones(shape[1]))
    assert product.compilations == 1


def test_questions_are_answered_as_python_answers() -> None:
    A = made(sp.csr_matrix, (31, 23))
    answers = ad.jit(
        lambda A: (
            *(isinstance(A, sp.csr_matrix), isinstance(A, sp.csr_array), sp.issparse(A), sp.issparse(A.data)),
            *(A.format, A.T.format, A.dtype == np.float64, hasattr(A, "indices"), type(A) is sp.csr_matrix),
        )
    )(A)
    assert answers == (True, False, True, False, "csr", "csc", True, True, True)


# ---------------------------------------------------------------------------- names, branches, loops
def test_values_are_shared_as_in_python() -> None:
    """A transpose has the values of its matrix, and `*=` writes into them."""

    def program(A: Any) -> Any:
        B = 2.0 * A
        C, D = B.T, B
        B *= 3.0
        C.data[0] = 100.0
        B /= 2.0
        return D.data + C.data

    for kind in KINDS:
        agree(program, made(kind, (31, 23)))


def test_matrices_share_the_values_that_they_are_made_of() -> None:
    """As in SciPy, unless they are sorted or copied. Places, which matrices share, are not written."""
    A = made(sp.csr_array, (31, 23))

    def program(v: Any, is_copy: bool) -> Any:
        data = 2.0 * v
        B = sp.csr_array((data, A.indices, A.indptr), shape=A.shape, copy=is_copy)
        C = sp.coo_matrix((data, (A.indices, A.indices)), shape=(23, 23), copy=is_copy)
        D, E = sp.csr_array(C), sp.csr_array(B, copy=is_copy)
        data[0] = 100.0
        B.data[1] = 200.0
        return np.concatenate([B.data, C.data, D.data, E.data, data])

    for is_copy in (False, True):
        agree(lambda v, is_copy=is_copy: program(v, is_copy), A.data)

    def writes(A: Any) -> Any:
        B = 2.0 * A
        B.indices[0] = 1
        return B

    with pytest.raises(frontend.FrontendError):
        ad.jit(writes)(A)


def test_branches_and_loops() -> None:
    A = regular(sp.csr_array)

    def program(A: Any, x: Any) -> Any:
        B = A if x[0] > 0.0 else 2.0 * A
        for _ in range(len(x)):
            B = 0.9 * B
            x = x - 0.01 * (B @ x)
        return B @ x

    for sign in (1.0, -1.0):
        agree(program, A, sign * np.ones(30))


# ---------------------------------------------------------------------------- sizes that do not fit
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_sizes_are_compared(kind: Any) -> None:
    A = made(kind, (31, 23))
    for function, x in ((lambda A, x: A @ x, W), (lambda A, x: x @ A, V), (lambda A, x: A @ x, D)):
        with pytest.raises(ValueError, match=r"23|31"):
            function(A, x)
        with pytest.raises(ValueError, match=r"the sparse matrix has|differ|do not fit|shapes"):
            ad.jit(function)(A, x)
    with pytest.raises(runtime.SizeMismatch, match="must be square"):
        ad.jit(lambda A, b: spsolve(A, b))(A, W)
    with pytest.raises(ValueError, match="differ"):
        ad.jit(lambda A, b: spsolve(A, b))(regular(kind), V)


def test_a_malformed_matrix_is_an_error() -> None:
    """SciPy does not look at the columns of entries; nothing is read outside an array."""
    A = made(sp.csr_array, (31, 23))
    A.indices[3] = 40
    with pytest.raises(IndexError):
        ad.jit(lambda A, x: A @ x)(A, V)
    with pytest.raises(IndexError):
        ad.jit(lambda A: A.toarray())(A)


def test_factors_stay_in_their_scope() -> None:
    def program(A: Any, x: Any) -> Any:
        for k in range(len(x)):
            factors = splu((1.0 + k) * A)
        return factors.solve(x)

    with pytest.raises(frontend.FrontendError):
        ad.jit(program)(regular(sp.csc_array), np.ones(30))


@pytest.mark.parametrize("family", ["array", "matrix"])
@pytest.mark.parametrize("formats", [("csr", "csr"), ("csr", "csc"), ("csc", "csr"), ("csc", "csc")])
def test_sums_of_matrices_with_places_of_their_own(formats: tuple[str, str], family: str) -> None:
    random = np.random.default_rng(3)
    drawn = [sp.random_array((9, 7), density=0.3, rng=random) for _ in formats]
    one, two = (getattr(sp, f"{name}_{family}")(matrix) for name, matrix in zip(formats, drawn, strict=True))

    def sums(A: Any, B: Any) -> Any:
        return A + B, A - 2.0 * B, (B + A).nnz

    wanted, found = sums(one, two), ad.jit(sums)(one, two)
    for ours, theirs in zip(found[:2], wanted[:2], strict=True):
        assert type(ours) is type(theirs)
        np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-14)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    assert found[2] == wanted[2]
    x = np.linspace(0.5, 2.0, 7)
    left, right = ad.grad(lambda A, B: np.sum(((A + B) @ x) ** 2), argnums=(0, 1))(one, two)
    slopes = np.outer(2.0 * ((one + two) @ x), x)
    for gradient, matrix in ((left, one), (right, two)):
        assert type(gradient) is type(matrix)
        np.testing.assert_allclose(gradient.toarray(), slopes * (matrix.toarray() != 0.0), rtol=1e-13)
    with pytest.raises(ValueError, match="inconsistent shapes"):
        ad.jit(sums)(one, two.T)
