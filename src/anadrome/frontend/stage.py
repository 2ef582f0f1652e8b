"""The door of the front end: a Python function and its argument types in, an array IR function out."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from anadrome.array_ir.nodes import Apply, ArrayType, Atom, Function, Size, Var, i64
from anadrome.array_ir.walk import free_variables, prints
from anadrome.config import Config
from anadrome.dtypes import I64, DType
from anadrome.errors import Span
from anadrome.errors.frontend import (
    AnnotationMismatch,
    ChangesSize,
    FrontendError,
    UnknownRoom,
    UnsupportedType,
    WritesThroughView,
)
from anadrome.frontend.annotations import Annotation, bind_annotation
from anadrome.frontend.arrays import atom, describe, weakness
from anadrome.frontend.calls import BoundMethod, call
from anadrome.frontend.captured import Surroundings
from anadrome.frontend.complex_numbers.parts import staged_surroundings
from anadrome.frontend.context import Context, Evaluators, StagedCall
from anadrome.frontend.drawing import Draw, GeneratorSpec, Passed, TriedRoom, rooms_of, stand_in
from anadrome.frontend.evaluate import attribute, evaluate
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.generator_expressions import generated, made_list
from anadrome.frontend.guards import Guards
from anadrome.frontend.heap import Stateful, members
from anadrome.frontend.iterators import source_of
from anadrome.frontend.pools import detached, looked_at
from anadrome.frontend.portable import resolved
from anadrome.frontend.restarts import TRIES_ROOMS, OnePool, Restage
from anadrome.frontend.sharing import spread
from anadrome.frontend.statements import run_block
from anadrome.frontend.stepping import advance, stepped
from anadrome.frontend.structures import RowList, children, flatten, is_number
from anadrome.frontend.values import (
    BY_ROWS,
    UNKNOWN_LAYOUT,
    Array,
    Complex,
    RunText,
    Value,
    Weak,
    is_staged,
    python_name,
)

RECURSION_LIMIT = 20_000
"""Python's own limit while a function is being staged."""

EVALUATORS = Evaluators(
    call, evaluate, run_block, generated, source_of, stepped, advance, attribute, spread, looked_at
)


@dataclass(frozen=True, slots=True)
class Shared:
    """A dimension that is as long as all others of this label."""

    label: int


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """The type of one array or number that comes in.

    A dimension is a constant (int), a name or label (dimensions of one name are equal), or None: a size of
    its own.
    `is_weak` marks a Python number, which adapts its type to the arrays it meets; `is_contiguous` an array
    whose elements follow one another in memory in row-major order.
    """

    dtype: DType
    shape: tuple[int | str | Shared | None, ...] = ()
    is_weak: bool = False
    is_contiguous: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """A staged function: its parameters are the `ArgumentSpec`s of args and kwargs, in order, then more.

    Behind the arguments at every call come the random numbers of `draws`, whose integers `definitions` are
    of, and `captured`, NumPy arrays of the function's surroundings that the program reads. `notes` is what
    transforms had to say of the program, for `explain`. `rebuild` makes the Python result of the function's
    results; `is_weak` says of each result whether Python would have a plain number there. `surroundings`
    tells at each call whether the program is still right, and gives the arrays to pass; `record` is what it
    was made of.
    """

    function: Function
    captured: tuple[np.ndarray, ...]
    rebuild: Callable[[Iterator[object]], object]
    is_weak: tuple[Weak, ...]
    surroundings: Guards
    notes: tuple[object, ...] = ()
    draws: tuple[Draw, ...] = ()
    definitions: Mapping[Var, Apply] = field(default_factory=dict)
    record: Surroundings | None = None

    @property
    def rooms(self) -> dict[int, TriedRoom]:
        """Those of the draws that are room for a list, by their places."""
        return rooms_of(self.draws)


def stage(
    function: object,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    config: Config,
    calls: Mapping[object, StagedCall] | None = None,
    least_size: int = 0,
    changing: Collection[object] = (),
    record: Callable[[str, Function], None] | None = None,
    *,
    tries_rooms: bool = False,
) -> Staged:
    """The array IR function of a Python callable for arguments whose leaves are `ArgumentSpec`s or static.

    `changing` are places (of `Guards.changed`) whose arrays are passed to the program however small.
    With `tries_rooms` it is known that arrays change their sizes in loops that nobody can tell from others.
    `record` is shown what functions that are differentiated become before. `calls` are further compiled forms
    of callables, beside those of NumPy, `math` and the builtins. The
    caller promises that a dimension without a constant is at least `least_size` long, which saves checks and
    makes `x[:3]` a small array of constant size; where the argument is annotated, nothing is promised. Raises
    a `FrontendError` with the user's line for what cannot be compiled.
    """
    grown: set[Span | str | OnePool] = {TRIES_ROOMS} if tries_rooms else set()
    refusal: FrontendError | None = None
    unknown: UnknownRoom | ChangesSize | None = None
    while True:
        context = Context(config, EVALUATORS, calls or {}, changing, grown, record)
        try:
            staged = _staged(context, function, args, kwargs, least_size)
        except Restage as stopped:
            if stopped.site in grown:
                raise stopped.error from None
            grown.add(stopped.site)
        except (UnknownRoom, ChangesSize) as error:
            if TRIES_ROOMS in grown:
                raise (refusal or error) from None
            unknown = error
            grown.add(TRIES_ROOMS)
        except FrontendError as error:
            wanted: set[Span | str | OnePool] = {OnePool(name) for name in context.met}
            wanted |= context.copied if isinstance(error, WritesThroughView) else set()
            if wanted <= grown:
                raise
            refusal = refusal or error
            grown |= wanted
        else:
            is_telling = any(prints(let.expr) for let in staged.function.body.lets)
            if unknown is not None and staged.rooms and is_telling:
                raise unknown.of_what_prints()
            return staged


def program_name(function: object) -> str:
    """What the program of a callable is called: as it is, where it has a name."""
    name = getattr(function, "__name__", "program")
    return name if isinstance(name, str) and name.isidentifier() else "program"


def _staged(
    context: Context,
    function: object,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    least_size: int,
) -> Staged:
    root = context.scope.builder
    params: list[Var] = []
    sizes: dict[object, Size] = {}
    annotations = _annotations(function, args, kwargs)

    def parameter(spec: ArgumentSpec, name: str, annotation: Annotation | None) -> Value:
        shape = tuple(_dimension(size, sizes) for size in spec.shape)
        if annotation is not None:
            shape = bind_annotation(name, annotation, spec.dtype, shape, sizes)
        context.nonnegative.update(size for size in shape if isinstance(size, Var))
        if annotation is None:
            context.least.update({size: least_size for size in shape if isinstance(size, Var)})
        var = Var(name, ArrayType(spec.dtype, shape))
        root.bind(var, *(size for size in shape if isinstance(size, Var)))
        context.inputs.update(one for one in (*shape, var) if isinstance(one, Var))
        params.append(var)
        wrapped = context.wrap(var, spec.is_weak)
        if isinstance(wrapped, Array):
            wrapped.cell.is_argument = True
            wrapped.cell.layout = BY_ROWS if spec.is_contiguous else UNKNOWN_LAYOUT
        return wrapped

    def enter(value: object, name: str) -> Value:
        value = _with_generators(context, value)
        leaves, rebuild = flatten(value, lambda leaf: isinstance(leaf, ArgumentSpec))
        annotation = annotations.get(name)
        if annotation is not None and isinstance(value, Complex):
            raise AnnotationMismatch(name, repr(annotation), "complex numbers")
        return rebuild(iter([parameter(leaf, name, annotation) for leaf in leaves]))  # type: ignore[arg-type]

    names = _names(function, len(args))
    values = [enter(value, name) for value, name in zip(args, names, strict=True)]
    keywords = {name: enter(value, name) for name, value in kwargs.items()}
    with _deep_recursion():
        result = call(context, function, values, keywords)
    context.span = context.last_span
    result = detached(context, result)
    _refuse_unfinished(context, result)
    leaves, rebuild, weak = _results(context, result)
    body = root.body([atom(context, leaf) for leaf in leaves])
    read = free_variables(body) if context.tried else ()
    context.draws += [one for one in context.tried if one.var in read and one not in context.draws]
    hidden = tuple(context.captured.values())
    staged = Function(
        program_name(function),
        (*params, *(one.var for one in (*context.draws, *hidden))),
        body,
    )
    watch = context.surroundings.finish((one.place, one.fetch, one.example) for one in hidden)
    captured = tuple(one.example for one in hidden)
    draws = tuple(context.draws)
    definitions = root.integers() if draws else {}
    notes, around = tuple(context.notes), context.surroundings
    return Staged(staged, captured, rebuild, weak, watch, notes, draws, definitions, around)


def _with_generators(context: Context, value: object) -> Value:
    """The value with an object that stands for each random generator in it."""
    specs, rebuild = flatten(value, lambda leaf: isinstance(leaf, GeneratorSpec))
    found = [
        stand_in(context, Passed(spec.leaf), spec.type) for spec in specs if isinstance(spec, GeneratorSpec)
    ]
    return rebuild(iter(found))


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """A nested expression of the program is a deep recursion of the evaluator: calls are limited instead."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _refuse_unfinished(context: Context, result: Value) -> None:
    """A result is made of numbers, arrays and static objects: no function that reads run-time values."""
    if isinstance(result, StagedFunction | BoundMethod):
        raise UnsupportedType(
            "a result of a compiled function",
            "a function that was made inside it",
            context.span,
            "return the numbers and arrays the function needs, and make it outside",
        )
    if isinstance(result, RunText):
        help = "return the numbers, and make the string outside"
        raise UnsupportedType("a result of a compiled function", describe(result), context.span, help)
    if id(result) in context.generators:
        help = "a generator that is passed in is advanced in place: the caller has it already"
        raise UnsupportedType("a result of a compiled function", "a random generator", context.span, help)
    if children(result) is None and _holds_run_time(context, result, set()):
        kind = python_name(result)
        help = "return `list(x)`" if kind == "deque" else f"return its parts, or make `{kind}` a dataclass"
        raise UnsupportedType("a result of a compiled function", describe(result), context.span, help)
    for part in children(result) or ():
        _refuse_unfinished(context, part)


def _holds_run_time(context: Context, value: Value, seen: set[int]) -> bool:
    """Whether there is a run-time value in an instance or deque that the program made."""
    parts = members(value, context.is_made(value)) if not isinstance(value, Stateful | RowList) else None
    if parts is None or id(value) in seen:
        return False
    seen.add(id(value))
    return any(is_staged(part) or _holds_run_time(context, part, seen) for part in parts)


def _results(
    context: Context, result: Value
) -> tuple[list[Value], Callable[[Iterator[Value]], Value], tuple[Weak, ...]]:
    """The leaves of a result: numbers known while compiling are results as well."""
    result = made_list(context, result)
    result = staged_surroundings(context, result)
    leaves, rebuild = flatten(result, lambda leaf: is_staged(leaf) or is_number(leaf))
    return leaves, rebuild, tuple(map(weakness, leaves))


def _dimension(size: int | str | Shared | None, sizes: dict[object, Size]) -> Size:
    match size:
        case int():
            return i64(size)
        case None:
            return Var("n", ArrayType(I64))
        case str() as name:
            return sizes.setdefault(name, Var(name, ArrayType(I64)))
        case Shared():
            return sizes.setdefault(size, Var("n", ArrayType(I64)))


def _name(value: Atom) -> str:
    return value.name if isinstance(value, Var) else "x"


def _signature(function: object) -> inspect.Signature | None:
    try:
        return inspect.signature(function, eval_str=True)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    except Exception:  # an annotation names what is not there at run time
        return inspect.signature(function)  # type: ignore[arg-type]


def _names(function: object, count: int) -> list[str]:
    signature = _signature(function)
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = [] if signature is None else signature.parameters.values()
    parameters = [one.name for one in found if one.kind not in several]
    return [
        parameters[position] if position < len(parameters) else f"x{position}" for position in range(count)
    ]


def _annotations(
    function: object, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, Annotation]:
    signature = _signature(function)
    found: dict[str, Annotation] = {}
    for name, parameter in ({} if signature is None else signature.parameters).items():
        annotation = resolved(function, parameter.annotation)
        if isinstance(annotation, Annotation):
            found[name] = annotation
    return found
