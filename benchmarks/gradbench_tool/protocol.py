"""The messages of the GradBench protocol, each answered by one line with the same id.

| kind | response |
|---|---|
| start | tool |
| define | success, or error: whether there is an adapter for the module |
| evaluate | success, output and timings, or error |
| analysis, and any other | nothing but the id |

A message never ends the tool: what goes wrong becomes `success: false` with an error.
"""

from __future__ import annotations

import importlib
import json
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


def serve(requests: TextIO, responses: TextIO) -> None:
    """Answer every message until the input ends."""
    for line in requests:
        if line.strip():
            print(answer_line(line), file=responses, flush=True)


def answer_line(line: str) -> str:
    """The response to one line, as one line."""
    try:
        message = json.loads(line)
        identity = message["id"]
    except (ValueError, KeyError, TypeError) as error:
        return json.dumps({"id": None, "success": False, "error": f"no message with an id: {error!r}"})
    try:
        return json.dumps({"id": identity, **respond(message)}, allow_nan=False)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return json.dumps(
            {"id": identity, "success": False, "error": f"{type(error).__name__}: {_words(error)}"}
        )


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
    if name not in functions:
        raise UnknownNameError(f"module `{module}` has no function `{name}`; it has {', '.join(functions)}")
    return functions[name]


def _words(error: Exception) -> str:
    """The message of an error; KeyError gives only the key, so say what it is."""
    return f"the input has no field {error}" if isinstance(error, KeyError) else str(error)
