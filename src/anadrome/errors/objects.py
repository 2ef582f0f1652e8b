"""Errors of objects of Python's own of which only the run knows which ones they are, or that lists copy."""

from __future__ import annotations

from anadrome.errors.base import Span, indefinite
from anadrome.errors.frontend import FrontendError


class ChangesMerged(FrontendError, TypeError):
    """A change of an object of which only the run decides which one it is."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(
            f"{what} is changed, and only the run knows which object that is",
            span,
            label="another object on another way, or in another iteration",
            help="copy it first (`list(x)`, `dict(x)`) and change the copy, or change it on each way",
        )


class ChangesItem(FrontendError, ValueError):
    """A change of an object of which a list of run-time length holds a copy, which would not see it.

    `is_container`: of a list, dict or the like, which cannot be in a pool as instances are
    `is_chosen`: of a list of which a copy is one of two that a branch chooses
    """

    def __init__(self, what: str, span: Span | None, is_container: bool, is_chosen: bool = False) -> None:
        instead = ", or put an instance of a class there, which may be changed" if is_container else ""
        where = "it was put into a list whose length only the run knows"
        label, place = (
            "the list holds a copy of it, which would stay as it is",
            "it is put there, put a copy there",
        )
        if is_chosen:
            where, instead = "a run-time `if` has chosen between it and another list", ""
            label, place = (
                "what was chosen is a copy of it, which would stay as it is",
                "the `if`, choose a copy",
            )
        super().__init__(
            f"{what} is changed after {where}",
            span,
            label=label,
            help=f"change it before {place} (`list(x)`, `copy.copy(x)`), make a list of new objects{instead}",
        )


class StaleMerge(FrontendError, TypeError):
    """An object of which only the run decides which one it is, after one of those was changed."""

    def __init__(self, what: str, changed: Span, span: Span | None) -> None:
        super().__init__(
            f"{what} may be an object that was changed since, and only the run knows",
            span,
            label=f"one of the objects that it may be was changed ({changed})",
            help="copy the object before it is changed, or read it by its own name",
        )


class ReadEarlier(FrontendError, TypeError):
    """An item of an iterator whose items were all evaluated before what they read has changed."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(
            f"{what} reads what has changed since it was made",
            span,
            label="its items are evaluated when it is made, and Python evaluates each when it is asked for",
            help="write what it does as a `for` loop, and change things there",
        )


class AsksItems(FrontendError, TypeError):
    """An iterator that is asked for some of its items, whose evaluation changes what others see."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(
            f"{what} changes, prints or draws something for each",
            span,
            label="its items are evaluated when it is made, and Python evaluates each when it is asked for",
            help="write what it does as a `for` loop, and change things there",
        )


class LeftIterator(FrontendError, TypeError):
    """A look at an iterator of which only the run knows how far others have gone over it."""

    def __init__(self, what: str, left: Span | None, span: Span | None) -> None:
        super().__init__(
            f"only the run knows how far {what} has got",
            span,
            label=f"it was gone over in part, or given to another iterator ({left})",
            help="make a new iterator, `iter(x)`, or go over the items by their index",
        )


def stale(kind: str, changed: Span, span: Span | None) -> FrontendError:
    """The error of a look at an object of Python's kind that may have changed."""
    error = LeftIterator if kind in ("iterator", "generator") else StaleMerge
    return error(indefinite(kind), changed, span)
