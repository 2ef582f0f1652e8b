"""Statements as a function of their own: what a worker does, what a program does several times, large loops.

Loops that are alike (`kernel_ir.likeness`) are one function, which each of them calls with its own arrays and
numbers, if what is known of these is the same: so that LLVM compiles once what stands in a program a hundred
times. What fails in such a function is told by numbers that the caller gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable

from anadrome.kernel_ir.likeness import Likeness
from anadrome.kernel_ir.nodes import (
    Binding,
    Buffer,
    Call,
    Check,
    For,
    Free,
    Print,
    Stmt,
    Swap,
    Var,
    View,
)
from anadrome.kernel_ir.walk import Names, changes, free_names, statements
from anadrome.prims.node import replace
from anadrome.targets.llvm_memory import finish_function
from anadrome.targets.llvm_poll import charge, spent
from anadrome.targets.llvm_scope import Copied, Outlined, Parameter, Place, Scope
from anadrome.targets.llvm_text import FunctionText, Value, is_literal


def outlined(
    scope: Scope,
    loop: For,
    stmts: tuple[Stmt, ...],
    name: str,
    write: Callable[[Scope], None],
    *first: Value,
) -> Outlined:
    """The function of a loop's statements, or of the loop, written by `write`; that of a loop which is like
    this one, where there is one. `first`: how its first parameters are called."""
    likeness, outlines = scope.program.apart.get(loop), scope.program.outlines
    captured = _Captured(scope, free_names(stmts), loop)
    key = None if likeness is None else (likeness.key, captured.known(scope))
    function = None if key is None else outlines.get(key)
    if function is None:
        checks = [] if likeness is None else likeness.checks
        function = _written(
            scope, captured, checks, f"{name}.{len(scope.program.module.functions)}", write, first
        )
    if likeness is None or key is None:
        return function
    outlines[key] = function
    given = captured.parameters + _sites(scope, likeness, function)
    return replace(function, parameters=given, results=captured.results)


def _written(
    scope: Scope,
    captured: _Captured,
    checks: list[Check],
    name: str,
    write: Callable[[Scope], None],
    first: tuple[Value, ...],
) -> Outlined:
    """A new function; of `checks` the caller says which place of its own fails."""
    statuses = {check: _inside(position) for position, check in enumerate(checks)}
    listed = [("i64", inside) for inside in first]
    listed += [(kind, inside) for kind, _, inside in captured.parameters]
    listed += [("i64", inside) for inside in statuses.values()]
    given = "".join(f", {kind} {inside}" for kind, inside in listed)
    header = f"define internal i64 @{name}(ptr noalias %frame, i64 %workers{given}) noinline #0"
    inner = Scope(scope.program, FunctionText(scope.program.module, header))
    inner.vars, inner.places, inner.statuses = captured.vars, captured.places, statuses
    captured.come_in(inner)
    write(inner)
    captured.go_out(inner)
    finish_function(inner, lambda: f"i64 {spent(inner)}")
    sites = tuple(map(inner.sites.get, checks))
    return Outlined(name, captured.parameters, sites, captured.results)


def emit_apart(scope: Scope, loop: For, write: Callable[[Scope], None]) -> bool:
    """A loop that is like another one of the program, or a large one of a long program, as a call; whether it
    is one."""
    if loop not in scope.program.apart or scope.loop_depth or scope.in_threads or not _may_be_apart(loop):
        return False
    run = outlined(scope, loop, (loop,), "loop", write)
    charge(scope, scope.text.value(run.call(scope)))
    leave_if_failed(scope)
    for size, passed, root in run.results:
        _copy(scope, size, root, passed)
    return True


def _may_be_apart(loop: For) -> bool:
    """Whether a loop may be a function: not if it prints, calls, forks or gives away what others hold."""
    return not any(
        isinstance(stmt, Print | Call | Swap | Free)
        or (isinstance(stmt, For) and stmt.binding is Binding.THREADS)
        for stmt in statements((loop,))
    )


def _sites(scope: Scope, likeness: Likeness, function: Outlined) -> list[Parameter]:
    """What a caller gives for what fails: the numbers of its own places."""
    pairs = zip(likeness.checks, function.sites, strict=True)
    statuses = (0 if site is None else scope.program.site(check.code, site.types) for check, site in pairs)
    return [("i64", str(status), _inside(position)) for position, status in enumerate(statuses)]


def _inside(position: int) -> Value:
    """What the function calls the number of its caller's place for a check."""
    return f"%f{position}"


# ---------------------------------------------------------------------------- leaving
def is_well(scope: Scope) -> Value:
    """Whether nothing has failed yet, in any thread."""
    status = scope.text.value(f"load atomic i64, ptr {scope.frame} monotonic, align 8")
    return scope.text.value(f"icmp eq i64 {status}, 0")


def leave_if_failed(scope: Scope) -> None:
    """Leave if something has failed."""
    good, is_good = scope.text.fresh("good"), is_well(scope)
    scope.text.do(f"br i1 {is_good}, label %{good}, label %cleanup")
    scope.text.label(good)


# ---------------------------------------------------------------------------- what is captured
_IN_REGISTERS = 16
"""Arrays of constant size with more elements stay on the stack, and are given by their address."""


def _changed(loop: For) -> set[Buffer]:
    """The buffers that a loop may change, itself or through a view."""
    inside = [*statements((loop,))]
    views = {stmt.base for stmt in inside if isinstance(stmt, View)}
    return views.union(*map(changes, inside))


class _Captured:
    """What statements read of the function around them, as parameters of their own function.

    Buffers that share their storage (a view and its base) share the parameter, so that every pointer
    parameter is `noalias`; a view passes its offset. Where storage was swapped nothing is promised. What is a
    constant there is one here.
    """

    def __init__(self, scope: Scope, names: Names, loop: For) -> None:
        self.parameters: list[Parameter] = []
        self.vars: dict[Var, Value] = {}
        self.places: dict[Buffer, Place] = {}
        self.results: list[Copied] = []
        """What the caller copies back from where the function puts it."""
        self._own: dict[Buffer, tuple[int, str, Value, bool]] = {}
        """Array in registers around -> (how many elements, their type, where a copy is, if it is changed)"""
        self._roots: dict[Value, Value] = {}
        changed = _changed(loop)
        for var in names.vars:
            if var is not loop.index:
                value = scope.vars[var]
                self.vars[var] = value if is_literal(value) else self._parameter(var.dtype.llvm, value)
        is_apart = loop.binding is not Binding.THREADS
        sharing = Counter(scope.places[buffer].root for buffer in names.buffers)
        for buffer in names.buffers:
            place = scope.places[buffer]
            if is_apart and 1 <= place.room <= _IN_REGISTERS and sharing[place.root] == 1:
                self._own[buffer] = self._copied(scope, buffer, place, buffer in changed)
            else:
                self.places[buffer] = self._place(scope, place)

    def known(self, scope: Scope) -> Hashable:
        """What the text of the function depends on, beside its likeness."""
        limits = scope.program.works.limits
        numbers = tuple((value, limits.of(var)) for var, value in self.vars.items())
        kinds = tuple(kind for kind, _, _ in self.parameters)
        return numbers, tuple(self.places.values()), tuple(self._own.values()), kinds

    def come_in(self, scope: Scope) -> None:
        """In the function: copy what the caller has in registers into some of its own."""
        for buffer, (room, kind, given, _) in self._own.items():
            scope.places[buffer] = Place(scope.text.alloca(kind), room=room)
            _copy(scope, room * buffer.dtype.bytes, scope.places[buffer].root, given)

    def go_out(self, scope: Scope) -> None:
        """In the function: copy back what it has changed of that."""
        for buffer, (room, _, given, is_changed) in self._own.items():
            if is_changed:
                _copy(scope, room * buffer.dtype.bytes, given, scope.places[buffer].root)

    def _copied(
        self, scope: Scope, buffer: Buffer, place: Place, is_changed: bool
    ) -> tuple[int, str, Value, bool]:
        """An array in registers, of which the function is given a copy: what is in registers has no address
        that others know."""
        kind, size = scope.local_type(buffer.dtype, place.room), place.room * buffer.dtype.bytes
        passed = scope.text.alloca(kind)
        _copy(scope, size, passed, place.root)
        if is_changed:
            self.results.append((size, passed, place.root))
        return place.room, kind, self._parameter("ptr noalias", passed), is_changed

    def _parameter(self, kind: str, value: Value) -> Value:
        inside = f"%c{len(self.parameters)}"
        self.parameters.append((kind, value, inside))
        return inside

    def _place(self, scope: Scope, place: Place) -> Place:
        root = scope.text.value(f"load ptr, ptr {place.slot}") if place.is_swapped else place.root
        inside = self._roots.get(root)
        if inside is None:
            inside = self._parameter("ptr" if place.may_alias else "ptr noalias", root)
            self._roots[root] = inside
        offset = self._parameter("i64", place.offset) if place.offset else ""
        return Place(inside, offset, may_alias=place.may_alias, room=place.room)


def _copy(scope: Scope, size: int, target: Value, source: Value) -> None:
    """Copy so many bytes between arrays on the stack, which LLVM may have in registers."""
    scope.text.module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    scope.text.do(
        f"call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 8 {source}, i64 {size}, i1 false)"
    )
