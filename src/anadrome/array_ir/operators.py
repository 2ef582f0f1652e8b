"""The neutral elements of the named monoids as constants."""

from __future__ import annotations

from anadrome.array_ir.nodes import Const
from anadrome.dtypes import DType
from anadrome.prims.monoids import identity_of


def identity(operator: str, dtype: DType) -> Const:
    """What combining nothing gives.

    >>> from anadrome.dtypes import F64
    >>> identity("max", F64).value
    -inf
    """
    return Const(identity_of(operator, dtype), dtype)
