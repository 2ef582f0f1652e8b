"""The text of an LLVM module and of one function in it, as they grow.

Text is written by hand, not built as objects: it is several times faster, and LLVM parses it anyway.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from anadrome.dtypes import DType
from anadrome.targets.record import Target

Value = str
"""An SSA name or a literal, without its type."""

MEMORY_TYPES = {"i1": "i8"}
"""What stands in memory for a type of registers: a bool takes one byte."""


SPECIAL_PREFIX = "anadrome.special."
"""How compiled code spells a function of `scipy.special.cython_special`: this and its name."""

_NUMBERS = ("add", "sub", "mul", "sdiv", "udiv", "shl", "lshr", "ashr", "and", "or", "xor")
_OTHERS = ("icmp", "select", "zext", "sext", "trunc", "freeze", "getelementptr")
_LANES = ("extractelement", "insertelement", "shufflevector")
PURE = frozenset((*_NUMBERS, *_OTHERS, *_LANES))
"""Instructions of which one is enough, where it is written twice with the same operands."""

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


class FunctionText:
    """The text of one function: its blocks in order, allocas kept apart for the entry block."""

    def __init__(self, module: ModuleText, header: str) -> None:
        self.module = module
        self.header = header
        self.block = "start"
        self.lanes = 1
        """How many lanes scalar operations are written for."""
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._known: dict[str, Value] = {}
        """Pure instructions of the block that is being written, and their values."""

    def fresh(self, prefix: str = "%v") -> Value:
        """A name no other value or block of the function has."""
        self._count += 1
        return f"{prefix}{self._count}"

    def value(self, instruction: str) -> Value:
        """Append an instruction; the name of its result. A pure one stands once in a block."""
        known = self._known.get(instruction)
        if known is not None:
            return known
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {instruction}")
        if instruction.partition(" ")[0] in PURE:
            self._known[instruction] = name
        return name

    def equal(self, instruction: str, value: Value) -> None:
        """Let a value stand for a pure instruction that the rest of the block would write."""
        self._known[instruction] = value

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
        self._lines.append("  " + instruction)

    def reserve(self) -> int:
        """Leave a line for an instruction that is known only later: a phi of a loop."""
        self._lines.append("")
        return len(self._lines) - 1

    def fill(self, position: int, instruction: str) -> None:
        """Write the instruction whose line was reserved."""
        self._lines[position] = "  " + instruction

    def label(self, name: str) -> None:
        """Begin a block."""
        self.block = name
        self._known.clear()
        self._lines.append(f"{name}:")

    def alloca(self, type_: str, initial: str = "") -> Value:
        """Stack storage in the entry block, so that it becomes registers where it can."""
        name = self.fresh("%s")
        self._entry.append(f"  {name} = alloca {type_}, align {16 if type_.startswith('[') else 8}")
        if initial:
            self._entry.append(f"  store {type_} {initial}, ptr {name}")
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
