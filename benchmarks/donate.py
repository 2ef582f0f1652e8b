"""What a caller saves who gives an argument away: steps of a state of 10⁷ numbers, with and without.

`python benchmarks/donate.py` makes the table of docs/memory.md. Each row is a process of its own: the
processor time of a call is the least of 15, and `grown` is what the process grew by after its first state.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import anadrome as ad

SIZE = 10**7
CALLS = 15


def one_element(x, rate):
    y = x.copy()
    y[7] += rate
    return y


def all_elements(x, rate):
    y = x.copy()
    y += rate
    return y


def ten_steps(x, rate):
    y = x.copy()
    for _ in range(10):
        y[1:-1] += rate * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


PROGRAMS: dict[str, Callable[..., np.ndarray]] = {
    "y[7] += rate": one_element,
    "y += rate": all_elements,
    "ten steps of a stencil": ten_steps,
}


def peak_megabytes() -> float:
    """The most that the process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(name: str, is_donated: bool, keeps: bool) -> str:
    """A row's figures: milliseconds of processor time and megabytes."""
    if not keeps:
        ad.release_memory(keep=0)
    step = ad.jit(PROGRAMS[name], config=ad.Config(threads=1), donate_argnums=0 if is_donated else ())
    step(np.ones(2000), 1e-3)
    x = np.ones(SIZE)
    before, spent = peak_megabytes(), []
    for _ in range(CALLS):
        start = time.process_time()
        x = step(x, 1e-3)
        spent.append(time.process_time() - start)
    return f"{1e3 * min(spent):.2f} ms, {peak_megabytes() - before:.0f} MB"


def main() -> None:
    """Print the table, or one figure of it in a child."""
    if len(sys.argv) > 1:
        name, is_donated, keeps = sys.argv[1:]
        print(measure(name, is_donated == "1", keeps == "1"))
        return
    print("| step | plain | donated | plain, nothing kept | donated, nothing kept |\n|---|---|---|---|---|")
    for name in PROGRAMS:
        cells = []
        for keeps in ("1", "0"):
            for is_donated in ("0", "1"):
                command = [sys.executable, __file__, name, is_donated, keeps]
                cells.append(
                    subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
                )
        print(f"| `{name}` | {' | '.join(cells)} |" if "=" in name else f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
