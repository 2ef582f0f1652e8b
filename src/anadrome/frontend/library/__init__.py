"""The compiled forms of NumPy, SciPy and `math` functions, methods and attributes: three literal tables.

A compiled form takes the context and the call's arguments, each a static or a staged value, and gives a
value. It is called when an argument is staged, or when its result would be an array. Values, scalar types and
shapes are NumPy's. An argument a form does not take is refused by its name (`common.checked`).
"""

from __future__ import annotations

from anadrome.frontend.context import StagedCall
from anadrome.frontend.library import (
    bins,
    contraction,
    creation,
    decompositions,
    distributions,
    editing,
    elementwise,
    everyday,
    factored,
    in_place,
    index_arrays,
    integers,
    joining,
    least_squares,
    linear,
    log_sums,
    mathematics,
    matrix_functions,
    multivariate,
    norms,
    order,
    padding,
    polynomials,
    prefixes,
    quantiles,
    reductions,
    row_functions,
    selecting,
    sets,
    shape,
    sparse,
    special,
    splines,
    statistics_functions,
    without_nan,
)
from anadrome.frontend.library.attributes import ATTRIBUTES
from anadrome.frontend.library.common import checked, table_name
from anadrome.frontend.library.in_place import into, method_into
from anadrome.frontend.tables import Table

_FAMILIES = (
    *(
        elementwise,
        everyday,
        mathematics,
        reductions,
        contraction,
        linear,
        norms,
        matrix_functions,
        decompositions,
        least_squares,
        factored,
        shape,
        joining,
        creation,
        order,
    ),
    *(quantiles, padding, bins, selecting, everyday, special, log_sums, distributions, multivariate, splines),
    *(in_place, editing, prefixes, polynomials, row_functions),
    *(index_arrays, integers, statistics_functions, sparse, sets, without_nan),
)

CALLS: Table[StagedCall] = Table(
    (family.CALLS for family in _FAMILIES),
    lambda function, form: into(function, checked(table_name(function), form)),
)
"""A Python callable -> its compiled form: function(context, *args, **kwargs) -> value."""

METHODS: dict[str, StagedCall] = {
    name: method_into(name, checked(name, form))
    for family in (
        *(elementwise, reductions, contraction, linear, shape, creation, order, selecting),
        *(in_place, prefixes),
    )
    for name, form in family.METHODS.items()
}
"""The name of an array method -> function(context, array, *args, **kwargs) -> value."""

__all__ = ["ATTRIBUTES", "CALLS", "METHODS"]
