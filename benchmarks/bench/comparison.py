"""What measurements of several versions of a program share: command and ratios."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Mapping
from typing import TypeVar

from bench.clock import keep_freed_memory

Case = TypeVar("Case")
Found = dict[str, dict[str, float]]
"""`seconds` of each version, the median, and `ratios`, medians of the ratios within a round."""


def run(
    description: str,
    cases: Mapping[str, Case],
    measured: Callable[[Case, int, bool], Found],
    show: Callable[[str, Case, Found], None],
) -> None:
    """Measure the cases that the command line names: `measured(case, rounds, is_small)`, then print."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("programs", nargs="*", help=f"some of {', '.join(cases)}")
    parser.add_argument("--rounds", type=int, default=9, help="how often each version is timed")
    parser.add_argument("--small", action="store_true", help="take sizes that say nothing")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    unknown = [name for name in options.programs if name not in cases]
    if unknown:
        parser.error(f"no program `{unknown[0]}`; there are {', '.join(cases)}")
    keep_freed_memory()
    found = {}
    for name in options.programs or cases:
        found[name] = measured(cases[name], options.rounds, options.small)
        if not options.json:
            show(name, cases[name], found[name])
    if options.json:
        print(json.dumps(found, indent=2))


def medians(times: Mapping[str, list[float]], ratios: Mapping[str, tuple[str, str]]) -> Found:
    """Of the times of each round: `ratios` names the two versions that each ratio divides."""
    found = {
        words: statistics.median(one / other for one, other in zip(times[above], times[below], strict=True))
        for words, (above, below) in ratios.items()
    }
    return {"seconds": {name: statistics.median(taken) for name, taken in times.items()}, "ratios": found}
