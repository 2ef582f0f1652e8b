"""The programs whose gradients cost more than six times their work, by how much at most, and why.

Not one of them grows with the size. Programs that ask for snapshots by the logarithm (`Program.policy`) are
not bounded: an iteration runs again as often as the logarithm of the number of iterations, which no schedule
with so few states can avoid (docs/memory.md); 4.9, 5.9 and 6.6 times the program at 8, 64 and 256 iterations
of `policies.kept_by_logarithms`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """The largest ratio at the tested sizes, and its reason."""

    figure: float
    reason: str


COMPOSED = (
    "the adjoint of a scan is a scan of linear functions: two products and a sum in place of one product"
)
INVERTED = "an item is taken out of the result twice before that is believed, by divisions, and once after"

EXCEPTIONS: dict[str, Allowance] = {
    "complex_numbers.durand_kerner": Allowance(
        7.5,
        "a complex quotient is a choice of two, and what either side may spoil is looked at before products",
    ),
    "complex_numbers.folded": Allowance(7.3, COMPOSED),
    "corners.reduction_without_commuting": Allowance(
        8.5, "the program computes two columns of three, its gradient the product of the matrices, whole"
    ),
    "for_loops.early_return_of_an_inner_loop": Allowance(
        6.4, "each loop that may be left early is first run to count its iterations"
    ),
    "operators.reduce_with_an_inverse": Allowance(7.4, INVERTED),
    "operators.reduction_under_a_loop": Allowance(
        6.7, "a reduction by an operator of one's own is differentiated by two scans of it"
    ),
    "reductions.extrema_of_rows_with_ties": Allowance(
        6.1, "six elements: who is the extremum is written out for each, and has a branch of its own"
    ),
    "scans.matrix_products_two_by_two": Allowance(
        6.6, "every product of two elements adds to the adjoints of both, element by element, in memory"
    ),
}
