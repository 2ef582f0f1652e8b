"""One launch as statements of the host program: arguments in the place of parameters, then the blocks."""

from __future__ import annotations

from anadrome.dtypes import I64
from anadrome.kernel_ir.arithmetic import ZERO, divide, known, multiply, product, subtract
from anadrome.kernel_ir.nodes import (
    Alloc,
    Buffer,
    Const,
    Expr,
    For,
    Free,
    Launch,
    Let,
    Space,
    Stmt,
    Triple,
    Var,
    View,
)
from anadrome.schedule.block import Block
from anadrome.schedule.failures import Failures
from anadrome.schedule.names import Names, Place
from anadrome.schedule.plan import Plan, plan_of
from anadrome.schedule.site import Site
from anadrome.schedule.workers import emit_workers


def emit_launch(launch: Launch, failures: Failures, workers: int, vector_bits: int, body: list[Stmt]) -> None:
    """Append the statements of a launch."""
    plan = plan_of(launch.kernel)
    names = _arguments(launch, body)
    where = launch.kernel.geometry
    grid = _extents(where.grid, launch.grid, names, body)
    block = _extents(where.block, launch.block, names, body)
    names.vars[where.shared] = _named("bytes", launch.shared, body)
    threads = _named("threads", product(block), body)
    blocks = _named("blocks", product(grid), body)

    def emit(
        inner: Names, indivisible: frozenset[Buffer], part: tuple[Expr, Expr], stmts: list[Stmt]
    ) -> None:
        site = Site(
            plan,
            inner.inner(),
            block,
            threads,
            code=lambda code, count: failures.of_kernel(launch.kernel, code, count),
            divergence=lambda barrier: failures.divergence(barrier.span),
            vector_bits=vector_bits,
            indivisible=indivisible,
        )
        _emit_blocks(site, grid, part, stmts)

    emit_workers(launch.kernel, names, workers, blocks, threads, emit, body)


def _named(name: str, value: Expr, body: list[Stmt]) -> Expr:
    """A value under a name, unless it has one."""
    if isinstance(value, Var | Const):
        return value
    var = Var(name, I64)
    body.append(Let(var, value))
    return var


def _extents(names_of: Triple[Var], extents: Triple[Expr], names: Names, body: list[Stmt]) -> Triple[Expr]:
    """The extents of a grid or a block."""
    found = [_named(var.name, extent, body) for var, extent in zip(names_of, extents, strict=True)]
    names.vars.update(zip(names_of, found, strict=True))
    return found[0], found[1], found[2]


def _arguments(launch: Launch, body: list[Stmt]) -> Names:
    """What the parameters stand for. A parameter with dimensions is a view of what is given for it."""
    names = Names()
    given = list(zip(launch.kernel.params, launch.args, strict=True))
    for param, arg in given:
        if isinstance(param, Var) and not isinstance(arg, Buffer):
            names.vars[param] = _value(param, arg, body)
    for param, arg in given:
        if isinstance(param, Buffer) and isinstance(arg, Buffer):
            if param.shape or arg.shape:
                view = names.layout(param)
                body.append(View(view, arg, ZERO))
                names.buffers[param] = Place(view)
            else:
                names.buffers[param] = Place(arg)
    return names


def _value(param: Var, arg: Expr, body: list[Stmt]) -> Expr:
    if isinstance(arg, Var | Const):
        return arg
    var = Var(param.name, param.dtype)
    body.append(Let(var, arg))
    return var


def _emit_blocks(site: Site, grid: Triple[Expr], part: tuple[Expr, Expr], body: list[Stmt]) -> None:
    """A loop over some of the blocks, and the memory that they use one after the other."""
    plan, index = site.plan, Var("block", I64)
    for shared in plan.shared:
        size = site.outside(shared.size, f"the size of {shared.buffer}")
        made = _laid_out(site, shared.buffer)
        site.names.buffers[shared.buffer] = Place(site.of_worker(made, size))
    names, stmts = site.names.inner(), list[Stmt]()
    _block_index(plan, grid, index, names, stmts)
    Block(site).items(plan.items, names, stmts)
    body += site.memory
    body.append(For(index, *part, tuple(stmts)))
    taken = (stmt.buffer for stmt in site.memory if isinstance(stmt, Alloc))
    body += [Free(buffer) for buffer in taken if buffer.space is Space.GLOBAL]


def _laid_out(site: Site, buffer: Buffer) -> Buffer:
    """A buffer laid out as shared memory of the kernel, whose dimensions it may have computed."""
    what = f"the shape of {buffer}"
    shape = tuple(site.outside(size, what) for size in buffer.shape)
    strides = tuple(site.outside(step, what) for step in buffer.strides)
    return Buffer(buffer.name, buffer.dtype, buffer.space, shape, strides)


def _block_index(plan: Plan, grid: Triple[Expr], index: Var, names: Names, body: list[Stmt]) -> None:
    """Where the block of a number is in the grid, z running slowest."""
    width, height, depth = grid
    x, y, z = plan.kernel.geometry.block_index
    if known(height) == 1 and known(depth) == 1:
        names.vars.update({x: index, y: ZERO, z: ZERO})
        return
    row = _named("row", divide(index, width), body)
    layer: Expr = ZERO if known(depth) == 1 else _named("layer", divide(row, height), body)
    names.vars[x] = _named(x.name, subtract(index, multiply(row, width)), body)
    names.vars[y] = _named(y.name, subtract(row, multiply(layer, height)), body)
    names.vars[z] = layer
