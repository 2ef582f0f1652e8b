"""All kernels written by hand, family by family, and what is known to be wrong about some."""

from __future__ import annotations

from tests.kernels import atomics, grids, launches, loops, maps, order, reductions, shared, warps
from tests.kernels.case import Case

FAMILIES: dict[str, tuple[Case, ...]] = {
    "maps": maps.CASES,
    "loops": loops.CASES,
    "grids": grids.CASES,
    "shared": shared.CASES,
    "reductions": reductions.CASES,
    "order": order.CASES,
    "warps": warps.CASES,
    "atomics": atomics.CASES,
    "launches": launches.CASES,
}

CASES: dict[str, Case] = {f"{family}.{case}": case for family, cases in FAMILIES.items() for case in cases}

KNOWN: dict[tuple[str, str], str] = {}
"""(case, test) -> what is wrong; each such test must fail."""
