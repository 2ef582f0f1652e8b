"""Fixed points and roots with their derivatives, as programs, to every order (Griewank & Walther 2008, §15).

The derivatives of the x with x = f(c, x), or with f(c, x) = 0, follow from the implicit function theorem:

                 fixed point                              root
    forward      t = b + f_x·t,    b = f_c·c_tan          f_x·t = -b,       x_tan = t
    reverse      w = x_adj + f_xᵀ·w                       f_xᵀ·w = -x_adj,  c_adj = f_cᵀ·w

Those of a fixed point are fixed points, found as fast as x and with nothing kept of the way to it; their own
derivatives are found the same way. Those of a root are linear systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.ad.arrays import add_arrays, element, zeros_like
from anadrome.ad.forward import jvp as forward
from anadrome.ad.reverse import vjp as reverse
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    FALSE,
    TRUE,
    Atom,
    Check,
    Custom,
    Function,
    JvpRule,
    Library,
    Part,
    Size,
    Stack,
    Var,
    VjpRule,
    i64,
)
from anadrome.compile import prepare
from anadrome.config import Config
from anadrome.dtypes import F64
from anadrome.errors import Span
from anadrome.frontend.modes import Mode, Modes, after
from anadrome.prims.node import replace

ROUNDINGS = 8.0
"""Changes of so many units of rounding are none."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """x from `equation`, a function of constants and of the unknowns, which are its last `count` parameters.

    `step` has the same parameters and gives the unknowns' next values; for a fixed point it is the equation.
    The iteration ends where max |change| ≤ tolerance · max(floor, max |x|). With a floor of 0 that is
    relative, as a derivative wants it. A tolerance below what the unknowns' precision can tell is raised to
    that: rounding may alternate between neighbouring numbers forever.
    """

    what: str
    equation: Function
    step: Function
    count: int
    tolerance: float
    max_iterations: int
    floor: float
    config: Config

    @property
    def is_root(self) -> bool:
        """Whether the equation is f(c, x) = 0; else it is x = f(c, x)."""
        return self.step is not self.equation

    def linear(self, step: Function) -> Problem:
        """The fixed point of a derivative, with as many unknowns."""
        prepared = prepare(step, self.config)
        what = f"the derivative of {self.what}" if self.floor else self.what
        return replace(self, what=what, equation=prepared, step=prepared, floor=0.0)


def solve(
    builder: Builder, problem: Problem, constants: Sequence[Atom], start: Sequence[Atom], modes: Modes
) -> tuple[Atom, ...]:
    """The solution, as a part of a program that may be differentiated in these modes, one after the other."""
    if not modes:
        return _iterate(builder, problem, constants, start)
    floats = tuple(place for place, atom in enumerate(constants) if atom.type.dtype.is_float)
    args = (*(constants[place] for place in floats), *start)
    call = _Call(builder, problem, tuple(constants), floats)
    params = call.variables(args, "c")
    inner = builder.child()
    inner.bind(*params)
    primal = inner.body(_iterate(inner, problem, *call.split(params)))
    forward_left, reverse_left = after(modes, Mode.FORWARD), after(modes, Mode.REVERSE)
    jvp = None if forward_left is None else call.jvp(args, forward_left)
    vjp = None if reverse_left is None else call.vjp(args, reverse_left)
    return builder.let(Custom(args, params, primal, jvp, vjp))


def _iterate(
    builder: Builder, problem: Problem, constants: Sequence[Atom], start: Sequence[Atom]
) -> tuple[Atom, ...]:
    """x ← step(x) until it does not change any more; an error where that does not happen."""
    count = problem.count
    rounding = max((float(np.finfo(atom.type.dtype.numpy_name).eps) for atom in start), default=0.0)
    tolerance = max(problem.tolerance, ROUNDINGS * rounding)

    def goes_on(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        return inner.apply("and", carried[count], inner.apply("lt", carried[-1], i64(problem.max_iterations)))

    def once(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        before = carried[:count]
        new = inner.call(problem.step, (*constants, *before))
        far: Atom = number(0.0, F64)
        large: Atom = number(problem.floor, F64)
        for left, right in zip(before, new, strict=True):
            far = inner.apply("max", far, _largest(inner, right, left))
            large = inner.apply("max", large, _largest(inner, right))
        allowed = inner.mul(number(tolerance, F64), large)
        is_finite = inner.apply("lt", far, number(math.inf, F64))
        is_near = inner.apply("and", inner.apply("le", far, allowed), is_finite)
        goes = inner.apply("gt", far, allowed)
        return (*new, goes, is_near, far, inner.add(carried[-1], i64(1)))

    results = builder.while_loop([*start, TRUE, FALSE, number(0.0, F64), i64(0)], goes_on, once)
    is_found, change, iterations = results[count + 1 :]
    message = f"{problem.what} was not found: iteration {{0}} still changed it by {{1}}"
    builder.let(Check(is_found, "convergence", message, (iterations, change)))
    return results[:count]


def _largest(builder: Builder, value: Atom, less: Atom | None = None) -> Atom:
    """max |value - less| over every element, as f64."""
    shape = value.type.shape

    def level(inner: Builder, at: tuple[Var, ...]) -> Atom:
        if len(at) < len(shape):
            return inner.reduce("max", shape[len(at)], lambda deeper, index: level(deeper, (*at, index)))
        found = element(inner, value, at)
        if less is not None:
            found = inner.sub(found, element(inner, less, at))
        return inner.convert(inner.apply("abs", found), F64)

    return level(builder, ())


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """One problem with its constants, of which those at `floats` are differentiated."""

    builder: Builder
    problem: Problem
    constants: tuple[Atom, ...]
    floats: tuple[int, ...]

    def variables(self, atoms: Sequence[Atom], name: str) -> tuple[Var, ...]:
        """New variables of the types of these."""
        return tuple(Var(name, atom.type) for atom in atoms)

    def all_constants(self, given: Sequence[Atom]) -> tuple[Atom, ...]:
        """The constants, with these for the floats."""
        found = list(self.constants)
        for place, atom in zip(self.floats, given, strict=True):
            found[place] = atom
        return tuple(found)

    def split(self, params: Sequence[Var]) -> tuple[tuple[Atom, ...], tuple[Atom, ...]]:
        """Constants and start, from the parameters of a rule."""
        split = len(self.floats)
        return self.all_constants(params[:split]), tuple(params[split:])

    def zeros(self, builder: Builder, like: Sequence[Atom]) -> tuple[Atom, ...]:
        """Where the fixed point of a derivative begins."""
        return tuple(zeros_like(builder, atom) for atom in like)

    def jvp(self, args: Sequence[Atom], left: Modes) -> JvpRule:
        """The solution, and its tangent."""
        params, tangents = self.variables(args, "c"), self.variables(args, "c_tan")
        inner = self.builder.child()
        inner.bind(*params, *tangents)
        constants, start = self.split(params)
        found = solve(inner, self.problem, constants, start, left)
        change = forward(self.problem.equation, (*self.active_constants(), *(False,) * self.problem.count))
        given = (*constants, *found, *tangents[: len(self.floats)])
        pushed = inner.call(change, given)[self.problem.count :]
        results = self.push(inner, constants, found, pushed, left)
        return JvpRule(params, tangents, inner.body((*found, *results)))

    def push(
        self,
        builder: Builder,
        constants: Sequence[Atom],
        found: Sequence[Atom],
        change: Sequence[Atom],
        left: Modes,
    ) -> tuple[Atom, ...]:
        """The tangent of the solution, from the change b that the constants make in the equation."""
        if self.problem.is_root:
            return _system(builder, self.problem.equation, constants, found, change, is_transposed=False)
        equation = self.problem.equation
        derivative = forward(equation, (*(False,) * len(constants), *(True,) * self.problem.count))
        problem = _contribution(self.problem, derivative)
        given = (*constants, *found, *change)
        return solve(builder, problem, given, self.zeros(builder, found), left)

    def active_constants(self) -> tuple[bool, ...]:
        """Which constants are differentiated."""
        return tuple(place in self.floats for place in range(len(self.constants)))

    def vjp(self, args: Sequence[Atom], left: Modes) -> VjpRule:
        """w = x_adj + f_xᵀ·w, then c_adj = f_cᵀ·w. Where the iteration began does not matter."""
        params = self.variables(args, "c")
        inner = self.builder.child()
        inner.bind(*params)
        constants, start = self.split(params)
        found = solve(inner, self.problem, constants, start, left)
        first = params[: len(self.floats)]
        forward_body = inner.body((*found, *first, *found))
        residuals = self.variables((*first, *found), "saved")
        cotangents = self.variables(found, "x_adj")
        back = self.builder.child()
        back.bind(*residuals, *cotangents)
        constants, fixed = self.split(residuals)
        weights = self.pull(back, constants, fixed, cotangents, left)
        equation = reverse(self.problem.equation, (*self.active_constants(), *(False,) * self.problem.count))
        adjoints = back.call(equation, (*constants, *fixed, *weights))[self.problem.count :]
        body = back.body((*adjoints, *self.zeros(back, start)))
        return VjpRule(params, forward_body, residuals, cotangents, body)

    def pull(
        self,
        builder: Builder,
        constants: Sequence[Atom],
        found: Sequence[Atom],
        cotangents: Sequence[Atom],
        left: Modes,
    ) -> tuple[Atom, ...]:
        """The weights of the equations, from the cotangents of the solution."""
        if self.problem.is_root:
            return _system(builder, self.problem.equation, constants, found, cotangents, is_transposed=True)
        equation = self.problem.equation
        derivative = reverse(equation, (*(False,) * len(constants), *(True,) * self.problem.count))
        problem = _contribution(self.problem, derivative)
        given = (*constants, *found, *cotangents)
        return solve(builder, problem, given, self.zeros(builder, found), left)


# ---------------------------------------------------------------------------- the linear problems
def _contribution(problem: Problem, derivative: Function) -> Problem:
    """t ↦ b + D·t with the constants (c, x, b), where D·t is what a derivative gives behind the results."""
    split = len(problem.equation.params)
    unknowns = derivative.params[split:]
    added = tuple(Var("b", var.type) for var in unknowns)
    builder = Builder()
    builder.bind(*derivative.sizes, *derivative.params, *added)
    for let in derivative.body.lets:
        builder.emit(let)
    parts = derivative.body.results[problem.count :]
    sums = [add_arrays(builder, left, right) for left, right in zip(added, parts, strict=True)]
    params = (*derivative.params[:split], *added, *unknowns)
    return problem.linear(remove_dead(Function("linear", params, builder.body(sums))))


def _system(
    builder: Builder,
    equation: Function,
    constants: Sequence[Atom],
    found: Sequence[Atom],
    right: Sequence[Atom],
    *,
    is_transposed: bool,
) -> tuple[Atom, ...]:
    """The solution of f_x·t = -right, or of f_xᵀ·w = -right."""
    (unknown,), (value,) = found, right
    solved = solve_jacobian(builder, equation, (*constants, unknown), value, is_transposed=is_transposed)
    shape = value.type.shape
    return (builder.build(shape, lambda inner, at: inner.neg(element(inner, solved, at))),)


def newton(residual: Function, span: Span | None) -> Function:
    """x - f_x⁻¹·f(c, x), with the parameters of f, of which the last is the unknown."""
    unknown = residual.params[-1]
    builder = Builder()
    builder.span = span
    builder.bind(*residual.sizes, *residual.params)
    (value,) = builder.inline(residual.body, {})
    change = solve_jacobian(builder, residual, residual.params, value, is_transposed=False)
    result = builder.build(
        unknown.type.shape,
        lambda inner, at: inner.sub(element(inner, unknown, at), element(inner, change, at)),
    )
    return Function("newton", residual.params, builder.body((result,)))


def solve_jacobian(
    builder: Builder, residual: Function, args: Sequence[Atom], right: Atom, *, is_transposed: bool
) -> Atom:
    """f_x⁻¹·right, or f_x⁻ᵀ·right, where x is the last argument: one number, or one array."""
    derivative = forward(residual, (*(False,) * (len(args) - 1), True))
    unknown = args[-1]
    shape = unknown.type.shape
    if not shape:
        slope = builder.call(derivative, (*args, number(1.0, unknown.type.dtype)))[1]
        return builder.apply("div", right, slope)
    size: Size = i64(1)
    for dimension in shape:
        size = builder.size("mul", size, dimension)

    def column(inner: Builder, index: Var) -> tuple[Part]:
        tangent = inner.call(derivative, (*args, _basis(inner, unknown, size, index)))[1]
        assert isinstance(tangent, Var)
        return (Stack.of(inner.reshape(tangent, (size,))),)

    (columns,) = builder.parfor(size, column)
    assert isinstance(right, Var)
    flat = builder.reshape(right, (size, i64(1)))
    solved = builder.let_one(Library("solve", (columns, flat), (not is_transposed,)))
    return builder.reshape(solved, shape)


def _basis(builder: Builder, like: Atom, size: Size, index: Var) -> Var:
    """The array of this shape that is one at a place counted in row-major order, and zero elsewhere."""
    dtype = like.type.dtype
    flat = builder.stack(
        size,
        lambda inner, at: inner.select(inner.apply("eq", at, index), number(1.0, dtype), number(0.0, dtype)),
    )
    return builder.reshape(flat, like.type.shape)
