"""Scalar operations as LLVM.

An operation of the primitive table is written by the first of these there is: its row in `ROWS` here, its
expansion into other operations, its LLVM intrinsic, its C function (in lanes that of `llvm_functions`, or of
the vector library), its function of SciPy. A row is a
function of the text being written, the arguments, their type, the result's type and the floating-point flags.
Where the text is written for several lanes (`FunctionText.lanes`), arguments and result are vectors.

Where machines differ from NumPy: an integer divided by zero is zero, the smallest integer divided by -1 is
itself, and a shift by the width or more gives what shifting one by one would.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from anadrome.dtypes import ALL, BOOL, F64, I32, I64, DType
from anadrome.errors.ir import IRError
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.table import PRIMS
from anadrome.targets.llvm_functions import function_in_lanes
from anadrome.targets.llvm_text import (
    SPECIAL_PREFIX,
    FunctionText,
    Value,
    is_divisor,
    is_literal,
    literal,
)

Operands = Sequence[Value]
Row = Callable[[FunctionText, Operands, DType, DType, str], Value]
"""(text, arguments, type of the last argument, type of the result, flags) -> value"""


def emit_scalar(
    text: FunctionText, prim: Prim, args: Operands, types: Sequence[DType], result: DType, flags: str
) -> Value:
    """One scalar operation; the name of its value."""
    row = ROWS.get(prim.name)
    dtype = types[-1]
    if row is not None:
        return row(text, args, dtype, result, flags)
    halved = _by_power_of_two(text, prim, args, dtype)
    if halved is not None:
        return halved
    expansion = prim.expansion_for(dtype)
    if expansion is not None:
        typed = tuple(zip(args, types, strict=True))
        value: Value = expansion(TextAlgebra(text), typed)[0]
        return value
    if prim.intrinsic:
        given = [(text.kind(kind), arg) for kind, arg in zip(types, args, strict=True)]
        return text.intrinsic(f"llvm.{prim.intrinsic}.{text.suffix(result)}", text.kind(result), given, flags)
    if prim.libm:
        return call_libm(text, prim.libm, args, result, flags)
    if prim.special:
        return _call_special(text, prim.special, args, result)
    raise IRError(f"the LLVM emitter has no row for `{prim.name}`")


def _by_power_of_two(text: FunctionText, prim: Prim, args: Operands, dtype: DType) -> Value | None:
    """⌊x / 2ᵏ⌋ and x mod 2ᵏ of a signed integer: a shift, and a mask."""
    if prim.name not in ("floordiv", "mod") or dtype.kind != "int":
        return None
    divisor = text.literal_of(args[1])
    if not divisor.isdecimal() or int(divisor).bit_count() != 1:
        return None
    if prim.name == "mod":
        return text.value(f"and {text.kind(dtype)} {args[0]}, {text.number(str(int(divisor) - 1), dtype)}")
    places = text.number(str(int(divisor).bit_length() - 1), dtype)
    return text.value(f"ashr {text.kind(dtype)} {args[0]}, {places}")


def call_libm(text: FunctionText, function: str, args: Operands, dtype: DType, flags: str) -> Value:
    """A function of the C library on doubles or, with the suffix f, floats; in lanes ours if there is one."""
    symbol = function if dtype is F64 else f"{function}f"
    width, variants = text.lanes, text.module.target.vector_functions.get(symbol, ())
    part = min(width, text.module.target.vector_bits // dtype.bits)
    written = function_in_lanes(text.module, function, dtype, part)
    if written:
        return _in_parts(
            text,
            args,
            [dtype],
            dtype,
            part,
            lambda given: text.value(f"call {text.kind(dtype)} @{written}({text.kind(dtype)} {given[0]}) #1"),
        )
    attributes = text.module.c_function(symbol, dtype, len(args))
    fitting = [variant for variant in variants if width % variant.lanes == 0] if width > 1 else []
    if fitting:
        variant = max(fitting, key=lambda one: one.lanes)
        symbol, attributes = variant.symbol, "#1"
    types = [dtype] * len(args)

    def call(given: Operands) -> Value:
        listed = ", ".join(f"{text.kind(dtype)} {arg}" for arg in given)
        return text.value(f"call {flags}{text.kind(dtype)} @{symbol}({listed}) {attributes}")

    return _in_parts(text, args, types, dtype, variant.lanes if fitting else 1, call)


def _in_parts(
    text: FunctionText,
    args: Operands,
    types: Sequence[DType],
    result: DType,
    part: int,
    call: Callable[[Operands], Value],
) -> Value:
    """What a function gives that takes `part` lanes at once, put together for all lanes."""
    width = text.lanes
    if width == part:
        return call(args)
    whole, found = text.kind(result), "poison"
    for first in range(0, width, part):
        places = ", ".join(f"i32 {lane}" for lane in range(first, first + part))
        given = []
        for arg, dtype in zip(args, types, strict=True):
            vector = text.kind(dtype)
            if part == 1:
                given.append(text.value(f"extractelement {vector} {arg}, i64 {first}"))
            else:
                given.append(
                    text.value(f"shufflevector {vector} {arg}, {vector} poison, <{part} x i32> <{places}>")
                )
        text.lanes = part
        value, kind = call(given), text.kind(result)
        text.lanes = width
        if part == 1:
            found = text.value(f"insertelement {whole} {found}, {kind} {value}, i64 {first}")
            continue
        spread = ", ".join(
            f"i32 {lane - first}" if first <= lane < first + part else "i32 poison" for lane in range(width)
        )
        wide = text.value(f"shufflevector {kind} {value}, {kind} poison, <{width} x i32> <{spread}>")
        chosen = ", ".join(
            f"i32 {lane + width if first <= lane < first + part else lane}" for lane in range(width)
        )
        found = text.value(f"shufflevector {whole} {found}, {whole} {wide}, <{width} x i32> <{chosen}>")
    return found


def _call_special(text: FunctionText, function: str, args: Operands, dtype: DType) -> Value:
    """A call of SciPy's function on doubles, whose last argument is Cython's own; on floats it is rounded."""
    symbol = SPECIAL_PREFIX + function
    text.module.special_function(symbol, len(args))

    def call(given: Operands) -> Value:
        listed = ", ".join(f"double {arg}" for arg in given)
        return text.value(f"call double @{symbol}({listed}, i32 0) #1")

    doubles = [convert(text, arg, dtype, F64) for arg in args]
    return convert(text, _in_parts(text, doubles, [F64] * len(args), F64, 1, call), F64, dtype)


class TextAlgebra(Algebra[tuple[Value, DType]]):
    """Scalar expressions as instructions, for the expansions of the table.

    They carry no `contract`: an expansion may rely on the rounding of each of its steps.
    """

    def __init__(self, text: FunctionText) -> None:
        self.text = text

    def apply(self, name: str, *args: tuple[Value, DType]) -> tuple[Value, DType]:
        """An operation of the table."""
        prim = PRIMS[name]
        types = [dtype for _, dtype in args]
        result = prim.types(tuple(types))
        if result is None:
            raise IRError(f"an expansion applies `{name}` to {types}")
        return emit_scalar(self.text, prim, [value for value, _ in args], types, result, ""), result

    def constant(self, value: float, like: tuple[Value, DType]) -> tuple[Value, DType]:
        """A literal."""
        return self.text.number(literal(value, like[1]), like[1]), like[1]


# ---------------------------------------------------------------------------- builders of rows
def _arithmetic(integer: str, floating: str) -> Row:
    def row(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
        left, right = args
        if dtype.is_float:
            return text.value(f"{floating} {flags}{text.kind(dtype)} {left}, {right}")
        known = _folded(integer, left, right) if dtype is I64 and text.lanes == 1 else None
        return text.value(f"{integer} {text.kind(dtype)} {left}, {right}") if known is None else known

    return row


def whole_number(text: FunctionText, name: str, left: Value, right: Value) -> Value:
    """A sum, difference or product of i64, without an instruction where it is known."""
    known = _folded(name, left, right)
    return text.value(f"{name} i64 {left}, {right}") if known is None else known


def is_less(text: FunctionText, left: Value, right: Value) -> Value:
    """Whether one i64 is less than another."""
    return ROWS["lt"](text, (left, right), I64, BOOL, "")


def _folded(name: str, left: Value, right: Value) -> Value | None:
    """What `add`, `sub`, `mul`, `smin` or `smax` of i64 gives, if it is a literal or one of the operands."""
    one = int(left) if is_literal(left) else None
    two = int(right) if is_literal(right) else None
    if one is None and two is None:
        return None
    match name, one, two:
        case ("add", 0, _) | ("mul", 1, _):
            return right
        case ("add" | "sub", _, 0) | ("mul", _, 1):
            return left
        case ("mul", 0, _) | ("mul", _, 0):
            return "0"
        case (_, int(one), int(two)) if name in FOLDED:
            return str(wrapped(FOLDED[name](one, two)))
        case _:
            return None


def wrapped(number: int) -> int:
    """A whole number as an i64 holds it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


FOLDED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "smin": min,
    "smax": max,
}
"""Operations of i64 that are computed where both operands are literals."""


RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
"""Comparisons of whole numbers, which are decided where both are known."""


def _compare(name: str, signed: str, unsigned: str, floating: str) -> Row:
    def row(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
        left, right = args
        if dtype.is_float:
            return text.value(f"fcmp {floating} {text.kind(dtype)} {left}, {right}")
        if dtype is I64 and is_literal(left) and is_literal(right) and text.lanes == 1:
            return literal(RELATIONS[name](int(left), int(right)), BOOL)
        predicate = signed if dtype.kind == "int" else unsigned
        return text.value(f"icmp {predicate} {text.kind(dtype)} {left}, {right}")

    return row


def _bitwise(instruction: str) -> Row:
    def row(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
        for one, other in (args, args[::-1]):
            if instruction in DECIDED and one in TRUTHS:
                return other if one == DECIDED[instruction] else one
        return text.value(f"{instruction} {text.kind(dtype)} {args[0]}, {args[1]}")

    return row


TRUTHS = ("false", "true")
"""The constants of a bool that is the same in all lanes."""
DECIDED = {"and": "true", "or": "false"}
"""Instruction of bools -> the constant that leaves the other operand as it is; the other is the result."""


def _extremum(signed: str, unsigned: str, floating: str) -> Row:
    """Minimum or maximum; NaN wins over numbers. The sign of a zero result is not promised (`nsz`)."""

    def row(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
        kind, suffix = text.kind(dtype), text.suffix(dtype)
        pair = [(kind, arg) for arg in args]
        match dtype.kind:
            case "float":
                return text.intrinsic(f"llvm.{floating}.{suffix}", kind, pair, "nsz " + flags)
            case "int":
                known = _folded(signed, *args) if dtype is I64 and text.lanes == 1 else None
                return text.intrinsic(f"llvm.{signed}.{suffix}", kind, pair) if known is None else known
            case "uint" | "bool":
                return text.intrinsic(f"llvm.{unsigned}.{suffix}", kind, pair)

    return row


def _shift(signed: str, unsigned: str) -> Row:
    def row(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
        kind, bit, (value, amount) = text.kind(dtype), text.kind(BOOL), args
        instruction = signed if dtype.kind == "int" else unsigned
        most = text.number(str(dtype.bits - 1), dtype)
        inside = text.value(f"icmp ule {kind} {amount}, {most}")
        safe = text.value(f"select {bit} {inside}, {kind} {amount}, {kind} {most}")
        shifted = text.value(f"{instruction} {kind} {value}, {safe}")
        if instruction == "ashr":
            return shifted
        return text.value(f"select {bit} {inside}, {kind} {shifted}, {kind} {text.number('0', dtype)}")

    return row


def _conversion(target: DType) -> Row:
    def row(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
        return convert(text, args[0], dtype, target)

    return row


# ---------------------------------------------------------------------------- single rows
def _neg(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
    if dtype.is_float:
        return text.value(f"fneg {flags}{text.kind(dtype)} {args[0]}")
    return text.value(f"sub {text.kind(dtype)} {text.number('0', dtype)}, {args[0]}")


def _truncated_division(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
    """The quotient rounded towards zero; x/0 = 0, and x/(-1) = -x without overflow."""
    kind, bit, (left, right) = text.kind(dtype), text.kind(BOOL), args
    if is_divisor(text.literal_of(right)):
        return text.value(f"{'udiv' if dtype.kind == 'uint' else 'sdiv'} {kind} {left}, {right}")
    zero, one, minus_one = (text.number(number, dtype) for number in ("0", "1", "-1"))
    is_zero = text.value(f"icmp eq {kind} {right}, {zero}")
    if dtype.kind == "uint":
        safe = text.value(f"select {bit} {is_zero}, {kind} {one}, {kind} {right}")
        quotient = text.value(f"udiv {kind} {left}, {safe}")
    else:
        is_minus_one = text.value(f"icmp eq {kind} {right}, {minus_one}")
        is_special = text.value(f"or {bit} {is_zero}, {is_minus_one}")
        safe = text.value(f"select {bit} {is_special}, {kind} {one}, {kind} {right}")
        plain = text.value(f"sdiv {kind} {left}, {safe}")
        negated = text.value(f"sub {kind} {zero}, {left}")
        quotient = text.value(f"select {bit} {is_minus_one}, {kind} {negated}, {kind} {plain}")
    return text.value(f"select {bit} {is_zero}, {kind} {zero}, {kind} {quotient}")


def _abs(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
    kind, suffix = text.kind(dtype), text.suffix(dtype)
    match dtype.kind:
        case "float":
            return text.intrinsic(f"llvm.fabs.{suffix}", kind, [(kind, args[0])])
        case "int":
            return text.intrinsic(f"llvm.abs.{suffix}", kind, [(kind, args[0]), ("i1", "false")])
        case "uint" | "bool":
            return args[0]


def _select(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
    if args[0] in TRUTHS:
        return args[1 if args[0] == "true" else 2]
    kind = text.kind(dtype)
    return text.value(f"select {text.kind(BOOL)} {args[0]}, {kind} {args[1]}, {kind} {args[2]}")


def _not(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
    ones = text.number("true" if dtype is BOOL else "-1", dtype)
    return text.value(f"xor {text.kind(dtype)} {args[0]}, {ones}")


_SMALL_POWERS = {literal(float(power), F64): power for power in range(-4, 5)}


def _pow(text: FunctionText, args: Operands, dtype: DType, result: DType, flags: str) -> Value:
    """A small whole exponent is products; else the C function, or square and multiply on integers."""
    base, exponent = args
    if not dtype.is_float:
        name, scalar = f"anadrome.power.{dtype.name}", dtype.llvm
        text.module.helper(name, _integer_power_text(name, dtype))

        def call(given: Operands) -> Value:
            return text.value(f"call {scalar} @{name}({scalar} {given[0]}, {scalar} {given[1]})")

        return _in_parts(text, args, (dtype, dtype), dtype, 1, call)
    kind, unit = text.kind(dtype), text.number(literal(1.0, dtype), dtype)
    power = _SMALL_POWERS.get(text.literal_of(exponent))
    if power is None:
        return call_libm(text, "pow", args, dtype, flags)
    if power == 0:
        return unit
    product = square = base
    if abs(power) > 1:
        product = square = text.value(f"fmul {flags}{kind} {base}, {base}")
    if abs(power) > 2:
        product = text.value(f"fmul {flags}{kind} {square}, {square if abs(power) == 4 else base}")
    return text.value(f"fdiv {flags}{kind} {unit}, {product}") if power < 0 else product


def _integer_power_text(name: str, dtype: DType) -> str:
    """baseᵉ by squaring: while e ≠ 0: if e is odd, result ·= base; base ·= base; e >>= 1. 0 where e < 0."""
    kind = dtype.llvm
    is_negative = f"icmp slt {kind} %e0, 0" if dtype.kind == "int" else "icmp eq i1 false, true"
    return f"""define internal {kind} @{name}({kind} %b0, {kind} %e0) alwaysinline #1 {{
entry:
  %negative = {is_negative}
  br i1 %negative, label %none, label %loop
none:
  ret {kind} 0
loop:
  %r = phi {kind} [1, %entry], [%rn, %step]
  %b = phi {kind} [%b0, %entry], [%bn, %step]
  %e = phi {kind} [%e0, %entry], [%en, %step]
  %done = icmp eq {kind} %e, 0
  br i1 %done, label %exit, label %step
step:
  %bit = trunc {kind} %e to i1
  %product = mul {kind} %r, %b
  %rn = select i1 %bit, {kind} %product, {kind} %r
  %bn = mul {kind} %b, %b
  %en = lshr {kind} %e, 1
  br label %loop
exit:
  ret {kind} %r
}}"""


# ---------------------------------------------------------------------------- conversions
def convert(text: FunctionText, value: Value, source: DType, target: DType) -> Value:
    """A scalar as another type, as NumPy's `astype`; a float outside the integer type gives some integer."""
    if source is target:
        return value
    old, new = text.kind(source), text.kind(target)
    match source.kind, target.kind:
        case "float", "float":
            return text.value(f"{'fpext' if target.bits > source.bits else 'fptrunc'} {old} {value} to {new}")
        case "float", "bool":
            return text.value(f"fcmp une {old} {value}, {text.number(literal(0.0, source), source)}")
        case "float", _:
            return _float_to_integer(text, value, source, target)
        case _, "float":
            return text.value(f"{'sitofp' if source.kind == 'int' else 'uitofp'} {old} {value} to {new}")
        case _, "bool":
            return text.value(f"icmp ne {old} {value}, {text.number('0', source)}")
        case _:
            return _resize(text, value, source, target)


def _resize(text: FunctionText, value: Value, source: DType, target: DType) -> Value:
    if source.bits == target.bits:
        return value
    old, new = text.kind(source), text.kind(target)
    if source.bits > target.bits:
        return text.value(f"trunc {old} {value} to {new}")
    return text.value(f"{'sext' if source.kind == 'int' else 'zext'} {old} {value} to {new}")


def _float_to_integer(text: FunctionText, value: Value, source: DType, target: DType) -> Value:
    """Through a signed type that holds the target's values; `freeze` keeps what lies outside harmless."""
    if target.kind == "uint" and target.bits == 64:
        wide = text.value(f"fptoui {text.kind(source)} {value} to {text.kind(I64)}")
        return text.value(f"freeze {text.kind(I64)} {wide}")
    middle = I32 if target.bits < 32 or target is I32 else I64
    wide = text.value(f"fptosi {text.kind(source)} {value} to {text.kind(middle)}")
    return _resize(text, text.value(f"freeze {text.kind(middle)} {wide}"), middle, target)


ROWS: dict[str, Row] = {
    "add": _arithmetic("add", "fadd"),
    "sub": _arithmetic("sub", "fsub"),
    "mul": _arithmetic("mul", "fmul"),
    "div": _arithmetic("sdiv", "fdiv"),
    "truncdiv": _truncated_division,
    "neg": _neg,
    "abs": _abs,
    "min": _extremum("smin", "umin", "minimum"),
    "max": _extremum("smax", "umax", "maximum"),
    "pow": _pow,
    "eq": _compare("eq", "eq", "eq", "oeq"),
    "ne": _compare("ne", "ne", "ne", "une"),
    "lt": _compare("lt", "slt", "ult", "olt"),
    "le": _compare("le", "sle", "ule", "ole"),
    "gt": _compare("gt", "sgt", "ugt", "ogt"),
    "ge": _compare("ge", "sge", "uge", "oge"),
    "and": _bitwise("and"),
    "or": _bitwise("or"),
    "xor": _bitwise("xor"),
    "not": _not,
    "bitand": _bitwise("and"),
    "bitor": _bitwise("or"),
    "bitxor": _bitwise("xor"),
    "bitnot": _not,
    "select": _select,
    "shl": _shift("shl", "shl"),
    "shr": _shift("ashr", "lshr"),
    **{f"to_{dtype.name}": _conversion(dtype) for dtype in ALL},
}
"""Operations by their name in the primitive table."""
