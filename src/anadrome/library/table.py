"""The table of library operations: every row of the files beside this one, by name."""

from __future__ import annotations

from anadrome.library import complex_decompositions, decompositions, fourier, order, sparse, systems
from anadrome.library.record import LibraryOperation

LIBRARY: dict[str, LibraryOperation] = {
    row.name: row
    for family in (systems, decompositions, complex_decompositions, fourier, order, sparse)
    for row in family.ROWS
}
"""Name -> row."""
