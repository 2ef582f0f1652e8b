"""Elementary functions of the lanes of a vector, written out: exp and tanh.

    exp x     = 2ⁿ·(1 + p(r))                 n = ⌊x / ln 2⌉, r = x - n·ln 2, |r| ≤ ½ ln 2
    tanh |x|  = e / (e + 2)                   e = exp(2|x|) - 1 = 2ⁿ·p(r) + (2ⁿ - 1)
    p(r)      = r + r²·q(r) = exp(r) - 1      q a polynomial of least greatest error (Remez)

n is read from the last bits of x / ln 2 + 1.5·2⁵² (2²³ in single precision). The high part of ln 2 has so few
digits that n times it is exact, so that no step needs a fused multiplication and addition. Nothing branches:
arguments whose result is infinite, zero or one are first brought to where it just is, and NaN stays.

Within 1.1 ulps (exp) and 2.6 ulps (tanh) of the exact result (`tests/targets/test_functions.py`).
(W. Cody and W. Waite, Software Manual for the Elementary Functions, 1980.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anadrome.dtypes import F32, F64, DType
from anadrome.targets.llvm_text import ModuleText, Value, literal


@dataclass(frozen=True, slots=True)
class _Format:
    """A floating-point type: its integers, and what the functions need of its numbers."""

    bits: str
    mantissa: int
    bias: int
    high: float
    """ln 2, without its last digits"""
    low: float
    """the rest of ln 2"""
    for_exp: tuple[float, ...]
    """the coefficients of q, from the constant one on, where exp(r) has the least relative error"""
    for_less_one: tuple[float, ...]
    """and where exp(r) - 1 has it"""
    overflows: float
    """exp of this and more is infinite"""
    vanishes: float
    """exp of this and less is zero"""
    saturates: float
    """tanh of this and more is one"""

    @property
    def rounder(self) -> float:
        """1.5·2ᵐ, to which a small number is added so that its fraction is rounded away."""
        return 1.5 * 2.0**self.mantissa


_FORMATS = {
    F64: _Format(
        bits="i64",
        mantissa=52,
        bias=1023,
        high=0.6931471805598903,
        low=5.497923018708371e-14,
        for_exp=(
            0.5000000000000011,
            0.16666666666666413,
            0.041666666666530155,
            0.008333333333494276,
            0.0013888888943629429,
            0.00019841269506999066,
            2.4801493100114355e-05,
            2.755758598844618e-06,
            2.763024783821436e-07,
            2.5000185829692977e-08,
        ),
        for_less_one=(
            0.5,
            0.16666666666666677,
            0.04166666666666651,
            0.008333333333321693,
            0.0013888888888962635,
            0.0001984126988596037,
            2.4801587171929014e-05,
            2.7557244380409562e-06,
            2.755740321753241e-07,
            2.510897659152507e-08,
            2.0875140144499466e-09,
        ),
        overflows=710.0,
        vanishes=-746.0,
        saturates=22.0,
    ),
    F32: _Format(
        bits="i32",
        mantissa=23,
        bias=127,
        high=0.693145751953125,
        low=1.4286068203094173e-06,
        for_exp=(
            0.4999999403953552,
            0.1666652113199234,
            0.04166838526725769,
            0.0083687175065279,
            0.0013814674457535148,
        ),
        for_less_one=(
            0.5,
            0.1666666567325592,
            0.041666362434625626,
            0.008333389647305012,
            0.0013940625358372927,
            0.00019845942733809352,
        ),
        overflows=89.0,
        vanishes=-104.0,
        saturates=10.0,
    ),
}

_LOG2_E = 1.4426950408889634


def function_in_lanes(module: ModuleText, name: str, dtype: DType, lanes: int) -> str:
    """The helper function for this many lanes, defined on the way; "" where none is written out here."""
    write, numbers = _FUNCTIONS.get(name), _FORMATS.get(dtype)
    if write is None or numbers is None or lanes == 1 or not module.target.writes_functions:
        return ""
    symbol = f"anadrome.{name}.v{lanes}{dtype.name}"
    if not module.has_helper(symbol):
        text = _Text(dtype, numbers, lanes, module)
        result = write(text)
        lines = "\n".join([*text.lines, f"  ret {text.kind} {result}"])
        module.helper(symbol, f"define internal {text.kind} @{symbol}({text.kind} %x) #4 {{\n{lines}\n}}")
    return symbol


class _Text:
    """The lines of one function of a vector, `%x`."""

    def __init__(self, dtype: DType, numbers: _Format, lanes: int, module: ModuleText) -> None:
        self.dtype, self.numbers, self.lanes, self.module = dtype, numbers, lanes, module
        self.kind, self.integers = f"<{lanes} x {dtype.llvm}>", f"<{lanes} x {numbers.bits}>"
        self.suffix = f"v{lanes}f{dtype.bits}"
        self.lines: list[str] = []

    def value(self, instruction: str) -> Value:
        """Append an instruction; the name of its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def number(self, value: float) -> Value:
        """A constant in all lanes."""
        return f"splat ({self.dtype.llvm} {literal(value, self.dtype)})"

    def integer(self, value: int) -> Value:
        """An integer constant in all lanes."""
        return f"splat ({self.numbers.bits} {value})"

    def operation(self, name: str, left: Value, right: Value) -> Value:
        """An instruction of floating-point numbers."""
        return self.value(f"{name} {self.kind} {left}, {right}")

    def on_bits(self, name: str, left: Value, right: Value) -> Value:
        """An instruction of integers."""
        return self.value(f"{name} {self.integers} {left}, {right}")

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """An intrinsic of floating-point numbers alone."""
        symbol, types = f"llvm.{name}.{self.suffix}", ", ".join([self.kind] * len(arguments))
        self.module.declare(symbol, f"declare {self.kind} @{symbol}({types})")
        given = ", ".join(f"{self.kind} {argument}" for argument in arguments)
        return self.value(f"call {self.kind} @{symbol}({given})")

    def times_plus(self, factor: Value, other: Value, summand: Value) -> Value:
        """factor·other + summand"""
        return self.intrinsic("fmuladd", factor, other, summand)

    def within(self, x: Value, comparison: str, bound: float) -> Value:
        """The bound where x compares so with it; NaN stays."""
        beyond = self.value(f"fcmp {comparison} {self.kind} {x}, {self.number(bound)}")
        return self.value(
            f"select <{self.lanes} x i1> {beyond}, {self.kind} {self.number(bound)}, {self.kind} {x}"
        )

    def as_bits(self, x: Value) -> Value:
        """The bits of floating-point numbers."""
        return self.value(f"bitcast {self.kind} {x} to {self.integers}")

    def from_bits(self, x: Value) -> Value:
        """The floating-point numbers of bits."""
        return self.value(f"bitcast {self.integers} {x} to {self.kind}")


# ---------------------------------------------------------------------------- the functions
def _reduced(text: _Text, x: Value) -> tuple[Value, Value, Value]:
    """n + 1.5·2ᵐ, n and r of x = n·ln 2 + r."""
    numbers = text.numbers
    rounder = text.number(numbers.rounder)
    rounded = text.times_plus(x, text.number(_LOG2_E), rounder)
    count = text.operation("fsub", rounded, rounder)
    rest = text.times_plus(count, text.number(-numbers.high), x)
    return rounded, count, text.times_plus(count, text.number(-numbers.low), rest)


def _less_one(text: _Text, r: Value, coefficients: tuple[float, ...]) -> Value:
    """exp(r) - 1 = r + r²·(E(r²) + r·O(r²)); the even and the odd coefficients are summed side by side."""
    square = text.operation("fmul", r, r)
    even, odd = (_polynomial(text, square, coefficients[parity::2]) for parity in (0, 1))
    return text.times_plus(text.times_plus(odd, r, even), square, r)


def _polynomial(text: _Text, x: Value, coefficients: tuple[float, ...]) -> Value:
    found = text.number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = text.times_plus(found, x, text.number(coefficient))
    return found


def _scaled(text: _Text, y: Value, rounded: Value, count: Value) -> Value:
    """y·2ⁿ, rounded once where the machine can, else in two steps of about half of n."""
    if text.lanes * text.dtype.bits == 512 and "+avx512f" in text.module.target.features.split(","):
        mask, letter = f"i{text.lanes}", "s" if text.dtype is F32 else "d"
        symbol = f"llvm.x86.avx512.mask.scalef.p{letter}.512"
        kind = text.kind
        text.module.declare(symbol, f"declare {kind} @{symbol}({kind}, {kind}, {kind}, {mask}, i32)")
        return text.value(f"call {kind} @{symbol}({kind} {y}, {kind} {count}, {kind} {y}, {mask} -1, i32 4)")
    numbers = text.numbers
    twice = text.on_bits(
        "add", text.as_bits(rounded), text.integer(2 * numbers.bias - _bits_of_rounder(numbers))
    )
    half = text.on_bits("lshr", twice, text.integer(1))
    other = text.on_bits("sub", twice, half)
    for part in (half, other):
        power = text.from_bits(text.on_bits("shl", part, text.integer(numbers.mantissa)))
        y = text.operation("fmul", y, power)
    return y


def _bits_of_rounder(numbers: _Format) -> int:
    """1.5·2ᵐ as bits: the exponent m and the first bit behind the point."""
    return (numbers.bias + numbers.mantissa << numbers.mantissa) + (1 << numbers.mantissa - 1)


def _exp(text: _Text) -> Value:
    numbers = text.numbers
    x = text.within(text.within("%x", "ogt", numbers.overflows), "olt", numbers.vanishes)
    rounded, count, r = _reduced(text, x)
    y = text.operation("fadd", _less_one(text, r, numbers.for_exp), text.number(1.0))
    return _scaled(text, y, rounded, count)


def _tanh(text: _Text) -> Value:
    numbers = text.numbers
    size = text.within(text.intrinsic("fabs", "%x"), "ogt", numbers.saturates)
    rounded, _, r = _reduced(text, text.operation("fadd", size, size))
    less_one = _less_one(text, r, numbers.for_less_one)
    shifted = text.on_bits("shl", text.as_bits(rounded), text.integer(numbers.mantissa))
    one = numbers.bias << numbers.mantissa
    power = text.from_bits(text.on_bits("add", shifted, text.integer(one)))
    above = text.operation("fadd", power, text.number(-1.0))
    e = text.times_plus(less_one, power, above)
    quotient = text.operation("fdiv", e, text.operation("fadd", e, text.number(2.0)))
    return text.intrinsic("copysign", quotient, "%x")


_FUNCTIONS: dict[str, Callable[[_Text], Value]] = {"exp": _exp, "tanh": _tanh}
