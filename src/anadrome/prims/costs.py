"""From when on work is much: the thresholds that several stages share.

Costs are those of the table's rows (`prims.record.Prim.cost`): an addition costs 1.
"""

EXPENSIVE = 10
"""The cost of an operation that is worth a store and a load, or work to do it once: that of functions which
are called."""
SHORT = 16
"""Loops of at most so many iterations, where that is a constant, are unrolled, and what they go along stays
in the cache however they read it."""
LEAST_WORK = 250_000
"""Scalar operations below which a fork and join costs more than it saves."""
COPY_FACTOR = 4
"""Scalar operations that one element of a worker's private copy costs: filled, added, evicted."""
UNKNOWN_EXTENT = 8
"""The iterations assumed of an inner loop whose extent is computed in the body."""
