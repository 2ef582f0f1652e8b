"""Running programs on NumPy, statement by statement, and counting their work.

This is the oracle of every pass and target, and the instrument that proves gradients cheap. A run counts what
compiled code does that keeps arrays in memory, scalars in registers, and reuses an array's memory at its
last use:

| statement | counts |
|---|---|
| a scalar operation | its cost in the primitive table |
| a read of one element | one read; a checked index one operation more |
| a row `x[i]`, `reshape` | nothing: a view; a row that outlives an update of `x`: a copy of it |
| `full`, `literal` | one write per element (a row that is copied is read as well) |
| `unfilled` | nothing: its elements are such as nobody would take for right |
| `update`, `scatter` | one write per element replaced (an array put in is read as well) |
| `add_to`, `accumulate` | one read, one operation and one write per element |
| the same, and `with_sum`, on an array that is still needed | a copy: a read and a write per element |
| `stack` | one write per element; an array made in the iteration is built in its place: nothing more |
| `reduce`, `scan` | one operation per element combined, or the work of the lambda; `scan` one write as well |
| an iteration of a loop or parfor | one iteration |
| a launch | its threads times the statements of the kernel; arrays given read, arrays it writes written |
| a library call | the operations of the usual algorithm, its arguments read, its results written |

A violated promise of the program (a proved index outside, a size that does not agree) is an `IRError`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from anadrome.array_ir.interp_last_uses import Environment, LastUses, last_uses, take
from anadrome.array_ir.interp_work import Outcome, Work
from anadrome.array_ir.launch import run_launch
from anadrome.array_ir.library import run_library
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Bounds,
    Carry,
    Check,
    Collective,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Lambda,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    Operator,
    ParFor,
    Part,
    Print,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Stack,
    Type,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.own_reads import Knowledge
from anadrome.dtypes import ALL
from anadrome.errors import Span
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import FAILURES, IndexOutOfBounds, SizeMismatch
from anadrome.kernel_ir.interp_machine import garbage
from anadrome.kernel_ir.walk import statements
from anadrome.library.table import LIBRARY
from anadrome.prims.table import PRIMS
from anadrome.printing import Message

Array = npt.NDArray[Any]
Value = Any
"""A NumPy scalar, or an array; an accumulator is the array it adds into."""

Sink = tuple[Callable[[int], None], Callable[[], list[Value]]]
"""What a yield does after every iteration, and its results after the last."""

_SCALAR: dict[str, Callable[[Any], Any]] = {dtype.name: dtype.numpy.type for dtype in ALL}


def run(fn: Function, args: Sequence[object], seed: int | None = None) -> Outcome:
    """The results of a function on arguments, and the work. With a seed the threads of launches run in a
    random order that the seed determines.

    A checked index outside, a failed check, sizes that disagree raise the classes of `errors.runtime`;
    arguments of another type than the parameters' and broken promises raise `IRError`.
    """
    machine = _Machine(Knowledge(fn))
    machine.seed = seed
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


class _Machine:
    """One run: values of the variables in scope, the work so far, the source place of the statement."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.env: Environment = {}
        self.work = Work()
        self.span: Span | None = None
        self.seed: int | None = None
        self.plans: dict[Body, LastUses] = {}

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
            plan = self.plans[body] = last_uses(body, owned, results, self.knowledge)
        outer = self.span
        for let, dying, movable in zip(body.lets, plan.after, plan.movable, strict=True):
            self.span = let.span
            self.bind(let.targets, self.expression(let, dying, movable))
            if not plan.copied.isdisjoint(let.targets):
                self.copy(let.targets[0])
            self.forget(dying)
        self.span = outer
        return plan.at_end

    def copy(self, row: Var) -> None:
        """Give a row memory of its own."""
        copied = self.env[row] = np.array(self.env[row])
        self.work.read(copied)
        self.work.write(copied)

    def forget(self, variables: Sequence[Var]) -> None:
        """Drop what is not needed any more."""
        for var in variables:
            self.env.pop(var, None)

    def expression(self, let: Let, dying: Sequence[Var], movable: Sequence[Var]) -> list[Value]:
        """The values of a statement's targets."""
        expr = let.expr
        match expr:
            case Apply(prim=prim, args=args):
                self.work.apply(prim.name, prim.cost)
                value = prim.numpy(*[self.atom(arg) for arg in args])
                return [_SCALAR[let.targets[0].type.dtype.name](value)]
            case Index(array=array, indices=indices, bounds=bounds):
                return [self.element(self.env[array], indices, bounds)]
            case ParFor():
                return self.parfor(let, expr, movable)
            case Loop():
                return self.loop(expr, movable)
            case If(condition=condition, then=then, other=other):
                branch = then if self.atom(condition) else other
                return self.body(branch, _arrays(dying))
            case WithSum():
                return self.with_sum(expr, dying, movable)
            case Custom(args=args, params=params, primal=primal):
                self.bind(params, self.atoms(args))
                return self.body(primal)
            case AddTo(token, indices, value, bounds):
                buffer = self.env[token]
                self.add(buffer, indices, self.atom(value), bounds)
                return [buffer]
            case Check(condition, error, message, values):
                if not self.atom(condition):
                    raise FAILURES[error].of(message, self.atoms(values), self.span)
                return []
            case Print(message=message, values=values):
                Message.decoded(message).write(self.atoms(values))
                return []
            case Library(operation=operation, args=args, attributes=attributes):
                return self.library(let, operation, self.atoms(args), attributes)
            case Launch():
                return self.launch(expr)
            case Collective():
                raise self.fail(f"what threads do together ({expr.operation}) outside of a kernel")
            case _:
                return [self.array(expr, movable)]

    def array(self, expr: Expr, movable: Sequence[Var]) -> Value:
        """The value of an expression without bodies that makes an array."""
        match expr:
            case Update(array, indices, value, bounds):
                new = self.own(array, movable)
                place = self.place(new, indices, bounds)
                if place is not None:
                    self.put(new, place, self.atom(value))
                return new
            case Full(shape=shape, value=value, is_room=is_room):
                sizes = [self.integer(size) for size in shape]
                if any(size < 0 for size in sizes):
                    raise self.fail(f"a shape is {tuple(sizes)}")
                if is_room:
                    return garbage(sizes, value.type.dtype)
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
            case _:
                raise AssertionError(f"{type(expr).__name__} makes no array")

    def library(
        self, let: Let, operation: str, args: list[Value], attributes: tuple[bool | int, ...]
    ) -> list[Value]:
        """The results of a library call."""
        row = LIBRARY[operation]
        self.work.apply(operation, row.operations([np.shape(arg) for arg in args], attributes))
        for arg in row.read(args):
            self.work.read(arg)
        found: list[Value] = []
        for value, target in zip(
            run_library(operation, args, attributes, self.span), let.targets, strict=True
        ):
            result = np.asarray(value).astype(target.type.dtype.numpy, copy=False)
            self.work.write(result)
            found.append(result if result.ndim else result[()])
        return found

    def launch(self, expr: Launch) -> list[Value]:
        """What a kernel leaves in the arrays that it writes, which are copied. The work counted is that of
        the threads, each of as many operations as its kernel has statements."""
        extents = [self.integer(extent) for extent in (*expr.grid, *expr.block, expr.shared)]
        args = self.atoms(expr.args)
        found = run_launch(expr.kernel, extents, args, self.seed)
        threads = math.prod(extents[:6])
        self.work.apply(expr.kernel.name, sum(1 for _ in statements(expr.kernel.body)), threads)
        for arg in args:
            if np.ndim(arg):
                self.work.read(np.asarray(arg))
        for array in found:
            self.work.write(array)
        return list(found)

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
        self.work.apply("add", 1, value.size)
        self.work.read(value)
        self.work.write(value)
        buffer[place] += value

    def own(self, var: Var, movable: Sequence[Var]) -> Array:
        """The array as one that may be overwritten: itself where this is its last use, else a copy."""
        if var in movable:
            value, is_alone = take(self.env, var)
            if is_alone:
                return value  # type: ignore[no-any-return]
        else:
            value = self.env[var]
        copied = np.array(value)
        if copied.ndim:
            self.work.read(copied)
            self.work.write(copied)
        return copied

    # ------------------------------------------------------------------ loops
    def with_sum(self, expr: WithSum, dying: Sequence[Var], movable: Sequence[Var]) -> list[Value]:
        """Accumulators for the extent of a body."""
        buffers = [self.own(start, movable) for start in expr.init]
        self.bind(expr.tokens, buffers)
        results = self.body(expr.body, (*_arrays(dying), *expr.tokens))
        return [result if result.ndim else result[()] for result in results]

    def loop(self, expr: Loop, movable: Sequence[Var]) -> list[Value]:
        """A sequential loop."""
        values = self.atoms(expr.init)
        trip = 0 if expr.trip is None else self.integer(expr.trip)
        self.forget(movable)
        if expr.condition is None:
            for iteration in range(trip):
                self.work.iterations += 1
                self.bind(expr.carried, values)
                if expr.index is not None:
                    self.env[expr.index] = np.int64(iteration)
                values = self.body(expr.body, expr.carried)
            return values
        while True:
            self.bind(expr.carried, values)
            (again,) = self.body(expr.condition)
            if not again:
                return [self.env.pop(var) for var in expr.carried]
            self.work.iterations += 1
            values = self.body(expr.body, expr.carried)

    def parfor(self, let: Let, expr: ParFor, movable: Sequence[Var]) -> list[Value]:
        """A parfor: its yields take what they need of every iteration, in order."""
        extent = self.integer(expr.extent)
        if extent < 0:
            raise self.fail(f"the extent of a parfor is {extent}")
        sinks = [self.sink(part, let.targets[where], movable) for part, where in expr.slices()]
        for iteration in range(extent):
            self.work.iterations += 1
            self.env[expr.index] = np.int64(iteration)
            at_end = self.statements(expr.body, (), expr.body.results)
            for absorb, _ in sinks:
                absorb(iteration)
            self.forget(at_end)
        return [value for _, finish in sinks for value in finish()]

    # ------------------------------------------------------------------ yields
    def sink(self, part: Part, targets: Sequence[Var], movable: Sequence[Var]) -> Sink:
        """What a yield does with each iteration, and what it has made in the end."""
        match part.item:
            case Stack():
                return self.stack(part.value, targets[0])
            case Reduce(operator=operator):
                return self.fold(operator, part.takes, targets)
            case Scan(operator=operator, exclusive=exclusive):
                return self.scan(operator, part.takes, targets, exclusive)
            case Accumulate(operator=operator, init=init, bounds=bounds):
                return self.accumulate(operator, self.own(init, movable), part.at, part.value, bounds)
            case Scatter(init=init, bounds=bounds):
                out = self.own(init, movable)
                self.env.setdefault(init, out)  # the body may read it yet
                return self.scatter(out, part.at, part.value, bounds)
            case Carry(source=source):
                buffer = self.env[source]
                return (lambda iteration: None, lambda: [buffer])
            case _:
                assert_never(part.item)

    def stack(self, atom: Atom, target: Var) -> Sink:
        """Put the values side by side."""
        out = np.empty(self.shape(target.type), target.type.dtype.numpy)

        def absorb(iteration: int) -> None:
            value = self.atom(atom)
            if isinstance(atom, Var) and value.ndim:
                del value
                value, is_alone = take(self.env, atom)
                self.env[atom] = value
                if value.shape != out.shape[1:]:
                    raise self.fail(f"a row of shape {value.shape} stacked into {out.shape}")
                if not is_alone:
                    self.work.read(value)
                    self.work.write(value)
            else:
                self.work.write(value)
            out[iteration] = value

        return absorb, lambda: [out]

    def fold(self, operator: Operator, values: Sequence[Atom], targets: Sequence[Var]) -> Sink:
        """Combine all values."""
        total = self.identities(operator, [self.shape(target.type) for target in targets], values)

        def absorb(iteration: int) -> None:
            total[:] = self.combine(operator, total[:], self.atoms(values))

        return absorb, lambda: total

    def scan(
        self, operator: Operator, values: Sequence[Atom], targets: Sequence[Var], exclusive: bool
    ) -> Sink:
        """Combine the values so far."""
        shapes = [self.shape(target.type) for target in targets]
        outs = [
            np.empty(shape, target.type.dtype.numpy) for shape, target in zip(shapes, targets, strict=True)
        ]
        total = self.identities(operator, [shape[1:] for shape in shapes], values)

        def absorb(iteration: int) -> None:
            following = self.combine(operator, total[:], self.atoms(values))
            for out, now in zip(outs, total if exclusive else following, strict=True):
                self.work.write(now)
                out[iteration] = now
            total[:] = following

        return absorb, lambda: list(outs)

    def accumulate(
        self, operator: Operator, out: Array, at: Sequence[Atom], atom: Atom, bounds: Bounds
    ) -> Sink:
        """Combine every value with what stands at its place."""

        def absorb(iteration: int) -> None:
            place = self.place(out, at, bounds)
            if place is not None:
                value = self.atom(atom)
                self.work.read(value)
                self.work.write(value)
                if np.shape(value) != out.shape[len(place) :]:
                    raise self.fail(f"a value of shape {np.shape(value)} accumulated into {out.shape}")
                (out[place],) = self.combine(operator, [out[place]], [value])

        return absorb, lambda: [out if out.ndim else out[()]]

    def scatter(self, out: Array, at: Sequence[Atom], atom: Atom, bounds: Bounds) -> Sink:
        """Put every value at its place."""

        def absorb(iteration: int) -> None:
            place = self.place(out, at, bounds)
            if place is not None:
                self.put(out, place, self.atom(atom))

        return absorb, lambda: [out if out.ndim else out[()]]

    def identities(
        self, operator: Operator, shapes: Sequence[tuple[int, ...]], values: Sequence[Atom]
    ) -> list[Value]:
        """What an operator gives on nothing."""
        if isinstance(operator, Lambda):
            return self.atoms(operator.identity)
        dtype = values[0].type.dtype
        unit = self.atom(identity(operator, dtype))
        return [np.full(shapes[0], unit) if shapes[0] else unit]

    def combine(self, operator: Operator, left: list[Value], right: list[Value]) -> list[Value]:
        """left ⊕ right"""
        if isinstance(operator, Lambda):
            self.bind(operator.left, left)
            self.bind(operator.right, right)
            return self.body(operator.body, (*operator.left, *operator.right))
        prim = PRIMS[operator]
        (first,), (second,) = left, right
        self.work.apply(operator, prim.cost, second.size)
        if second.ndim:
            self.work.read(second)
        return [
            second.dtype.type(prim.numpy(first, second)) if not second.ndim else prim.numpy(first, second)
        ]


def _arrays(variables: Sequence[Var]) -> list[Var]:
    """The variables that a body may overwrite; a scalar may be a size in a type around it."""
    return [var for var in variables if var.type.shape]
