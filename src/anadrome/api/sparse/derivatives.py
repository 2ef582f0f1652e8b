"""Sparse Jacobians and Hessians: `jacobian(f, sparse=True)`, `hessian(f, sparse=True)`, `sparsity(f)`.

A call goes four steps, the first three of which are kept for the next one:

1. the forward derivative of the function is staged, and its pattern found (`sparsity.pattern`) at the sizes,
   integers and booleans of the call: sound for all values of the differentiated arguments;
2. the pattern is coloured (`api.sparse.colouring`);
3. a program for so many directions is compiled;
4. it is run, and the elements are picked out of its results (`api.sparse.compression`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from anadrome.api import pytree
from anadrome.api.arguments import Chosen, Selection, chosen_arguments
from anadrome.api.call import Compiled, Options, documented, kept, options_of, transformed
from anadrome.api.patterns import BY_VALUES, refuse_sparse
from anadrome.api.places import placed
from anadrome.api.program import staged_program
from anadrome.api.progress import announced
from anadrome.api.pytree import Structure
from anadrome.api.rules import Gradient
from anadrome.api.signature import NUMBERS, Signature, is_passed, parameter_names
from anadrome.api.sparse.compression import MODES, Compression, compressed
from anadrome.api.sparse.rules import Pulled, Pushed
from anadrome.compile import prepare
from anadrome.errors import AnadromeError
from anadrome.errors.api import UnknownMode
from anadrome.errors.sparse import SparseInside
from anadrome.errors.tracebacks import door
from anadrome.frontend.context import Context
from anadrome.frontend.stage import Staged
from anadrome.frontend.values import Value
from anadrome.sparsity.pattern import Dependence
from anadrome.sparsity.sets import nothing, stacked

KEPT_PLANS = 8
"""Patterns kept for one derivative, each for other sizes or integers."""

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sparsity:
    """Where a derivative may be other than zero, and how it is computed.

    `pattern` has the form of the derivative; its leaves are `scipy.sparse.csr_array`s of bools. `mode` is
    "forward", "reverse", "both" or "symmetric". Columns of one colour share a forward direction, rows of one
    colour a reverse one; a colour of -1 is in none. Columns are the elements of all arguments one after the
    other, rows those of all results. `directions` is their number in all.
    """

    pattern: Any
    mode: str
    columns: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    forward: int
    reverse: int
    shape: Shape
    nonzeros: int

    @property
    def directions(self) -> int:
        """How many directions there are, forward and reverse."""
        return self.forward + self.reverse

    def __str__(self) -> str:
        rows, columns = self.shape
        counts = [(self.forward, "forward"), (self.reverse, "reverse")]
        words = " and ".join(f"{count} {kind}" for count, kind in counts if count) or "no"
        plural = "" if self.directions == 1 else "s"
        symmetric = "symmetric, " if self.mode == "symmetric" else ""
        return f"{rows} × {columns}, {symmetric}{self.nonzeros} elements, {words} direction{plural}"


@dataclass(frozen=True, slots=True, eq=False)
class _Leaves:
    """The arguments of a call that are differentiated by."""

    arrays: tuple[Any, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[np.dtype[Any], ...]
    structure: Structure
    others: Mapping[int, object]

    def derivative(self, rows: int, parts: Sequence[object]) -> Any:
        """One part for each leaf, in the form of the arguments; of integers it is a matrix without elements,
        static leaves are kept."""
        supply = iter(parts)
        found: list[object] = []
        for place in range(len(self.arrays) + len(self.others)):
            leaf = self.others.get(place)
            if place not in self.others:
                found.append(next(supply))
            else:
                found.append(scipy.sparse.csr_array((rows, np.size(leaf))) if _is_numeric(leaf) else leaf)  # type: ignore[arg-type]
        return pytree.unflatten(self.structure, found)


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """The results of a function: its structure, and for each leaf the number of the float result it is."""

    structure: Structure
    floats: tuple[int | None, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[np.dtype[Any], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The staged derivative of one signature, prepared for searching."""

    staged: Staged
    dependence: Dependence
    taken: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What was found for a call: it holds for calls of the same sizes and decisive values."""

    search: _Search
    shapes: tuple[Shape, ...]
    decisive: tuple[npt.NDArray[Any], ...]
    form: _Form
    compression: Compression


class SparseDerivative:
    """A sparse Jacobian or Hessian: called with the arguments of the function, it gives SciPy matrices.

    The result has the form of the dense one. Where that has an array of shape s + t, this has a
    `scipy.sparse.csr_array` with one row for each element of a result of shape s and one column for each
    element of an argument of shape t. Elements of the pattern are stored even where they happen to be zero.

    `sparsity` tells the pattern and the directions of a call without running it.
    """

    def __init__(
        self, transform: str, function: Any, argnums: Selection, mode: str, is_symmetric: bool
    ) -> None:
        if mode not in MODES:
            raise UnknownMode(mode, MODES)
        self.__wrapped__ = function  # its parameters and its place in errors are the function's
        self.__doc__ = documented(f"{transform}(…, sparse=True)", function)
        self.function = function
        self.transform = transform
        self._argnums = argnums
        self._mode = mode
        self._is_symmetric = is_symmetric
        self._one = self._program(Pushed(transform, argnums, several=False))
        self._pushed = self._program(Pushed(transform, argnums, several=True))
        self._pulled = self._program(Pulled(transform, argnums))
        self._searches: dict[Signature, _Search] = {}
        self._plans: list[_Plan] = []

    def __repr__(self) -> str:
        return f"{self.transform}({getattr(self.function, '__qualname__', self.function)!s}, sparse=True)"

    def __reduce__(self) -> tuple[object, ...]:
        """A copy starts without what is kept."""
        parts = (self.transform, self.function, self._argnums, self._mode, self._is_symmetric)
        return SparseDerivative, parts

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """There are no sparse matrices inside compiled functions."""
        raise SparseInside(self.transform).at(context.span)

    @door
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The derivative, in the form of the dense one, as `csr_array`s."""
        args, kwargs = self._declared(args, kwargs)
        leaves = _leaves(self.transform, self._chosen(args, kwargs), isinstance(self._argnums, int | str))
        plan = self._plan(leaves, args, kwargs)
        matrix = plan.compression.matrix(self._products(plan, leaves, args, kwargs))
        return _in_form(plan.form, leaves, matrix)

    @door
    def sparsity(self, *args: Any, **kwargs: Any) -> Sparsity:
        """The pattern for these arguments and how it is coloured."""
        args, kwargs = self._declared(args, kwargs)
        leaves = _leaves(self.transform, self._chosen(args, kwargs), isinstance(self._argnums, int | str))
        plan = self._plan(leaves, args, kwargs)
        found = plan.compression
        rows, columns = found.pattern.shape
        whole = found.pattern.copy()
        return Sparsity(
            _in_form(plan.form, leaves, whole),
            found.mode,
            found.columns.copy(),
            found.rows.copy(),
            found.forward,
            found.reverse,
            (rows, columns),
            int(found.pattern.nnz),
        )

    def forget(self) -> None:
        """Drop the patterns that are kept; the next call searches anew."""
        self._plans = []

    # ------------------------------------------------------------------ programs
    def _declared(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with those marked that the function declares static."""
        return self.function.declared(args, kwargs) if isinstance(self.function, Compiled) else (args, kwargs)

    def _chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Chosen]:
        """The arguments that are differentiated by."""
        names = parameter_names(self.function)
        return chosen_arguments(self.transform, args, kwargs, self._argnums, names)

    def _program(self, rule: Any) -> Compiled:
        options = Options(options_of(self.function).config)
        return Compiled(self.transform, self.function, rule, options, has_own_arguments=True)

    def _products(
        self, plan: _Plan, leaves: _Leaves, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> npt.NDArray[Any]:
        """The compressed derivative: (results, directions), or (directions, inputs) in reverse mode."""
        compression, form = plan.compression, plan.form
        parts = [np.zeros(0, np.result_type(*form.dtypes))]
        if compression.forward:
            seeds = _seeds(compression.forward_seeds, leaves.shapes, leaves.dtypes)
            found = self._pushed(args, kwargs, seeds)
            shaped = [
                part.reshape(_size(shape), compression.forward)
                for part, shape in zip(found, form.shapes, strict=True)
            ]
            parts.append(np.concatenate(shaped, axis=0).ravel())
        if compression.reverse:
            seeds = _seeds(compression.reverse_seeds, form.shapes, form.dtypes)
            found = self._pulled(args, kwargs, seeds)
            shaped = [part.reshape(compression.reverse, -1) for part in found]
            parts.append(np.concatenate(shaped, axis=1).ravel())
        return np.concatenate(parts)

    # ------------------------------------------------------------------ patterns
    def _plan(self, leaves: _Leaves, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Plan:
        """The plan for a call: one that was made before, or a new one."""
        try:
            search, values = self._search(leaves, args, kwargs)
            shapes = tuple(np.shape(value) for value in values)
            decisive = tuple(np.array(values[place]) for place in search.dependence.decisive)
            for plan in self._plans:
                if plan.search is search and plan.shapes == shapes and _agree(plan.decisive, decisive):
                    return plan
            with announced(repr(self), self._one.options.config):
                plan = self._made(search, shapes, values, decisive, len(leaves.arrays))
        except AnadromeError as error:
            placed(error, self._one.python)
            raise
        self._plans = [plan, *self._plans][:KEPT_PLANS]
        return plan

    def _search(
        self, leaves: _Leaves, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[_Search, list[Any]]:
        """The staged derivative for a call, and the values of its parameters."""
        given = (args, kwargs, leaves.arrays)
        signature = self._one.signature(given, {})
        flat, _ = pytree.flatten((given, {}))
        search = self._searches.get(signature)
        arrays = None if search is None else search.staged.surroundings.read()
        if search is None or arrays is None:
            search = self._staged(signature, leaves, self._chosen(args, kwargs))
            self._searches[signature] = search
            arrays = search.staged.surroundings.read()
            arrays = list(search.staged.captured) if arrays is None else arrays
        return search, [*(flat[place] for place in search.taken), *arrays]

    def _staged(self, signature: Signature, leaves: _Leaves, chosen: Sequence[Chosen]) -> _Search:
        config = self._one.options.config
        staged = staged_program(self._one, signature, config)
        taken = tuple(place for place, key in enumerate(signature.keys) if is_passed(key))
        count = len(leaves.arrays)
        seeds = range(len(taken) - count, len(taken))
        active = _active_places(chosen)
        hidden = [taken.index(place) for place in active]
        return _Search(staged, Dependence(prepare(staged.function, config), seeds, hidden), taken)

    def _made(
        self,
        search: _Search,
        shapes: tuple[Shape, ...],
        values: list[Any],
        decisive: tuple[npt.NDArray[Any], ...],
        count: int,
    ) -> _Plan:
        """Find the pattern and colour it."""
        found = search.dependence.find(shapes, values)
        marks = search.staged.rebuild(iter(range(len(found))))
        assert isinstance(marks, tuple)
        results = search.staged.function.body.results
        tangents = marks[1]
        places, structure = pytree.flatten(marks[0])
        numbers = itertools.count()
        floats = tuple(
            next(numbers) if type(place) is int and results[place].type.dtype.is_float else None
            for place in places
        )
        form = _Form(
            structure,
            floats,
            tuple(found[place].shape for place in tangents),
            tuple(results[place].type.dtype.numpy for place in tangents),
        )
        inputs = sum(_size(shapes[place]) for place in search.dependence.seeds)
        sets = []
        for place in tangents:
            size = _size(found[place].shape)
            mine = found[place].sets
            sets.append(nothing(size, inputs) if mine is None else mine)
        pattern = scipy.sparse.csr_array(stacked(sets))
        pattern.sort_indices()
        return _Plan(search, shapes, decisive, form, compressed(pattern, self._mode, self._is_symmetric))


def _size(shape: Shape) -> int:
    """The number of elements of an array."""
    return math.prod(shape)


def _agree(left: Sequence[npt.NDArray[Any]], right: Sequence[npt.NDArray[Any]]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(left, right, strict=True))


def _seeds(
    make: Callable[[int, Shape, np.dtype[Any]], npt.NDArray[Any]],
    shapes: Sequence[Shape],
    dtypes: Sequence[np.dtype[Any]],
) -> tuple[npt.NDArray[Any], ...]:
    """The directions in every leaf."""
    firsts = itertools.accumulate(map(_size, shapes), initial=0)
    return tuple(
        make(first, shape, dtype) for first, shape, dtype in zip(firsts, shapes, dtypes, strict=False)
    )


# ---------------------------------------------------------------------------- arguments and results
def _leaves(transform: str, chosen: Sequence[Chosen], is_one: bool) -> _Leaves:
    """The numbers and arrays among the arguments that are differentiated by."""
    arrays: list[Any] = []
    others: dict[int, object] = {}
    structures: list[Structure] = []
    for one in chosen:
        found, structure = pytree.flatten(one.value)
        structures.append(structure)
        refuse_sparse(transform, "differentiate with respect to", structure, BY_VALUES)
        for leaf in found:
            if _is_float(leaf):
                dtype = np.asarray(leaf).dtype
                is_array = isinstance(leaf, np.ndarray)
                arrays.append(np.zeros(leaf.shape, dtype) if is_array else dtype.type(0))
            else:
                others[len(arrays) + len(others)] = leaf
    structure = structures[0] if is_one else pytree.Node(tuple, (), tuple(structures))
    shapes = tuple(np.shape(array) for array in arrays)
    return _Leaves(tuple(arrays), shapes, tuple(array.dtype for array in arrays), structure, others)


def _is_numeric(leaf: object) -> bool:
    return type(leaf) in NUMBERS or isinstance(leaf, np.ndarray)


def _is_float(leaf: object) -> bool:
    return _is_numeric(leaf) and np.asarray(leaf).dtype.kind == "f"


def _active_places(chosen: Sequence[Chosen]) -> list[int]:
    """Where the differentiated leaves stand among all flattened arguments."""
    return [
        one.start + offset
        for one in chosen
        for offset, leaf in enumerate(pytree.flatten(one.value)[0])
        if _is_float(leaf)
    ]


def _in_form(form: _Form, leaves: _Leaves, matrix: scipy.sparse.csr_array) -> Any:
    """The blocks of a matrix, in the form of the results, each in the form of the arguments."""
    rows = [0, *itertools.accumulate(_size(shape) for shape in form.shapes)]
    columns = [0, *itertools.accumulate(_size(shape) for shape in leaves.shapes)]
    is_whole = len(rows) == 2 and len(columns) == 2

    def block(row: int, column: int) -> scipy.sparse.csr_array:
        if is_whole:
            return matrix
        band = matrix[rows[row] : rows[row + 1]]
        return scipy.sparse.csr_array(band[:, columns[column] : columns[column + 1]])

    found = [
        None
        if row is None
        else leaves.derivative(
            rows[row + 1] - rows[row], [block(row, column) for column in range(len(columns) - 1)]
        )
        for row in form.floats
    ]
    return pytree.unflatten(form.structure, found)


# ---------------------------------------------------------------------------- the doors
def sparse_jacobian(function: Any, argnums: Selection, mode: str) -> SparseDerivative:
    """`jacobian(function, argnums, mode=mode, sparse=True)`."""

    def make() -> SparseDerivative:
        return SparseDerivative("jacobian", function, argnums, mode, is_symmetric=False)

    return kept(function, ("sparse jacobian", argnums, mode), make)


def sparse_hessian(function: Any, argnums: Selection) -> SparseDerivative:
    """`hessian(function, argnums, sparse=True)`: the symmetric Jacobian of the gradient."""

    def make() -> SparseDerivative:
        gradient = transformed("hessian", function, Gradient(argnums, False, "hessian"))
        return SparseDerivative("hessian", gradient, argnums, "auto", is_symmetric=True)

    return kept(function, ("sparse hessian", argnums), make)
