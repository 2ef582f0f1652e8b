"""The algebra of plain numbers: partials and expansions evaluated on NumPy scalars and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.prims.record import Algebra
from anadrome.prims.table import PRIMS


class NumberAlgebra(Algebra[Any]):
    """Scalar expressions evaluated at once, elementwise on arrays; IEEE, without warnings.

    >>> algebra = NumberAlgebra()
    >>> x = np.float64(4.0)
    >>> float(PRIMS["sqrt"].partials(algebra, (x,), np.sqrt(x))[0])
    0.25
    """

    def apply(self, name: str, *args: Any) -> Any:
        """The meaning of the row `name` on numbers."""
        with np.errstate(all="ignore"):
            return PRIMS[name].numpy(*args)

    def constant(self, value: float, like: Any) -> Any:
        """A NumPy scalar of the type of `like`."""
        return np.asarray(like).dtype.type(value)
