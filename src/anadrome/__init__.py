"""Anadrome: a compiler that differentiates plain numerical Python.

The public names, and nothing else.
"""

from anadrome.api.show import show
from anadrome.api.transforms import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jit,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from anadrome.config import Config
from anadrome.errors import AnadromeError
from anadrome.frontend.annotations import bool_, f32, f64, i8, i16, i32, u8, u16, u32, u64
from anadrome.frontend.annotations import i64_ as i64
from anadrome.frontend.iterables import unroll
from anadrome.tools.check_grads import check_grads

__version__ = "0.1.0"

__all__ = [
    # functions and their derivatives
    "jit",
    "grad",
    "value_and_grad",
    "vjp",
    "jvp",
    "jacfwd",
    "jacrev",
    "hessian",
    "hvp",
    "vmap",
    "stop_gradient",
    "unroll",
    # looking into them
    "check_grads",
    "show",
    # annotations of arguments
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "bool_",
    # settings and errors
    "Config",
    "AnadromeError",
    "__version__",
]
