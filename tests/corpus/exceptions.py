"""The programs whose gradients cost more than six times their work, by how much at most, and why.

Not one of them may grow with the size; what does is in `GROWING` until it is mended.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """The largest ratio at the tested sizes, and its reason."""

    figure: float
    reason: str


TWICE = "the loop runs forward twice: for its value, and to store what the return sweep needs"
AGAIN = "the place of an extremum is looked for in a second pass over what was compared"
ELEMENTS = "every product of two elements adds to the adjoints of both, element by element, in memory"
ZEROS = "zeros are counted and left out: two reductions, a comparison and a choice in place of one product"
COMPOSED = (
    "the adjoint of a scan is a scan of linear functions: two products and a sum in place of one product"
)

GROWING = {
    "indexing.tile_and_repeat": "the adjoint of one row of a product of vectors is built as the whole matrix",
}
"""What is known to grow, and is to be mended: these tests fail, and say so when they do not any more."""

EXCEPTIONS: dict[str, Allowance] = {
    "corners.reduction_without_commuting": Allowance(9.5, ELEMENTS),
    "for_loops.early_return_of_an_inner_loop": Allowance(
        7.4, "each loop that may be left early is first run to count its iterations"
    ),
    "indexing.view_of_a_view": Allowance(
        6.6, "the program reads two columns of four; its views are undone one by one, whole"
    ),
    "linear_algebra.cholesky_density": Allowance(
        6.6, "two triangular systems with n right sides and a product stand against n³/3 operations"
    ),
    "models.kalman_of_two": Allowance(6.6, TWICE),
    "models.viterbi": Allowance(6.5, AGAIN),
    "operators.reduction_under_a_loop": Allowance(
        7.6, "a reduction by an operator of one's own is differentiated by two scans of it"
    ),
    "policies.left_early_under_a_policy": Allowance(
        6.4, "sqrt: an iteration runs again twice; a loop that may be left early is first run to count"
    ),
    "reductions.extrema_of_columns": Allowance(8.8, AGAIN),
    "reductions.extrema_of_rows": Allowance(9.1, AGAIN),
    "reductions.extrema_of_rows_with_ties": Allowance(6.5, AGAIN),
    "reductions.product_by_loop": Allowance(6.1, TWICE),
    "reductions.product_by_loop_with_a_zero": Allowance(6.1, TWICE),
    "reductions.product_with_a_zero": Allowance(6.3, ZEROS),
    "reductions.product_with_two_zeros": Allowance(6.3, ZEROS),
    "reductions.product_with_three_zeros": Allowance(6.3, ZEROS),
    "scans.cumulative_product": Allowance(6.4, COMPOSED),
    "scans.cumulative_product_with_a_zero": Allowance(6.4, COMPOSED),
    "scans.cumulative_product_with_two_zeros": Allowance(6.4, COMPOSED),
    "scans.matrix_products_two_by_two": Allowance(7.6, ELEMENTS),
    "simulations.implicit_euler_by_newton": Allowance(6.1, TWICE),
    "structures.dataclass_carried": Allowance(
        11.2, "what is the same in all four iterations is computed once, but its adjoint formed in each"
    ),
    "while_loops.vector_until_converged": Allowance(
        6.5, "a loop without a bound is first run to count its iterations"
    ),
}
