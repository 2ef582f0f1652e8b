"""A host function of the kernel IR as the text of an LLVM module.

The module has one entry, `i64 entry(ptr frame)`: it takes what the caller put into the frame (see
`FrameLayout`), runs the body, whose results and failures are written into the frame, and returns the status.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.dtypes import DType
from anadrome.kernel_ir.nodes import Buffer, Function, Var
from anadrome.targets.llvm_memory import emit_measure, finish_function, take_donated
from anadrome.targets.llvm_scope import (
    FINISHED,
    SMALL,
    WORKERS,
    FrameLayout,
    Place,
    PrintSite,
    Program,
    Scope,
    Site,
)
from anadrome.targets.llvm_statements import emit_body
from anadrome.targets.llvm_text import FunctionText, ModuleText, Value
from anadrome.targets.record import Target

ENTRY = "anadrome_entry"
EMITTER_VERSION = 9
"""Part of the key of cached object code; goes up when the frame, a symbol or the passes change."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """The module's text, and what a caller must know to use it."""

    text: str
    layout: FrameLayout
    sites: tuple[Site, ...]
    prints: tuple[PrintSite, ...]
    uses_threads: bool
    symbols: tuple[str, ...]
    """The foreign functions it calls."""


def emit(fn: Function, target: Target, is_measured: bool = False) -> Emitted:
    """The LLVM text of a host function for a machine; measured, it counts the bytes it holds."""
    module = ModuleText(target)
    program = Program(fn, module, is_measured)
    if is_measured:
        emit_measure(module)
    parameters = [_parameter(program, param, position) for position, param in enumerate(fn.params)]
    listed = "".join(f", {kind} {name}" for kind, name in parameters)
    header = f"define internal void @body(ptr noalias %frame, i64 %workers{listed}) noinline #0"
    text = FunctionText(module, header)
    scope = Scope(program, text)
    for param, (_, name) in zip(fn.params, parameters, strict=True):
        match param:
            case Var():
                scope.bind(param, name)
            case Buffer() if param in fn.donated:
                take_donated(scope, param, name)
            case Buffer():
                scope.places[param] = Place(name)
    emit_body(scope, fn.body)
    _emit_outputs(scope, fn)
    finish_function(scope)
    _emit_entry(program, fn)
    return Emitted(
        text=module.text(),
        layout=program.layout,
        sites=tuple(program.sites),
        prints=tuple(program.prints),
        uses_threads=program.uses_threads,
        symbols=module.symbols(),
    )


def _parameter(program: Program, param: Var | Buffer, position: int) -> tuple[str, Value]:
    name = f"%p{position}"
    if isinstance(param, Var):
        return param.dtype.llvm, name
    if param in program.swapped:
        return "ptr", name
    return "ptr noalias" if param in program.fn.donated else "ptr noalias readonly", name


def _emit_outputs(scope: Scope, fn: Function) -> None:
    """Results into the frame: of small arrays the elements. Buffers of others are no longer ours to free."""
    text, layout = scope.text, scope.program.layout
    values: list[tuple[str, Value]] = []
    given: list[tuple[Value, Value]] = []
    small = layout.small
    for output in fn.outputs:
        sizes = [scope.expr(size) for size in output.shape]
        if isinstance(output.value, Buffer):
            slot = scope.places[output.value].slot
            found = text.value(f"load ptr, ptr {slot}")
            is_small = _copied_if_small(scope, found, output.dtype, sizes, small)
            small += SMALL
            values.append(("ptr", text.value(f"select i1 {is_small}, ptr null, ptr {found}")))
            given.append((slot, text.value(f"select i1 {is_small}, ptr {found}, ptr null")))
        else:
            value, dtype = scope.typed(output.value)
            values.append(("i64", scope.as_bits(value, dtype)))
        values += [("i64", size) for size in sizes]
    for position, (kind, value) in enumerate(values):
        text.do(f"store {kind} {value}, ptr {scope.frame_slot(layout.outputs + position)}")
    for slot, kept in given:
        text.do(f"store ptr {kept}, ptr {slot}")


def _copied_if_small(scope: Scope, source: Value, dtype: DType, sizes: Sequence[Value], place: int) -> Value:
    """Whether the elements of an array have room in the frame, where they are then."""
    text = scope.text
    total: Value = str(dtype.bytes)
    for size in sizes:
        total = text.value(f"mul i64 {total}, {size}")
    is_small = text.value(f"icmp ule i64 {total}, {8 * SMALL}")
    copied = text.value(f"select i1 {is_small}, i64 {total}, i64 0")
    text.module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    target = scope.frame_slot(place)
    text.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {copied}, i1 false)")
    return is_small


def _elements(text: FunctionText, slot: Value) -> Value:
    """The address of the elements of an array whose slot holds the array itself."""
    found = text.value(f"load ptr, ptr {slot}")
    offset = text.module.target.array_data
    if offset is None:
        return found
    place = text.value(f"getelementptr inbounds i8, ptr {found}, i64 {offset}")
    return text.value(f"load ptr, ptr {place}")


def _emit_entry(program: Program, fn: Function) -> None:
    """Unpack the frame and call the body."""
    text = FunctionText(program.module, f"define i64 @{ENTRY}(ptr %frame) #3")
    scope = Scope(program, text)
    workers = text.value(f"load i64, ptr {scope.frame_slot(WORKERS)}")
    given = [f"ptr %frame, i64 {workers}"]
    for position, param in enumerate(fn.params):
        slot = scope.frame_slot(program.layout.params + position)
        if isinstance(param, Buffer):
            given.append(f"ptr {_elements(text, slot)}")
        else:
            bits = text.value(f"load i64, ptr {slot}")
            given.append(f"{param.dtype.llvm} {scope.from_bits(bits, param.dtype)}")
    text.do(f"call void @body({', '.join(given)})")
    text.do(f"store i64 1, ptr {scope.frame_slot(FINISHED)}")
    status = text.value("load atomic i64, ptr %frame monotonic, align 8")
    text.do(f"ret i64 {status}")
    text.finish()
