"""Mixed mode: dual numbers in scalar bodies give what reverse mode gives, in every way, to second order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.ad.canonical import canonical
from anadrome.ad.mixed.rewrite import mixed
from anadrome.array_ir.text import parse
from anadrome.compile import prepare
from anadrome.config import Config

RANDOM = np.random.default_rng(7)
X, Y = RANDOM.uniform(0.6, 2.0, 20), RANDOM.uniform(0.5, 3.0, 20)
GRID = RANDOM.uniform(0.6, 2.0, (3, 17))
BINS = RANDOM.integers(0, 5, 20)


# ---------------------------------------------------------------------------- programs
def square_root(a):
    x = 1.0
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


def branches(a, b):
    if a > b:
        return math.sin(a) * b
    if a * b > 1.0:
        return a / b
    return 2.0 * a


def one_while(x):
    return sum(square_root(a) * a for a in x)


def two_inputs(x, y):
    return sum(branches(a, b) for a, b in zip(x, y, strict=True))


def a_map(x, y):
    out = [square_root(a * b) for a, b in zip(x, y, strict=True)]
    return sum(o * o * o for o in out)


def several_values(x, y):
    pairs = [(square_root(a) * b, branches(a, b)) for a, b in zip(x, y, strict=True)]
    return sum(p * q for p, q in pairs)


def free_scalar(x, y):
    scale = y[0] * y[1]
    return sum(square_root(a * scale) for a in x)


def a_grid(g):
    return sum(square_root(v) * math.sin(v) for row in g for v in row)


def a_grid_of_values(g):
    out = np.array([[square_root(v) for v in row] for row in g])
    return np.sum(out * out * g)


def shifted_reads(x):
    n = len(x)
    return sum(square_root(x[i] * x[(i + 3) % n]) for i in range(n))


def counted_loop(x, y):
    def orbit(a, b):
        for k in range(5):
            a = math.cos(a) + k * b * a
            if a > 2.0:
                a = a - 2.0 * b
        return a

    return sum(orbit(a, 0.1 * b) for a, b in zip(x, y, strict=True))


def inside_time_steps(x):
    u = x
    for _ in range(3):
        u = np.array([square_root(v + 0.1 * u[0]) for v in u])
    return np.sum(u * u)


def loop_with_table(x):
    table = np.array([0.5, 1.5, 0.25])

    def walk(a):
        for k in range(3):
            a = a * table[k] + math.tanh(a)
        return a

    return sum(walk(a) for a in x)


PROGRAMS = {
    function.__name__: (function, args)
    for function, args in (
        (one_while, (X,)),
        (two_inputs, (X, Y)),
        (a_map, (X, Y)),
        (several_values, (X, Y)),
        (free_scalar, (X, Y)),
        (a_grid, (GRID,)),
        (a_grid_of_values, (GRID,)),
        (shifted_reads, (X,)),
        (counted_loop, (X, Y)),
        (inside_time_steps, (X,)),
        (loop_with_table, (X,)),
    )
}


def configured(function: Callable[..., Any], mode: Any) -> Any:
    return ad.jit(function, config=Config(mixed=mode, verify=True))


@pytest.mark.parametrize("mode", ["auto", "store", "recompute"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_reverse_mode(name: str, mode: str) -> None:
    function, args = PROGRAMS[name]
    places = tuple(range(len(args)))
    plain = ad.grad(configured(function, "reverse"), argnums=places)(*args)
    found = ad.grad(configured(function, mode), argnums=places)(*args)
    for got, wanted in zip(found, plain, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-12)
    along = tuple(np.cos(np.arange(arg.size)).reshape(arg.shape) for arg in args)
    slope = ad.jvp(function, args, along)[1]
    total = sum(np.sum(part * direction) for part, direction in zip(found, along, strict=True))
    np.testing.assert_allclose(total, slope, rtol=1e-11)


@pytest.mark.parametrize("mode", ["store", "recompute"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_go_through_the_partials(name: str, mode: str) -> None:
    """⟨v, H w⟩ forward over reverse and reverse over reverse, against differences of the gradient."""
    function, args = PROGRAMS[name]
    first = ad.grad(configured(function, mode))
    plain = ad.grad(function)
    along = np.sin(1.0 + np.arange(args[0].size)).reshape(args[0].shape)
    rest = args[1:]
    product = ad.jvp(lambda x: first(x, *rest), (args[0],), (along,))[1]
    again = ad.grad(lambda x: np.sum(first(x, *rest) * along))(args[0])
    np.testing.assert_allclose(product, again, rtol=1e-9, atol=1e-10)
    step = 1e-5
    difference = (plain(args[0] + step * along, *rest) - plain(args[0] - step * along, *rest)) / (2 * step)
    np.testing.assert_allclose(product, difference, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------------------- choices
STRAIGHT = """
fn f(x: f64[n], y: f64[n]) -> f64 {
  s = parfor i < n { a = x[i]; b = y[i]; c = sin a; d = mul c b; yield reduce add d }
  return s
}
"""
LOOP = """
fn f(x: f64[n]) -> f64[n] {
  y = parfor i < n {
    a = x[i]
    r = loop (c = a) while {
      t = lt c 9.0
      return t
    } do {
      d = sin c
      e = add d a
      g = add c e
      return g
    }
    yield stack r
  }
  return y
}
"""


def test_straight_code_stays_in_reverse_mode() -> None:
    found = choices(STRAIGHT)
    assert [choice.mode for choice in found] == ["reverse"]
    assert found[0].inputs == 2
    assert found[0].costs["reverse"] <= found[0].costs["recompute"]


def choices(text: str, mode: Any = "auto") -> tuple[Any, ...]:
    fn = prepare(parse(text), Config())
    active = [True] * len(fn.params)
    return mixed(canonical(fn, active), active, mode).choices


def test_a_loop_takes_dual_numbers() -> None:
    (choice,) = choices(LOOP)
    assert choice.mode != "reverse"
    assert choice.costs[choice.mode] == min(choice.costs.values())
    assert not choice.is_forced


def orbit(step: str, count: int) -> str:
    """Twelve steps of c ← Σ_k `step` of c·p_k, with `count` parameters."""
    lets = [f"    p{k} = x[i, {k}]" for k in range(count)]
    lets.append("    r = loop (c = p0) for t < 12 {")
    for k in range(count):
        lets += [f"      a{k} = mul c p{k}", f"      b{k} = {step} a{k}"]
        lets += [f"      s{k} = add {f's{k - 1}' if k else 'c'} b{k}"]
    lets += [f"      return s{count - 1}", "    }", "    yield stack r"]
    lines = "\n".join(lets)
    return f"fn f(x: f64[n, {count}]) -> f64[n] {{\n  y = parfor i < n {{\n{lines}\n  }}\n  return y\n}}"


@pytest.mark.parametrize(
    ("step", "count", "is_dual"),
    [("sin", 4, True), ("sin", 16, True), ("exp", 4, True), ("exp", 8, False), ("neg", 16, False)],
)
def test_the_number_of_inputs_decides_about_a_loop(step: str, count: int, is_dual: bool) -> None:
    """As measured (docs/performance.md): a guarded product at a pole is dear, and so are many directions."""
    (choice,) = choices(orbit(step, count))
    assert choice.inputs == count
    assert (choice.mode != "reverse") == is_dual


@pytest.mark.parametrize("mode", ["reverse", "store", "recompute"])
def test_the_user_may_say_how(mode: str) -> None:
    for text in (STRAIGHT, LOOP):
        (choice,) = choices(text, mode)
        assert (choice.mode, choice.is_forced) == (mode, True)


def test_many_inputs_of_one_value_stay_in_reverse_mode() -> None:
    """What sixteen inputs reach at once costs sixteen tangents; beyond `LIMIT` there is no kernel."""
    names = [f"a{k}" for k in range(17)]
    reads = "\n".join(f"    {name} = x[i, {k}]" for k, name in enumerate(names))
    sums = "\n".join(f"    s{k} = add {'a0' if k == 1 else f's{k - 1}'} a{k}" for k in range(1, 17))
    body = f"{reads}\n{sums}\n    yield stack s16"
    text = f"fn f(x: f64[n, 17]) -> f64[n] {{\n  y = parfor i < n {{\n{body}\n  }}\n  return y\n}}"
    assert choices(text) == ()


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match="`mixed` must be one of auto, reverse, store, recompute"):
        Config(mixed="sideways")  # type: ignore[arg-type]
