"""The nodes of the array IR: types, atoms, expressions, yields, bodies, functions.

Let-normal form: operands are variables or constants. Nodes never change and never compare structurally
(shared DAGs would explode); a variable is itself and nothing else. Variables are bound once in the
whole function. A body may read any variable bound around it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.dtypes import ALL as DTYPES
from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors import Span
from anadrome.kernel_ir.nodes import Kernel
from anadrome.prims.node import node
from anadrome.prims.record import Prim


# ---------------------------------------------------------------------------- atoms and types
@dataclass(frozen=True, slots=True)
class Const:
    """A scalar constant. `key` tells 0.0 from -0.0 and equates NaNs, which `==` does not."""

    value: bool | int | float
    dtype: DType

    @property
    def type(self) -> ArrayType:
        """The scalar type of the constant."""
        return SCALARS[self.dtype.name]

    @property
    def key(self) -> tuple[str, str]:
        """A hashable identity of the constant for common-subexpression tables."""
        return (self.dtype.name, repr(self.value))


@node
class Var:
    """A variable, bound once. `name` is only for people; identity is the object."""

    name: str
    type: Type

    def __repr__(self) -> str:
        return self.name


Atom = Var | Const
Size = Var | Const
"""A dimension: a constant or a variable of type i64."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of scalars; the scalar itself has shape ()."""

    dtype: DType
    shape: tuple[Size, ...] = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_scalar(self) -> bool:
        """Whether the shape is ()."""
        return not self.shape

    @property
    def is_empty(self) -> bool:
        """Whether it has no elements in any run."""
        return any(isinstance(size, Const) and size.value == 0 for size in self.shape)

    def row(self, dimensions: int = 1) -> ArrayType:
        """The type that is left when the first `dimensions` are indexed away."""
        return ArrayType(self.dtype, self.shape[dimensions:])


@dataclass(frozen=True, slots=True)
class SumType:
    """An accumulator over an array of this type: linear, used once and passed on."""

    dtype: DType
    shape: tuple[Size, ...] = ()

    @property
    def array(self) -> ArrayType:
        """The type of the finished sum."""
        return ArrayType(self.dtype, self.shape)


Type = ArrayType | SumType


SCALARS = {dtype.name: ArrayType(dtype) for dtype in DTYPES}
"""dtype's name -> the type of its scalars, made once."""


def i64(value: int) -> Const:
    """An i64 constant: a size or an index."""
    return Const(value, I64)


TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)


class Bounds(enum.Enum):
    """What is known of an index: proved inside; to be checked at run time; outside means ignored."""

    PROVED = "proved"
    CHECKED = "checked"
    IGNORED = "ignored"


# ---------------------------------------------------------------------------- expressions
@node
class Apply:
    """A scalar operation: a row of the primitive table on scalar atoms."""

    prim: Prim
    args: tuple[Atom, ...]


@node
class Index:
    """`array[i, j]`; fewer indices than the rank give a row. Never IGNORED; no negative indices."""

    array: Var
    indices: tuple[Atom, ...]
    bounds: Bounds = Bounds.PROVED


@node
class Update:
    """The array with the element or row at `indices` replaced (IGNORED: unchanged when outside)."""

    array: Var
    indices: tuple[Atom, ...]
    value: Atom
    bounds: Bounds = Bounds.PROVED


@node
class Full:
    """An array of this shape with the scalar `value` everywhere; of a room only what was written is read."""

    shape: tuple[Size, ...]
    value: Atom
    is_room: bool = False


@node
class Literal:
    """An array of the given rows (or scalars): one more leading dimension of constant size. Not empty."""

    elements: tuple[Atom, ...]


@node
class Reshape:
    """The same elements in row-major order under another shape; the element counts are equal."""

    array: Var
    shape: tuple[Size, ...]


@node
class ParFor:
    """The body for every `index < extent`, in any order, and what becomes of its results.

    The yields take the results of the body one after the other, each as many as `taken` says, and make the
    results of the expression in the same order, each as many as `made` says.

    `in_lanes`: iterations shall run side by side in the lanes of vectors, whatever loops are inside. It
    changes no result.
    """

    index: Var
    extent: Size
    body: Body
    yields: tuple[Yield, ...]
    in_lanes: bool = False

    @staticmethod
    def of(
        index: Var, extent: Size, lets: Iterable[Let], parts: Iterable[Part], *, in_lanes: bool = False
    ) -> ParFor:
        """A parfor of these statements and of yields that come with what they take."""
        pairs = [(part.item, part.takes) for part in parts]
        body = Body(tuple(lets), tuple([atom for _, takes in pairs for atom in takes]))
        return ParFor(index, extent, body, tuple([item for item, _ in pairs]), in_lanes)

    def yielding(self, parts: Iterable[Part]) -> ParFor:
        """The same iterations with these yields."""
        return ParFor.of(self.index, self.extent, self.body.lets, parts, in_lanes=self.in_lanes)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Each yield with the results of the body that it takes."""
        return tuple([part for part, _ in self.slices()])

    def part_of(self, position: int) -> Part:
        """The yield that makes the result at this position, with what it takes."""
        return next(part for part, where in self.slices() if where.start <= position < where.stop)

    def slices(self) -> Iterator[tuple[Part, slice]]:
        """Each yield with what it takes, and the slice of the results that it makes."""
        results, first, start = self.body.results, 0, 0
        for item in self.yields:
            last, stop = first + taken(item), start + made(item)
            yield Part(item, results[first:last]), slice(start, stop)
            first, start = last, stop


@node
class Loop:
    """A sequential loop: `for index < trip` (condition None), or `while condition` (index, trip None).

    `carried` are bound to `init` before the first iteration and to `body.results` after each.
    `condition` is a body over `carried` with one bool result. Results are the last carried values.
    `checkpoint` is a hint for its reverse sweep.
    """

    carried: tuple[Var, ...]
    init: tuple[Atom, ...]
    body: Body
    index: Var | None = None
    trip: Size | None = None
    condition: Body | None = None
    checkpoint: Checkpoint | None = None


@node
class If:
    """One branch runs. Both give results of the same types, whose sizes are bound outside."""

    condition: Atom
    then: Body
    other: Body


@node
class WithSum:
    """Open an accumulator on each `init`, run the body with `tokens` bound to them, close them.

    `body.results` begins with the final tokens, in order; further results are passed through. Results
    are, for each token, `init` plus every contribution, then the further results.
    """

    init: tuple[Var, ...]
    tokens: tuple[Var, ...]
    body: Body


@node
class AddTo:
    """Contribute `value` (a row of the sum, or a scalar) at `indices`; the result is the next token."""

    token: Var
    indices: tuple[Atom, ...]
    value: Atom
    bounds: Bounds = Bounds.PROVED


@node
class Check:
    """A run-time check without results: where the condition is false the call ends in an error.

    `error` names the exception class of the table in `errors.runtime`; `message` are its words, in
    which `{0}`, `{1}` stand for the run-time values of `values`.
    """

    condition: Atom
    error: str
    message: str
    values: tuple[Atom, ...] = ()


@node
class Print:
    """Write a text to standard output or standard error: an effect without results, which keeps its place
    among the other ones and the checks.

    `message` is a line of `printing.Message`; its operands are `values`, scalars and arrays. It stands in the
    function itself, and in sequential loops and branches: what runs in any order does not print.
    """

    message: str
    values: tuple[Atom, ...] = ()


@node
class JvpRule:
    """How tangents go through a `Custom`: results, then the tangent of each float result."""

    params: tuple[Var, ...]
    tangents: tuple[Var, ...]
    body: Body


@node
class VjpRule:
    """How cotangents go back through a `Custom`.

    `forward` is run in place of the primal and results in its results and in residuals; `backward` is a body
    over the residuals and a cotangent of each float result, and results in a cotangent of each argument. A
    residual's size may be a residual before it.
    """

    params: tuple[Var, ...]
    forward: Body
    residuals: tuple[Var, ...]
    cotangents: tuple[Var, ...]
    backward: Body


@node
class Custom:
    """The primal on float arguments, with the rules that say what its derivative is.

    A mode whose rule is missing transposes the other one. Without any rule the primal itself is
    differentiated, and the return sweep runs it again (a checkpoint); it then has no arguments and reads
    what is around it. With rules no differentiated value but the arguments may be read. Before the passes
    of the pipeline, after differentiation, the primal is put in place of what is left (`passes.inline`).
    """

    args: tuple[Atom, ...]
    params: tuple[Var, ...]
    primal: Body
    jvp: JvpRule | None = None
    vjp: VjpRule | None = None

    @property
    def has_rule(self) -> bool:
        """Whether its derivative is said by a rule."""
        return self.jvp is not None or self.vjp is not None


@node
class Library:
    """A call with its own derivative rule; `operation` is a row of `library.table`."""

    operation: str
    args: tuple[Atom, ...]
    attributes: tuple[bool | int, ...] = ()


@node
class Launch:
    """Run a kernel for every thread of a grid: three extents each, and the bytes of dynamic shared memory.

    `args` stand in the order of the kernel's parameters, without those before them that are sizes: the
    dimensions of its buffers, which the arrays given bring. Results are the arrays that the kernel writes
    (`kernel_ir.walk.written`), as they are after it.
    """

    kernel: Kernel
    grid: tuple[Atom, Atom, Atom]
    block: tuple[Atom, Atom, Atom]
    shared: Atom
    args: tuple[Atom, ...]


@node
class Collective:
    """What a thread of a kernel does together with others, or to memory that others see. It stands only in
    the function of what one thread does, before that becomes a `Kernel`.

    Each of `arrays` is such memory, and given anew: as it is after the operation. Results are the value of
    the operation, if it has one, then the arrays.

    * "shared": new memory of the block, of type `memory`; of the dynamic part `args` are the bytes.
    * "atomic" and an operation of `kernel_ir.nodes.ATOMICS`: on the element of the one array; `args` are its
      indices, the value, and what "compare" expects; the value of it is the element before.
    * "barrier", alone or with one of `kernel_ir.nodes.BARRIERS`: `args` are its predicate.
    * "warp" and one of `kernel_ir.nodes.WARPS`: `args` are the mask, the value and the lane.
    * "fence".
    """

    operation: str
    arrays: tuple[Var, ...] = ()
    args: tuple[Atom, ...] = ()
    bounds: Bounds = Bounds.PROVED
    memory: ArrayType | None = None


Expr = (
    Apply
    | Index
    | Update
    | Full
    | Literal
    | Reshape
    | ParFor
    | Loop
    | If
    | WithSum
    | AddTo
    | Check
    | Print
    | Custom
    | Library
    | Launch
    | Collective
)


# ---------------------------------------------------------------------------- yields
@node
class Lambda:
    """A monoid given by the user: `left ⊕ right` on tuples, with its identity.

    `inverse` is a body over the same variables that takes `right` off the end of `left` again:
    (o ⊕ right) ⊘ right = o. Nothing runs it but derivatives; the pipeline drops it first (`passes.inline`).
    """

    left: tuple[Var, ...]
    right: tuple[Var, ...]
    body: Body
    identity: tuple[Atom, ...]
    inverse: Body | None = None

    def changed(self, change: Callable[[Body], Body]) -> Lambda:
        """The operator with its bodies changed; itself where none is."""
        body, inverse = change(self.body), None if self.inverse is None else change(self.inverse)
        is_same = body is self.body and inverse is self.inverse
        return self if is_same else Lambda(self.left, self.right, body, self.identity, inverse)


Operator = str | Lambda
"""A named monoid ("add", "mul", "min", "max", "and", "or") or a lambda."""

NAMED_OPERATORS = ("add", "mul", "min", "max", "and", "or")


@node
class Part:
    """A yield with what it takes of each iteration."""

    item: Yield
    takes: tuple[Atom, ...]

    @property
    def value(self) -> Atom:
        """The value; what stands before it are the indices of its place."""
        return self.takes[-1]

    @property
    def at(self) -> tuple[Atom, ...]:
        """The indices of its place."""
        return self.takes[:-1]


@node
class Stack:
    """The values as an array with a new leading dimension."""

    @staticmethod
    def of(value: Atom) -> Part:
        """A stack of this value."""
        return Part(Stack(), (value,))


@node
class Reduce:
    """One value per operand: all values combined. A named operator takes one, elementwise on arrays."""

    operator: Operator

    @staticmethod
    def of(operator: Operator, values: tuple[Atom, ...]) -> Part:
        """A reduction of these values."""
        return Part(Reduce(operator), values)


@node
class Scan:
    """The prefixes of the reduction, one array per operand; exclusive ones start at the identity."""

    operator: Operator
    exclusive: bool = False

    @staticmethod
    def of(operator: Operator, values: tuple[Atom, ...], exclusive: bool = False) -> Part:
        """The prefixes of these values."""
        return Part(Scan(operator, exclusive), values)


@node
class Accumulate:
    """`init` combined with every value at its index (histogram, scatter-add): a value, not a mutation.
    It takes `rank` indices and the value."""

    operator: Operator
    init: Var
    rank: int
    bounds: Bounds = Bounds.PROVED

    @staticmethod
    def of(
        operator: Operator, init: Var, at: tuple[Atom, ...], value: Atom, bounds: Bounds = Bounds.PROVED
    ) -> Part:
        """This value at these indices."""
        return Part(Accumulate(operator, init, len(at), bounds), (*at, value))


@node
class Scatter:
    """`init` with every value put at its index; among several writers the last iteration wins. It takes
    `rank` indices and the value."""

    init: Var
    rank: int
    bounds: Bounds = Bounds.PROVED

    @staticmethod
    def of(init: Var, at: tuple[Atom, ...], value: Atom, bounds: Bounds = Bounds.PROVED) -> Part:
        """This value at these indices."""
        return Part(Scatter(init, len(at), bounds), (*at, value))


@node
class Carry:
    """The accumulator after the contributions of every iteration. What it takes ends the chain that the
    iteration began at the accumulator `source` bound outside."""

    source: Var

    @staticmethod
    def of(source: Var, token: Atom) -> Part:
        """The accumulator that an iteration takes on as `source` and leaves as `token`."""
        return Part(Carry(source), (token,))


Yield = Stack | Reduce | Scan | Accumulate | Scatter | Carry


def taken(item: Yield) -> int:
    """How many results of the body a yield takes."""
    match item:
        case Accumulate(rank=rank) | Scatter(rank=rank):
            return rank + 1
        case _:
            return made(item)


def made(item: Yield) -> int:
    """How many results a yield makes."""
    match item:
        case Reduce(operator=Lambda(identity=identity)) | Scan(operator=Lambda(identity=identity)):
            return len(identity)
        case _:
            return 1


# ---------------------------------------------------------------------------- bodies and functions
@node
class Let:
    """One statement: its targets, the expression, and the user's source it comes from."""

    targets: tuple[Var, ...]
    expr: Expr
    span: Span | None = None
    memo: Mapping[Var, None] | None = field(default=None, init=False, repr=False)
    """What `walk.let_variables` has found."""


@node
class Body:
    """Statements in order, and what they result in."""

    lets: tuple[Let, ...]
    results: tuple[Atom, ...] = ()


@node
class Function:
    """A program. Size variables in the types of `params` that are not themselves params are implicit
    inputs, bound by the arguments' shapes in order of first appearance (`sizes`)."""

    name: str
    params: tuple[Var, ...]
    body: Body

    @property
    def sizes(self) -> tuple[Var, ...]:
        """The implicit size inputs."""
        found: dict[Var, None] = {}
        for param in self.params:
            for size in param.type.shape:
                if isinstance(size, Var) and size not in self.params:
                    found.setdefault(size)
        return tuple(found)
