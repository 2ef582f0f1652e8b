"""Reductions, scans, histograms, scatters, sorts and filters with operators of the user's own.

Every one of these works on plain NumPy as well, one value after the other: that is what it means. Inside a
compiled function it is one parallel construct, with a derivative in every mode. An operator is assumed to be
associative, and its identity neutral; neither can be checked, and where they are not the result depends on
how the work is divided. docs/parallel.md shows all of them.

Source of the operations: Henriksen et al. 2017 (Futhark), PLDI, §2; of their derivatives: Bruun et al. 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.api import plain
from anadrome.frontend.context import Context
from anadrome.frontend.library import order
from anadrome.frontend.library.common import checked
from anadrome.frontend.parallel import folds, places, selection
from anadrome.frontend.values import Value
from anadrome.frontend.verbs import Verb

Operator = str | Callable[..., Any]


def compiled_as(inside: Callable[..., Value]) -> Callable[[Callable[..., Any]], Verb[..., Any]]:
    """Give a Python function its compiled form, which names it in errors as users do."""

    def attach(outside: Callable[..., Any]) -> Verb[..., Any]:
        return Verb(outside, checked(f"ad.{outside.__name__}", inside))

    return attach


def _sort_values(context: Context, x: Value, axis: Value = -1) -> Value:
    return order.sort(context, x, axis)


def _argsort_values(context: Context, x: Value, axis: Value = -1) -> Value:
    return order.argsort(context, x, axis)


@compiled_as(folds.reduce_items)
def reduce(
    operator: Operator,
    xs: Any,
    identity: Any = None,
    axis: int = 0,
    inverse: Callable[..., Any] | None = None,
) -> Any:
    """All items combined: `x[0] ⊕ x[1] ⊕ …`.

    `operator` is "add", "mul", "min", "max" (of numbers), "and", "or" (of bools), or a function of two values
    of one type; a function needs its `identity`. `xs` is an array, whose rows along `axis` are the items, a
    container of arrays, whose rows are taken together, or anything a comprehension goes over. Items may be
    numbers, arrays, and tuples, dicts or dataclasses of them; the result is like an item and keeps its type.
    Of a named operator the `identity` may be left out; what is given is combined in front. `inverse(r, x)`
    takes x off the end of r again, `inverse(operator(l, x), x) == l`, and makes derivatives cheaper: what it
    gives is believed where it is finite, and `check_grads` finds one that is wrong (docs/parallel.md).

    Raises `UnknownOperator`, `IdentityMissing`, `IdentityDiffers` and `OperatorDiffers`, and for the least or
    greatest of nothing `EmptyReduction`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> xs = np.array([3.0, 1.0, 2.0])
    >>> float(ad.reduce("mul", xs))
    6.0
    >>> float(ad.grad(lambda xs: ad.reduce(lambda a, b: a + b + a * b, xs, identity=0.0))(xs)[0])
    6.0
    """
    return plain.reduce(operator, xs, identity, axis, inverse)


@compiled_as(folds.scan_items)
def scan(operator: Operator, xs: Any, identity: Any = None, exclusive: bool = False, axis: int = 0) -> Any:
    """The prefixes of `reduce`: `x[0], x[0] ⊕ x[1], …`, an array (or a container of arrays) as long as xs.

    An exclusive scan begins with the identity and leaves the last item out. Arguments and errors are those of
    `reduce`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.scan("max", np.array([1, 3, 2]))
    array([1, 3, 3])
    >>> ad.scan("add", np.array([1, 3, 2]), exclusive=True)
    array([0, 1, 4])
    """
    return plain.scan(operator, xs, identity, exclusive, axis)


@compiled_as(places.reduce_by_index_items)
def reduce_by_index(
    init: Any,
    operator: Operator,
    at: Any,
    values: Any,
    identity: Any = None,
    bounds: str = "error",
    inverse: Callable[..., Any] | None = None,
) -> Any:
    """A generalised histogram: for every i, `result[at[i]] = result[at[i]] ⊕ values[i]`, in order.

    `init` is the array to begin with, which is not changed, or its size (a shape for several dimensions):
    then it begins with the operator's identity. `at` is an array of integers, or a tuple of them, one for
    each dimension of `init` that is indexed; `values` has a number or a row for each place, or is one number
    for all. Negative places count from the end. A place outside raises an `IndexError` that names the line;
    with `bounds="ignore"` its value is left out. `inverse` is that of `reduce`.

    Values keep the type of `init`; raises `CastRefused` where they would lose their kind, and the errors of
    `reduce` for the operator and its identity.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.reduce_by_index(3, "add", np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]))
    array([4., 0., 2.])
    >>> ad.reduce_by_index(np.zeros(3), "max", np.array([0, 5]), 1.0, bounds="ignore")
    array([1., 0., 0.])
    """
    return plain.placed("ad.reduce_by_index", init, at, values, bounds, operator, identity, inverse)


@compiled_as(places.scatter_items)
def scatter(init: Any, at: Any, values: Any, bounds: str = "error") -> Any:
    """A copy of `init` with `values[i]` put at `at[i]`; of several values for one place the last one stays.

    Arguments are those of `reduce_by_index`. The value that stays gets the gradient.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.scatter(np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]))
    array([2., 0., 3.])
    """
    return plain.placed("ad.scatter", init, at, values, bounds)


@compiled_as(places.segments("ad.segment_sum", "add"))
def segment_sum(values: Any, segment_ids: Any, count: int, bounds: str = "error") -> Any:
    """The sum of the values of each segment: `reduce_by_index(count, "add", segment_ids, values)`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.segment_sum(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 3)
    array([2., 4., 0.])
    """
    return plain.placed("ad.segment_sum", count, segment_ids, values, bounds, "add")


@compiled_as(places.segments("ad.segment_prod", "mul"))
def segment_prod(values: Any, segment_ids: Any, count: int, bounds: str = "error") -> Any:
    """The product of the values of each segment; 1 where there is none.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.segment_prod(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 3)
    array([2., 3., 1.])
    """
    return plain.placed("ad.segment_prod", count, segment_ids, values, bounds, "mul")


@compiled_as(places.segments("ad.segment_max", "max"))
def segment_max(values: Any, segment_ids: Any, count: int, bounds: str = "error") -> Any:
    """The greatest value of each segment; minus infinity (of integers the least) where there is none.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.segment_max(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 2)
    array([2., 3.])
    """
    return plain.placed("ad.segment_max", count, segment_ids, values, bounds, "max")


@compiled_as(places.segments("ad.segment_min", "min"))
def segment_min(values: Any, segment_ids: Any, count: int, bounds: str = "error") -> Any:
    """The least value of each segment; infinity (of integers the greatest) where there is none.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.segment_min(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 2)
    array([2., 1.])
    """
    return plain.placed("ad.segment_min", count, segment_ids, values, bounds, "min")


@compiled_as(_sort_values)
def sort(x: Any, axis: int | None = -1) -> Any:
    """A sorted copy along an axis; its derivative goes with the elements. NaNs come last.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.grad(lambda x: ad.sort(x)[0])(np.array([3.0, 1.0, 2.0]))
    array([0., 1., 0.])
    """
    return np.sort(x, axis, kind="stable")


@compiled_as(_argsort_values)
def argsort(x: Any, axis: int | None = -1) -> Any:
    """The indices that sort, equal elements in their order.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.argsort(np.array([3.0, 1.0, 1.0]))
    array([1, 2, 0])
    """
    return np.argsort(x, axis, kind="stable")


@compiled_as(selection.filter_items)
def filter(predicate: Any, xs: Any) -> Any:
    """The items for which `predicate(item)` holds, in order, as an array (or a container of arrays).

    `predicate` may also be a vector of bools, one for each item. How many items are kept is known at run time
    only; the result serves as any array. `xs` is what `reduce` takes.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.filter(lambda x: x > 1, np.array([3.0, 1.0, 2.0]))
    array([3., 2.])
    """
    return plain.kept(predicate, xs)


@compiled_as(selection.map_items)
def map(function: Callable[..., Any], *xs: Any) -> Any:
    """`function(item, …)` of every item of sequences of one length, as an array (or a container of arrays).

    Unlike Python's `map` it gives arrays, and the iterations are independent. The sequences are what `reduce`
    takes.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.map(lambda x, y: x * y, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([3., 8.])
    """
    return plain.mapped(function, xs)
