"""Derivatives of launches: launches of kernels that are made of the launched one.

    y = launch K(x)              y_tan = launch K_jvp(x, x_tan, y_tan)
                                 x_adj = launch K_vjp(x, 0, y_adj)

What a launch writes goes in as it is before and comes out as it is after: primal arrays, tangents and shadows
alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.arrays import zeros_like
from anadrome.ad.kernels.derive import Derived, Kind, forward_kernel, reverse_kernel
from anadrome.ad.kernels.residuals import Residual
from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.build import Builder
from anadrome.array_ir.launch import sizes_of, written_places
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Launch, Let, Var, i64
from anadrome.dtypes import I64
from anadrome.errors import Span
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Buffer, Kernel
from anadrome.kernel_ir.walk import written


@dataclass(frozen=True, slots=True)
class KernelSweep:
    """What the return sweep of a launch has of the values of its kernel, and how (`ad.kernels.residuals`)."""

    kernel: str
    span: Span | None
    residuals: tuple[Residual, ...]

    @property
    def kept(self) -> tuple[Residual, ...]:
        """The values that each thread keeps."""
        return tuple(one for one in self.residuals if one.how == "kept")

    @property
    def bytes_per_thread(self) -> int | None:
        """What a thread keeps; None where only a launch knows."""
        sizes = [one.bytes_per_thread for one in self.kept]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None


def reverse_launch(scope: Scope, let: Let, expr: Launch) -> None:
    """The adjoint of each argument that carries derivatives."""
    kernel, builder = expr.kernel, scope.builder
    call = renamed(expr, scope.renaming.atoms)
    outputs = _outputs(expr, let, scope.varied)
    seeds = {position: scope.take(target) for position, target in outputs.items()}
    if all(seed is None for seed in seeds.values()):
        return
    first = len(kernel.params) - len(expr.args)
    inputs = [
        first + place
        for place, arg in enumerate(expr.args)
        if isinstance(arg, Var) and arg in scope.varied and arg.type.dtype.is_float
    ]
    found = reverse_kernel(kernel, inputs, list(outputs), _ones(call))
    scope.notes.append(KernelSweep(kernel.name, let.span, found.residuals))
    rooms: list[Atom] = []
    winners: dict[int, Atom] = {}
    if found.judge is not None:
        before = {"winners": _nobody(builder, call, found.judge)}
        finals = launch(builder, call, found.judge, before)
        pairs = zip(_changed(found.judge), finals, strict=True)
        winners = {place: one for (kind, place), one in pairs if kind == "winners"}
    if found.counter is not None:
        none = {0: builder.full((i64(found.rooms),), i64(0))}
        results = launch(builder, call, found.counter, {"counts": none, "winners": winners})
        counts = dict(zip(_changed(found.counter), results, strict=True))["counts", 0]
        rooms = [builder.index(counts, (i64(number),)) for number in range(found.rooms)]
    shadows: dict[int, Atom] = {}
    for source in found.sweep.sources:
        if source.kind == "shadow":
            shadows[source.position] = _seed(scope, expr, seeds, source.position - first, first)
    given = {"shadow": shadows, "room": dict(enumerate(rooms)), "winners": winners}
    results = launch(builder, call, found.sweep, given)
    after = dict(zip(_changed(found.sweep), results, strict=True))
    for position in inputs:
        adjoint = after.get(("shadow", position), seeds.get(position))
        arg = expr.args[position - first]
        if adjoint is None:
            continue
        if not arg.type.shape and ("shadow", position) in after:
            assert isinstance(adjoint, Var)
            adjoint = builder.index(adjoint, (i64(0),))
        scope.contribute_whole(arg, adjoint)


def _seed(scope: Scope, expr: Launch, seeds: Mapping[int, Atom | None], place: int, first: int) -> Atom:
    """The shadow of an argument before the return sweep: the adjoint of what became of it, or zeros; that of
    an array which is only read may begin as the adjoint that it has already."""
    arg, position = expr.args[place], first + place
    seed = seeds.get(position)
    if seed is not None:
        return seed
    if not arg.type.shape:
        return scope.builder.full((i64(1),), scope.builder.constant(0.0, arg))
    assert isinstance(arg, Var)
    if position not in seeds and arg in scope.varied and arg not in scope.tokens:
        return scope.take_or_zero(arg)
    return scope.builder.zeros(scope.type_of(arg))


def forward_launch(
    builder: Builder,
    expr: Launch,
    tangents: Sequence[Atom | None],
    outputs: Sequence[int],
    *,
    is_whole: bool,
) -> tuple[dict[int, Var], tuple[Atom, ...]]:
    """The tangents of the arrays at these places of the arguments, after the launch. `expr` is in the new
    program, each of its arguments has its tangent or None. `is_whole`: also the arrays that it writes, by
    place."""
    first = len(expr.kernel.params) - len(expr.args)
    inputs = [first + place for place, tangent in enumerate(tangents) if tangent is not None]
    found = forward_kernel(expr.kernel, inputs, [first + place for place in outputs], is_whole=is_whole)
    shadows: dict[int, Atom] = {}
    for source in found.sources:
        if source.kind == "shadow":
            place = source.position - first
            tangent = tangents[place]
            shadows[source.position] = zeros_like(builder, expr.args[place]) if tangent is None else tangent
    given = {"shadow": shadows, "winners": _nobody(builder, expr, found)}
    after = dict(zip(_changed(found), launch(builder, expr, found, given), strict=True))
    moved = tuple(
        after.get(("shadow", first + place))
        or shadows.get(first + place)
        or zeros_like(builder, expr.args[place])
        for place in outputs
    )
    return {place - first: var for (kind, place), var in after.items() if kind == "original"}, moved


def renamed(expr: Launch, atoms: Callable[[tuple[Atom, ...]], tuple[Atom, ...]]) -> Launch:
    """A launch of the program that is differentiated, in the new one."""
    gx, gy, gz, bx, by, bz, shared = atoms((*expr.grid, *expr.block, expr.shared))
    return Launch(expr.kernel, (gx, gy, gz), (bx, by, bz), shared, atoms(expr.args))


def _outputs(expr: Launch, let: Let, varied: set[Var]) -> dict[int, Var]:
    """Positions of written parameters that carry derivatives -> the result."""
    first = len(expr.kernel.params) - len(expr.args)
    places = written_places(expr.kernel, len(expr.args))
    return {
        first + place: target for place, target in zip(places, let.targets, strict=True) if target in varied
    }


def _ones(expr: Launch) -> frozenset[kernel_ir.Var]:
    """The extents of a launch that are 1."""
    where = expr.kernel.geometry
    extents = zip((*where.grid, *where.block), (*expr.grid, *expr.block), strict=True)
    return frozenset(var for var, extent in extents if isinstance(extent, Const) and extent.value == 1)


def _nobody(builder: Builder, expr: Launch, found: Derived) -> dict[int, Atom]:
    """Arrays in which nobody has won yet, for those that a derived kernel takes."""
    first = len(expr.kernel.params) - len(expr.args)
    positions = [source.position for source in found.sources if source.kind == "winners"]
    return {position: builder.full(expr.args[position - first].type.shape, i64(-1)) for position in positions}


def _changed(found: Derived) -> list[tuple[Kind, int]]:
    """What the parameters stand for that a derived kernel writes."""
    sources = dict(zip(found.kernel.params, found.sources, strict=True))
    return [(sources[param].kind, sources[param].position) for param in written(found.kernel)]


def launch(
    builder: Builder, expr: Launch, found: Derived, more: Mapping[str, Mapping[int, Atom]]
) -> list[Var]:
    """Launch a derived kernel where the original one is; what it writes, after it."""
    original = (
        *sizes_of(expr.kernel, [arg.type.shape for arg in expr.args if isinstance(arg.type, ArrayType)]),
        *expr.args,
    )
    given = [
        original[source.position] if source.kind == "original" else more[source.kind][source.position]
        for source in found.sources
    ]
    kernel, args = _arranged(found.kernel, given)
    by_param = dict(
        zip(
            written(kernel),
            builder.let(Launch(kernel, expr.grid, expr.block, expr.shared, args)),
            strict=True,
        )
    )
    return [by_param[param] for param in written(found.kernel)]


def _arranged(kernel: Kernel, given: Sequence[Atom]) -> tuple[Kernel, tuple[Atom, ...]]:
    """The kernel with the sizes that its arrays bring before its other parameters, and the rest of the
    arguments."""
    brought = {
        size
        for param in kernel.params
        if isinstance(param, Buffer)
        for size in param.shape
        if isinstance(size, kernel_ir.Var)
    }
    pairs = list(zip(kernel.params, given, strict=True))
    sizes = [param for param, _ in pairs if param in brought and isinstance(param, kernel_ir.Var)]
    rest = [(param, value) for param, value in pairs if param not in brought]
    assert all(size.dtype is I64 for size in sizes)
    params = (*sizes, *(param for param, _ in rest))
    arranged = Kernel(kernel.name, params, kernel.geometry, kernel.body, kernel.failures)
    return arranged, tuple(value for _, value in rest)
