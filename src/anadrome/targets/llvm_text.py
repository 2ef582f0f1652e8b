"""The text of an LLVM module and of one function in it, as they grow.

Text is written by hand, not built as objects: it is several times faster, and LLVM parses it anyway.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from anadrome.dtypes import DType
from anadrome.targets.record import Target

Value = str
"""An SSA name or a literal, without its type."""

MEMORY_TYPES = {"i1": "i8"}
"""What stands in memory for a type of registers: a bool takes one byte."""


SPECIAL_PREFIX = "anadrome.special."
"""How compiled code spells a function of `scipy.special.cython_special`: this and its name."""

_NUMBERS = ("add", "sub", "mul", "sdiv", "udiv", "shl", "lshr", "ashr", "and", "or", "xor")
_FLOATS = ("fadd", "fsub", "fmul", "fdiv", "fneg", "fcmp", "sitofp", "uitofp", "fpext", "fptrunc")
_OTHERS = ("icmp", "select", "zext", "sext", "trunc", "bitcast", "freeze", "getelementptr", "extractvalue")
_LANES = ("extractelement", "insertelement", "shufflevector")
PURE = frozenset((*_NUMBERS, *_FLOATS, *_OTHERS, *_LANES))
"""Instructions of which one is enough, where it is written twice with the same operands, and which may stand
in front of a loop in which their operands do not change."""
_DIVISIONS = frozenset(("sdiv", "udiv"))
"""Those of them that end the process for some operands."""
_READS = re.compile(r" @llvm\.(?:masked\.gather|vp\.load)\.")
"""Calls that read elements."""
_PURE_CALL = ") #1"
"""What calls have of functions that do nothing but to give a value."""
_PURE_INTRINSICS = re.compile(
    r" @llvm\.(?:[su](?:min|max)|abs|f(?:abs|ma|muladd)|sqrt|floor|ceil|trunc|rint|nearbyint|copysign"
    r"|(?:min|max)imum|ct(?:pop|tz|lz)|vector\.(?:reduce|interleave)|umul\.with\.overflow)"
)
"""Calls that do no more than an instruction."""
_NAME = re.compile(r"%[\w.]+")

STACK_BYTES = 16
"""The alignment of the stack that every function finds, on all machines of the targets."""


def memory_type(dtype: DType) -> str:
    """The LLVM type of an element in memory."""
    return MEMORY_TYPES.get(dtype.llvm, dtype.llvm)


def literal(value: bool | int | float, dtype: DType) -> Value:
    """A constant in LLVM's spelling; floats by their bits, so that nothing is rounded twice."""
    match dtype.kind:
        case "bool":
            return "true" if value else "false"
        case "int" | "uint":
            return str(int(value))
        case "float":
            number = float(value)
            if dtype.bits == 32:
                number = _as_single(number)
            return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def is_literal(operand: Value) -> bool:
    """Whether an operand is a constant."""
    return not operand.startswith("%")


def is_divisor(operand: Value) -> bool:
    """Whether an operand is a whole number by which any other can be divided: -1 gives none for the least."""
    return operand.removeprefix("-").isdecimal() and operand not in ("0", "-1")


def _as_single(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return number * float("inf")


class ModuleText:
    """The module: declarations and helper functions asked for once, functions, metadata."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.functions: list[str] = []
        self._declarations: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._metadata: list[str] = []
        self._vector_symbols: dict[str, None] = {}

    def declare(self, symbol: str, line: str) -> None:
        """Have `symbol` declared by this line."""
        self._declarations.setdefault(symbol, line)

    def helper(self, name: str, text: str) -> None:
        """Have the helper function called `name` defined by this text."""
        self._helpers.setdefault(name, text)

    def has_helper(self, name: str) -> bool:
        """Whether the helper is defined already."""
        return name in self._helpers

    def flags(self, is_reassociable: bool = False) -> str:
        """What may be done with the rounding of an operation."""
        return f"{'reassoc ' if is_reassociable else ''}{'contract ' if self.target.fuses else ''}"

    def metadata(self, content: str, is_distinct: bool = False) -> str:
        """A metadata node; `{self}` in the content stands for the node itself."""
        name = f"!{len(self._metadata)}"
        prefix = "distinct " if is_distinct else ""
        self._metadata.append(f"{name} = {prefix}{content.replace('{self}', name)}")
        return name

    def c_function(self, symbol: str, dtype: DType, arity: int) -> str:
        """Declare a pure C function of floats; the attributes that a call of it carries."""
        kind = dtype.llvm
        parameters = ", ".join([kind] * arity)
        self.declare(symbol, f"declare {kind} @{symbol}({parameters}) #1")
        variants = self.target.vector_functions.get(symbol, ())
        if not variants:
            return "#1"
        for variant in variants:
            vector = f"<{variant.lanes} x {kind}>"
            self.declare(
                variant.symbol, f"declare {vector} @{variant.symbol}({', '.join([vector] * arity)}) #1"
            )
            self._vector_symbols.setdefault(variant.symbol)
        names = ",".join(variant.symbol for variant in variants)
        return f'#1 "vector-function-abi-variant"="{names}"'

    def special_function(self, symbol: str, arity: int) -> None:
        """Declare a pure function of doubles as Cython exports it."""
        self.declare(symbol, f"declare double @{symbol}({'double, ' * arity}i32) #1")

    def symbols(self) -> tuple[str, ...]:
        """The foreign functions that the module calls."""
        return tuple(symbol for symbol in self._declarations if not symbol.startswith("llvm."))

    def text(self) -> str:
        """The whole module."""
        target = self.target
        parts = [f'target triple = "{target.triple}"', f'target datalayout = "{target.data_layout}"']
        if self._vector_symbols:
            used = ", ".join(f"ptr @{symbol}" for symbol in self._vector_symbols)
            count = len(self._vector_symbols)
            parts.append(
                f'@llvm.compiler.used = appending global [{count} x ptr] [{used}], section "llvm.metadata"'
            )
        parts += self._declarations.values()
        parts += self._helpers.values()
        parts += self.functions
        width = f'"prefer-vector-width"="{target.vector_bits}"'
        parts.append(f"attributes #0 = {{ nounwind {width} }}")
        parts.append("attributes #1 = { nounwind willreturn nofree nosync memory(none) }")
        parts.append("attributes #2 = { cold noinline nounwind }")
        parts.append(f'attributes #3 = {{ nounwind "stackrealign" {width} }}')
        parts.append(
            f"attributes #4 = {{ alwaysinline nounwind willreturn nofree nosync memory(none) {width} }}"
        )
        parts += _stack_alignment(target, f"!{len(self._metadata)}")
        parts += self._metadata
        return "\n".join(parts) + "\n"


def _stack_alignment(target: Target, name: str) -> list[str]:
    """The flag of a module whose functions keep the stack where no vector on it lies across two cache lines.

    Else LLVM keeps vectors on the stack wherever a function finds it: at a multiple of 16 bytes, drawn anew
    by the system for every process. A vector across the end of a page may cost a third of a loop's time.
    Every function takes the stack to be aligned so; those that are called by other than compiled code have
    the attributes #3 and align it. (To align it in each, by `alignstack`, takes a register from loops.)
    """
    size = target.vector_bits // 8
    if size <= STACK_BYTES:
        return []
    flag = f'!{{i32 1, !"override-stack-alignment", i32 {size}}}'
    return [f"!llvm.module.flags = !{{{name}}}", f"{name} = {flag}"]


class _Region:
    """Blocks to which every way leads through the first of them: what is found there is known in all that
    follow, as long as the region is open."""

    __slots__ = ("is_open",)

    def __init__(self) -> None:
        self.is_open = True


@dataclass(slots=True)
class _Loop:
    """A loop that is being written, and what is computed in front of it.

    `position`: the line for that. `around`: the region it is in. `inside`: that of the loop.
    `header`: the first block of an iteration. `unchanged`: the arrays of which an iteration changes nothing.
    `is_innermost`: whether no loop was written in it yet.
    """

    position: int
    around: _Region
    inside: _Region
    header: str
    unchanged: frozenset[Value]
    lines: list[str] = field(default_factory=list)
    is_innermost: bool = True


class FunctionText:
    """The text of one function: its blocks in order, allocas kept apart for the entry block.

    A pure instruction is not written where its value is known from a block that is always run before, and
    stands in front of the innermost loop if its operands do not change there; so does what each iteration
    reads or calls first, of arrays that the loop does not change. What a load has read holds until something
    may be written there. A condition is known where it was asked for. So LLVM has less to do.
    """

    def __init__(self, module: ModuleText, header: str) -> None:
        self.module = module
        self.header = header
        self.block = "start"
        self.lanes = 1
        """How many lanes scalar operations are written for."""
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._regions = [_Region()]
        """The regions that are being written, the outermost first."""
        self._known: dict[str, tuple[Value, _Region]] = {}
        """instruction -> its value, and where that is known"""
        self._truths: dict[Value, tuple[Value, _Region]] = {}
        """condition -> what it is, and where that is known"""
        self._loaded: dict[str, Value] = {}
        """What was read in this block since anything may have been written."""
        self._loops: list[_Loop] = []
        """The loops that are being written, the outermost first."""
        self._levels = dict.fromkeys(_NAME.findall(header), 0)
        """How many loops were around where a value was made: it does not change in others."""
        self._roots: dict[Value, Value] = {}
        """address -> the address that it was computed from"""
        self._constant = {_NAME.findall(part)[0] for part in header.split(",") if " readonly " in part}

    def fresh(self, prefix: str = "%v") -> Value:
        """A name no other value or block of the function has."""
        self._count += 1
        name = f"{prefix}{self._count}"
        self._levels[name] = len(self._loops)
        return name

    def value(self, instruction: str) -> Value:
        """Write an instruction, unless its value is known; the name of its result."""
        operation = instruction.partition(" ")[0]
        if operation in PURE:
            return self._pure(operation, instruction)
        if operation == "load" and not instruction.startswith(("load atomic", "load volatile")):
            return self._read(instruction)
        if operation == "call" and (_READS.search(instruction) or _PURE_CALL in instruction):
            return self._read(instruction)
        if operation == "call" and _PURE_INTRINSICS.search(instruction):
            return self._pure(operation, instruction)
        if " @llvm." not in instruction:
            self._loaded.clear()
        name = self.fresh()
        self._lines.append(f"  {name} = {instruction}")
        return name

    def _find(self, instruction: str) -> Value | None:
        """The value of an instruction, if it is known here."""
        found = self._known.get(instruction)
        return found[0] if found is not None and found[1].is_open else None

    def _pure(self, operation: str, instruction: str) -> Value:
        found = self._find(instruction)
        if found is not None:
            return found
        name = self._write(instruction, self._may_stand_before(operation, instruction))
        if operation == "getelementptr":
            base = next(iter(_NAME.findall(instruction)), "")
            self._roots[name] = self._roots.get(base, base)
        return name

    def _may_stand_before(self, operation: str, instruction: str) -> bool:
        """Whether an instruction may stand in front of the innermost loop. In front of more, numbers that are
        cheap would take registers from whole nests, which costs mixtures a tenth."""
        if operation in _DIVISIONS and not is_divisor(self.literal_of(instruction)):
            return False
        return bool(self._loops) and all(map(self.is_steady, _NAME.findall(instruction)))

    def _write(self, instruction: str, is_before: bool, is_lasting: bool = True) -> Value:
        """Write an instruction here or in front of the innermost loop; there, unless its value lasts, what
        follows the loop may change it."""
        name, lines, region = self.fresh(), self._lines, self._regions[-1]
        if is_before:
            loop = self._loops[-1]
            lines, region = loop.lines, loop.around if is_lasting else loop.inside
            self._levels[name] = len(self._loops) - 1
        lines.append(f"  {name} = {instruction}")
        self._known[instruction] = name, region
        return name

    def _read(self, instruction: str) -> Value:
        """What depends on memory, or is only to be computed where it is wanted."""
        found = self._loaded.get(instruction) or self._find(instruction)
        if found is not None:
            return found
        names = _NAME.findall(instruction)
        is_call = _PURE_CALL in instruction
        root = self._roots.get(names[0], names[0]) if names and not is_call else ""
        is_lasting = is_call or root in self._constant
        is_before = self._may_stand_before("load", instruction) and self._is_read_first(root, is_lasting)
        if is_lasting or is_before:
            return self._write(instruction, is_before, is_lasting)
        found = self._loaded[instruction] = self.fresh()
        self._lines.append(f"  {found} = {instruction}")
        return found

    def _is_read_first(self, root: Value, is_lasting: bool) -> bool:
        """Whether each iteration of the innermost loop reads here, and finds of an array what the first has
        found."""
        loop = self._loops[-1]
        return self.block == loop.header and (is_lasting or root in loop.unchanged)

    def is_steady(self, value: Value) -> bool:
        """Whether the innermost loop does not change a number."""
        return is_literal(value) or self._levels[value] < len(self._loops)

    def is_kept(self, root: Value) -> bool:
        """Whether what is read of an array here may stand in front of the innermost loop."""
        return bool(self._loops) and self._is_read_first(root, root in self._constant)

    def equal(self, instruction: str, value: Value) -> None:
        """Let a value stand for a pure instruction that follows."""
        self._known[instruction] = value, self._regions[-1]

    def decided(self, condition: Value) -> Value:
        """A condition, or what it is known to be."""
        found = self._truths.get(condition)
        return found[0] if found is not None and found[1].is_open else condition

    def decide(self, condition: Value, truth: Value = "true") -> None:
        """Let a condition be known in what follows."""
        if not is_literal(condition):
            self._truths[condition] = truth, self._regions[-1]

    # ------------------------------------------------------------------ types, by the number of lanes
    def kind(self, dtype: DType) -> str:
        """The type of a register."""
        return dtype.llvm if self.lanes == 1 else f"<{self.lanes} x {dtype.llvm}>"

    def suffix(self, dtype: DType) -> str:
        """How names of intrinsics spell that type."""
        scalar = f"{'f' if dtype.is_float else 'i'}{dtype.bits}"
        return scalar if self.lanes == 1 else f"v{self.lanes}{scalar}"

    def number(self, literal: Value, dtype: DType) -> Value:
        """A literal as an operand, the same in all lanes."""
        return literal if self.lanes == 1 else f"splat ({dtype.llvm} {literal})"

    def literal_of(self, operand: Value) -> Value:
        """The literal that an operand is in all lanes, or the operand."""
        return operand.removeprefix("splat (").removesuffix(")").split()[-1]

    # ------------------------------------------------------------------ instructions
    def do(self, instruction: str) -> None:
        """Append an instruction without a result."""
        self._loaded.clear()
        self._lines.append("  " + instruction)

    @contextmanager
    def loop(self, header: str, unchanged: frozenset[Value] = frozenset()) -> Iterator[None]:
        """A `with` block in which a loop is written, from the last block in front of it on. Here stands what
        does not change in the loop."""
        position, around = self.reserve(), self._regions[-1]
        with self.region() as inside:
            loop = _Loop(position, around, inside, header, unchanged)
            if self._loops:
                self._loops[-1].is_innermost = False
            self._loops.append(loop)
            try:
                yield
            finally:
                self._loops.pop()
                self._lines[position] = "\n".join(loop.lines)

    @property
    def is_innermost(self) -> bool:
        """Whether no loop was written inside the one that is being written."""
        return self._loops[-1].is_innermost

    @contextmanager
    def region(self) -> Iterator[_Region]:
        """A `with` block in which blocks are written that are left out or repeated: what is found in them is
        not known behind them."""
        region = _Region()
        self._regions.append(region)
        try:
            yield region
        finally:
            region.is_open = False
            self._regions.pop()

    @contextmanager
    def branch(self, name: str, condition: Value, truth: Value = "true") -> Iterator[None]:
        """A `with` block in which a block and what follows it are written, where a condition leads to it."""
        with self.region():
            self.label(name)
            self.decide(condition, truth)
            yield

    def forget(self) -> None:
        """Let nothing be known in what follows: a block comes to which ways lead from anywhere."""
        for region in self._regions:
            region.is_open = False
        self._regions = [_Region()]

    def reserve(self) -> int:
        """Leave a line for an instruction that is known only later: a phi of a loop."""
        self._lines.append("")
        return len(self._lines) - 1

    def fill(self, position: int, instruction: str) -> None:
        """Write the instruction whose line was reserved."""
        self._lines[position] = "  " + instruction

    def label(self, name: str) -> None:
        """Begin a block of the region that is being written."""
        self.block = name
        self._loaded.clear()
        self._lines.append(f"{name}:")

    def alloca(self, type_: str, initial: str = "") -> Value:
        """Stack storage in the entry block, so that it becomes registers where it can."""
        name = self.entry_value(f"alloca {type_}, align {16 if type_.startswith('[') else 8}")
        if initial:
            self._entry.append(f"  store {type_} {initial}, ptr {name}")
        return name

    def entry_value(self, instruction: str) -> Value:
        """Write an instruction into the entry block; the name of its result."""
        name = self.fresh("%s")
        self._levels[name] = 0
        self._entry.append(f"  {name} = {instruction}")
        return name

    def entry(self, line: str) -> None:
        """Append a line to the entry block."""
        self._entry.append("  " + line)

    def intrinsic(
        self, name: str, result: str, arguments: Sequence[tuple[str, Value]], flags: str = ""
    ) -> Value:
        """Call an intrinsic, declared on the way."""
        types = ", ".join(kind for kind, _ in arguments)
        self.module.declare(name, f"declare {result} @{name}({types})")
        given = ", ".join(f"{kind} {value}" for kind, value in arguments)
        return self.value(f"call {flags}{result} @{name}({given})")

    def finish(self) -> None:
        """Close the function and put it into its module."""
        body = "\n".join(
            [self.header + " {", "entry:", *self._entry, "  br label %start", "start:", *self._lines, "}"]
        )
        self.module.functions.append(body)
