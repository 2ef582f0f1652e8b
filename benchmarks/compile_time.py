"""Measure how long programs take until their first call returns, in processor time, by the stages.

    python benchmarks/compile_time.py                        all programs, this source
    python benchmarks/compile_time.py optics network         some of them
    python benchmarks/compile_time.py --against ../before    beside another checkout, in turn
    python benchmarks/compile_time.py --kept                 in later processes, which find programs on disk

Each program runs in a new process without object cache; what a second call takes is subtracted, and LLVM was
started before. A timer of the processor's time samples which stage is at work. `--rounds` processes are
started for each program, and times are medians. Those that take minutes are measured by name alone. With
`--kept` a process before has left its programs, and seconds are those of the clock on the wall.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "benchmarks", ROOT / "examples")
sys.path[:0] = [str(folder) for folder in (*FOLDERS, ROOT / "src")]

from bench.compile_programs import LONG, PROGRAMS  # noqa: E402 (the path is set above)

PARTS = ("front end", "AD", "passes", "schedule", "code", "LLVM", "other")


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(description="Measure the processor time of first calls.")
    parser.add_argument("programs", nargs="*", help=f"some of import, {', '.join((*PROGRAMS, *LONG))}")
    parser.add_argument("--against", type=Path, help="another checkout, whose sources are measured in turn")
    parser.add_argument("--kept", action="store_true", help="measure processes that find programs on disk")
    parser.add_argument("--rounds", type=int, default=3, help="how many processes of each program")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to a file too")
    options = parser.parse_args()
    names = options.programs or ([] if options.kept else ["import"]) + [*PROGRAMS]
    unknown = [name for name in names if name not in ("import", *PROGRAMS, *LONG)]
    if unknown:
        parser.error(f"no program `{unknown[0]}`")
    trees = [ROOT] if options.against is None else [options.against.resolve(), ROOT]
    heading = "".join(f"{part:>10}" for part in PARTS)
    print(
        f"{'seconds':<18}{'before' if options.against else '':>8}{'all':>8}{'':>7}{heading}{'MB':>7}",
        flush=True,
    )
    found = {}
    for name in names:
        runs: dict[Path, list[dict[str, Any]]] = {tree: [] for tree in trees}
        with tempfile.TemporaryDirectory() as folder:
            caches = {tree: [f"{folder}/{place}"] if options.kept else [] for place, tree in enumerate(trees)}
            for tree in trees if options.kept else ():
                measured(name, tree, caches[tree])
            for turn in range(options.rounds):
                for tree in trees[:: 1 if turn % 2 else -1]:
                    runs[tree].append(measured(name, tree, caches[tree]))
        found[name] = {str(tree): runs[tree] for tree in trees}
        print(line(name, [runs[tree] for tree in trees]), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def measured(name: str, tree: Path, cache: list[str]) -> dict[str, Any]:
    """The numbers of one process, which finds programs in a folder, if one is named."""
    environment = {
        **os.environ,
        "ANADROME_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(str(folder) for folder in (*FOLDERS, tree / "src")),
    }
    command = [sys.executable, "-m", "bench.compile_worker", name, *cache]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed in {tree}:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def line(name: str, runs: list[list[dict[str, Any]]]) -> str:
    """The line of one program: the last of the trees is this source."""
    seconds = [statistics.median(run["seconds"] for run in of_tree) for of_tree in runs]
    before = f"{seconds[0]:8.3f}" if len(runs) > 1 else f"{'':8}"
    ratio = f"{seconds[-1] / seconds[0]:7.2f}" if len(runs) > 1 else f"{'':7}"
    parts = "".join(
        f"{statistics.median(run['parts'].get(part, 0.0) for run in runs[-1]):10.2f}" for part in PARTS
    )
    memory = statistics.median(run["memory"] for run in runs[-1]) / 1e6
    return f"{name:<18}{before}{seconds[-1]:8.3f}{ratio}{parts}{memory:7.0f}"


if __name__ == "__main__":
    main()
