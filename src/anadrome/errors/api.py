"""Errors of the call: an argument or a result that a transform cannot take, before anything runs."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic


class CallError(AnadromeError, TypeError):
    """The base of what is wrong with a call of a compiled function or transform."""

    def __init__(self, message: str, help: str = "", notes: tuple[str, ...] = ()) -> None:
        super().__init__(Diagnostic(f"error: {message}", help=help, notes=notes))


class UnsupportedArray(CallError):
    """An array argument whose scalar type or byte order has no place in a compiled program."""

    def __init__(self, function: str, argument: str, got: str) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: expected an array of bool, int8 to int64, uint8 to "
            f"uint64, float32 or float64 in native byte order, got {got}",
            help="convert it, for example with `.astype(np.float64)`",
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
        )


class IntegerOutOfRange(CallError, OverflowError):
    """A Python integer that does not fit into 64 bits."""

    def __init__(self, function: str, argument: str, value: int) -> None:
        super().__init__(
            f"argument `{argument}` of `{function}`: {value} does not fit into a signed 64-bit integer"
        )


class IntegerArgument(CallError):
    """Differentiation by something that is not a float."""

    def __init__(self, transform: str, argument: str, got: str) -> None:
        super().__init__(
            f"`{transform}` differentiates by floats, and argument `{argument}` is {got}",
            help="pass a float: `2.0` for `2`, `x.astype(np.float64)` for an array; or choose other "
            "arguments with `argnums`",
        )


class NothingToDifferentiate(CallError):
    """An argument that holds no numbers at all."""

    def __init__(self, transform: str, argument: str) -> None:
        super().__init__(f"`{transform}` differentiates by floats, and argument `{argument}` holds none")


class NonScalarOutput(CallError):
    """A gradient of something that is not one float."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` takes a function whose result is one float, and this one gives {got}",
            help="sum or average the result; for every derivative of several numbers take `jacrev` or "
            "`jacfwd`; for further results beside the float take `has_aux=True`",
        )


class AuxiliaryMissing(CallError):
    """`has_aux=True` with a function that does not give a pair."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}` with `has_aux=True` takes a function that gives a pair, and this one gives {got}"
        )


class StructureMismatch(CallError):
    """Tangents or cotangents that do not have the form of what they belong to."""

    def __init__(self, what: str, expected: str, got: str) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")


class ArgumentNumbers(CallError):
    """`argnums` names an argument that is not there."""

    def __init__(self, transform: str, argnums: object, count: int) -> None:
        arguments = "argument" if count == 1 else "arguments"
        super().__init__(
            f"`{transform}` with argnums={argnums} is called with {count} positional {arguments}",
            help="arguments to differentiate by are passed by position",
        )


class NotCallable(CallError):
    """A transform of something that is not a function."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(f"`{transform}` takes a function, got {got}")


class AxisMismatch(CallError, ValueError):
    """`vmap` over axes that do not fit the arguments or results."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"`vmap`: {reason}")


class StagedOutside(CallError):
    """Something that exists only inside a compiled function, used outside of one."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} works inside compiled functions only")


class GradientMismatch(AnadromeError, AssertionError):
    """`check_grads` found two derivatives that differ."""

    def __init__(
        self, argument: str, order: int, left: str, left_value: float, right: str, right_value: float
    ) -> None:
        super().__init__(
            Diagnostic(
                f"derivative of order {order} by argument `{argument}`: {left} gives {left_value:.17g}, "
                f"{right} gives {right_value:.17g}",
                help="where forward and reverse mode differ, one is wrong; where only finite differences do, "
                "the function may have a kink or be rough there: try other arguments, `eps` or `rtol`",
            )
        )


class UnknownStage(AnadromeError, ValueError):
    """`show` was asked for a stage that is none."""

    def __init__(self, stage: str, known: tuple[str, ...]) -> None:
        super().__init__(Diagnostic(f"there is no stage `{stage}`; there are {', '.join(known)}"))


class SizeUnknown(CallError):
    """A transform that must know the sizes of a result before the function runs."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}`: the size of a result must follow from the sizes of the arguments, and this one "
            "is found inside the function"
        )
