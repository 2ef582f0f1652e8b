"""Texts that hold run-time values: what a `print` of a compiled function writes.

A compiled program does not format: it hands raw values over, and Python formats them here, so that the text
is Python's own to the last digit. A `Text` says which objects of Python the values are parts of (a Python
float or a NumPy scalar, a complex number of two parts) and how each of them is written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never, cast

import numpy as np

How = Literal["str", "repr", "ascii", "format", "percent"]
"""Which function of Python writes an object; what the first three give is formatted by the `spec` then."""

Stream = Literal["stdout", "stderr"]


@dataclass(frozen=True, slots=True)
class Operand:
    """An object made of one value, or a complex one made of two: those at these positions.

    `is_python`: a number of Python's own; else a NumPy scalar or array.
    """

    real: int
    imag: int | None = None
    is_python: bool = False

    def of(self, values: Sequence[Any]) -> Any:
        """The object, of NumPy scalars and arrays."""
        value = values[self.real]
        if self.imag is not None:
            whole = np.empty(np.shape(value), np.result_type(value.dtype, np.complex64))
            whole.real, whole.imag = value, values[self.imag]
            value = whole if whole.ndim else whole[()]
        return value.item() if self.is_python else value

    def places(self) -> set[int]:
        """The positions of its values."""
        return {self.real} if self.imag is None else {self.real, self.imag}


@dataclass(frozen=True, slots=True)
class Field:
    """An object in a text, and how it is written; the specification may hold run-time values itself."""

    how: How
    operand: Operand | Text
    spec: Text

    def places(self) -> set[int]:
        """The positions of the values that it holds."""
        return self.operand.places() | self.spec.places()


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several texts: that whose number the selector is."""

    selector: Operand
    options: tuple[Text, ...]

    def places(self) -> set[int]:
        """The positions of the values that it holds."""
        return self.selector.places().union(*(option.places() for option in self.options))


@dataclass(frozen=True, slots=True)
class Text:
    """Known parts and others, in order."""

    parts: tuple[str | Field | Choice, ...]

    def of(self, values: Sequence[Any]) -> str:
        """The text with these run-time values, as Python writes them."""
        return "".join(part if isinstance(part, str) else _written(part, values) for part in self.parts)

    def places(self) -> set[int]:
        """The positions of the values that it holds."""
        return {place for part in self.parts if not isinstance(part, str) for place in part.places()}


def _written(field: Field | Choice, values: Sequence[Any]) -> str:
    if isinstance(field, Choice):
        return field.options[int(field.selector.of(values))].of(values)
    found, spec = field.operand.of(values), field.spec.of(values)
    match field.how:
        case "str":
            return format(str(found), spec)
        case "repr":
            return format(repr(found), spec)
        case "ascii":
            return format(ascii(found), spec)
        case "format":
            return format(found, spec)
        case "percent":
            return str(spec % (found,))
        case _:
            assert_never(field.how)


@dataclass(frozen=True, slots=True)
class Message:
    """A text and where it goes."""

    text: Text
    stream: Stream = "stdout"
    is_flushed: bool = False

    def write(self, values: Sequence[Any]) -> None:
        """Print the text with these run-time values."""
        file = sys.stdout if self.stream == "stdout" else sys.stderr
        text = self.text.of(values)
        if file is None:  # a program without a terminal
            return
        file.write(text)
        if self.is_flushed:
            file.flush()

    def encoded(self) -> str:
        """The message as one line of JSON, which programs of both languages hold."""
        head = [self.stream, self.is_flushed]
        return json.dumps([*head, _encoded(self.text)], ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def decoded(line: str) -> Message:
        """The message that `encoded` gave this line for."""
        stream, is_flushed, text = json.loads(line)
        return Message(_decoded(text), stream, is_flushed)


def _encoded(text: Text) -> list[Any]:
    return [part if isinstance(part, str) else _encoded_part(part) for part in text.parts]


def _encoded_part(part: Field | Choice) -> list[Any]:
    if isinstance(part, Choice):
        return ["choice", _encoded_operand(part.selector), [_encoded(option) for option in part.options]]
    return [part.how, _encoded_operand(part.operand), _encoded(part.spec)]


def _encoded_operand(operand: Operand | Text) -> Any:
    if isinstance(operand, Text):
        return _encoded(operand)
    return {"real": operand.real, "imag": operand.imag, "is_python": operand.is_python}


def _decoded(parts: list[Any]) -> Text:
    return Text(tuple(part if isinstance(part, str) else _decoded_part(*part) for part in parts))


def _decoded_part(how: str, operand: Any, rest: list[Any]) -> Field | Choice:
    if how == "choice":
        return Choice(Operand(**operand), tuple(map(_decoded, rest)))
    of = _decoded(operand) if isinstance(operand, list) else Operand(**operand)
    return Field(cast(How, how), of, _decoded(rest))
