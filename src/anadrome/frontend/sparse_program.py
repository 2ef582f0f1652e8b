"""SciPy's sparse matrices as a program has them, in Python that is compiled like a user's.

A matrix is a container of its stored values, two arrays of places and its shape (`sparse_matrices`). There is
one class for each of SciPy's, of the same name: its layout is a base, and so is what sets `*_array` and
`*_matrix` apart. Errors in these programs name the line of the user's call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy


# ---------------------------------------------------------------------------- compiled forms of their own
def refuse(matrix: Any, what: Any, reason: Any, help: Any) -> Any:
    """Refuse an operation on a matrix of the program (`library.sparse`)."""
    raise AssertionError("it is called in programs only")


def hold_rows(places: Any, rows: Any, columns: Any) -> None:
    """Hold the rows of x in A @ x to the columns of A, of which `places` is a part (`library.sparse`)."""
    raise AssertionError("it is called in programs only")


def is_sparse(other: Any) -> Any:
    """Whether the other side of an operator is a matrix of SciPy's, or of the program."""
    return isinstance(other, (scipy.sparse.sparray, scipy.sparse.spmatrix))


# ---------------------------------------------------------------------------- loops
def row_products(data: Any, indices: Any, indptr: Any, x: Any) -> Any:
    """A @ x, row by row."""
    rows = range(len(indptr) - 1)
    return np.array([sum(data[k] * x[indices[k]] for k in range(indptr[i], indptr[i + 1])) for i in rows])


def entry_products(data: Any, row: Any, column: Any, x: Any, rows: Any) -> Any:
    """A @ x, entry by entry, of a vector or a matrix x."""
    terms = data * x[column] if x.ndim == 1 else data[:, None] * x[column]
    found = np.zeros((rows, *x.shape[1:]), dtype=terms.dtype)
    np.add.at(found, row, terms)
    return found


def owners(indptr: Any, count: Any) -> Any:
    """The row of each entry of a matrix stored row by row."""
    found = np.zeros(count, dtype=indptr.dtype)
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            found[k] = i
    return found


def bounds(places: Any, count: Any) -> Any:
    """Where each row begins among entries ordered by rows, and where the last one ends."""
    found = np.zeros(count + 1, dtype=places.dtype)
    np.add.at(found, places + 1, 1)
    return np.cumsum(found).astype(places.dtype)


def ordered(data: Any, row: Any, column: Any, rows: Any) -> Any:
    """Entries row by row, in each row as they came: the parts of a matrix."""
    order = np.argsort(row, kind="stable")
    return data[order], column[order], bounds(row, rows)


def summed(data: Any, row: Any, column: Any, rows: Any, columns: Any) -> Any:
    """Entries row by row, in each row by columns, those of one place added: the parts of a matrix."""
    keys = row.astype(np.int64) * columns + column
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = np.concatenate([np.ones(min(1, len(keys)), dtype=bool), keys[1:] != keys[:-1]])
    indices = column[order][is_first]
    found = np.zeros(len(indices), dtype=data.dtype)
    np.add.at(found, np.cumsum(is_first) - 1, data[order])
    return found, indices, bounds(row[order][is_first], rows)


def read_only(places: Any) -> Any:
    """Places, which several matrices may share."""
    return np.broadcast_to(places, places.shape)


def are_inside(row: Any, column: Any, rows: Any, columns: Any) -> Any:
    """Whether all entries are inside a matrix."""
    return np.all((row >= 0) & (row < rows) & (column >= 0) & (column < columns))


# ---------------------------------------------------------------------------- what all have in common
class Sparse:
    """A matrix: its stored values, two arrays that say where they are, its shape."""

    __array_priority__ = 10.1
    ndim = 2
    names: tuple[str, str, str]
    format: str
    data: Any
    _csr: Any
    _csc: Any
    _coo: Any

    def __init__(self, data: Any, first: Any, second: Any, rows: Any, columns: Any) -> None:
        self.data = data
        self._first = first
        self._second = second
        self._rows = rows
        self._columns = columns

    def _entries(self) -> Any:
        """The row and the column of each stored value."""
        raise NotImplementedError

    def _like(self, data: Any) -> Any:
        """A matrix with other values at the same places."""
        raise NotImplementedError

    def _canonical(self) -> Any:
        """The matrix with one entry for each place, ordered."""
        raise NotImplementedError

    # ------------------------------------------------------------------ attributes
    @property
    def shape(self) -> Any:
        return self._rows, self._columns

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def nnz(self) -> Any:
        return len(self.data)

    @property
    def size(self) -> Any:
        return len(self.data)

    @property
    def T(self) -> Any:  # noqa: N802
        return self.transpose()

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        raise NotImplementedError

    # ------------------------------------------------------------------ products
    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return refuse(self, "`A @ B` of two sparse matrices", "", "multiply a vector: `A @ (B @ x)`")
        return self._product(np.asarray(other))

    def __rmatmul__(self, other: Any) -> Any:
        return self.transpose()._product(np.asarray(other).T).T

    def dot(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other) > 0:
            return self @ other
        return self * other

    def _product(self, x: Any) -> Any:
        if x.ndim not in (1, 2):
            return refuse(
                self, f"`@` of a sparse matrix and an array of {x.ndim} dimensions", "", "take 1 or 2"
            )
        hold_rows(self._first, len(x), self.shape[1])
        return self._applied(x)

    def _applied(self, x: Any) -> Any:
        row, column = self._entries()
        return entry_products(self.data, row, column, x, self.shape[0])

    def multiply(self, other: Any) -> Any:
        if is_sparse(other):
            return refuse(self, "`A.multiply(B)` of two sparse matrices", "", "multiply by `B.toarray()`")
        if np.ndim(other) == 0:
            return self._like(self.data * other)
        row, column = self._entries()
        return self._coo(
            self.data * np.broadcast_to(other, self.shape)[row, column], row, column, *self.shape
        )

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other) > 0:
            return refuse(self, "a sparse matrix divided by an array", "", "write `A.multiply(1 / b)`")
        found = self if self.data.dtype == np.float64 else self.astype(np.float64)
        return found._like(found.data * (1.0 / other))

    def __neg__(self) -> Any:
        return self._like(-self.data)

    def __abs__(self) -> Any:
        found = self._canonical()
        return found._like(abs(found.data))

    def __imul__(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other) > 0:
            return NotImplemented
        self.data *= other
        return self

    def __itruediv__(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other) > 0:
            return NotImplemented
        self.data *= 1.0 / other
        return self

    # ------------------------------------------------------------------ sums
    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __radd__(self, other: Any) -> Any:
        return self._plus(other, 1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def _plus(self, other: Any, sign: Any) -> Any:
        if is_sparse(other):
            matrix: Any = other
            if self.format == "coo" or matrix.format == "coo":
                return refuse(
                    self, "the sum of matrices in COO format", "", "convert them first: `A.tocsr()`"
                )
            if self.shape[0] != matrix.shape[0] or self.shape[1] != matrix.shape[1]:
                raise ValueError("inconsistent shapes")
            is_alike = type(self) is type(matrix)
            if is_alike and self._first is matrix._first and self._second is matrix._second:
                return self._like(self.data + sign * matrix.data)
            return self._with(matrix, sign)
        if np.ndim(other) == 0:
            return refuse(
                self, "a sparse matrix plus a number", "it would not be sparse", "use `A.toarray()`"
            )
        return self._plus_dense(other, sign)

    def _with(self, other: Any, sign: Any) -> Any:
        """The sum, with the places of both."""
        mine, theirs = self._entries(), other._entries()
        data = np.concatenate([self.data, sign * other.data])
        row, column = (np.concatenate([mine[place], theirs[place]]) for place in (0, 1))
        rows, columns = self.shape
        if self.format == "csc":
            return self._csc(*summed(data, column, row, columns, rows), rows, columns)
        return self._csr(*summed(data, row, column, rows, columns), rows, columns)

    def _plus_dense(self, other: Any, sign: Any) -> Any:
        rows, columns = self.shape
        if np.ndim(other) != 2 or other.shape[0] != rows or other.shape[1] != columns:
            raise ValueError("the shapes of a sparse matrix and an array that are added must be equal")
        return self.toarray() + sign * np.asarray(other)

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)
        if axis not in (0, 1, -1, -2):
            raise ValueError("axis out of range")
        row, column = self._entries()
        along_rows = axis in (0, -2)
        found = np.zeros(self.shape[1 if along_rows else 0], dtype=np.sum(self.data).dtype)
        np.add.at(found, column if along_rows else row, self.data)
        return found

    def mean(self, axis: Any = None) -> Any:
        rows, columns = self.shape
        if axis is None:
            return self.sum() / (rows * columns)
        return self.sum(axis) / (rows if axis in (0, -2) else columns)

    # ------------------------------------------------------------------ other forms
    def toarray(self) -> Any:
        row, column = self._entries()
        found = np.zeros(self.shape, dtype=self.data.dtype)
        np.add.at(found, (row, column), self.data)
        return found

    def todense(self) -> Any:
        return self.toarray()

    def diagonal(self, k: Any = 0) -> Any:
        rows, columns = self.shape
        row, column = self._entries()
        above, below = max(k, 0), max(-k, 0)
        found = np.zeros(max(0, min(rows - below, columns - above)), dtype=self.data.dtype)
        on = column - row == k
        np.add.at(found, (row - below)[on], self.data[on])
        return found

    def trace(self, offset: Any = 0) -> Any:
        return np.sum(self.diagonal(offset))

    def copy(self) -> Any:
        return self._like(self.data.copy())

    def astype(self, dtype: Any) -> Any:
        if self.data.dtype == np.dtype(dtype):
            return self.copy()
        return self._like(self.data.astype(dtype))._canonical()

    def tocoo(self, copy: Any = True) -> Any:
        row, column = self._entries()
        return self._coo(self.data.copy() if copy else self.data, row, column, *self.shape)

    def tocsr(self, copy: Any = False) -> Any:
        row, column = self._entries()
        return self._csr(*ordered(self.data, row, column, self.shape[0]), *self.shape)

    def tocsc(self, copy: Any = False) -> Any:
        row, column = self._entries()
        return self._csc(*ordered(self.data, column, row, self.shape[1]), *self.shape)

    def __getitem__(self, index: Any) -> Any:
        return refuse(
            self, "an item of a sparse matrix", "", "use `A.diagonal()`, `A @ x` or `A.toarray()[i, j]`"
        )

    def __len__(self) -> Any:
        raise TypeError("sparse array length is ambiguous; use A.shape[0] or A.nnz")

    def __bool__(self) -> Any:
        raise ValueError("the truth value of a sparse matrix is ambiguous")


# ---------------------------------------------------------------------------- layouts
class Compressed(Sparse):
    """Entries row by row or column by column: those of i stand from indptr[i] up to indptr[i + 1]."""

    names = ("data", "indices", "indptr")

    @property
    def indices(self) -> Any:
        return read_only(self._first)

    @property
    def indptr(self) -> Any:
        return read_only(self._second)


class Csr(Compressed):
    """Stored row by row."""

    format = "csr"

    @property
    def shape(self) -> Any:
        return len(self._second) - 1, self._columns

    def _entries(self) -> Any:
        return owners(self._second, len(self.data)), self._first

    def _like(self, data: Any) -> Any:
        return self._csr(data, self._first, self._second, *self.shape)

    def _applied(self, x: Any) -> Any:
        if x.ndim == 1:
            return row_products(self.data, self._first, self._second, x)
        row, column = self._entries()
        return entry_products(self.data, row, column, x, self.shape[0])

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        rows, columns = self.shape
        return self._csc(self.data.copy() if copy else self.data, self._first, self._second, columns, rows)

    def _canonical(self) -> Any:
        return self.tocoo(copy=False).tocsr()

    def tocsr(self, copy: Any = False) -> Any:
        return self.copy() if copy else self


class Csc(Compressed):
    """Stored column by column."""

    format = "csc"

    @property
    def shape(self) -> Any:
        return self._rows, len(self._second) - 1

    def _entries(self) -> Any:
        return self._first, owners(self._second, len(self.data))

    def _like(self, data: Any) -> Any:
        return self._csc(data, self._first, self._second, *self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        rows, columns = self.shape
        return self._csr(self.data.copy() if copy else self.data, self._first, self._second, columns, rows)

    def _canonical(self) -> Any:
        return self.tocoo(copy=False).tocsc()

    def tocsc(self, copy: Any = False) -> Any:
        return self.copy() if copy else self


class Coo(Sparse):
    """Entries in any order; those of one place add up."""

    names = ("data", "row", "col")
    format = "coo"

    @property
    def row(self) -> Any:
        return read_only(self._first)

    @property
    def col(self) -> Any:
        return read_only(self._second)

    @property
    def coords(self) -> Any:
        return self.row, self.col

    def _entries(self) -> Any:
        return self._first, self._second

    def _like(self, data: Any) -> Any:
        return self._coo(data, self._first, self._second, *self.shape)

    def transpose(self, axes: Any = None, copy: Any = False) -> Any:
        rows, columns = self.shape
        return self._coo(self.data.copy() if copy else self.data, self._second, self._first, columns, rows)

    def multiply(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other) == 0:
            return Sparse.multiply(self, other)
        return self.tocsr().multiply(other)

    def _canonical(self) -> Any:
        return self.tocsr().tocoo(copy=False)

    def tocoo(self, copy: Any = False) -> Any:
        return self.copy() if copy else self

    def tocsr(self, copy: Any = False) -> Any:
        return self._csr(*summed(self.data, self._first, self._second, *self.shape), *self.shape)

    def tocsc(self, copy: Any = False) -> Any:
        rows, columns = self.shape
        return self._csc(*summed(self.data, self._second, self._first, columns, rows), rows, columns)


# ---------------------------------------------------------------------------- SciPy's two families
class OfArrays:
    """What sets `csr_array` and its kin apart: `*` is elementwise."""

    def _csr(self, *parts: Any) -> Any:
        return csr_array(*parts)

    def _csc(self, *parts: Any) -> Any:
        return csc_array(*parts)

    def _coo(self, *parts: Any) -> Any:
        return coo_array(*parts)

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other)  # type: ignore[attr-defined]

    def __rmul__(self, other: Any) -> Any:
        return self.multiply(other)  # type: ignore[attr-defined]


class OfMatrices:
    """What sets `csr_matrix` and its kin apart: `*` is `@`, a dense matrix that they give an `np.matrix`."""

    def _csr(self, *parts: Any) -> Any:
        return csr_matrix(*parts)

    def _csc(self, *parts: Any) -> Any:
        return csc_matrix(*parts)

    def _coo(self, *parts: Any) -> Any:
        return coo_matrix(*parts)

    def __mul__(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other) > 0:
            return self @ other
        return self._like(self.data * other)  # type: ignore[attr-defined]

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            return self._like(self.data * other)  # type: ignore[attr-defined]
        return other @ self

    def todense(self) -> Any:
        return refuse(self, "`todense` of a sparse matrix", "it gives an `np.matrix`", "use `A.toarray()`")

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return np.sum(self.data)  # type: ignore[attr-defined]
        help = "write `A @ np.ones(n)` for the rows, `np.ones(m) @ A` for the columns, or use a `csr_array`"
        return refuse(self, "`sum` of a sparse matrix by an axis", "it gives an `np.matrix`", help)

    def _plus_dense(self, other: Any, sign: Any) -> Any:
        return refuse(self, "a sparse matrix plus an array", "it gives an `np.matrix`", "use `A.toarray()`")


class csr_array(OfArrays, Csr):
    """scipy.sparse.csr_array"""


class csc_array(OfArrays, Csc):
    """scipy.sparse.csc_array"""


class coo_array(OfArrays, Coo):
    """scipy.sparse.coo_array"""


class csr_matrix(OfMatrices, Csr):
    """scipy.sparse.csr_matrix"""


class csc_matrix(OfMatrices, Csc):
    """scipy.sparse.csc_matrix"""


class coo_matrix(OfMatrices, Coo):
    """scipy.sparse.coo_matrix"""
