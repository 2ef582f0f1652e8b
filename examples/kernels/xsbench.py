"""XSBench: macroscopic cross sections from tables, found by a search in the union of all energies.

It teaches gathers from large tables: a thread searches, reads two rows of a table for each nuclide and
interpolates between them. The search has no derivative, the rows have one, energies included. Nothing that
the derivative needs is kept: it is all read again.

Tramm, Siegel, Islam and Schulz, "XSBench: the development and verification of a performance abstraction for
Monte Carlo reactor analysis", 2014. The checksum of 17,000,000 look-ups in the small problem is 945990.
"""

import sys
from typing import NamedTuple

import numpy as np
import reactor

import anadrome as ad

THREADS = 128


class Data(NamedTuple):
    """What a look-up reads beside the tables, whose rows are an energy and five cross sections."""

    energies: np.ndarray
    """All energies of all nuclides, in order."""
    rows: np.ndarray
    """For each of these and each nuclide, the last row of its table that is not above."""
    nuclides: np.ndarray
    nuclide_counts: np.ndarray
    concentrations: np.ndarray


# ---------------------------------------------------------------------------- mathematics
def found_below(energies: np.ndarray, energy: float) -> int:
    """Where the last of the energies is that is not above this one."""
    low, high = 0, len(energies) - 1
    while high - low > 1:
        middle = low + (high - low) // 2
        if energies[middle] > energy:
            high = middle
        else:
            low = middle
    return low


def macro(tables: np.ndarray, data: Data, lookup: int) -> tuple[float, float, float, float, float]:
    """The five cross sections of a look-up: total, elastic, absorption, fission, and neutrons of fission."""
    energy, material = reactor.drawn(lookup)
    place = found_below(data.energies, energy)
    total, elastic, absorbed, fission, neutrons = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(data.nuclide_counts[material]):
        nuclide = data.nuclides[material, k]
        concentration = data.concentrations[material, k]
        row = data.rows[place, nuclide]
        low, high = tables[nuclide, row], tables[nuclide, row + 1]
        share = (high[0] - energy) / (high[0] - low[0])
        total += concentration * (high[1] - share * (high[1] - low[1]))
        elastic += concentration * (high[2] - share * (high[2] - low[2]))
        absorbed += concentration * (high[3] - share * (high[3] - low[3]))
        fission += concentration * (high[4] - share * (high[4] - low[4]))
        neutrons += concentration * (high[5] - share * (high[5] - low[5]))
    return total, elastic, absorbed, fission, neutrons


# ---------------------------------------------------------------------------- programs
@ad.kernel
def look_up(tables, data, found):
    i = ad.grid(1)
    if i < found.shape[0]:
        found[i, 0], found[i, 1], found[i, 2], found[i, 3], found[i, 4] = macro(tables, data, i)


@ad.jit
def by_kernel(tables: np.ndarray, data: Data, lookups: int) -> np.ndarray:
    found = np.zeros((lookups, 5))
    look_up[(lookups + THREADS - 1) // THREADS, THREADS](tables, data, found)
    return found


@ad.jit
def by_array(tables: np.ndarray, data: Data, lookups: int) -> np.ndarray:
    return np.array([np.array(macro(tables, data, i)) for i in range(lookups)])


@ad.jit
def loss(tables: np.ndarray, data: Data, lookups: int) -> float:
    """The sum of all components of all look-ups."""
    return np.sum(by_kernel(tables, data, lookups))


@ad.jit
def array_loss(tables: np.ndarray, data: Data, lookups: int) -> float:
    return np.sum(by_array(tables, data, lookups))


value_and_gradient = ad.value_and_grad(loss)
array_value_and_gradient = ad.value_and_grad(array_loss)


# ---------------------------------------------------------------------------- data
def problem(points: int = 11303) -> tuple[np.ndarray, Data]:
    """Tables and the rest, drawn as XSBench draws them; the number of points is that of the small problem."""
    draws = reactor.uniform(reactor.DATA_SEED, reactor.NUCLIDES * points * 6)
    tables = draws.reshape(reactor.NUCLIDES, points, 6)
    order = np.argsort(tables[:, :, 0], axis=1, kind="stable")
    tables = np.take_along_axis(tables, order[:, :, None], axis=1)
    energies = np.sort(tables[:, :, 0], axis=None)
    rows = np.empty((len(energies), reactor.NUCLIDES), np.int32)
    for nuclide, table in enumerate(tables):
        rows[:, nuclide] = np.clip(np.searchsorted(table[:, 0], energies, side="right") - 1, 0, points - 2)
    nuclides, counts = reactor.nuclides()
    concentrations = reactor.concentrations(reactor.uniform(reactor.LOOKUP_SEED**2, int(sum(counts))))
    return tables, Data(energies, rows, nuclides, counts, concentrations)


# ---------------------------------------------------------------------------- reference
def reference(tables: np.ndarray, data: Data, lookups: int) -> float:
    """Interpolation of the table of each nuclide; where it ends, the line through its two last points."""
    draws = reactor.uniform(reactor.LOOKUP_SEED, 2 * lookups).reshape(lookups, 2)
    total = 0.0
    for energy, second in draws:
        material = next((m for m in range(12) if second < reactor.UP_TO[m]), 0)
        place = np.searchsorted(data.energies, energy, side="right") - 1
        for k in range(data.nuclide_counts[material]):
            nuclide = data.nuclides[material, k]
            low, high = tables[nuclide, data.rows[place, nuclide] :][:2]
            share = (energy - low[0]) / (high[0] - low[0])
            total += data.concentrations[material, k] * np.sum((low + share * (high - low))[1:])
    return float(total)


def sample(_: np.random.Generator) -> tuple[np.ndarray, Data, int]:
    return *problem(60), 300


def main() -> None:
    """With the argument `full`, the small problem of XSBench in full size."""
    if sys.argv[1:] == ["full"]:
        print(f"checksum {reactor.checksum(by_kernel(*problem(), 17_000_000))}, published 945990")
        return
    tables, data, lookups = sample(np.random.default_rng(0))
    value, tables_adj = value_and_gradient(tables, data, lookups)
    print(f"{lookups} look-ups: {value:.8f}, NumPy {reference(tables, data, lookups):.8f}")
    again, array_adj = array_value_and_gradient(tables, data, lookups)
    print(f"as an array program {again:.8f}")
    scale = np.max(np.abs(array_adj))
    print(f"gradients: largest error {np.max(np.abs(tables_adj - array_adj)) / scale:.1e}")


if __name__ == "__main__":
    main()
