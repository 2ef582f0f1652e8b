"""The text of messages, for programs of both languages that print."""

from __future__ import annotations

import json

from anadrome.printing import Field, Message, Operand, Text


def quoted(text: str = "{}\n", how: str = "str", spec: str = "") -> str:
    """A message in which `{}` stands for the values in order, as a quoted string of a program's text."""
    parts: list[str | Field] = []
    for position, part in enumerate(text.split("{}")):
        if position:
            parts.append(Field(how, Operand(position - 1), Text((spec,))))  # type: ignore[arg-type]
        parts.append(part)
    return json.dumps(Message(Text(tuple(parts))).encoded())
