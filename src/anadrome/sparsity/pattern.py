"""Which elements of the results of a function may depend on which elements of some parameters.

The program is run on sets of inputs instead of numbers, at the given sizes and integers. What decides where
dependence goes (indices, conditions, trip counts, sizes) is computed where it follows from constants,
integers and the floats whose values may be used; everything is done for all iterations of a parfor at once.

The answer is *sound*: an element that is not in it depends on that input by no path through the program,
whatever values the hidden parameters have. With D(v) the inputs that v may depend on, every rule keeps
D(result) ⊇ ∪ D(operands that flow into it):

* a scalar operation: the union over its float operands, save a factor that is known to be zero and the side
  that a known condition does not choose;
* an index that is not known may be any, a branch on what is not known may go both ways, a loop whose trip
  count is not known may run any number of times;
* a library call: every element of the result may depend on every element of the arguments (a product of
  matrices: on the row and the column it is made of).

Applied to the forward derivative of a function, with the tangents as seeds, this gives the pattern of its
Jacobian: what the derivative program computes, custom rules and conventions at kinks included. After the
dependency analysis of Griewank and Walther (2008), §7.1, done on arrays of index sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    Atom,
    Body,
    Check,
    Collective,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Print,
    Reshape,
    Update,
    Var,
    WithSum,
)
from anadrome.errors import AnadromeError
from anadrome.errors.sparse import PatternKernel
from anadrome.sparsity.flow import Relevance, relevance
from anadrome.sparsity.library import library
from anadrome.sparsity.loops import branch, loop
from anadrome.sparsity.sets import Sets, pick, singletons, spans
from anadrome.sparsity.state import State, concatenated
from anadrome.sparsity.values import (
    Block,
    Lanes,
    Scalar,
    Source,
    Store,
    Value,
    collected,
    collecting,
    contiguous,
    contribution,
    either,
    masked,
    places,
    read,
)
from anadrome.sparsity.yields import indices_of, parfor, written


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was found of a result: its shape, and the sets of its elements in row-major order, or None where
    all of them are empty."""

    shape: tuple[int, ...]
    sets: Sets | None


class Dependence:
    """The search prepared for a function: `seeds` and `hidden` are positions of parameters.

    Columns of the answer are the elements of the seeds, one after the other. Nothing is asked of the values
    of the seeds and of the hidden parameters; `decisive` are the positions of those whose values are used.
    """

    def __init__(self, fn: Function, seeds: Sequence[int], hidden: Sequence[int]) -> None:
        self._fn = fn
        self.seeds = tuple(seeds)
        chosen = [fn.params[place] for place in seeds], [fn.params[place] for place in hidden]
        self._relevance: Relevance = relevance(fn, *chosen)
        needed = self._relevance.needed
        self.decisive = tuple(place for place, param in enumerate(fn.params) if param in needed)

    def find(self, shapes: Sequence[tuple[int, ...]], values: Sequence[Any]) -> list[Found]:
        """For each result, its shape and the sets of its elements.

        `shapes` are those of all parameters; of `values` only the decisive ones are looked at. Raises
        `PatternSize` where a size depends on hidden values, and `PatternTooLarge`.
        """
        counts = [int(np.prod(shapes[place], dtype=np.int64)) for place in self.seeds]
        state = State(self._relevance, sum(counts), run)
        lanes = Lanes(1)
        self._bind(state, lanes, shapes, values)
        first = 0
        for place, count in zip(self.seeds, counts, strict=True):
            sets = singletons(first, count, sum(counts))
            state.bind(self._fn.params[place], _array(lanes, shapes[place], Store(count, None, sets)))
            first += count
        with np.errstate(all="ignore"):
            state.run(state, self._fn.body, lanes)
        return [_result(state, atom, lanes) for atom in self._fn.body.results]

    def _bind(
        self, state: State, lanes: Lanes, shapes: Sequence[tuple[int, ...]], values: Sequence[Any]
    ) -> None:
        for place, (param, shape) in enumerate(zip(self._fn.params, shapes, strict=True)):
            for size, extent in zip(param.type.shape, shape, strict=True):
                if isinstance(size, Var) and size not in state.values:
                    state.bind(size, Scalar(lanes, np.array([extent])))
            if place in self.decisive:
                data = np.asarray(values[place], param.type.dtype.numpy).reshape(-1)
                state.bind(param, _array(lanes, shape, Store(len(data), data)))


def _array(lanes: Lanes, shape: tuple[int, ...], store: Store) -> Block:
    return Block(lanes, np.zeros(1, np.int64), tuple(np.array([size]) for size in shape), store)


def _result(state: State, atom: Atom, lanes: Lanes) -> Found:
    shape = tuple(int(size[0]) for size in state.shape(atom.type, lanes))
    if not isinstance(atom, Var) or not state.is_reached(atom):
        return Found(shape, None)
    return Found(shape, contiguous(state.block(atom, lanes)).store.sets)


# ---------------------------------------------------------------------------- statements
def run(state: State, body: Body, lanes: Lanes) -> None:
    """Evaluate the statements of a body that matter, in all lanes at once."""
    for let in body.lets:
        if state.relevance.is_live(let):
            try:
                _statement(state, let, lanes)
            except AnadromeError as error:
                raise error.at(let.span) from None


def _statement(state: State, let: Let, lanes: Lanes) -> None:
    expr = let.expr
    match expr:
        case ParFor():
            parfor(state, let.targets, expr, lanes)
        case Loop():
            loop(state, let.targets, expr, lanes)
        case If():
            branch(state, let.targets, expr, lanes)
        case WithSum():
            _with_sum(state, let.targets, expr, lanes)
        case Library():
            library(state, let.targets, expr, lanes)
        case Custom(args=args, params=params, primal=primal):
            for param, arg in zip(params, args, strict=True):
                state.bind(param, state.value(arg, lanes))
            state.run(state, primal, lanes)
            for target, atom in zip(let.targets, primal.results, strict=True):
                if state.is_reached(target) or state.is_needed(target):
                    state.bind(target, state.value(atom, lanes))
        case Check() | Print():
            pass
        case Launch() | Collective():
            raise PatternKernel(let.span)
        case _:
            (target,) = let.targets
            state.bind(target, _simple(state, target, expr, lanes))


def _simple(state: State, target: Var, expr: Expr, lanes: Lanes) -> Value:
    """The value of a statement without bodies and with one result."""
    match expr:
        case Apply():
            return _apply(state, target, expr, lanes)
        case Index(array=array, indices=indices):
            block = state.block(array, lanes)
            return read(block, places(block, indices_of(state, indices, lanes)), len(indices))
        case Update(array=array, indices=indices, value=value):
            return written(state, array, indices, value, lanes, lanes)
        case Full(value=value):
            return _full(state, target, state.scalar(value, lanes), lanes)
        case Literal(elements=elements):
            rows = [contiguous(state.block(element, lanes)) for element in elements]
            return _interleaved(state, target, rows, lanes)
        case Reshape(array=array):
            block = state.block(array, lanes)
            return Block(lanes, block.offset, state.shape(target.type, lanes), block.store)
        case AddTo(token=token, indices=indices, value=value):
            sums = state.block(token, lanes)
            assert sums.pending is not None
            where = places(sums, indices_of(state, indices, lanes))
            sums.pending.add(*contribution(where, contiguous(state.block(value, lanes)).store))
            return sums
        case Check() | Print() | ParFor() | Loop() | If() | WithSum() | Library() | Custom():
            raise AssertionError("handled as a statement")
        case Launch() | Collective():
            raise AssertionError("handled as a statement")
        case _:
            assert_never(expr)


def _apply(state: State, target: Var, expr: Apply, lanes: Lanes) -> Scalar:
    args = [state.scalar(arg, lanes) for arg in expr.args]
    known = [arg.value for arg in args]
    value = None
    if state.is_needed(target) and all(one is not None for one in known):
        value = np.asarray(expr.prim.numpy(*known)).astype(target.type.dtype.numpy, copy=False)
        value = np.broadcast_to(value, (lanes.count,))
    if not state.is_reached(target) or expr.prim.zero_derivative:
        return Scalar(lanes, value)
    sources = frozenset[Source]().union(*(arg.sources for arg in args))
    if expr.prim.name == "select" and known[0] is not None:
        sources = either(known[0], args[1], args[2])
    elif expr.prim.name == "mul":
        keep = np.ones(lanes.count, bool)
        for one in known:
            keep &= True if one is None else one != 0
        if not keep.all():
            sources = frozenset(masked(source, keep) for source in sources) if keep.any() else frozenset()
    return Scalar(lanes, value, sources)


def _full(state: State, target: Var, value: Scalar, lanes: Lanes) -> Block:
    block = state.blank(state.shape(target.type, lanes), lanes)
    sets, data = collected(value.sources), value.value
    if not state.is_needed(target):
        data = None
    if sets is None and data is None:
        return block
    _, owner, _ = spans(block.sizes())
    store = Store(
        block.store.count, None if data is None else data[owner], None if sets is None else pick(sets, owner)
    )
    return Block(lanes, block.offset, block.shape, store)


def _interleaved(state: State, target: Var, rows: Sequence[Block], lanes: Lanes) -> Block:
    """Rows side by side: those of the first lane, then those of the second."""
    block = state.blank(state.shape(target.type, lanes), lanes)
    whole = concatenated(state, [row.store for row in rows])
    if whole.data is None and whole.sets is None:
        return block
    _, owner, within = spans(block.sizes())
    size = np.maximum(rows[0].sizes(), 1)
    which, place = within // size[owner], within % size[owner]
    begins = np.cumsum([0, *(row.store.count for row in rows)])
    offsets = np.stack([row.offset for row in rows])
    order = begins[which] + offsets[which, owner] + place
    data = None if whole.data is None else whole.data[order]
    sets = None if whole.sets is None else pick(whole.sets, order)
    return Block(lanes, block.offset, block.shape, Store(block.store.count, data, sets))


def _with_sum(state: State, targets: Sequence[Var], expr: WithSum, lanes: Lanes) -> None:
    """Collect the contributions of a body, then join them."""
    opened: list[Block] = []
    for token, start in zip(expr.tokens, expr.init, strict=True):
        base = contiguous(state.block(start, lanes))
        opened.append(collecting(base, base.store))
        state.bind(token, opened[-1])
    state.run(state, expr.body, lanes)
    for target, block in zip(targets, opened, strict=False):
        assert block.pending is not None
        store = block.pending.joined(block.store)
        state.bind(target, Block(lanes, block.offset, block.shape, store))
    count = len(opened)
    for target, atom in zip(targets[count:], expr.body.results[count:], strict=True):
        if state.is_reached(target) or state.is_needed(target):
            state.bind(target, state.value(atom, lanes))
