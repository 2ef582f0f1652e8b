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
                help=help or "wrap it in `ad.stop_gradient` if its derivative is not wanted",
            )
        )


class ClosedOver(AnadromeError, NotImplementedError):
    """A function with a derivative rule reads a differentiated value that is not among its arguments."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            Diagnostic(
                "error: a function with a derivative rule of its own reads a differentiated value "
                "from around it",
                span,
                label="its rule says nothing of that value",
                help="pass the value as an argument, and let the rule say what its derivative is; or wrap it "
                "in `ad.stop_gradient` where its derivative is not wanted",
            )
        )


class RuleNotLinear(AnadromeError, NotImplementedError):
    """A rule of one mode that is needed in the other and cannot be transposed."""

    def __init__(self, has: str, lacks: str, span: Span | None) -> None:
        super().__init__(
            Diagnostic(
                f"error: this function has a `{has}` rule only, which is not seen to be linear, so that the "
                "other mode cannot be made of it",
                span,
                label="differentiated in the other mode here",
                help=f"give the function a `{lacks}` rule too, or write the rule so that tangents and "
                "cotangents are only added, and multiplied by what does not depend on them",
            )
        )
