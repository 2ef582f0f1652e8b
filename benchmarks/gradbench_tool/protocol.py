"""The messages of the GradBench protocol, each answered by one line with the same id.

| kind | response |
|---|---|
| start | tool |
| define | success, or error: whether there is an adapter for the module |
| evaluate | success, output and timings, or error |
| analysis, and any other | nothing but the id |

A message never ends the tool: what goes wrong becomes `success: false` with an error. Of a message without
an id that can be sent back the id is null.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any, TextIO

from gradbench_tool.function import Function, run

TOOL = "anadrome"
EVALS = (
    "ba",
    "det",
    "gmm",
    "hello",
    "ht",
    "kmeans",
    "llsq",
    "lse",
    "lstm",
    "ode",
    "particle",
    "saddle",
)


class UnknownNameError(LookupError):
    """The suite asked for a module or function this tool does not have."""


class MessageError(ValueError):
    """A line that is no message of the protocol."""


def serve(requests: TextIO, responses: TextIO) -> None:
    """Answer every message until the input ends."""
    for line in requests:
        if line.strip():
            print(answer_line(line), file=responses, flush=True)


def answer_line(line: str) -> str:
    """The response to one line, as one line."""
    try:
        message = message_of(line)
    except MessageError as error:
        return json.dumps({"id": None, "success": False, "error": str(error)})
    identity = message["id"]
    try:
        return json.dumps({"id": identity, **respond(message)}, allow_nan=False)
    except Exception as error:
        _log(error)
        return json.dumps({"id": identity, "success": False, "error": _words(error)})


def message_of(line: str) -> Mapping[str, Any]:
    """The message of a line: JSON as the standard has it, an object with an id that is a number or a text."""
    try:
        message = json.loads(line, parse_constant=_refuse)
    except RecursionError:
        raise MessageError("no message: it is nested too deeply") from None
    except ValueError as error:
        raise MessageError(f"no message: {error}") from None
    if not isinstance(message, dict) or "id" not in message:
        raise MessageError("no message: an object with an id is expected")
    identity = message["id"]
    if isinstance(identity, bool) or not isinstance(identity, int | float | str) or identity in INFINITIES:
        raise MessageError("no message: its id is neither a number nor a text")
    return message


INFINITIES = (float("inf"), float("-inf"))
"""What Python makes of numbers like 1e999, which JSON cannot send back."""


def _refuse(constant: str) -> None:
    raise MessageError(f"no message: {constant} is not JSON")


def respond(message: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a response, less the id; raises what goes wrong."""
    match message.get("kind"):
        case "start":
            return {"tool": TOOL}
        case "define":
            functions_of(message["module"])
            return {"success": True}
        case "evaluate":
            output, timings = run(function_of(message["module"], message["function"]), message["input"])
            return {"success": True, "output": output, "timings": timings}
        case _:
            return {}


def functions_of(module: str) -> Mapping[str, Function]:
    """The functions of an eval; its program is imported when it is first asked for."""
    if module not in EVALS:
        raise UnknownNameError(f"no module `{module}`; there are {', '.join(EVALS)}")
    functions: Mapping[str, Function] = importlib.import_module(f"gradbench_tool.adapters.{module}").FUNCTIONS
    return functions


def function_of(module: str, name: str) -> Function:
    """A function of an eval."""
    functions = functions_of(module)
    if not isinstance(name, str) or name not in functions:
        raise UnknownNameError(f"module `{module}` has no function `{name}`; it has {', '.join(functions)}")
    return functions[name]


def _words(error: Exception) -> str:
    """The message of an error; KeyError gives only the key, so say what it is."""
    words = f"the input has no field {error}" if isinstance(error, KeyError) else str(error)
    return f"{type(error).__name__}: {words}"


def _log(error: Exception) -> None:
    """Say on standard error what went wrong, with all frames where they are asked for."""
    if os.environ.get("ANADROME_TRACEBACK") == "full":
        traceback.print_exception(error, file=sys.stderr)
    else:
        print(_words(error), file=sys.stderr)
