"""The programs that are made of one: forward, reverse, and the two second orders.

They stand in a file of their own, since staging one parses the file it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anadrome as ad


@dataclass(frozen=True, slots=True)
class Derived:
    """The programs that are made of one, of (arguments, …) each, `places` being differentiated."""

    function: Callable[..., Any]
    places: tuple[int, ...]

    def filled(self, args: Sequence[Any], *values: Any) -> Any:
        """The function with the values in place of the arguments it is differentiated by."""
        given = list(args)
        for place, value in zip(self.places, values, strict=True):
            given[place] = value
        return self.function(*given)

    def primals(self, args: Sequence[Any]) -> list[Any]:
        """The arguments it is differentiated by."""
        return [args[place] for place in self.places]

    def pushed(self, args: Any, tangents: Any) -> Any:
        """f(x), J v."""
        return ad.jvp(partial(self.filled, args), self.primals(args), tangents)

    def pulled(self, args: Any, weights: Any) -> Any:
        """f(x), Jᵀw."""
        out, pull_back = ad.vjp(partial(self.filled, args), *self.primals(args))
        return out, pull_back(weights)

    def forward_over_reverse(self, args: Any, weights: Any, tangents: Any) -> Any:
        """D_v (Jᵀw)."""

        def gradient(*values: Any) -> Any:
            return ad.vjp(partial(self.filled, args), *values)[1](weights)

        return ad.jvp(gradient, self.primals(args), tangents)[1]

    def reverse_over_forward(self, args: Any, weights: Any, tangents: Any) -> Any:
        """∇ ⟨w, J v⟩."""

        def slope(*values: Any) -> Any:
            return ad.jvp(partial(self.filled, args), list(values), tangents)[1]

        return ad.vjp(slope, *self.primals(args))[1](weights)
