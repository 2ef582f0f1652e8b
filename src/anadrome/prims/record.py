"""What the table says of one scalar operation: types, meaning on NumPy, partials, names on a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from anadrome.dtypes import DType

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Bracket(Generic[Value]):
    """A value that is 0 or 1: `then` says whether it is 1 where the condition holds, `other` elsewhere."""

    condition: Value
    then: bool
    other: bool


class Algebra(ABC, Generic[Value]):
    """Something in which scalar expressions can be written: a builder of either IR, or plain numbers.

    The partials of an operation are written once against this class; forward mode, reverse mode and
    kernels each bring their own `Value`. Only `apply` and `constant` differ between them.
    """

    @abstractmethod
    def apply(self, name: str, *args: Value) -> Value:
        """The operation called `name` in the table, applied to values."""

    @abstractmethod
    def constant(self, value: float, like: Value) -> Value:
        """A number of the same scalar type as `like`."""

    def add(self, left: Value, right: Value) -> Value:
        """left + right"""
        return self.apply("add", left, right)

    def sub(self, left: Value, right: Value) -> Value:
        """left - right"""
        return self.apply("sub", left, right)

    def mul(self, left: Value, right: Value) -> Value:
        """left · right"""
        return self.apply("mul", left, right)

    def div(self, left: Value, right: Value) -> Value:
        """left / right"""
        return self.apply("div", left, right)

    def neg(self, value: Value) -> Value:
        """-value"""
        return self.apply("neg", value)

    def select(self, condition: Value, then: Value, other: Value) -> Value:
        """`then` where the condition holds, else `other`; both are computed."""
        return self.apply("select", condition, then, other)

    def bracket(self, value: Value) -> Bracket[Value] | None:
        """The Iverson bracket that a value is known to be, if it is one."""
        return None

    def chain(self, name: str, values: Iterable[Value]) -> Value:
        """v₀ ⊕ v₁ ⊕ … from the left, for at least one value; each is asked for when its turn comes."""
        rest = iter(values)
        total = next(rest)
        for value in rest:
            total = self.apply(name, total, value)
        return total


def bracket_of(prim: Prim, args: tuple[Any, ...], *, of_bool: bool) -> Bracket[Any] | None:
    """The Iverson bracket that an operation makes: a choice of 0 and 1, or a bool (`of_bool`) as a float."""
    if prim.name == "select":
        sides = [getattr(side, "value", None) for side in args[1:]]
        return (
            Bracket(args[0], sides[0] == 1, sides[1] == 1) if all(side in (0, 1) for side in sides) else None
        )
    is_float = prim.converts_to is not None and prim.converts_to.is_float
    return Bracket(args[0], then=True, other=False) if is_float and of_bool else None


Partials = Callable[[Algebra[Any], tuple[Any, ...], Any], tuple[Any, ...]]
"""(algebra, arguments, result) -> one partial for each argument; None where it is identically zero.

Each partial has the scalar type of the result. Only the partials of active arguments are meant to be kept:
one argument's partial may be NaN where another's is not.
"""

Expansion = Callable[[Algebra[Any], tuple[Any, ...]], Any]
"""(algebra, arguments) -> the operation written with other rows. Values are used more than once, so the
algebra's values are names (SSA values, let-bound variables), not trees."""

TypeRule = Callable[[tuple[DType, ...]], DType | None]
"""The result type of the argument types, or None where the operation has no such overload."""


@dataclass(frozen=True, slots=True, eq=False)
class Prim:
    """One scalar operation: a row of the table.

    `numpy` is its meaning on NumPy scalars and arrays (the oracle of every target). `partials` is None
    for an operation without a derivative because its result is not a float or is piecewise constant
    (`zero_derivative` is then True and the derivative is zero), or because it has none in the table
    (then differentiating it is refused).

    A target writes an operation by the first of these that is there: its own instruction for the name
    (`add`, `lt`, `select`, `shl`, `to_f32`, …), `expansion_for(dtype)`, `intrinsic`, `libm`, `special`.
    """

    name: str
    arity: int
    types: TypeRule
    numpy: Callable[..., Any]
    partials: Partials | None = None
    zero_derivative: bool = False
    libm: str = ""
    """The C function on double; the one on float has the suffix f. For float types only."""
    intrinsic: str = ""
    """The LLVM intrinsic `llvm.<intrinsic>.<type>` that is an instruction or a few. For float types only."""
    special: str = ""
    """The function on double that `scipy.special.cython_special` exports; on float its value is rounded."""
    without_derivative: Mapping[int, str] = field(default_factory=dict)
    """Position -> name of each argument by which there is no derivative: differentiating by it is refused."""
    expansion: Expansion | None = None
    """The operation written with other rows, for the types that `integer_expansion` is not for."""
    integer_expansion: Expansion | None = None
    """The operation on integer types written with other rows."""
    converts_to: DType | None = None
    """The type a conversion gives; its derivative is the conversion of the tangent or cotangent."""
    sample: tuple[tuple[float, float], ...] = ((-3.0, 3.0),)
    """The interval from which tests draw: one per argument, or one for all."""
    facts: frozenset[str] = field(default_factory=frozenset)
    """Algebra the simplifier may use; the words are in `prims.facts`."""
    cost: int = 1
    """Scalar operations one application counts as in the work counter; transcendental functions: 10."""
    symbol: str = ""
    """How Python writes it, for messages: "+", "np.exp"."""

    def __repr__(self) -> str:
        return self.name

    def expansion_for(self, dtype: DType) -> Expansion | None:
        """The expansion on arguments of this type, or None where there is none."""
        if dtype.is_integer and self.integer_expansion is not None:
            return self.integer_expansion
        return self.expansion

    def interval(self, position: int) -> tuple[float, float]:
        """The sample interval of the argument at this position."""
        return self.sample[position] if len(self.sample) > 1 else self.sample[0]
