"""The compiled forms of NumPy and `math` functions, array methods and array attributes: three literal tables.

A compiled form takes the context and the call's arguments, each a static or a staged value, and gives a
value. It is called when an argument is staged, or when its result would be an array.
"""

from __future__ import annotations

from collections.abc import Callable

from anadrome.frontend.context import StagedCall
from anadrome.frontend.library.attributes import ATTRIBUTES
from anadrome.frontend.library.basics import CALLS as BASIC_CALLS
from anadrome.frontend.library.basics import METHODS as BASIC_METHODS

CALLS: dict[Callable[..., object], StagedCall] = {**BASIC_CALLS}
"""A Python callable -> its compiled form: function(context, *args, **kwargs) -> value."""

METHODS: dict[str, StagedCall] = {**BASIC_METHODS}
"""The name of an array method -> function(context, array, *args, **kwargs) -> value."""

__all__ = ["ATTRIBUTES", "CALLS", "METHODS"]
