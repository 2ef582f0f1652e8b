"""Errors of the call: an argument or a result that a transform cannot take, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from anadrome.errors.base import AnadromeError, Diagnostic, Span, counted
from anadrome.errors.tools import shortened


class CallError(AnadromeError, TypeError):
    """The base class of errors in a call of a compiled function or transform.

    `argument` is the parameter that is meant, if one is: the error points at it in the function's text.
    """

    def __init__(self, message: str, help: str = "", label: str = "", argument: str = "") -> None:
        super().__init__(Diagnostic(f"error: {message}", help=help))
        self.label = label
        self.argument = argument

    def at(self, span: Span | None, label: str = "") -> Self:
        """Let the error point at a place: what was got stands at the caret."""
        return super().at(span, label or self.label or "in the call of this function")


class UnsupportedArray(CallError):
    """An array argument that is not a plain NumPy array of a supported type.

    `conversion` is the code that makes one of it, in which `{}` is the argument.
    """

    def __init__(self, function: str, argument: str, got: str, conversion: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: expected an array of bool, int8 to int64, uint8 to "
            f"uint64, float32, float64, complex64 or complex128 in native byte order, got {got}",
            help=f"convert it before the call: `{conversion.format(argument)}`",
            label=f"got {got}",
            argument=argument,
        )


class UnsupportedSparse(CallError):
    """A sparse matrix argument in a format that has no compiled form."""

    def __init__(self, function: str, argument: str, got: str, conversion: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: expected a sparse matrix of two dimensions in CSR, CSC "
            f"or COO format, without room beside its entries, got {got}",
            help=f"convert it before the call: `{conversion.format(argument)}`",
            label=f"got {got}",
            argument=argument,
        )


class UnhashableStatic(CallError):
    """An argument that is not a number, an array or a container of them, and cannot be a static value either,
    because it is not hashable."""

    def __init__(self, function: str, argument: str, got: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: {got} is neither a number or array nor a container of "
            "them, and it cannot be hashed",
            help="pass numbers and arrays in tuples, lists, dicts or dataclasses; any other argument is "
            "static, and must be hashable: a frozen set for a set, a frozen dataclass for an object",
            label=f"got {got}",
            argument=argument,
        )


class StaticUnhashable(CallError):
    """An argument declared static that cannot be hashed: a program is kept for each of its values."""

    def __init__(self, function: str, argument: str, got: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}` is declared static, and {got} cannot be hashed",
            help="pass a hashable value: a tuple for a list, a frozen dataclass for an object",
            label=f"got {got}",
            argument=argument,
        )


class NestedTooDeep(CallError, RecursionError):
    """Containers that are nested too deeply to be taken apart, or that contain themselves."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"the arguments of `{function}` are nested too deeply",
            help="pass containers that are nested less deeply, and that do not contain themselves",
        )


class IntegerOutOfRange(CallError, OverflowError):
    """A Python integer that does not fit into 64 bits."""

    def __init__(self, function: str, argument: str, value: int) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: {value} does not fit into a signed 64-bit integer",
            help="pass a float, or an integer from -2**63 to 2**63 - 1",
            label="too large" if value > 0 else "too small",
            argument=argument,
        )


WITH_ARGNUMS = ("grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian")
"""The transforms that are told by which arguments to differentiate."""


class IntegerArgument(CallError):
    """Differentiation with respect to something that is not a float."""

    def __init__(self, transform: str, argument: str, got: str) -> None:
        super().__init__(
            f"`{transform}` differentiates with respect to floats; argument `{argument}` is {got}",
            help="pass a float: `2.0` for `2`, `x.astype(np.float64)` for an array"
            + ("; or choose other arguments with `argnums`" if transform in WITH_ARGNUMS else ""),
            label=f"got {got}",
            argument=argument,
        )


class NothingToDifferentiate(CallError):
    """An argument that contains no floats."""

    def __init__(self, transform: str, argument: str) -> None:
        super().__init__(
            f"`{transform}` differentiates with respect to floats; argument `{argument}` contains none",
            help="choose other arguments with `argnums`" if transform in WITH_ARGNUMS else "pass floats",
            label="no number in it",
            argument=argument,
        )


class NonScalarOutput(CallError):
    """A gradient of a function that does not return one float."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` requires a scalar-valued function; this one returns {got}",
            help=_scalar_help(got),
            label=f"returns {got}",
        )


def _scalar_help(got: str) -> str:
    """How a function comes to return one float."""
    if got == "None":
        return "return the value: the function ends without `return`"
    if got.startswith("one "):
        return "return a float: an integer or a bool has no derivative"
    if got.startswith(("(", "[", "{")) or "=" in got:
        return "return one float; with `has_aux=True` a pair of it and of anything else"
    return "sum or average the result, or use `jacrev` or `jacfwd` for the derivative of every element"


class NonFloatOutput(CallError):
    """A Jacobian of a function that returns no float."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` differentiates results that are floats; this function returns {got}",
            help="return a float or an array of floats; of several results those that are not floats have "
            "the derivative None",
            label=f"returns {got}",
        )


class AuxiliaryMissing(CallError):
    """`has_aux=True` with a function that does not return a pair."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` with `has_aux=True` requires a function that returns a pair; this one returns "
            f"{got}",
            help="return `(value, auxiliary)`, or remove `has_aux`",
            label=f"returns {got}",
        )


class StructureMismatch(CallError, ValueError):
    """Tangents or cotangents that do not have the structure of what they belong to."""

    def __init__(self, what: str, expected: str, got: str, help: str = "") -> None:
        super().__init__(
            f"{what}: expected {expected}, got {got}",
            help=help
            or "tangents must have the structure and types of the arguments, a cotangent those of the "
            "result; `*` stands for one number or array",
            label=f"expected {expected}",
        )


class ArgumentNumbers(CallError, ValueError):
    """`argnums` or `argnames` that choose an argument that the call does not have, or one twice."""

    def __init__(self, transform: str, argnums: object, arguments: Sequence[str]) -> None:
        chosen = argnums if isinstance(argnums, tuple | list) else (argnums,)
        strange = [repr(one) for one in chosen if not isinstance(one, int | str)]
        count = len(arguments)
        outside = [
            one
            for one in chosen
            if (isinstance(one, str) and one not in arguments)
            or (isinstance(one, int) and not -count <= one < count)
        ]
        label = counted(count, "argument")
        names = ", ".join(f"`{name}`" for name in arguments)
        reason = "it chooses one argument twice" if chosen else "it chooses no argument"
        if strange:
            reason = f"{strange[0]} is neither a position nor a name"
        elif outside:
            reason = f"the call has {label}" + (f": {names}" if names else "")
        setting = "argnames" if chosen and all(isinstance(one, str) for one in chosen) else "argnums"
        super().__init__(
            f"`{transform}` with {setting}={argnums!r}: {reason}",
            help="choose by position, counted from 0, or by name, each argument once; one that has a default "
            "must be passed in the call",
            label=label,
        )


class UnsupportedResult(CallError):
    """A result that exists only inside the program that made it."""

    def __init__(self, function: str, path: str, what: str) -> None:
        super().__init__(
            f"`{function}` cannot be compiled: {path} is {what}",
            help="return numbers, arrays, or tuples, lists, dicts and dataclasses of them; instead of a "
            "list of tuples return a tuple of lists",
        )


class NotCallable(CallError):
    """A transform of something that is not a function."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` requires a function, got {got}",
            help=f"pass the function itself, not its value: `ad.{transform}(f)(x)`",
            label=f"got {got}",
        )


class AxisMismatch(CallError, ValueError):
    """`vmap` over axes that do not match the arguments or results."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"`vmap`: {reason}",
            help="`in_axes` gives for each argument the axis that is mapped over; None passes it to every "
            "row",
        )


class StagedOutside(CallError):
    """Something that exists only inside a compiled function, used outside of one."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} works only inside compiled functions", help="call it from a function under `ad.jit`"
        )


class GradientMismatch(AnadromeError, AssertionError):
    """`check_grads` found two derivatives that differ."""

    def __init__(
        self, argument: str, order: int, left: str, left_value: float, right: str, right_value: float
    ) -> None:
        self.argument = argument
        super().__init__(
            Diagnostic(
                f"error: derivative of order {order} by argument `{argument}`: {left} gives "
                f"{left_value:.17g}, {right} gives {right_value:.17g}",
                label="by this argument",
                help="if forward and reverse mode differ, one of them is wrong; if only finite differences "
                "differ, the function may not be smooth there: try other arguments, `eps` or `rtol`",
            )
        )


class UnknownStage(AnadromeError, ValueError):
    """`show` was asked for a stage that does not exist."""

    def __init__(self, stage: str, known: tuple[str, ...]) -> None:
        super().__init__(
            Diagnostic(f"error: there is no stage `{stage}`", help=f"the stages are {', '.join(known)}")
        )


class SizeUnknown(CallError):
    """A transform that must know the sizes of a result before the function runs."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}`: the size of a result must follow from the sizes of the arguments; this one is "
            "computed inside the function",
            help="return an array whose size is that of an argument, for example by padding, or reduce it",
        )


class RuleMissing(CallError):
    """A function that is decorated to have a derivative rule, and has none."""

    def __init__(self, function: str, decorator: str) -> None:
        rule = "defjvp(rule)" if decorator == "custom_jvp" else "defvjp(forward, backward)"
        super().__init__(
            f"`{function}` is decorated with `{decorator}`, but has no derivative rule",
            help=f"define one with `{function}.{rule}` before the function is differentiated",
            label="differentiated here",
        )


class RuleMismatch(CallError, ValueError):
    """A derivative rule that does not return what it must."""

    def __init__(self, rule: str, function: str, what: str, expected: str, got: str, help: str = "") -> None:
        super().__init__(
            f"the {rule} rule of `{function}`: {what} must be {expected}, got {got}",
            help=help or _RULE_HELP[rule],
            label=f"got {got}",
        )


_RULE_HELP = {
    "jvp": "the rule takes `(primals, tangents)`, two tuples with an entry for each argument, and returns "
    "`(result, tangent)`, both with the structure of the function's result; `*` is one number or array",
    "forward": "the rule takes the arguments of the function and returns `(result, residuals)`, the result "
    "with the structure of the function's; `*` is one number or array",
    "backward": "the rule takes `(residuals, cotangent)` and returns a tuple with an entry for each "
    "argument, with the argument's structure; None stands for zero, `*` is one number or array",
}


class UnknownMode(CallError, ValueError):
    """`jacobian` was asked for a mode that does not exist."""

    def __init__(self, mode: object, known: tuple[str, ...]) -> None:
        names = ", ".join(f'"{name}"' for name in known)
        super().__init__(f"`jacobian` has no mode {mode!r}", help=f"the modes are {names}")


class SettingMismatch(CallError, ValueError):
    """A setting of a transform with a value that it cannot have."""

    def __init__(self, transform: str, setting: str, expected: str, got: object, help: str) -> None:
        found = shortened(repr(got))
        super().__init__(
            f"`{transform}`: `{setting}` must be {expected}, got {found}",
            help=help,
            label=f"got {setting}={found}",
        )


class DonatedArray(CallError, ValueError):
    """An array that was donated to an earlier call, which may have overwritten it."""

    def __init__(self, function: str, argument: str) -> None:
        which = f"argument `{argument}`" if argument else "an array around it"
        super().__init__(
            f"`{function}`: {which} was donated to a compiled function (`donate_argnums`), which may have "
            "overwritten it",
            help="use what that call returned; to keep an array, donate a copy of it: `f(x.copy())`",
            label="donated before",
            argument=argument,
        )


class ComplexDerivative(CallError):
    """A derivative of or by complex numbers that is none, or that a transform does not support."""

    def __init__(self, transform: str, expected: str, got: str, help: str) -> None:
        super().__init__(f"`{transform}`: {expected}, got {got}", help=help, label=f"got {got}")


class UnknownsMismatch(CallError, ValueError):
    """The start of `fixed_point` or `root`, or what its function returns, does not match."""

    def __init__(self, transform: str, what: str, expected: str, got: str) -> None:
        super().__init__(
            f"`{transform}`: {what} must be {expected}, got {got}",
            help="the function takes the unknowns first and returns values of the same structure: their next "
            "values for `fixed_point`, what is to become zero for `root`, whose unknowns are one float or "
            "array",
            label=f"got {got}",
        )
