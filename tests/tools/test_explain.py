"""`ad.explain`: what it predicts is what compiled code counts, and what the interpreter runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.ad.sweep import log
from anadrome.ad.sweep.schedule import repeats
from anadrome.kernel_ir.text import parse
from anadrome.prediction.footprint import footprint

RANDOM = np.random.default_rng(1)


def relax(policy: dict[str, Any]) -> Callable[..., Any]:
    def program(u, a, n):
        for _ in ad.range(n, **policy):
            u = u + a * np.sin(u)
        return np.sum(u * u)

    return program


def plain(u, a, n):
    for _ in range(n):
        u = u + a * np.sin(u)
    return np.sum(u * u)


def matrices(a, b, n):
    c = a @ b
    for i in range(n):
        c = np.tanh(c) + a[i % 7, 0] * b
    return np.sum(c)


def table(x, m, n):
    t = np.zeros((m, n))
    for i in range(1, m):
        for j in range(1, n):
            t[i, j] = np.sin(t[i - 1, j] + t[i, j - 1]) + x[j]
    return t[m - 1, n - 1]


def rows(x, n):
    def one(v):
        s = v
        for _ in ad.range(n, checkpoint="log"):
            s = np.sin(s) * v
        return s

    return np.sum(ad.vmap(one)(x))


def until(x, a):
    steps = 0
    while np.sum(x) > 1.0:
        x = np.sin(x) * a
        steps += 1
    return np.sum(x) * steps


POLICIES: tuple[dict[str, Any], ...] = (
    {"checkpoint": "all"},
    {"checkpoint": "sqrt"},
    {"checkpoint": "log"},
    {"checkpoint": 3},
    {"memory": "20kB"},
)


def product_with(function: Callable[..., Any]) -> Callable[..., Any]:
    """Its Hessian times a vector."""
    return lambda u, a, n: ad.hvp(lambda v: function(v, a, n), (u,), (u,))


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the norm of its gradient: reverse mode over reverse mode."""
    return ad.grad(lambda u, a, n: np.sum(ad.grad(function)(u, a, n) ** 2))


def rows_of_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The forward Jacobian of its gradient."""
    return ad.jacfwd(ad.grad(function))


DERIVATIVES = (ad.grad, ad.hessian, product_with, twice, rows_of_gradient)


CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (ad.jit(plain), (np.ones(1000), 0.1, 50)),
    (ad.grad(plain), (np.ones(1000), 0.1, 50)),
    (ad.grad(plain), (np.ones(30), 0.1, 5000)),
    *(
        (ad.grad(relax(policy), argnums=(0, 1)), (np.ones(200), 0.1, n))
        for policy in ({"checkpoint": "sqrt"}, {"checkpoint": "log"}, {"checkpoint": 3}, {"memory": "50kB"})
        for n in (0, 1, 40, 300)
    ),
    (ad.grad(matrices), (RANDOM.random((40, 40)), RANDOM.random((40, 40)), 30)),
    (ad.grad(table), (np.ones(60), 50, 60)),
    (ad.grad(rows), (np.linspace(0.0, 1.0, 500), 100)),
)


@pytest.mark.parametrize(("function", "args"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_predicted_is_what_is_measured(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    found = ad.explain(function, *args, measure=True)
    assert found.measured is not None
    assert found.is_exact
    assert abs(found.predicted - found.measured) <= 0.1 * found.measured
    assert sum(held.bytes for held in found.holdings) == found.predicted


LOOPS = tuple(
    pytest.param(derivative, policy, n, id=f"{derivative.__name__} {policy} {n}", marks=marks)
    for derivative in DERIVATIVES
    for policy in (None, *POLICIES)
    for n in (3, 150)
    for marks in ((() if n == 150 and policy in (None, {"checkpoint": "log"}) else pytest.mark.slow),)
)


@pytest.mark.parametrize(("derivative", "policy", "n"), LOOPS)
def test_derivatives_of_loops_hold_what_is_predicted(
    derivative: Callable[..., Any], policy: dict[str, Any] | None, n: int
) -> None:
    function = derivative(plain if policy is None else relax(policy))
    found = ad.explain(function, np.linspace(0.1, 0.9, 20), 0.1, n, measure=True)
    assert found.is_exact
    assert found.measured is not None
    assert abs(found.predicted - found.measured) <= 0.1 * found.measured


@pytest.mark.parametrize("n", (0, 1, 2, 40, 300))
def test_a_sweep_says_what_it_keeps_and_runs_again(n: int) -> None:
    (sweep,) = ad.explain(ad.grad(relax({"checkpoint": "log"})), np.ones(200), 0.1, n).sweeps
    states = max(n - 1, 0).bit_length() + 1 if n > 1 else 1
    assert (sweep.trip, sweep.states, sweep.bytes) == (n, states, states * 1608)
    assert sweep.repeats == repeats(n, states)
    assert sweep.policy == "checkpoint log"


def ring(policy: dict[str, Any]) -> Callable[..., Any]:
    def program(u, n):
        u = u.copy()
        for i in ad.range(n, **policy):
            u[i % len(u)] = 0.9 * np.sin(u[i % len(u)])
        return np.sum(u * u)

    return program


@pytest.mark.parametrize("n", (0, 1, 2, 40, 300))
@pytest.mark.parametrize("policy", ({"checkpoint": "log"}, {"checkpoint": 1}, {"memory": "1kB"}), ids=str)
def test_of_what_is_written_in_parts_blocks_are_kept(policy: dict[str, Any], n: int) -> None:
    """A snapshot takes 8 + 8 · 20 bytes, an iteration logs 8 of an old value and 8 of what was read."""
    found = ad.explain(ad.grad(ring(policy)), np.linspace(0.1, 0.9, 20), n, measure=True)
    assert found.measured == found.predicted
    (sweep,) = found.sweeps
    length = max(1, min(10, n))
    blocks = -(-n // length)
    states = {"log": max(blocks - 1, 0).bit_length() + 1, 1: max(blocks, 1)}.get(policy.get("checkpoint"), 5)
    states = min(states, max(blocks, 1))
    assert (sweep.trip, sweep.states, sweep.bytes) == (n, states, states * 168)
    last = n - (blocks - 1) * length
    assert sweep.repeats == ((repeats(blocks, states) - 1) * length + last + n if n else 0)
    assert sweep.span is not None


def test_two_states_and_no_more() -> None:
    """Blocks of one iteration are iterations where that is known; else they run once more for their log."""

    def fixed(x, n):
        u = np.zeros(20)
        u[0] = x
        for i in ad.range(n, memory=336):
            u[(i + 1) % 20] = np.sin(u[i % 20])
        return np.sum(u * u)

    (sweep,) = ad.explain(ad.grad(fixed), 0.3, 50).sweeps
    assert (sweep.trip, sweep.states, sweep.repeats) == (50, 2, repeats(50, 2))
    (sweep,) = ad.explain(ad.grad(ring({"memory": 336})), np.linspace(0.1, 0.9, 20), 50).sweeps
    assert (sweep.trip, sweep.states, sweep.repeats) == (50, 2, repeats(50, 2) + 50)


def test_blocks_of_a_loop_that_is_left_early_are_bounded() -> None:
    def program(x, n):
        u = np.zeros(15)
        u[:3] = x
        for i in ad.range(n, checkpoint="log"):
            u[(i + 3) % 15] = np.sin(u[i % 15]) * 1.5
            if u[i % 15] > 1.2:
                break
        return np.sum(u * u)

    found = ad.explain(ad.grad(program), np.array([0.1, 0.2, 0.3]), 30, measure=True)
    assert found.is_bounded and found.measured is not None
    assert found.least <= found.measured <= found.predicted < 10_000


def test_a_budget_holds_the_log_of_a_block() -> None:
    plain = ad.explain(ad.grad(ring({"memory": 336})), np.linspace(0.1, 0.9, 20), 4000).predicted
    for memory in (400, 600, 1000, 2000):
        found = ad.explain(ad.grad(ring({"memory": memory})), np.linspace(0.1, 0.9, 20), 4000)
        assert found.predicted - plain <= memory - 336
        assert found.sweeps[0].bytes > memory - 2 * 168 - 160


def test_a_loop_that_ends_by_a_float_is_counted_by_running() -> None:
    def program(u, n):
        steps = 0
        for _ in ad.range(n, checkpoint="sqrt"):
            u = u + 0.1 * np.sin(u)
            steps += 1
            if np.sum(u) > 400.0:
                break
        return np.sum(u), steps

    (sweep,) = ad.explain(ad.grad(lambda u, n: program(u, n)[0]), np.ones(200), 1000).sweeps
    assert sweep.trip == program(np.ones(200), 1000)[1]
    assert sweep.is_counted


def test_a_sweep_inside_a_parallel_loop_is_known_where_its_sizes_do_not_depend_on_the_index() -> None:
    found = ad.explain(ad.hessian(relax({"checkpoint": "log"})), np.ones(20), 0.1, 300)
    (sweep,) = found.sweeps
    assert (sweep.trip, sweep.states, sweep.repeats) == (300, 10, repeats(300, 10))
    assert "?" not in str(found)


def test_a_sweep_that_differs_between_iterations_says_so() -> None:
    def triangle(u, n):
        for i in range(n):
            for _ in ad.range(i, checkpoint="sqrt"):
                u = u + 0.1 * np.sin(u)
        return np.sum(u)

    text = str(ad.explain(ad.grad(triangle), np.ones(20), 30))
    assert "states and iterations differ between the iterations of a loop around it" in text
    assert "?" not in text


# ---------------------------------------------------------------------------- what loops keep, and how
def walk(x, n):
    seen, level = np.zeros(64), 0.0
    for i in range(n):
        place = (7 * i) % 64
        level = np.sin(level + seen[place] * x[i % 8])
        seen[place] = seen[place] + level
    return level


def blend(x, n):
    row = np.concatenate((x, x))
    for i in range(n):
        row[i % 16] = row[(i + 1) % 16] * row[(i + 2) % 16] * row[(i + 3) % 16] * row[(i + 5) % 16]
    return np.sum(row)


def scattered(x, n):
    row = np.concatenate((x, x))
    for i in range(n):
        for j in range(i % 3):
            row[(i + j) % 16] = np.sin(row[(i * j) % 16])
    return np.sum(row)


def exponentials(x, n):
    total = 0.0
    for i in range(n):
        total = total + np.sum(np.exp(np.sin(x) * total))
    return total


def linear(x, n):
    total = 0.0
    for i in range(n):
        total = 0.5 * total + x[i % 8]
    return total


def smooth(x, n):
    for _ in ad.range(n, checkpoint="log"):
        x = x - 0.1 * x * x
    return np.sum(x)


WAYS = (
    (walk, [("level", "stored", 8), ("", "kept", 8)]),
    (blend, [("row", "logged", 8)]),
    (scattered, [("", "kept", 8), ("", "counted", 8)]),
    (exponentials, [("total", "stored", 8), ("", "kept", 8)]),
    (linear, []),
    (smooth, [("x", "snapshots", 64)]),
)


@pytest.mark.parametrize(("function", "ways"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_plan_says_how_each_value_is_had_again(
    function: Callable[..., Any], ways: list[tuple[str, str, int]]
) -> None:
    found = ad.explain(ad.grad(function), np.linspace(0.1, 0.9, 8), 50)
    values = [one for plan in found.plans for one in plan.residuals]
    assert {(one.name, one.how, one.bits // 8) for one in values} == set(ways)
    assert all(one.reason and one.span is not None for one in values)
    text = str(found)
    for one in values:
        assert f"      {one.name or 'a value'}, line {one.span.line}: {one.how}" in text


def test_what_the_plan_keeps_is_what_is_held() -> None:
    """Each entry takes its bytes once an iteration, and nothing else is held but what the text names."""
    found = ad.explain(ad.grad(walk), np.linspace(0.1, 0.9, 8), 1000, measure=True)
    entries = sum(one.bits // 8 for plan in found.plans for one in plan.residuals)
    assert sum(held.bytes for held in found.holdings) == found.measured == 1000 * entries
    assert sorted(held.name for held in found.holdings) == ["level_log", "log"]


def test_the_plan_of_a_second_derivative_names_the_loops_of_both_sweeps() -> None:
    found = ad.explain(ad.grad(lambda x, n: np.sum(ad.grad(walk)(x, n) ** 2)), np.linspace(0.1, 0.9, 8), 50)
    assert len(found.plans) > 1
    assert {plan.span.line for plan in found.plans} <= set(range(walk.__code__.co_firstlineno, 400))


def test_a_plain_function_sweeps_nothing() -> None:
    assert ad.explain(relax({"checkpoint": "log"}), np.ones(200), 0.1, 9).sweeps == ()


def filtered(x):
    return np.sum(x[x > 0.5] ** 2)


def until_large(x):
    total = 0.0
    for i in range(len(x)):
        if total > 3.0:
            break
        total += x[i] ** 2
    return total


def zeros_or_not(x):
    return np.prod(x) if np.sum(x) > 0.0 else np.sum(x)


def at_counts(found: ad.Explanation, *counts: int) -> Any:
    """What the formula gives where the run counted these."""
    names = dict(zip(found.counts, counts, strict=True))
    return eval(found.formula, {"max": max, "min": min, **names})


def test_a_filter_has_a_formula_and_a_bound() -> None:
    x = RANDOM.random(1000)
    found = ad.explain(ad.grad(ad.jit(filtered, config=ad.Config(threads=2))), x)
    assert not found.is_exact and found.is_bounded
    assert found.measured is not None and found.least <= found.measured <= found.predicted
    (count,) = found.counts.values()
    assert (count.lo, count.hi) == (0, 1000)
    assert at_counts(found, int(np.sum(x > 0.5))) == found.measured
    assert at_counts(found, 1000) == found.predicted == 24_000
    assert "filtered: 16.0 kB to 24.0 kB at once, as the data decide" in str(found)
    assert "16000 + 8 * max(k1, 1) bytes when most is held, where" in str(found)
    assert "k1 is how often a condition on the data holds in a loop, at most 1,000" in str(found)


def test_a_loop_that_may_end_early_has_room_for_its_range() -> None:
    found = ad.explain(ad.grad(until_large), RANDOM.random(400))
    assert found.is_exact and found.predicted == 2 * 8 * 400


def test_a_loop_that_is_counted_is_bounded_by_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "ROOM", 0)
    x = RANDOM.random(400)
    found = ad.explain(ad.grad(until_large), x)
    steps = next(k for k in range(400) if np.sum(x[:k] ** 2) > 3.0)
    assert not found.is_exact and found.is_bounded
    assert [count.hi for count in found.counts.values()] == [400]
    assert at_counts(found, steps + 1) == found.measured
    assert found.measured is not None and found.measured < found.predicted


def test_a_loop_without_a_bound_says_so() -> None:
    found = ad.explain(ad.grad(until), np.ones(300), 0.9)
    assert not found.is_exact and not found.is_bounded
    assert found.predicted == found.least
    assert found.measured is not None and found.measured > found.predicted
    steps, x = 0, np.ones(300)
    while np.sum(x) > 1.0:
        x, steps = np.sin(x) * 0.9, steps + 1
    assert at_counts(found, steps) == found.measured
    assert "how much more, the data decide" in str(found)
    assert "k1 is the iterations of a loop that ends by what it computes" in str(found)


def test_a_branch_on_data_gives_the_least_and_the_most() -> None:
    found = ad.explain(ad.grad(zeros_or_not), RANDOM.random(50))
    assert found.least < found.predicted
    assert found.measured is not None and found.least <= found.measured <= found.predicted


def test_policies_keep_memory_down() -> None:
    args = (np.ones(1000), 1e-3, 20_000)
    measured = [
        ad.explain(ad.grad(relax(policy)), *args, measure=True).measured
        for policy in ({"checkpoint": "log"}, {"checkpoint": "sqrt"}, {"memory": "1MB"})
    ]
    assert all(found is not None for found in measured)
    log, root, budget = (found or 0 for found in measured)
    assert log < 200_000 and root < 2_000_000 and budget < 1_100_000


def test_the_text_names_lines_and_sizes() -> None:
    text = str(ad.explain(ad.grad(relax({"checkpoint": "sqrt"})), np.ones(1000), 0.1, 10_000, measure=True))
    assert "program: at most 1.2 MB at once" in text
    assert "measured: 1.2 MB" in text
    assert "loop with checkpoint sqrt" in text
    assert "141 states in 1.1 MB, 10,000 iterations, 19,859 run again" in text
    assert "test_explain.py:" in text


# ---------------------------------------------------------------------------- kernel programs
THREADS = """
fn f(n: i64, m: i64) {
  alloc a: f64 global [n]
  for t in 0 .. n threads {
    alloc b: f64 global [m]
    free b
  }
  for i in 0 .. n sequential {
    let size: i64 = mul(i, 10)
    alloc c: f64 global [size]
    free c
  }
  return a as f64 [n]
}
"""


def test_memory_of_workers_and_of_growing_scratch() -> None:
    fn = parse(THREADS)
    n, m = fn.params

    def most(rows: int, scratch: int, workers: int) -> int:
        return footprint(fn, {n: rows, m: scratch}, workers).peak  # type: ignore[dict-item]

    assert most(5, 100, 1) == 8 * (5 + 100)
    assert most(5, 100, 4) == 8 * (5 + 4 * 100)
    assert most(2, 100, 4) == 8 * (2 + 2 * 100)
    assert most(5, 1, 4) == 8 * (5 + 40)
    assert most(0, 100, 4) == 0
