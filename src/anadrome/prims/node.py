"""The classes of nodes of both languages: immutable to the type checker, and cheap to make.

A frozen dataclass sets each field through `object.__setattr__`, which makes a node two to three times as
dear as a plain one; a compilation makes some hundred thousand. So the type checker alone holds that no field
is set again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

Node = TypeVar("Node")


@dataclass_transform(eq_default=False, frozen_default=True)
def node(cls: type[Node]) -> type[Node]:
    """A dataclass with slots whose instances are equal to nothing but themselves and never change."""
    return dataclass(slots=True, eq=False)(cls)


if TYPE_CHECKING:
    from dataclasses import replace as replace
else:

    def replace(given: Any, /, **changes: Any) -> Any:
        """A node or dataclass with some of its fields changed: `dataclasses.replace`, which also knows the
        classes of the compiled build, that are no dataclasses."""
        cls = type(given)
        pop = changes.pop
        fields = [pop(name) if name in changes else getattr(given, name) for name in cls.__match_args__]
        return cls(*fields, **changes)
