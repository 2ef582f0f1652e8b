"""Anadrome as a tool of the GradBench suite: one JSON message a line in, one JSON response a line out.

    gradbench run --eval '…' --tool 'python benchmarks/gradbench.py'

The suite is at github.com/gradbench/gradbench; the programs are those in `examples/`.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "examples")]

from gradbench_tool.protocol import serve  # noqa: E402 (the path is set above)


def main() -> None:
    responses = sys.stdout
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    # Whatever a program prints must not come between two responses.
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve(sys.stdin, responses)


if __name__ == "__main__":
    main()
