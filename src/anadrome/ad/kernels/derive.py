"""The door: the kernels that compute the derivatives of a kernel, and what their launches are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from anadrome.ad.kernels.activity import Activity, activity
from anadrome.ad.kernels.dead import remove_dead
from anadrome.ad.kernels.emitter import Emitter, atom_of, zero
from anadrome.ad.kernels.forward import Forward
from anadrome.ad.kernels.normal import normal
from anadrome.ad.kernels.own import own_buffers, written_once
from anadrome.ad.kernels.places import Loop, Places
from anadrome.ad.kernels.residuals import Plan, Residual, plan
from anadrome.ad.kernels.reverse import Reverse
from anadrome.ad.kernels.sweeps import Primal
from anadrome.ad.kernels.warps import thread_number
from anadrome.ad.kernels.winners import Contest, contest, contested, keyless, refuse_reuse
from anadrome.dtypes import I64
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Compute,
    Kernel,
    Let,
    Space,
    Var,
    i64,
)
from anadrome.kernel_ir.walk import free_names, statements, written
from anadrome.prims.node import replace

Kind = Literal["original", "shadow", "room", "counts", "winners"]


@dataclass(frozen=True, slots=True)
class Source:
    """What a parameter of a derived kernel is given: the argument at a position of the original launch, the
    shadow of that argument, who won its elements, how often its counted loop number `position` runs at most,
    or all such counts."""

    kind: Kind
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """A kernel made of another, and where its arguments come from."""

    kernel: Kernel
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reversed:
    """The kernel of the return sweep. `counter` is launched before it where loops are counted: it writes how
    often each of the `rooms` counted loops runs in one thread at most. `judge` is launched before it where
    threads compete for elements: it writes who won, into arrays that begin as -1."""

    sweep: Derived
    judge: Derived | None = None
    counter: Derived | None = None
    rooms: int = 0
    residuals: tuple[Residual, ...] = ()


def reverse_kernel(
    kernel: Kernel, inputs: Sequence[int], outputs: Sequence[int], ones: frozenset[Var] = frozenset()
) -> Reversed:
    """The reverse mode of a kernel, whose checks have been made by a launch of it.

    `inputs` are positions of the float parameters whose adjoints are wanted, `outputs` those of written
    buffers whose results have one; `ones` are extents of its geometry that are 1.
    Raises `NotDifferentiable` with the line where a construct has no rule.
    """
    source = normal(kernel, ones, is_checked=True)
    params = source.kernel.params
    active = activity(source.kernel, [params[i] for i in inputs], [params[i] for i in outputs])
    races = contested(source.kernel, active)
    refuse_reuse(Places.find(source.kernel), races)
    keyed = contest(source, races)
    found = keyed.known
    places = Places.find(found.kernel)
    asked = {params[i] for i in inputs}
    kept = frozenset(buffer for buffer in written_once(found, places) if buffer not in asked)
    trial = _sweep(keyed, places, active, kept, None, {})
    used = set(free_names(trial.whole().body).vars)
    chosen = plan(places, [var for var, name in trial.primal.names.items() if name in used])
    rooms = {loop: Var("room", I64) for loop in chosen.counted}
    final = _sweep(keyed, places, active, kept, chosen, rooms)
    counter = _counter(keyed, places, chosen) if rooms else None
    return Reversed(final.derived(), judge_of(keyed), counter, len(rooms), chosen.residuals)


def judge_of(found: Contest) -> Derived | None:
    """The kernel that finds who won the elements of the launch's arrays, if threads compete for any."""
    if not found.given:
        return None
    whole = _named_anew(found.finding.kernel, found.given.values())
    return trimmed(replace(whole, name=f"{whole.name}_winners"), sources_of(found))


def sources_of(found: Contest) -> list[Source]:
    """Where the parameters of a kernel with keys come from."""
    params = found.known.kernel.params
    count = len(params) - len(found.given)
    winners = [Source("winners", params.index(buffer)) for buffer in found.given]
    return [*(Source("original", position) for position in range(count)), *winners]


def forward_kernel(
    kernel: Kernel, inputs: Sequence[int], outputs: Sequence[int], *, is_whole: bool = True
) -> Derived:
    """The forward mode of a kernel. `inputs` are positions of the float parameters that have a tangent,
    `outputs` those of written float buffers. Every buffer among both has a tangent buffer, which holds the
    tangents of what is there before, and after; a scalar has a tangent. `is_whole`: it does what the kernel
    does as well, checks included; else a launch of the kernel has done that.
    Raises `NotDifferentiable` with the line where a construct has no rule.
    """
    source = normal(kernel, is_checked=not is_whole)
    params = source.kernel.params
    active = activity(source.kernel, [params[i] for i in inputs], [params[i] for i in outputs])
    keyed = contest(source, keyless(source.kernel, contested(source.kernel, active)))
    found = keyed.finding.kernel
    sweep = Forward(active, Emitter(), {})
    tangents: dict[int, Var | Buffer] = {}
    for position, param in enumerate(found.params):
        if isinstance(param, Buffer) and param in active:
            sweep.shadows[param] = tangents[position] = replace(param, name=f"{param.name}_tan")
        elif isinstance(param, Var) and param in active:
            sweep.tangents[param] = tangents[position] = Var(f"{param.name}_tan", param.dtype)
    sweep.body(found.body)
    every = (*found.params, *tangents.values())
    whole = Kernel(f"{found.name}_jvp", every, found.geometry, sweep.emitter.stmts, found.failures)
    primal = written(source.kernel) if is_whole else ()
    results = (*primal, *(one for one in tangents.values() if isinstance(one, Buffer)))
    sources = [*sources_of(keyed), *(Source("shadow", one) for one in tangents)]
    return trimmed(remove_dead(whole, results, keeps_barriers=is_whole), sources)


@dataclass(slots=True)
class _Written:
    """A derived kernel as it was written: its parts."""

    contest: Contest
    primal: Primal
    emitter: Emitter
    shadows: dict[int, Buffer]
    rooms: dict[Loop, Var] = field(default_factory=dict)

    def whole(self) -> Kernel:
        """The kernel, with every parameter that it may have."""
        old = self.contest.known.kernel
        params = (*old.params, *self.shadows.values(), *self.rooms.values())
        name = f"{old.name}_vjp"
        kernel = Kernel(name, params, old.geometry, self.emitter.stmts, old.failures)
        return remove_dead(kernel, self.shadows.values())

    def derived(self) -> Derived:
        """The kernel with the parameters that it uses."""
        kernel = self.whole()
        sources = sources_of(self.contest)
        sources += [Source("shadow", position) for position in self.shadows]
        sources += [Source("room", number) for number in range(len(self.rooms))]
        return trimmed(kernel, sources)


def trimmed(kernel: Kernel, sources: Sequence[Source]) -> Derived:
    """The kernel without buffers that it does not use."""
    used = free_names(kernel.body).buffers
    kept = [
        (param, source)
        for param, source in zip(kernel.params, sources, strict=True)
        if isinstance(param, Var) or param in used
    ]
    params = tuple(param for param, _ in kept)
    return Derived(
        Kernel(kernel.name, params, kernel.geometry, kernel.body, kernel.failures),
        tuple(source for _, source in kept),
    )


def _sweep(
    source: Contest,
    places: Places,
    active: Activity,
    kept: frozenset[Buffer],
    chosen: Plan | None,
    rooms: dict[Loop, Var],
) -> _Written:
    """Both sweeps in one kernel; without a plan with names in the place of primal values. Shadows of `kept`
    are read alone."""
    found = source.known
    kernel, emitter = found.kernel, Emitter()
    primal = Primal(places, emitter, chosen, rooms=rooms)
    shadows, totals, numbered = _param_shadows(kernel, active)
    is_zeroed = True
    for stmt in kernel.body:
        primal.forward(stmt)
        match stmt:
            case Alloc(buffer=buffer, size=size) if buffer.space is Space.SHARED and buffer in active:
                shadow = shadows[buffer] = replace(buffer, name=f"{buffer.name}_adj")
                emitter.emit(Alloc(shadow, size))
                thread, threads = thread_number(emitter, kernel.geometry)
                emitter.fill(shadow, atom_of(size), zero(buffer.dtype), thread, threads)
                is_zeroed = False
            case Barrier():
                is_zeroed = True
            case _:
                pass
    if not is_zeroed:
        emitter.emit(Barrier())
    chosen_values = (stmt for stmt in statements(kernel.body) if isinstance(stmt, Let))
    is_masked = any(
        isinstance(stmt.value, Compute) and stmt.value.prim.name == "select" and stmt.var in active
        for stmt in chosen_values
    )
    own = own_buffers(found, places)
    prizes = source.prizes
    Reverse(found, places, active, emitter, primal, shadows, totals, own, kept, is_masked, prizes).sweep()
    return _Written(source, primal, emitter, numbered, rooms)


def _param_shadows(
    kernel: Kernel, active: Activity
) -> tuple[dict[Buffer, Buffer], dict[Var, Buffer], dict[int, Buffer]]:
    """The shadows of buffers that come in, the totals of scalars, and both by position."""
    shadows: dict[Buffer, Buffer] = {}
    totals: dict[Var, Buffer] = {}
    numbered: dict[int, Buffer] = {}
    for position, param in enumerate(kernel.params):
        if param not in active:
            continue
        if isinstance(param, Buffer):
            new = Buffer(f"{param.name}_adj", param.dtype, param.space, param.shape, param.strides)
            shadows[param] = numbered[position] = new
        else:
            totals[param] = numbered[position] = Buffer(f"{param.name}_adj", param.dtype, shape=(i64(1),))
    return shadows, totals, numbered


def _counter(source: Contest, places: Places, chosen: Plan) -> Derived:
    """The kernel that finds how often counted loops run: counts[k] = the most of any thread."""
    kernel, emitter = source.known.kernel, Emitter()
    only = Plan(counted=chosen.counted)
    primal = Primal(places, emitter, only)
    for stmt in kernel.body:
        primal.forward(stmt)
    counts = Buffer("counts", I64, shape=(i64(len(chosen.counted)),))
    for number, loop in enumerate(chosen.counted):
        count = emitter.cell_value(primal.counts[loop])
        emitter.emit(Atomic("max", counts, (i64(number),), count))
    whole = Kernel(
        f"{kernel.name}_count", (*kernel.params, counts), kernel.geometry, emitter.stmts, kernel.failures
    )
    return trimmed(_named_anew(whole, (counts,)), [*sources_of(source), Source("counts", 0)])


def _named_anew(kernel: Kernel, results: Iterable[Buffer]) -> Kernel:
    """What the results need of a kernel, under names of its own: it stands beside the kernel of the return
    sweep in one program."""
    whole = normal(kernel).kernel
    own = dict(zip(kernel.params, whole.params, strict=True))
    return remove_dead(whole, [one for result in results if isinstance(one := own[result], Buffer)])
