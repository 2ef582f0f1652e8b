"""Measure all programs on this machine, beside C where there is C, and print one table.

    python benchmarks/run.py                       the table, one thread
    python benchmarks/run.py gmm10_25 lstm2        some programs of it
    python benchmarks/run.py --gallery             the other programs of examples/, without C
    python benchmarks/run.py --small               sizes that say nothing, for a look at whether all runs
    python benchmarks/run.py --threads 4 --json out/bench.json
    python benchmarks/run.py --peers               beside JAX, PyTorch and Numba too, where they are installed

First comes what the machine can do at most. Each program runs in a new process: first calls, memory, a
comparison with the results of C, then rounds in which all versions are called in turn, forwards and back.
Times are medians, in processor time where there is one thread, and ratios are medians of the ratios within a
round. Ours allocates what it gives, C writes into the same memory each time, and has one thread always.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "benchmarks", ROOT / "examples", ROOT / "src")
sys.path[:0] = [str(folder) for folder in FOLDERS]

from bench import machine, peers, table  # noqa: E402 (the path is set above)
from bench.c_code import NoCompilerError  # noqa: E402
from bench.cases import GALLERY, TABLE, Case  # noqa: E402

SMALL_ROUNDS = 1


def main() -> None:
    """Measure what was asked for, and print it."""
    cases = {case.name: case for case in (*TABLE, *GALLERY)}
    parser = argparse.ArgumentParser(description="Measure programs beside C, and print one table.")
    parser.add_argument("programs", nargs="*", help=f"some of {', '.join(cases)}")
    parser.add_argument("--gallery", action="store_true", help="the programs without C instead of the table")
    parser.add_argument("--peers", action="store_true", help="beside other systems too, some programs")
    parser.add_argument("--small", action="store_true", help="sizes that say nothing")
    parser.add_argument("--threads", type=int, default=1, help="workers of a parallel loop of ours")
    parser.add_argument("--rounds", type=int, default=11, help="how often each version is timed at least")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the numbers to a file, - for standard output"
    )
    options = parser.parse_args()
    unknown = [name for name in options.programs if name not in cases]
    if unknown:
        parser.error(f"no program `{unknown[0]}`; there are {', '.join(cases)}")
    missing = [peer for peer in peers.PEERS if options.peers and not peers.is_installed(peer)]
    options.others = [peer for peer in peers.PEERS if options.peers and peer not in missing]
    if options.peers and not options.others:
        parser.error(f"--peers: none of {', '.join(missing)} is installed")
    usual = GALLERY if options.gallery else [case for case in TABLE if case.peer or not options.peers]
    chosen = [cases[name] for name in options.programs] or [*usual]
    say = (lambda line: None) if str(options.json) == "-" else (lambda line: print(line, flush=True))
    for peer in missing:
        say(f"{peer} is not installed: there is no column of {peers.PEERS[peer]}")
    found = run(chosen, options, say)
    if options.json is not None:
        text = json.dumps(found, indent=2, ensure_ascii=False)
        if str(options.json) == "-":
            print(text)
        else:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(text + "\n", encoding="utf-8")


def run(chosen: list[Case], options: argparse.Namespace, say: Any) -> dict[str, Any]:
    """All numbers; each line is said when it is there."""
    found: dict[str, Any] = {"machine": machine.words(), "threads": options.threads, "limits": {}}
    threads = "one thread" if options.threads == 1 else f"{options.threads} threads"
    for line in (*found["machine"], f"{threads} of ours"):
        say(line)
    try:
        found["limits"] = machine.limits(options.small)
    except NoCompilerError as error:
        say(f"limits were not measured: {error}")
    for name, rate in found["limits"].items():
        say(f"    {name:<36}{rate:8.3g}")
    for line in table.heading(options.others):
        say(line)
    found["programs"] = {}
    for case, numbers in measured(chosen, options):
        found["programs"][case.name] = {"size": case.size, **numbers}
        for line in table.lines(case.name, case.size, numbers, options.others):
            say(line)
    with tempfile.TemporaryDirectory() as cache:
        (found["overhead"],) = ask(["overhead"], options, cache)
    overheads = ", ".join(f"{name} {1e6 * spent:.1f} µs" for name, spent in found["overhead"].items())
    say(f"\noverhead of a call: {overheads}")
    return found


def measured(chosen: list[Case], options: argparse.Namespace) -> Iterator[tuple[Case, dict[str, Any]]]:
    """The numbers of each program, of a process for each; of small sizes in one process, but not with peers,
    whose threads a process that is forked must not have."""
    groups = [chosen] if options.small and not options.others else [[case] for case in chosen]
    for group in groups:
        with tempfile.TemporaryDirectory() as cache:
            yield from zip(group, ask([case.name for case in group], options, cache), strict=True)


def ask(names: list[str], options: argparse.Namespace, cache: str) -> Iterator[dict[str, Any]]:
    """The answers of a new process, each when it is there."""
    environment = {
        **os.environ,
        "ANADROME_THREADS": str(options.threads),
        "ANADROME_CACHE_DIR": cache,
        "OPENBLAS_NUM_THREADS": str(options.threads),
        "OMP_NUM_THREADS": str(options.threads),
        "PYTHONPATH": os.pathsep.join(str(folder) for folder in FOLDERS),
    }
    rounds = SMALL_ROUNDS if options.small else options.rounds
    command = [sys.executable, "-m", "bench.worker", str(rounds), *names]
    command += ["--small"] * options.small + [f"--peers={','.join(options.others)}"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            yield json.loads(line)
    if worker.returncode:
        raise SystemExit(f"measuring {', '.join(names)} failed")


if __name__ == "__main__":
    main()
