"""The tool as the suite drives it: a process that answers one line with one line, on all twelve evals."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradbench_inputs import all_cases, kmeans_data, plain_json
from gradbench_tool.protocol import EVALS
from gradbench_validators import mismatches

TOOL = Path(__file__).resolve().parents[2] / "benchmarks" / "gradbench.py"


class Tool:
    """The running tool, and the messages sent to it so far."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.id = 0

    def send(self, **message: Any) -> dict[str, Any]:
        """The response to a message, which must carry its id."""
        self.id += 1
        response = self.send_line(json.dumps({"id": self.id, **message}))
        assert response.pop("id") == self.id
        return response

    def send_line(self, line: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        response: dict[str, Any] = json.loads(answer, parse_constant=self.refuse)
        return response

    @staticmethod
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    def evaluate(self, module: str, function: str, data: Any) -> dict[str, Any]:
        return self.send(kind="evaluate", module=module, function=function, input=data, description="test")

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    running = Tool()
    yield running
    running.close()


def test_says_its_name_at_the_start(tool: Tool) -> None:
    assert tool.send(kind="start", eval="hello") == {"tool": "anadrome"}
    assert tool.send(kind="start", eval="gmm", config={"n": 3}) == {"tool": "anadrome"}


def test_acknowledges_an_analysis_and_kinds_it_does_not_know(tool: Tool) -> None:
    assert tool.send(kind="analysis", of=0, valid=False, error="wrong") == {}
    assert tool.send(kind="overture") == {}


@pytest.mark.parametrize("module", EVALS)
def test_defines_the_module(tool: Tool, module: str) -> None:
    assert tool.send(kind="define", module=module) == {"success": True}


def test_refuses_a_module_it_does_not_have(tool: Tool) -> None:
    for response in (tool.send(kind="define", module="os"), tool.evaluate("os", "getcwd", {})):
        assert response["success"] is False
        assert "no module `os`" in response["error"]


def test_refuses_a_function_it_does_not_have(tool: Tool) -> None:
    response = tool.evaluate("hello", "cube", 2.0)
    assert response["success"] is False
    assert "`hello` has no function `cube`" in response["error"]


def test_answers_bad_input_and_goes_on(tool: Tool) -> None:
    response = tool.evaluate("llsq", "primal", {"n": 5})
    assert response["success"] is False
    assert "no field 'x'" in response["error"]
    response = tool.evaluate("lse", "primal", {"x": ["one"]})
    assert response["success"] is False
    assert tool.send_line("{")["success"] is False
    assert tool.evaluate("hello", "square", 4.0)["output"] == 16.0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"id": 1, "input": ' + "[" * 100_000, "nested too deeply"),
        ('{"id": ' + "[" * 990 + "]" * 990 + "}", "neither a number nor a text"),
        ('{"id": NaN}', "NaN is not JSON"),
        ('{"id": -Infinity, "kind": "start"}', "-Infinity is not JSON"),
        ('{"id": 1e999}', "neither a number nor a text"),
        ('{"id": ' + "9" * 5000 + "}", "4300 digits"),
        ('{"id": null, "kind": "start"}', "neither a number nor a text"),
        ('{"id": {}}', "neither a number nor a text"),
        ("[1, 2]", "an object with an id is expected"),
        ('"id"', "an object with an id is expected"),
        ("{}", "an object with an id is expected"),
        ('{"id": 1', "no message: Expecting"),
        ("\ufeff{}", "no message: "),
        ("\x00", "no message: "),
    ],
)
def test_lines_that_are_no_messages(tool: Tool, line: str, words: str) -> None:
    response = tool.send_line(line)
    assert response["id"] is None and response["success"] is False
    assert words in response["error"]


def test_bytes_that_are_no_text() -> None:
    lines = b'\xff\xfe{"id"\n{"id": "a\xff", "kind": "start"}\n'
    found = subprocess.run([sys.executable, str(TOOL)], input=lines, capture_output=True)
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [None, "a\ufffd"]
    assert not found.stderr


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"kind": "define"}, "KeyError: the input has no field 'module'"),
        ({"kind": "define", "module": []}, "no module"),
        ({"kind": "evaluate", "module": "hello", "function": [], "input": 1}, "no function"),
        ({"kind": "evaluate", "module": "hello", "function": "square"}, "no field 'input'"),
        ({"kind": "evaluate", "module": "hello", "function": "square", "input": None}, "TypeError"),
        ({"kind": "evaluate", "module": "hello", "function": "square", "input": "x" * 9}, "ValueError"),
        ({"kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [[1], [1, 2]]}}, "Error"),
        (
            {"kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": []}},
            "EmptyReduction: error: ",
        ),
        ({"kind": "evaluate", "module": "lse", "function": "primal", "input": [1]}, "TypeError"),
    ],
)
def test_messages_that_cannot_be_answered(tool: Tool, message: dict[str, Any], words: str) -> None:
    response = tool.send(**message)
    assert response["success"] is False
    assert words in response["error"]


@pytest.mark.parametrize("module", EVALS)
def test_outputs_pass_the_validators(tool: Tool, module: str) -> None:
    for function, data, expected in all_cases()[module]:
        response = tool.evaluate(module, function, data)
        assert response["success"], response["error"]
        assert "error" not in response
        if module == "hello":
            assert np.isclose(response["output"], expected)
        assert mismatches(expected, response["output"]) == []


def test_hello_goes_on_from_its_own_outputs(tool: Tool) -> None:
    x = 1.0
    for _ in range(4):
        y = tool.evaluate("hello", "square", x)["output"]
        assert np.isclose(y, x * x)
        x = tool.evaluate("hello", "double", y)["output"]
        assert np.isclose(x, 2.0 * y)


def test_repeats_a_run_as_often_and_as_long_as_asked(tool: Tool) -> None:
    x = [0.5, 1.5]
    for runs, seconds in ((1, 0.0), (7, 0.0), (1, 0.05)):
        response = tool.evaluate("lse", "primal", {"x": x, "min_runs": runs, "min_seconds": seconds})
        durations = [t["nanoseconds"] for t in response["timings"] if t["name"] == "evaluate"]
        assert len(durations) >= runs
        assert all(isinstance(duration, int) and duration > 0 for duration in durations)
        assert sum(durations) >= seconds * 1e9
        assert seconds or len(durations) == runs


def test_a_bare_number_is_run_once(tool: Tool) -> None:
    timings = tool.evaluate("hello", "square", 2.0)["timings"]
    assert [timing["name"] for timing in timings] == ["prepare", "evaluate"]


def test_never_sends_a_number_that_is_not_finite(tool: Tool) -> None:
    # A centre without a point has no curvature: 0 / 0.
    data = kmeans_data()
    data["centroids"][0] = 1e6
    response = tool.evaluate("kmeans", "dir", plain_json(data))
    assert response["success"] is False
    assert "output" not in response
    assert "not a finite number" in response["error"]
    response = tool.evaluate("hello", "square", 1e200)
    assert response["success"] is False
    assert "the result is inf" in response["error"]


def test_ends_with_its_input() -> None:
    running = Tool()
    assert running.send(kind="start") == {"tool": "anadrome"}
    assert running.close() == 0
