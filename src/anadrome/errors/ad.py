"""Errors of differentiation: a construct without a rule is refused with its line."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic, Span


class NotDifferentiable(AnadromeError, NotImplementedError):
    """A differentiated value passes through something that has no derivative rule."""

    def __init__(self, what: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            Diagnostic(
                f"error: no derivative rule for {what}",
                span,
                label="a differentiated value passes through here",
                help=help or "wrap it in `ad.stop_gradient` if its derivative is not needed",
            )
        )


class ClosedOver(AnadromeError, NotImplementedError):
    """A function with a derivative rule reads a differentiated value that is not among its arguments."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            Diagnostic(
                "error: a function with a derivative rule of its own closes over a differentiated value",
                span,
                label="its rule has no derivative for that value",
                help="pass the value as an argument and give its derivative in the rule, or wrap it in "
                "`ad.stop_gradient` if its derivative is not needed",
            )
        )


class RuleNotLinear(AnadromeError, NotImplementedError):
    """A rule of one mode that is needed in the other and cannot be transposed."""

    def __init__(self, has: str, lacks: str, span: Span | None) -> None:
        super().__init__(
            Diagnostic(
                f"error: this function has only a `{has}` rule, which is not recognised as linear, so it "
                "cannot be transposed for the other mode",
                span,
                label="differentiated in the other mode here",
                help=f"give the function a `{lacks}` rule too, or write the rule so that tangents and "
                "cotangents are only added, and multiplied by values that do not depend on them",
            )
        )
