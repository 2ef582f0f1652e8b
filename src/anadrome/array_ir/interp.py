"""Running programs on NumPy, statement by statement, and counting their work.

This is the oracle of every pass and target, and the instrument that proves gradients cheap. A run counts what
compiled code does that keeps arrays in memory, scalars in registers, and reuses an array's memory at its
last use:

| statement | counts |
|---|---|
| a scalar operation | its cost in the primitive table |
| a read of one element | one read; a checked index one operation more |
| a row `x[i]`, `reshape` | nothing: a view |
| `full`, `literal` | one write per element (a row that is copied is read as well) |
| `update`, `scatter` | one write per element replaced (an array put in is read as well) |
| `add_to`, `accumulate` | one read, one operation and one write per element |
| an `update`, `accumulate`, `scatter` or `with_sum` of an array that is still needed | a copy: a read and a write per element |
| `stack` | one write per element; an array made in the iteration is built in its place: nothing more |
| `reduce`, `scan` | one operation per element combined, or the work of the lambda; `scan` one write as well |
| an iteration of a loop or parfor | one iteration |
| a library call | the operations of the usual algorithm, its arguments read, its results written |

A violated promise of the program (a proved index outside, a size that does not agree) is an `IRError`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from anadrome.array_ir.interp_library import library_operations, run_library
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Carry,
    Check,
    Const,
    Expr,
    Full,
    Function,
    If,
    Index,
    Let,
    Library,
    Literal,
    Loop,
    Operator,
    ParFor,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Stack,
    SumType,
    Type,
    Update,
    Var,
    WithSum,
    Yield,
    yield_slices,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.walk import let_variables
from anadrome.dtypes import ALL, I64
from anadrome.errors import Span
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import FAILURES, IndexOutOfBounds, SizeMismatch
from anadrome.prims.table import PRIMS

Array = npt.NDArray[Any]
Value = Any
"""A NumPy scalar, or an array; an accumulator is the array it adds into."""

_SCALAR: dict[str, Callable[[Any], Any]] = {dtype.name: dtype.numpy.type for dtype in ALL}


@dataclass(slots=True)
class Work:
    """What a run did: weighted scalar operations, elements moved, iterations; applications by name."""

    operations: int = 0
    reads: int = 0
    writes: int = 0
    iterations: int = 0
    bytes: int = 0
    """Size of the elements read and written."""
    applied: Counter[str] = field(default_factory=Counter)
    """Scalar and library operations by name, unweighted; those of named monoids among them."""

    @property
    def total(self) -> int:
        """All of it in one number."""
        return self.operations + self.reads + self.writes + self.iterations

    def read(self, value: Value) -> None:
        """Count a read of every element."""
        self.reads += value.size
        self.bytes += value.nbytes

    def write(self, value: Value) -> None:
        """Count a write of every element."""
        self.writes += value.size
        self.bytes += value.nbytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, and what it took."""

    results: tuple[Any, ...]
    work: Work


def run(fn: Function, args: Sequence[object]) -> Outcome:
    """The results of a function on arguments, and the work.

    A checked index outside, a failed check, sizes that disagree raise the classes of `errors.runtime`;
    arguments of another type than the parameters' and broken promises raise `IRError`.
    """
    machine = _Machine()
    if len(args) != len(fn.params):
        raise IRError(f"{fn.name} takes {len(fn.params)} arguments, got {len(args)}")
    for param, arg in zip(fn.params, args, strict=True):
        machine.env[param] = _argument(param, arg)
    for param in fn.params:
        machine.bind_sizes(param)
    with np.errstate(all="ignore"):
        results = machine.body(fn.body, keep=True)
    return Outcome(tuple(results), machine.work)


def _argument(param: Var, arg: object) -> Value:
    type_ = param.type
    if isinstance(arg, np.ndarray | np.generic) and arg.dtype != type_.dtype.numpy:
        raise IRError(f"{param} is of type {type_.dtype}, got {arg.dtype}")
    array = np.asarray(arg, dtype=type_.dtype.numpy)
    if array.ndim != len(type_.shape):
        raise IRError(f"{param} is of rank {len(type_.shape)}, got {array.ndim}")
    return array if array.ndim else array[()]


# ---------------------------------------------------------------------------- last uses
@dataclass(frozen=True, slots=True)
class _LastUses:
    """For each statement the variables of its body that are not needed after it; then those its results need."""

    after: tuple[tuple[Var, ...], ...]
    at_end: tuple[Var, ...]


def _last_uses(body: Body, owned: Sequence[Var], results: Sequence[Atom]) -> _LastUses:
    mine = {*owned, *(target for let in body.lets for target in let.targets)}
    seen = {atom for atom in results if isinstance(atom, Var)}
    at_end = tuple(var for var in seen if var in mine)
    after: list[tuple[Var, ...]] = []
    for let in reversed(body.lets):
        used = (*let_variables(let), *let.targets)
        dying = tuple(var for var in used if var in mine and var not in seen)
        seen.update(dying)
        after.append(dying)
    return _LastUses(tuple(reversed(after)), at_end)


Environment = dict[Var, Value]


def _take(env: Environment, var: Var) -> tuple[Value, int]:
    """Take a value out of the environment, with the number of references to it."""
    value = env.pop(var)
    return value, sys.getrefcount(value)


_PROBE = Var("probe", ArrayType(I64))
_UNSHARED = _take({_PROBE: np.empty(1)}, _PROBE)[1]
"""How many references `_take` counts where nothing else holds the array."""


class _Machine:
    """One run: values of the variables in scope, the work so far, the source place of the statement."""

    def __init__(self) -> None:
        self.env: Environment = {}
        self.work = Work()
        self.span: Span | None = None
        self.plans: dict[Body, _LastUses] = {}

    def fail(self, rule: str) -> IRError:
        """A promise of the program that does not hold."""
        return IRError(rule, span=self.span)

    # ------------------------------------------------------------------ atoms and sizes
    def atom(self, atom: Atom) -> Value:
        """The value of an atom."""
        return self.env[atom] if isinstance(atom, Var) else _SCALAR[atom.dtype.name](atom.value)

    def atoms(self, atoms: Sequence[Atom]) -> list[Value]:
        """Several values."""
        return [self.atom(atom) for atom in atoms]

    def integer(self, size: Size) -> int:
        """A size or an index."""
        return int(self.env[size]) if isinstance(size, Var) else int(size.value)

    def shape(self, type_: Type) -> tuple[int, ...]:
        """The shape a type stands for."""
        return tuple([self.integer(size) for size in type_.shape])

    def bind_sizes(self, param: Var) -> None:
        """Sizes in the type of a parameter that are bound by its argument, or must agree with it."""
        for axis, (size, got) in enumerate(zip(param.type.shape, self.env[param].shape, strict=True)):
            if isinstance(size, Var) and size not in self.env:
                self.env[size] = np.int64(got)
            elif self.integer(size) != got:
                raise SizeMismatch(f"axis {axis} of {param} has size {got}, expected {self.integer(size)}")

    def bind(self, variables: Sequence[Var], values: list[Value]) -> None:
        """Bind values and forget them here, so that the environment alone holds them."""
        for var in reversed(variables):
            value = values.pop()
            shape = var.type.shape
            if shape and value.shape != self.shape(var.type):
                raise self.fail(f"{var} has shape {value.shape}, its type says {self.shape(var.type)}")
            self.env[var] = value

    # ------------------------------------------------------------------ bodies
    def body(self, body: Body, owned: Sequence[Var] = (), keep: bool = False) -> list[Value]:
        """The results of a body; it may overwrite the arrays in `owned` after their last use."""
        at_end = self.statements(body, owned, body.results)
        results = self.atoms(body.results)
        if not keep:
            self.forget(at_end)
        return results

    def statements(self, body: Body, owned: Sequence[Var], results: Sequence[Atom]) -> tuple[Var, ...]:
        """Run the statements; the variables that only the results still need."""
        plan = self.plans.get(body)
        if plan is None:
            plan = self.plans[body] = _last_uses(body, owned, results)
        outer = self.span
        for let, dying in zip(body.lets, plan.after, strict=True):
            self.span = let.span
            self.bind(let.targets, self.expression(let, dying))
            self.forget(dying)
        self.span = outer
        return plan.at_end

    def forget(self, variables: Sequence[Var]) -> None:
        """Drop what is not needed any more."""
        for var in variables:
            self.env.pop(var, None)

    def expression(self, let: Let, dying: tuple[Var, ...]) -> list[Value]:
        """The values of a statement's targets."""
        expr = let.expr
        match expr:
            case Apply(prim=prim, args=args):
                self.work.operations += prim.cost
                self.work.applied[prim.name] += 1
                value = prim.numpy(*[self.atom(arg) for arg in args])
                return [_SCALAR[let.targets[0].type.dtype.name](value)]
            case Index(array=array, indices=indices, bounds=bounds):
                return [self.element(self.env[array], indices, bounds)]
            case ParFor():
                return self.parfor(let, expr, dying)
            case Loop():
                return self.loop(expr, dying)
            case If(condition=condition, then=then, other=other):
                return self.body(then if self.atom(condition) else other, dying)
            case WithSum():
                return self.with_sum(expr, dying)
            case AddTo(token, indices, value, bounds):
                buffer = self.env[token]
                self.add(buffer, indices, self.atom(value), bounds)
                return [buffer]
            case Check(condition, error, message, values):
                if not self.atom(condition):
                    raise FAILURES[error](_worded(message, self.atoms(values)), self.span)
                return []
            case _:
                return [self.array(let, expr, dying)]

    def array(self, let: Let, expr: Expr, dying: tuple[Var, ...]) -> Value:
        """The value of an expression without bodies that makes an array."""
        match expr:
            case Update(array, indices, value, bounds):
                new = self.own(array, dying)
                place = self.place(new, indices, bounds)
                if place is not None:
                    self.put(new, place, self.atom(value))
                return new
            case Full(shape=shape, value=value):
                sizes = [self.integer(size) for size in shape]
                if any(size < 0 for size in sizes):
                    raise self.fail(f"a shape is {tuple(sizes)}")
                filled = np.full(sizes, self.atom(value))
                self.work.write(filled)
                return filled if sizes else filled[()]
            case Literal(elements=elements):
                rows = self.atoms(elements)
                stacked = np.array(rows)
                self.work.write(stacked)
                if stacked.ndim > 1:
                    self.work.read(stacked)
                return stacked
            case Reshape(array=array, shape=shape):
                base, sizes = self.env[array], [self.integer(size) for size in shape]
                if int(np.prod(sizes, dtype=np.int64)) != base.size or any(size < 0 for size in sizes):
                    raise self.fail(f"a reshape of {base.shape} to {tuple(sizes)}")
                return np.reshape(base, sizes) if sizes else np.reshape(base, ())[()]
            case Library(operation=operation, args=args, attributes=attributes):
                return self.library(let, operation, self.atoms(args), attributes)
            case _:
                raise AssertionError(f"{type(expr).__name__} makes no array")

    def library(self, let: Let, operation: str, args: list[Value], attributes: tuple[bool | int, ...]) -> Value:
        """The result of a library call."""
        self.work.operations += library_operations(operation, args, attributes)
        self.work.applied[operation] += 1
        for arg in args:
            self.work.read(arg)
        result = np.asarray(run_library(operation, args, attributes, self.span))
        result = result.astype(let.targets[0].type.dtype.numpy, copy=False)
        self.work.write(result)
        return result if result.ndim else result[()]

    # ------------------------------------------------------------------ places
    def place(self, array: Value, indices: Sequence[Atom], bounds: Bounds) -> tuple[Value, ...] | None:
        """The place of indices in an array; None where it is outside and to be ignored."""
        place = tuple([self.atom(index) for index in indices])
        if bounds is Bounds.CHECKED:
            self.work.operations += len(place)
        for axis, (index, size) in enumerate(zip(place, array.shape, strict=False)):
            if not 0 <= index < size:
                words = f"index {index} is out of bounds for axis {axis} with size {size}"
                match bounds:
                    case Bounds.CHECKED:
                        raise IndexOutOfBounds(words, self.span)
                    case Bounds.PROVED:
                        raise self.fail(f"proved {words}")
                    case Bounds.IGNORED:
                        return None
                    case _:
                        assert_never(bounds)
        return place

    def element(self, array: Value, indices: Sequence[Atom], bounds: Bounds) -> Value:
        """`array[indices]`: an element, or a view of a row."""
        place = self.place(array, indices, bounds)
        if place is None:
            raise self.fail("an index that is read is ignored outside")
        found = array[place]
        if len(place) == array.ndim:
            self.work.read(found)
        return found

    def put(self, array: Array, place: tuple[Value, ...], value: Value) -> None:
        """Write an element or a row."""
        if np.shape(value) != array.shape[len(place) :]:
            raise self.fail(f"a value of shape {np.shape(value)} put into a place of {array.shape}")
        self.work.write(value)
        if value.ndim:
            self.work.read(value)
        array[place] = value

    def add(self, buffer: Array, indices: Sequence[Atom], value: Value, bounds: Bounds) -> None:
        """Contribute to an accumulator."""
        place = self.place(buffer, indices, bounds)
        if place is None:
            return
        if np.shape(value) != buffer.shape[len(place) :]:
            raise self.fail(f"a contribution of shape {np.shape(value)} to {buffer.shape}")
        self.work.operations += value.size
        self.work.applied["add"] += 1
        self.work.read(value)
        self.work.write(value)
        buffer[place] += value

    def own(self, var: Var, dying: tuple[Var, ...]) -> Array:
        """The array as one that may be overwritten: itself where this is its last use, else a copy."""
        if var in dying:
            value, references = _take(self.env, var)
            is_array = isinstance(value, np.ndarray)
            if is_array and references == _UNSHARED and value.base is None and value.flags.writeable:
                return value  # type: ignore[no-any-return]
        else:
            value = self.env[var]
        copied = np.array(value)
        if copied.ndim:
            self.work.read(copied)
            self.work.write(copied)
        return copied

    def with_sum(self, expr: WithSum, dying: tuple[Var, ...]) -> list[Value]:
        """Accumulators for the extent of a body."""
        for start, token in zip(expr.init, expr.tokens, strict=True):
            self.env[token] = self.own(start, dying)
        results = self.body(expr.body, (*dying, *expr.tokens))
        return [result[()] if np.ndim(result) == 0 else result for result in results]

    # ------------------------------------------------------------------ loops
    def loop(self, expr: Loop, dying: tuple[Var, ...]) -> list[Value]:
        """A sequential loop."""
        values = self.atoms(expr.init)
        self.forget(dying if expr.trip not in dying else tuple(v for v in dying if v is not expr.trip))
        if expr.index is not None and expr.trip is not None:
            for iteration in range(self.integer(expr.trip)):
                self.work.iterations += 1
                self.bind(expr.carried, values)
                self.env[expr.index] = np.int64(iteration)
                values = self.body(expr.body, (*expr.carried, expr.index))
            return values
        assert expr.condition is not None
        while True:
            self.bind(expr.carried, values)
            (again,) = self.body(expr.condition)
            if not again:
                return self.atoms(expr.carried)
            self.work.iterations += 1
            values = self.body(expr.body, expr.carried)

    def parfor(self, let: Let, expr: ParFor, dying: tuple[Var, ...]) -> list[Value]:
        """A parfor: its yields take what they need of every iteration, in order."""
        extent = self.integer(expr.extent)
        if extent < 0:
            raise self.fail(f"the extent of a parfor is {extent}")
        sinks = [
            self.sink(item, let.targets[where], dying, extent) for item, where in yield_slices(expr.yields)
        ]
        for iteration in range(extent):
            self.work.iterations += 1
            self.env[expr.index] = np.int64(iteration)
            at_end = self.statements(expr.body, (expr.index,), _taken(expr.yields))
            for sink in sinks:
                sink.take(iteration)
            self.forget(at_end)
        return [value for sink in sinks for value in sink.finish()]
