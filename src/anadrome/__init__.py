"""Anadrome: a compiler that differentiates plain numerical Python.

The public names, and nothing else.
"""

from anadrome.api.derivatives.custom import checkpoint, custom_jvp, custom_vjp
from anadrome.api.derivatives.implicit import fixed_point, root
from anadrome.api.kernels.kernel import kernel
from anadrome.api.kernels.names import (
    all_sync,
    any_sync,
    atomic,
    ballot_sync,
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    laneid,
    local,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadIdx,
    warpsize,
)
from anadrome.api.memory import release_memory
from anadrome.api.parallel import (
    argsort,
    filter,
    map,
    reduce,
    reduce_by_index,
    scan,
    scatter,
    segment_max,
    segment_min,
    segment_prod,
    segment_sum,
    sort,
)
from anadrome.api.show import show
from anadrome.api.transforms import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linearize,
    sparsity,
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
from anadrome.frontend.ranges import range
from anadrome.tools.check_grads import check_grads
from anadrome.tools.check_kernel import check_kernel
from anadrome.tools.explain import explain
from anadrome.tools.trace_nan import trace_nan

__version__ = "0.1.0"

__all__ = [
    # functions and their derivatives
    "jit",
    "grad",
    "value_and_grad",
    "vjp",
    "jvp",
    "linearize",
    "jacfwd",
    "jacrev",
    "jacobian",
    "hessian",
    "hvp",
    "sparsity",
    "vmap",
    "stop_gradient",
    "custom_jvp",
    "custom_vjp",
    "checkpoint",
    "fixed_point",
    "root",
    "range",
    "unroll",
    # parallel operations
    "reduce",
    "scan",
    "reduce_by_index",
    "scatter",
    "segment_sum",
    "segment_prod",
    "segment_max",
    "segment_min",
    "sort",
    "argsort",
    "filter",
    "map",
    # kernels
    "kernel",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "grid",
    "gridsize",
    "warpsize",
    "laneid",
    "shared",
    "local",
    "atomic",
    "syncthreads",
    "syncthreads_count",
    "syncthreads_and",
    "syncthreads_or",
    "syncwarp",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_down_sync",
    "shfl_xor_sync",
    "ballot_sync",
    "any_sync",
    "all_sync",
    "threadfence",
    # looking into them
    "check_grads",
    "check_kernel",
    "trace_nan",
    "explain",
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
    "release_memory",
    "AnadromeError",
    "__version__",
]


def __dir__() -> list[str]:
    return __all__
