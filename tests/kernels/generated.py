"""Random kernels without races: the same seed, the same kernel.

A kernel is a text, whose statements are written by `writer`.
"""

from __future__ import annotations

import itertools
import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import anadrome as ad
from tests.kernels.case import Case, launched
from tests.kernels.plain_threads import Device
from tests.kernels.writer import Scope, Writer, indented

FEATURES: dict[str, str] = {
    "barriers": "syncthreads()",
    "shared tiles": "shared.array",
    "atomics": "atomic.",
    "extrema": "atomic.max",
    "ragged loops": "range(k[q]",
    "while": "while ",
    "continue": "continue",
    "break": "break",
    "early returns": "return  #",
    "device functions": "def f",
    "shuffles": "shfl_",
    "divergent shuffles": "sync(0xF,",
    "exchanged in memory": "y[ad.blockIdx.x",
    "local arrays": "local.array",
    "branches": "if ",
    "grid strides": "gridsize",
    "in place": "x[i] =",
    "float32": "float32",
    "dynamic shared": "shared.array(0",
    "predicates": "syncthreads_count",
}
"""What a kernel has -> what its text has then."""

FUNCTIONS = (
    "def f{n}(a, b):\n    return np.tanh(a * b) + 0.5 * a",
    "def f{n}(a, b):\n    s = a\n    for j in range(3):\n        if j == 2:\n            return np.sin(s)\n"
    "        s = 0.5 * s * b + a\n    return s",
    "def f{n}(a, b):\n    p, q = g(a), g(b)\n    return p * q - p",
)


@dataclass(frozen=True, slots=True)
class Generated:
    """A random kernel: its text, how it is launched, and the arguments."""

    seed: int
    text: str
    extents: tuple[Any, ...]
    length: int
    dtype: str

    def features(self) -> list[str]:
        """What the kernel has."""
        return [name for name, mark in FEATURES.items() if mark in self.text.replace("if i < n", "")]

    def arguments(self) -> tuple[Any, ...]:
        """x, w, k, y, z, counts, tops, c, steps."""
        drawn = np.random.default_rng(self.seed)
        kind = np.dtype(self.dtype).type
        x, w, y, z = (drawn.normal(size=size).astype(kind) for size in (self.length, 3, self.length, 4))
        k = drawn.integers(0, self.length, size=self.length)
        return x, w, k, y, z, np.zeros(4, np.int64), np.full(4, -9.0, kind), kind(0.7).item(), 2

    def case(self) -> Case:
        """The launch, and the same in plain Python."""
        file = f"<kernel {self.seed}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        kernel = self._defined(file, ad)["random_kernel"]
        writes = (0, 3, 4, 5, 6) if "x[i] =" in self.text else (3, 4, 5, 6)

        def reference(*args: Any) -> tuple[Any, ...]:
            device = Device(*self.extents[:2], self.extents[3])
            copies = tuple(np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args)
            device.launch(self._defined(file, device)["random_kernel"], copies)
            return tuple(copies[place] for place in writes)

        makes: list[Callable[..., Any]] = [lambda _, __, arg=arg: arg for arg in self.arguments()]
        function = launched(kernel, self.extents, writes)
        return Case(
            f"seed {self.seed}", function, tuple(makes), reference, False, kernel, self.extents, writes
        )

    def _defined(self, file: str, device: Any) -> dict[str, Any]:
        names: dict[str, Any] = {"np": np, "ad": device, "__name__": f"kernel_{self.seed}", "M": 3}
        exec(compile(self.text, file, "exec"), names)
        return names


def random_kernel(seed: int) -> Generated:
    """The kernel of a seed."""
    drawn = random.Random(f"kernel/{seed}")
    meets = drawn.random() < 0.6
    threads = drawn.choice((4, 8, 8, 16, 6, 32)) if meets else drawn.choice((3, 4, 8))
    blocks = drawn.choice((1, 2, 2, 3)) if threads < 32 else 1
    is_strided = not meets and drawn.random() < 0.3
    is_returning = not meets and not is_strided and drawn.random() < 0.6
    is_ragged = not is_strided and drawn.random() < 0.5
    is_in_place = (not is_ragged or is_returning or is_strided) and drawn.random() < 0.35
    dtype = "float32" if drawn.random() < 0.15 else "float64"
    length = blocks * threads - (drawn.randint(1, min(threads - 1, 3)) if is_ragged else 0)
    length += drawn.randint(0, 5) if is_strided else 0
    is_guarded, counting = is_ragged and not is_returning, drawn.choice(("add", "max"))
    writer = Writer(drawn, meets, threads, is_guarded, is_in_place, dtype, counting)
    functions = [one.format(n=n) for n, one in enumerate(drawn.sample(FUNCTIONS, drawn.randint(0, 2)))]
    writer.functions = len(functions)
    scope = Scope(("total", "state"), ("steps",))
    body = [*writer.block(scope, 2, drawn.randint(2, 4)), *writer.output(scope, 0)]
    if meets and drawn.random() < 0.4:
        writer.meets, scope.is_uniform = False, False
        body += writer.branch(scope, 1) + writer.block(scope, 2, 1)
    body += [f"ad.atomic.add(z, t % 4, np.tanh(total + state) * {writer.atom(scope)})"]
    start = ["n = len(x)", "t = ad.threadIdx.x", *writer.shared]
    own = ["q = min(i, n - 1)", "total, state = x[q] * 0.5, c * w[1]"]
    if is_in_place:
        own = ["q = i", "total, state = x[i] * 0.5, c * w[1]"]
    if is_strided:
        body = [line.replace("return  # early", "continue") for line in body]
        start += ["for i in range(ad.grid(1), n, ad.gridsize(1)):", *indented([*own, *body])]
    else:
        first = ["i = ad.grid(1)", *(["if i >= n:", "    return  # early"] if is_returning else [])]
        start += [*first, *own, *body]
    header = "@ad.kernel\ndef random_kernel(x, w, k, y, z, counts, tops, c, steps):"
    text = "\n\n\n".join(
        ["def g(a):\n    return 0.5 * np.sin(a) + a", *functions, "\n".join([header, *indented(start)])]
    )
    has_dynamic = "shared.array(0" in text
    shared_bytes = threads * np.dtype(dtype).itemsize if has_dynamic else 0
    return Generated(seed, text + "\n", (blocks, threads, None, shared_bytes), length, dtype)


def seeds(start: int, count: int) -> list[Generated]:
    """So many kernels."""
    return [random_kernel(seed) for seed in itertools.islice(itertools.count(start), count)]
