"""What `rsbench` and `xsbench` share: their random numbers, and the materials of a reactor.

Both draw from x ← (A·x + 1) mod 2⁶³, and both meet the twelve materials of the small Hoogenboom-Martin
reactor, with 68 nuclides. Data are drawn with NumPy, energies and materials of look-ups by the threads
themselves, which jump to their place in the sequence.

Tramm, Siegel, Islam and Schulz, "XSBench: the development and verification of a performance abstraction for
Monte Carlo reactor analysis", 2014.
"""

import numpy as np

FACTOR, MASK, RANGE = 2806196910506780709, 2**63 - 1, 2.0**63
NUCLIDES, DATA_SEED, LOOKUP_SEED = 68, 42, 1070
PRIME = 999983
"""Checksums are taken modulo this number."""

STEEL = [19, 20, 21, 22, 35, 36, 37, 38, 39, 25]
WATER = [24, 41, 4, 5]
CLADDING = [63, 64, 65, 66, 67]
NOZZLE = [*WATER, *STEEL, 49, 50, 51, 11, 12, 13, 14]
FUEL = [
    58,
    59,
    60,
    61,
    40,
    42,
    43,
    44,
    45,
    46,
    1,
    2,
    3,
    7,
    8,
    9,
    10,
    29,
    57,
    47,
    48,
    0,
    62,
    15,
    33,
    34,
    52,
    53,
]
FUEL += [54, 55, 56, 18, 23, 41]
VESSEL = [*STEEL, 27, 28, 29, 30, 31, 32, 26, 49, 50, 51, 11, 12, 13, 14, 6, 16, 17]
TOP = [*WATER, *CLADDING]
MATERIALS = [FUEL, CLADDING, WATER, WATER, VESSEL, NOZZLE, NOZZLE, NOZZLE, NOZZLE, NOZZLE, TOP, TOP]

SHARES = [0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013]
UP_TO = np.array([0.0, *np.cumsum(SHARES)])
"""A draw below UP_TO[m], and not below those before it, meets material m; one above all of them fuel."""


# ---------------------------------------------------------------------------- data
def states(seed: int, count: int) -> np.ndarray:
    """The first states of the generator after `seed`: a jump of twice the length doubles what is there."""
    found = np.empty(count, np.uint64)
    mask = np.uint64(MASK)
    found[0] = (FACTOR * seed + 1) & MASK
    there, factor, offset = 1, FACTOR, 1
    while there < count:
        more = min(there, count - there)
        found[there : there + more] = (found[:more] * np.uint64(factor) + np.uint64(offset)) & mask
        factor, offset = factor * factor & MASK, (factor + 1) * offset & MASK
        there += more
    return found


def uniform(seed: int, count: int) -> np.ndarray:
    """Draws from 0 to 1."""
    return states(seed, count) / RANGE


def nuclides() -> tuple[np.ndarray, np.ndarray]:
    """The nuclides of each material, padded with zeros, and how many there are."""
    counts = np.array([len(material) for material in MATERIALS])
    found = np.zeros((len(counts), counts.max()), np.int64)
    for row, material in zip(found, MATERIALS, strict=True):
        row[: len(material)] = material
    return found, counts


def concentrations(draws: np.ndarray) -> np.ndarray:
    """A draw for each nuclide in each material."""
    found, counts = nuclides()
    where = np.arange(found.shape[1]) < counts[:, None]
    result = np.zeros(found.shape)
    result[where] = draws
    return result


# ---------------------------------------------------------------------------- what a thread draws
def jumped(seed: int, steps: int) -> int:
    """The state so many steps after `seed`."""
    factor, offset, all_factors, all_offsets = FACTOR, 1, 1, 0
    while steps > 0:
        if steps & 1 == 1:
            all_factors, all_offsets = all_factors * factor & MASK, (all_offsets * factor + offset) & MASK
        factor, offset = factor * factor & MASK, (factor + 1) * offset & MASK
        steps >>= 1
    return (all_factors * seed + all_offsets) & MASK


def met(draw: float) -> int:
    """The material that a draw says."""
    for material in range(12):
        if draw < UP_TO[material]:
            return material
    return 0


def drawn(lookup: int) -> tuple[float, int]:
    """The energy and the material of a look-up."""
    state = (jumped(LOOKUP_SEED, 2 * lookup) * FACTOR + 1) & MASK
    following = (state * FACTOR + 1) & MASK
    return state / RANGE, met(following / RANGE)


def checksum(found: np.ndarray) -> int:
    """Which component is the largest, counted from one, summed over look-ups."""
    return int(np.sum(np.argmax(found, axis=1) + 1) % PRIME)
