"""Errors of the call: an argument or a result that a transform cannot take, before anything runs."""

from __future__ import annotations

from typing import Self

from anadrome.errors.base import AnadromeError, Diagnostic, Span
from anadrome.errors.tools import shortened


class CallError(AnadromeError, TypeError):
    """The base of what is wrong with a call of a compiled function or transform.

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
    """An array argument that is no plain NumPy array of a supported type.

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


class UnhashableStatic(CallError):
    """An argument that is neither a number, an array nor a container of them, and cannot be a static
    value."""

    def __init__(self, function: str, argument: str, got: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: {got} is neither a number or array nor a container of "
            "them, and it cannot be hashed",
            help="a value that is known when the function is compiled must be hashable; arrays and numbers "
            "travel in tuples, lists, dicts and dataclasses",
            label=f"got {got}",
            argument=argument,
        )


class StaticUnhashable(CallError):
    """An argument declared static that cannot be hashed: a program is kept for each of its values."""

    def __init__(self, function: str, argument: str, got: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}` is declared static, and {got} cannot be hashed",
            help="pass something that cannot change: a tuple for a list, a frozen dataclass for an object",
            label=f"got {got}",
            argument=argument,
        )


class IntegerOutOfRange(CallError, OverflowError):
    """A Python integer that does not fit into 64 bits."""

    def __init__(self, function: str, argument: str, value: int) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: {value} does not fit into a signed 64-bit integer",
            help="pass a float, or something smaller than 2**63",
            label="too large" if value > 0 else "too small",
            argument=argument,
        )


class IntegerArgument(CallError):
    """Differentiation by something that is not a float."""

    def __init__(self, transform: str, argument: str, got: str) -> None:
        super().__init__(
            f"`{transform}` differentiates by floats, and argument `{argument}` is {got}",
            help="pass a float: `2.0` for `2`, `x.astype(np.float64)` for an array; or choose other "
            "arguments with `argnums`",
            label=f"got {got}",
            argument=argument,
        )


class NothingToDifferentiate(CallError):
    """An argument that holds no numbers at all."""

    def __init__(self, transform: str, argument: str) -> None:
        super().__init__(
            f"`{transform}` differentiates by floats, and argument `{argument}` holds none",
            help="choose other arguments with `argnums`",
            label="no number in it",
            argument=argument,
        )


class NonScalarOutput(CallError):
    """A gradient of something that is not one float."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` takes a function whose result is one float, and this one gives {got}",
            help="sum or average the result; for every derivative of several numbers take `jacrev` or "
            "`jacfwd`; for further results beside the float take `has_aux=True`",
            label=f"gives {got}",
        )


class NonFloatOutput(CallError):
    """A Jacobian of a function whose result holds no float."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` differentiates results that are floats, and this function gives {got}",
            help="return a float or an array of floats; of several results those that are integers have the "
            "derivative None",
            label=f"gives {got}",
        )


class AuxiliaryMissing(CallError):
    """`has_aux=True` with a function that does not give a pair."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` with `has_aux=True` takes a function that gives a pair, and this one gives {got}",
            help="return `(value, further)`, or leave `has_aux` out",
            label=f"gives {got}",
        )


class StructureMismatch(CallError, ValueError):
    """Tangents or cotangents that do not have the form of what they belong to."""

    def __init__(self, what: str, expected: str, got: str) -> None:
        super().__init__(
            f"{what}: expected {expected}, got {got}",
            help="tangents have the form of the arguments, a cotangent that of the result; `*` is one number "
            "or array",
            label=f"expected {expected}",
        )


class ArgumentNumbers(CallError, ValueError):
    """`argnums` names an argument that is not there, or one twice, or is no number."""

    def __init__(self, transform: str, argnums: object, count: int) -> None:
        numbers = argnums if isinstance(argnums, tuple | list) else (argnums,)
        strange = [repr(one) for one in numbers if not isinstance(one, int)]
        label = f"{count} positional {'argument' if count == 1 else 'arguments'}"
        super().__init__(
            f"`{transform}` with argnums={argnums!r}: {strange[0]} is no `int`"
            if strange
            else f"`{transform}` with argnums={argnums!r} is called with {label}",
            help="`argnums` is the position of an argument, or several different ones, counted from 0; "
            "arguments to differentiate by are passed by position",
            label=label,
        )


class UnsupportedResult(CallError):
    """A result that has no form outside the program that made it."""

    def __init__(self, function: str, path: str, what: str) -> None:
        super().__init__(
            f"`{function}` cannot be compiled: {path} is {what}",
            help="return numbers, arrays, and tuples, lists, dicts and dataclasses of them; for a list of "
            "tuples, a tuple of lists",
        )


class NotCallable(CallError):
    """A transform of something that is not a function."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` takes a function, got {got}",
            help=f"give it the function itself, not its value: `ad.{transform}(f)(x)`",
            label=f"got {got}",
        )


class AxisMismatch(CallError, ValueError):
    """`vmap` over axes that do not fit the arguments or results."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"`vmap`: {reason}",
            help="`in_axes` says for each argument which axis is gone over; None: every row shares it",
        )


class StagedOutside(CallError):
    """Something that exists only inside a compiled function, used outside of one."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} works inside compiled functions only", help="call it from a function under `ad.jit`"
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
                help="where forward and reverse mode differ, one is wrong; where only finite differences do, "
                "the function may have a kink or be rough there: try other arguments, `eps` or `rtol`",
            )
        )


class UnknownStage(AnadromeError, ValueError):
    """`show` was asked for a stage that is none."""

    def __init__(self, stage: str, known: tuple[str, ...]) -> None:
        super().__init__(
            Diagnostic(f"error: there is no stage `{stage}`", help=f"there are {', '.join(known)}")
        )


class SizeUnknown(CallError):
    """A transform that must know the sizes of a result before the function runs."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}`: the size of a result must follow from the sizes of the arguments, and this one "
            "is found inside the function",
            help="make the size an argument's, or call the function row by row",
        )


class RuleMissing(CallError):
    """A function that was announced to have a derivative of its own, and has none."""

    def __init__(self, function: str, decorator: str) -> None:
        rule = "defjvp(rule)" if decorator == "custom_jvp" else "defvjp(forward, backward)"
        super().__init__(
            f"`{function}` is decorated with `{decorator}` and has no rule",
            help=f"give it one with `{function}.{rule}`, before it is differentiated",
            label="differentiated here",
        )


class RuleMismatch(CallError, ValueError):
    """A rule of differentiation that does not give what it must."""

    def __init__(self, rule: str, function: str, what: str, expected: str, got: str, help: str = "") -> None:
        super().__init__(
            f"the {rule} rule of `{function}`: {what} must be {expected}, and is {got}",
            help=help or _RULE_HELP[rule],
            label=f"got {got}",
        )


_RULE_HELP = {
    "jvp": "it takes `(primals, tangents)`, two tuples with an entry for each argument, and returns "
    "`(result, tangent)`, both in the form of the function's result; `*` is one number or array",
    "forward": "it takes the arguments of the function and returns `(result, residuals)`, the result in the "
    "form of the function's; `*` is one number or array",
    "backward": "it takes `(residuals, cotangent)` and returns a tuple with an entry for each argument, in "
    "the argument's form; None stands for zero, `*` is one number or array",
}


class UnknownMode(CallError, ValueError):
    """`jacobian` was asked for a mode that is none."""

    def __init__(self, mode: object, known: tuple[str, ...]) -> None:
        names = ", ".join(f'"{name}"' for name in known)
        super().__init__(f"`jacobian` has no mode {mode!r}", help=f"there are {names}")


class SettingMismatch(CallError, ValueError):
    """A setting of a transform that makes no sense."""

    def __init__(self, transform: str, setting: str, expected: str, got: object, help: str) -> None:
        found = shortened(repr(got))
        super().__init__(
            f"`{transform}`: `{setting}` must be {expected}, got {found}",
            help=help,
            label=f"got {setting}={found}",
        )


class ComplexDerivative(CallError):
    """A derivative of or by complex numbers that is no complex number, or that a transform has not."""

    def __init__(self, transform: str, expected: str, got: str, help: str) -> None:
        super().__init__(f"`{transform}`: {expected}, got {got}", help=help, label=f"got {got}")


class UnknownsMismatch(CallError, ValueError):
    """The start of `fixed_point` or `root`, or what its function gives, is not what these look for."""

    def __init__(self, transform: str, what: str, expected: str, got: str) -> None:
        super().__init__(
            f"`{transform}`: {what} must be {expected}, and is {got}",
            help="the function takes the unknowns first, and gives what has their form: their next values "
            "for `fixed_point`, what is to become zero for `root`, whose unknowns are one float or one array",
            label=f"got {got}",
        )
