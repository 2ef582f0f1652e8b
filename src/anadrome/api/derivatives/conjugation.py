"""The convention of complex derivatives, which is JAX's, and what is refused for its sake.

A complex number z = x + iy is differentiated as the pair (x, y). A tangent is the complex number of the
pair's tangents. A cotangent of the pair (x_adj, y_adj) is shown as x_adj - i·y_adj: so the gradient of a real
function is ∂f/∂x - i·∂f/∂y, the product of a cotangent and a tangent has their pairing as its real part, and
the cotangent of a holomorphic function is multiplied by f'(z) itself. Cotangents are conjugated where they
come in from the user, and where they go out to the user; between, all is real.
"""

from __future__ import annotations

from anadrome.api import pytree
from anadrome.api.closures import staged_leaf
from anadrome.api.pytree import Structure
from anadrome.errors.api import ComplexDerivative
from anadrome.frontend.context import Context
from anadrome.frontend.operators import negate
from anadrome.frontend.values import Value


def conjugated(context: Context, value: Value) -> Value:
    """The value with every complex number and array in it conjugated."""
    leaves, structure = pytree.flatten(value)
    places = pytree.imaginary_places(structure)
    if not any(places):
        return value
    turned = [
        leaf if not is_imaginary or staged is None else negate(context, staged)
        for leaf, is_imaginary in zip(leaves, places, strict=True)
        for staged in (staged_leaf(context, leaf),)
    ]
    return pytree.unflatten(structure, turned)


def has_complex(structure: Structure) -> bool:
    """Whether a complex number or array stands in a structure."""
    return any(pytree.imaginary_places(structure))


def all_complex(structure: Structure) -> bool:
    """Whether every leaf of a structure is a part of a complex number or array."""
    if isinstance(structure, pytree.Leaf):
        return False
    return pytree.is_complex_node(structure) or all(all_complex(part) for part in structure.parts)


def check_holomorphic(transform: str, arguments: Structure, result: Structure) -> None:
    """`holomorphic=True` is for functions of complex numbers whose results are complex."""
    for what, structure in (("arguments", arguments), ("results", result)):
        if not all_complex(structure):
            raise ComplexDerivative(
                transform,
                f"with `holomorphic=True` the {what} must be complex numbers and arrays",
                "real numbers among them",
                "leave `holomorphic` out: derivatives of real numbers need no such promise",
            )


def refuse_complex_result(transform: str, result: Structure) -> None:
    """A complex result has one complex number as its derivative only where the function is holomorphic."""
    if has_complex(result):
        raise ComplexDerivative(
            transform,
            "the result must be real",
            "a complex one",
            "for a holomorphic function pass `holomorphic=True`; for any other use `vjp` with a cotangent",
        )


def refuse_complex_argument(transform: str, arguments: Structure) -> None:
    """The derivative by a complex argument is one complex number only where the function is holomorphic."""
    if has_complex(arguments):
        raise ComplexDerivative(
            transform,
            "the arguments must be real",
            "a complex one",
            "for a holomorphic function pass `holomorphic=True`; for any other take `jvp`, or a function of "
            "the real and the imaginary part",
        )
