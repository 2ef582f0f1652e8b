"""Fail when a Python file is over 600 lines, or a function of the package over 80, naming it.

Run from anywhere: `python scripts/check_lengths.py`, or with another project root as its argument.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LIMIT = 600
FUNCTION_LIMIT = 80
FILE_FOLDERS = ("src", "tests", "benchmarks", "examples", "scripts")
FUNCTION_FOLDERS = ("src",)


def long_files(root: Path) -> Iterator[str]:
    """One line for each Python file above the limit."""
    for path in _python_files(root, FILE_FOLDERS):
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > FILE_LIMIT:
            yield f"{path.relative_to(root)}: {count} lines, the limit is {FILE_LIMIT}"


def long_functions(root: Path) -> Iterator[str]:
    """One line for each function above the limit, counted from its `def` to its last line."""
    for path in _python_files(root, FUNCTION_FOLDERS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > FUNCTION_LIMIT:
                place = f"{path.relative_to(root)}:{node.lineno}"
                yield f"{place}: `{node.name}` has {count} lines, the limit is {FUNCTION_LIMIT}"


def _python_files(root: Path, folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((root / folder).rglob("*.py"))


def main(root: Path) -> int:
    """Print what is too long; 1 if anything is."""
    findings = [*long_files(root), *long_functions(root)]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
