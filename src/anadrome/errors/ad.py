"""Errors of differentiation: a construct without a rule is refused with its line."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic, Span


class NotDifferentiable(AnadromeError, NotImplementedError):
    """A differentiated value passes through something that has no derivative rule."""

    def __init__(self, what: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            Diagnostic(
                f"no derivative rule for {what}",
                span,
                label="a differentiated value passes through here",
                help=help or "wrap it in `ad.stop_gradient` if its derivative is not wanted",
            )
        )
