"""What a function without a compiled form is called in full, and what to write instead of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from anadrome.frontend.values import Value

ITERATIVE = ("cg", "cgs", "bicg", "bicgstab", "gmres", "lgmres", "minres", "qmr", "gcrotmk", "tfqmr")
"""Solvers of `scipy.sparse.linalg` that iterate to a tolerance."""

OF_ENTRIES = (
    *("diags", "diags_array", "kron", "kronsum", "hstack", "vstack", "block_diag", "block_array", "bmat"),
    *("tril", "triu"),
)
"""Functions of `scipy.sparse` that make matrices."""

SOLVERS = (
    *("brentq", "brenth", "ridder", "bisect", "newton", "toms748", "root_scalar"),
    *("fsolve", "root"),
)
"""Functions of `scipy.optimize` that look for a root."""

SUBSTITUTES: Mapping[str, str] = {
    "scipy.signal.fftconvolve": "for real vectors and `mode='full'` write "
    "`np.fft.irfft(np.fft.rfft(a, n) * np.fft.rfft(b, n), n)` with `n = len(a) + len(b) - 1`, "
    "or `np.convolve(a, b)`",
    **{
        f"scipy.sparse.linalg.{name}": "use `scipy.sparse.linalg.spsolve(A, b)`, which solves to rounding "
        "and has an exact derivative"
        for name in ITERATIVE
    },
    **{
        f"scipy.sparse.{name}": "make the matrix of its entries: "
        "`scipy.sparse.csr_array((data, (row, col)), shape=(m, n))`"
        for name in OF_ENTRIES
    },
    **dict.fromkeys(
        [f"scipy.optimize.{name}" for name in SOLVERS],
        "use `ad.root(f, x0)`, which has an exact derivative",
    ),
    **dict.fromkeys(
        [f"scipy.integrate.{name}" for name in ("quad", "fixed_quad", "quadrature")],
        "sum the function over nodes: `x, w = np.polynomial.legendre.leggauss(20)`, outside of the function, "
        "integrates from -1 to 1 as `np.sum(w * f(x))`",
    ),
    **dict.fromkeys(
        [f"scipy.integrate.{name}" for name in ("solve_ivp", "odeint")],
        "write the method as a loop; a step may depend on the error",
    ),
    **dict.fromkeys(
        ("scipy.fft.next_fast_len", "scipy.fft.prev_fast_len"),
        "any number of points is allowed; compute a fast one outside the function and pass it as an argument",
    ),
}
"""The full name of a function that has no compiled form -> what to write instead."""

NUMPY_MODULES = ("numpy.linalg", "numpy.fft", "numpy.random")
NAMED_MODULES = (
    *("scipy.fft", "scipy.signal", "scipy.special", "scipy.linalg"),
    *("scipy.sparse", "scipy.sparse.linalg", "scipy.optimize", "scipy.integrate"),
    "bisect",
)


def instead_of(function: Value, args: Sequence[Value]) -> tuple[str, str]:
    """The full name of a function, and what to write instead of it; empty where nothing is known."""
    name = full_name(function, args)
    return name, SUBSTITUTES.get(name, "")


def full_name(function: Value, args: Sequence[Value] = ()) -> str:
    """The dotted name a user would write: `np.add.at`, `scipy.stats.norm.cdf`."""
    name = str(getattr(function, "__name__", type(function).__name__))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if getattr(np, name, None) is function:
        return f"np.{name}"
    for module in NUMPY_MODULES:
        if getattr(sys.modules.get(module), name, None) is function:
            return f"np{module.removeprefix('numpy')}.{name}"
    distribution = getattr(args[0], "name", None) if args else None
    found = (
        getattr(sys.modules.get("scipy.stats"), distribution, None) if isinstance(distribution, str) else None
    )
    if found is not None and found is args[0]:
        return f"scipy.stats.{distribution}.{name}"
    for module in NAMED_MODULES:
        if getattr(sys.modules.get(module), name, None) is function:
            return f"{module}.{name}"
    return name
