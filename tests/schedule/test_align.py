"""What is added to neighbouring elements moved together: which loops, and that they compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, scheduled
from test_innermost import agree

import anadrome as ad
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.nodes import Atomic, For
from anadrome.kernel_ir.text import parse, show
from anadrome.kernel_ir.walk import statements
from anadrome.schedule import align
from anadrome.schedule.align import Aligned, aligned_of
from anadrome.schedule.apart import InOrder, Iterations, iterations_of
from anadrome.schedule.cpu import schedule_cpu
from anadrome.schedule.loops import Choice, Way
from tests.passes.documented import example

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 67, 130]


def program(body: str, bounds: str = "0 .. n", types: str = "f64") -> str:
    """A loop over arrays of 5 n + 9 elements, one of which it adds to."""
    size = "add(mul(n, 5), 9)"
    return f"""fn f(x: {types} buffer, n: i64) {{
      alloc y: {types} global [{size}]
      alloc z: {types} global [{size}]
      for q in 0 .. {size} parallel {{ y[q] = x[q] z[q] = x[q] }}
      alloc s: {types} local [1]
      s[0] = x[0]
      for i in {bounds} sequential {{ {body} }}
      return y as {types} [{size}], z as {types} [{size}], s[0] as {types}
    }}"""


ALIGNED = {
    "two neighbours": "y[i] = add~(y[i], x[i]) y[add(i, 1)] = add~(y[add(i, 1)], x[add(i, 4)])",
    "three, out of order": """let v: f64 = mul(x[i], 0.5) y[add(i, 2)] = add~(y[add(i, 2)], v)
        y[i] = sub~(y[i], v) y[add(i, 1)] = add~(mul(v, v), y[add(i, 1)])""",
    "backwards": """let k: i64 = sub(n, i) y[k] = add~(y[k], x[i])
        y[add(k, 1)] = add~(y[add(k, 1)], x[k])""",
    "every second element": """y[mul(i, 2)] = add~(y[mul(i, 2)], x[i])
        y[add(mul(i, 2), 4)] = sub~(y[add(mul(i, 2), 4)], x[add(i, 1)])""",
    "two arrays": """y[i] = add~(y[i], x[i]) y[add(i, 3)] = add~(y[add(i, 3)], x[i])
        z[i] = add~(z[i], x[i]) z[add(i, 1)] = sub~(z[add(i, 1)], x[i])""",
    "three rows": """let v: f64 = x[i] y[add(i, n)] = add~(y[add(i, n)], v)
        y[add(i, add(n, 2))] = add~(y[add(i, add(n, 2))], v) y[add(i, 1)] = add~(y[add(i, 1)], v)
        y[add(i, add(mul(n, 2), 1))] = add~(y[add(i, add(mul(n, 2), 1))], v)""",
    "beside a map and a sum": """y[i] = add~(y[i], x[i]) y[add(i, 1)] = add~(y[add(i, 1)], x[i])
        z[i] = mul(z[i], x[i]) s[0] = add~(s[0], x[i])""",
    "through names": """let old: f64 = y[i] let new: f64 = add~(old, x[i]) y[i] = new
        y[add(i, 1)] = add~(y[add(i, 1)], x[i])""",
}
"""Bodies that add to elements of neighbouring iterations. All are moved but the last, which reads an element
under a name, before the statement that adds to it, where another one may stand between the two."""

LEFT = {
    "what a term reads is written": """z[i] = mul(x[i], 2.0) let v: f64 = z[i]
        y[i] = add~(y[i], v) y[add(i, 1)] = add~(y[add(i, 1)], v)""",
    "in their order": "y[i] = add(y[i], x[i]) y[add(i, 1)] = add(y[add(i, 1)], x[i])",
    "a read in between": """y[i] = add~(y[i], x[i]) s[0] = add~(s[0], y[i])
        y[add(i, 1)] = add~(y[add(i, 1)], x[i])""",
    "another addition before it is put back": """let new: f64 = add~(y[i], x[i])
        y[add(i, 1)] = add~(y[add(i, 1)], 2.0) y[i] = add~(y[i], 3.0) y[i] = new""",
    "put back again and again": """let old: f64 = y[i] for j in 0 .. 3 sequential { y[i] = add~(old, x[j]) }
        y[add(i, 1)] = add~(y[add(i, 1)], x[i])""",
    "put back in a loop alone": """let old: f64 = y[add(i, n)]
        for j in 0 .. 3 sequential { y[add(i, n)] = add~(old, x[j]) }""",
    "a product": "y[i] = mul~(y[i], x[i]) y[add(i, 1)] = mul~(y[add(i, 1)], x[i])",
    "too far": "y[i] = add~(y[i], x[i]) y[add(i, 9)] = add~(y[add(i, 9)], x[i])",
    "steps that differ": "y[i] = add~(y[i], x[i]) y[mul(i, 2)] = add~(y[mul(i, 2)], x[i])",
    "terms that cost too much": """let v: f64 = exp(sin(x[i])) y[i] = add~(y[i], v)
        y[add(i, 1)] = add~(y[add(i, 1)], v) y[add(i, 2)] = add~(y[add(i, 2)], v)""",
    "a place that is read": """let k: i64 = to_i64(x[i]) y[k] = add~(y[k], x[i])
        y[add(k, 1)] = add~(y[add(k, 1)], x[i])""",
}
"""Bodies that are not."""


def ways(text: str, bits: int = 512) -> list[Way]:
    """The ways of all loops, outer ones first."""

    def of(choices: tuple[Choice, ...]) -> list[Way]:
        return [way for one in choices for way in (one.way, *of(one.inner))]

    return of(schedule_cpu(parse(text), config(1), bits).choices)


def numbers(length: int) -> tuple[np.ndarray, int]:
    return np.random.default_rng(length).uniform(0.5, 1.5, 5 * length + 9), length


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("name", ALIGNED)
def test_every_length_at_every_width(name: str, bits: int) -> None:
    text = program(ALIGNED[name])
    moves = any(isinstance(way, Aligned) for way in ways(text, bits))
    assert moves is (name != "through names")
    for length in LENGTHS:
        agree(text, bits, *numbers(length))


@pytest.mark.parametrize("bounds", ["1 .. n", "3 .. add(n, 2)", "0 .. 2", "0 .. 6", "2 .. 40"])
@pytest.mark.parametrize("name", ["two neighbours", "three, out of order", "two arrays"])
def test_other_bounds(name: str, bounds: str) -> None:
    for length in [40, *LENGTHS] if "n" in bounds else [40]:
        agree(program(ALIGNED[name], bounds), 512, *numbers(length))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left(name: str) -> None:
    text = program(LEFT[name])
    assert not any(isinstance(way, Aligned) for way in ways(text))
    for length in LENGTHS:
        agree(text, 512, *numbers(length))


def test_other_types() -> None:
    text = program(ALIGNED["two neighbours"], types="i64")
    assert any(isinstance(way, Aligned) for way in ways(text))
    for length in LENGTHS:
        agree(text, 512, np.arange(5 * length + 9), length)


def test_rows_that_may_meet_are_added_to_together() -> None:
    body = "y[i] = add~(y[i], x[i]) y[add(i, k)] = add~(y[add(i, k)], x[add(i, 1)])"
    text = program(body).replace("n: i64", "n: i64, k: i64")
    assert sum(isinstance(stmt, Atomic) for stmt in statements(scheduled(text, vector_bits=512).body)) == 2
    for length in LENGTHS:
        for apart in (0, 1, 5, 40):
            agree(text, 512, *numbers(length + 10), apart)


def only_moved(loop: For, bindings: Bindings, vector_bits: int) -> Way:
    """No way but this one."""
    found = iterations_of(loop, bindings)
    way = None
    if isinstance(found, Iterations) and found.added:
        way = aligned_of(loop, found.added, found.sums, bindings)
    return way or InOrder("nothing is moved")


def test_docstring() -> None:
    assert align.__doc__ is not None
    before, after = map(parse, example(align.__doc__))
    found = schedule_cpu(before, config(1), 0, only_moved).function
    check(found)
    assert show(found) == show(after)


def heat(u: np.ndarray, k: float, steps: int) -> float:
    """Explicit steps of the heat equation in place, and a norm."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return np.sum(u * u)


@pytest.mark.parametrize("shape", [(3, 3), (4, 17), (20, 41)])
def test_adjoint_of_a_stencil(shape: tuple[int, int]) -> None:
    u, direction = np.random.default_rng(0).normal(size=(2, *shape))
    gradient = ad.grad(heat)(u, 0.1, 7)
    slope = ad.jvp(lambda v: heat(v, 0.1, 7), (u,), (direction,))[1]
    np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-12)
    step = 1e-6
    difference = heat(u + step * direction, 0.1, 7) - heat(u - step * direction, 0.1, 7)
    np.testing.assert_allclose(slope, difference / (2 * step), rtol=1e-7)
