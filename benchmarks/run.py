"""Measure the twelve programs: objective, derivative, their ratio, memory, and the first call.

    python benchmarks/run.py                     the twelve, one thread, and the overhead of a call
    python benchmarks/run.py --larger            larger sizes, and four programs more
    python benchmarks/run.py gmm lstm            some of them
    python benchmarks/run.py --c                 GMM beside the loops of its objective in C as well
    python benchmarks/run.py --threads 4 --json out/bench.json

Each program runs in two new processes: the first without object cache, the second with what the first has
left there. Times are medians of calls made in turn; the ratio is the median of the ratios of neighbours.
Memory is how far the process grows above its size before the call. First calls compile; imports are not
counted in.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "benchmarks", ROOT / "examples", ROOT / "src")
sys.path[:0] = [str(folder) for folder in FOLDERS]

from bench.c_objective import PREFIX  # noqa: E402 (the path is set above)
from bench.cases import CASES, LARGER  # noqa: E402

COLUMNS = ("program", "size", "objective", "derivative", "ratio", "memory", "first call", "with cache")


def main() -> None:
    """Measure what was asked for, and print it."""
    names = [case.name for case in (*CASES, *LARGER)]
    parser = argparse.ArgumentParser(description="Measure the programs of examples/.")
    parser.add_argument("programs", nargs="*", help=f"some of {', '.join(names)}")
    parser.add_argument("--threads", type=int, default=1, help="workers of a parallel loop")
    parser.add_argument("--larger", action="store_true", help="the larger programs instead of the twelve")
    parser.add_argument("--c", action="store_true", help="compare GMM with its objective in C")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the numbers to a file, - for standard output"
    )
    options = parser.parse_args()
    unknown = [name for name in options.programs if name not in names]
    if unknown:
        parser.error(f"no program `{unknown[0]}`; there are {', '.join(names)}")
    usual = [case.name for case in (LARGER if options.larger else CASES)]
    found = run(options.programs or usual, options.threads, options.c, is_quiet=str(options.json) == "-")
    if options.json is not None:
        text = json.dumps(found, indent=2)
        if str(options.json) == "-":
            print(text)
        else:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(text + "\n", encoding="utf-8")


def run(names: list[str], threads: int, with_c: bool, is_quiet: bool) -> dict[str, Any]:
    """All numbers, by program; each line is printed when it is there."""
    found: dict[str, Any] = {"threads": threads, "programs": {}}
    if not is_quiet:
        print(row(COLUMNS))
    for case in (case for case in (*CASES, *LARGER) if case.name in names):
        with tempfile.TemporaryDirectory() as cache:
            cold = ask(case.name, "cold", threads, cache)
            warm = ask(case.name, "warm", threads, cache)
        found["programs"][case.name] = {"size": case.size, "cold": cold, "warm": warm}
        if not is_quiet:
            print(row(cells(case.name, case.size, cold, warm)), flush=True)
    with tempfile.TemporaryDirectory() as cache:
        found["overhead"] = ask("overhead", "warm", threads, cache)
        for name in (name for name in names if with_c and name.startswith(PREFIX)):
            found["programs"][name]["c"] = ask(name, "c", threads, cache)
    if not is_quiet:
        print(*closing(found), sep="\n")
    return found


def ask(name: str, mode: str, threads: int, cache: str) -> dict[str, Any]:
    """The answer of a new process."""
    environment = {
        **os.environ,
        "ANADROME_THREADS": str(threads),
        "ANADROME_CACHE_DIR": cache,
        "OPENBLAS_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(str(folder) for folder in FOLDERS),
    }
    command = [sys.executable, "-m", "bench.worker", name, mode]
    answer = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    numbers: dict[str, Any] = json.loads(answer.stdout)
    return numbers


# ---------------------------------------------------------------------------- words
def cells(name: str, size: str, cold: dict[str, Any], warm: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table."""
    return (
        name,
        size,
        seconds(warm["objective"]),
        seconds(warm["derivative"]),
        f"{warm['ratio']:.2f}",
        memory(warm["derivative_bytes"]),
        seconds(cold["first_derivative"]),
        seconds(warm["first_derivative"]),
    )


def row(words: tuple[str, ...]) -> str:
    """Words in columns."""
    name, size, *rest = words
    return f"{name:<12} {size:<26}" + "".join(f"{word:>12}" for word in rest)


def closing(found: dict[str, Any]) -> list[str]:
    """The lines after the table."""
    overheads = ", ".join(f"{name} {1e6 * spent:.1f} µs" for name, spent in found["overhead"].items())
    lines = ["", f"overhead of a call: {overheads}"]
    for name, program in found["programs"].items():
        if "c" in program:
            numbers = program["c"]
            words = f"objective {numbers['objective']:.2f}, gradient {numbers['derivative']:.2f}"
            lines.append(f"{name} in C {seconds(numbers['c'])}, of this {words}")
    return lines


def seconds(value: float) -> str:
    """A duration for people."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def memory(count: int | None) -> str:
    """A number of bytes for people."""
    if count is None:
        return "unknown"
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count // 1024} KiB"


if __name__ == "__main__":
    main()
