"""The judge sees what it is there to see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.meaning.comparing import difference
from tests.meaning.judge import Case, Program, Raised, Refused, Value, by_python, is_ending, judge, opened
from tests.meaning.shrink import shrunk

ARGUMENTS = ("np.arange(3) + 1.0", "3", "1.0")


@dataclass
class Point:
    p: Any
    q: Any = 0.0


SAME = (
    (1, 1.0),
    (True, 1),
    (np.float64(1.0), 1.0),
    (1.0 + 1e-13, 1.0),
    (float("nan"), np.float64("nan")),
    ([1.0, 2.0], np.array([1.0, 2.0])),
    ([], np.zeros(0)),
    ([0, 1], np.array([0.0, 1.0])),
    ((1, [np.ones(2)], {"k": None}), (1, [np.ones(2)], {"k": None})),
    (Point(np.ones(2)), Point(np.ones(2))),
    (np.array(1.0), np.float64(1.0)),
)
OTHER = (
    (1.0, 2.0),
    (1.0, 1),
    (np.int64(1), 1.0),
    (np.True_, np.int64(1)),
    (np.ones(2), np.ones(3)),
    (np.ones(2), np.ones((1, 2))),
    (np.ones(2), np.ones(2, np.float32)),
    ((1.0, 2.0), [1.0, 2.0]),
    ([1.0], [1.0, 2.0]),
    ([0, 1.5], np.array([0, 1])),
    ([np.int64(1)], np.array([1.0])),
    ([[1.0], [1.0, 2.0]], np.ones(2)),
    ({"a": 1.0}, {"b": 1.0}),
    (Point(np.ones(2)), Point(np.zeros(2))),
    (None, 0.0),
    ("one", "two"),
)


@pytest.mark.parametrize(("expected", "got"), SAME)
def test_what_is_the_same(expected: object, got: object) -> None:
    assert difference(expected, got) == ""


@pytest.mark.parametrize(("expected", "got"), OTHER)
def test_what_is_not_the_same(expected: object, got: object) -> None:
    assert difference(expected, got) != ""


def program(text: str) -> Program:
    return Program("by hand", text, ARGUMENTS)


def test_a_write_into_an_argument_is_not_right() -> None:
    judgement = judge(program("def program(x, n, t):\n    x += 1.0\n    return n\n"))
    assert isinstance(judgement.ours, Refused)
    assert judgement.verdict == "right"


def test_what_a_call_leaves_outside_is_compared() -> None:
    one = program("X = [1.0]\ndef program(x, n, t):\n    X.append(2.0)\n    return n\n")
    with opened(one) as function:
        changed = by_python(function, [np.ones(3), 3, 1.0])
    with opened(one) as function:
        unchanged = Value(3, [[np.ones(3), 3, 1.0], [], {"X": [1.0]}])
    assert isinstance(changed, Value)
    assert "'X'" in difference(changed.outside, unchanged.outside)


def test_an_error_of_python_is_met_by_an_error() -> None:
    judgement = judge(program("def program(x, n, t):\n    return x[7]\n"))
    assert isinstance(judgement.python, Raised)
    assert judgement.verdict == "right"


def test_a_program_without_an_end_is_found() -> None:
    assert not is_ending(program("def program(x, n, t):\n    while True:\n        n += 1\n"))


def test_a_failure_is_made_short() -> None:
    lines = ["a = x * 2.0", "b = x.tobytes()", "for i in range(n):", "    a += 1.0", "return a"]
    short = shrunk(program("def program(x, n, t):\n" + "\n".join(f"    {line}" for line in lines)))
    assert "tobytes" in short.text
    assert len(short.text.splitlines()) < len(lines)


def twice(x: Any, n: int) -> Any:
    return 2.0 * x


def test_a_function_by_hand_is_judged() -> None:
    judgement = judge(Case(twice, ARGUMENTS[:2]))
    assert judgement.verdict == "right"
    assert "return 2.0 * x" in str(judgement)


def test_a_refusal_of_what_fails_in_python_too_is_told_apart() -> None:
    body = "def program(x, n, t):\n    if t < 0:\n        {}\n    return x * 2\n"
    assert judge(program(body.format("x = x << 1.5"))).verdict == "raises"
    assert judge(program(body.format("x = x.tobytes()"))).verdict == "refused"
