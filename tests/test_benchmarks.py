"""The measuring programs run and give sensible numbers; how large the numbers are is not tested."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "examples", ROOT / "benchmarks"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from bench.c_objective import c_objective  # noqa: E402 (the path is set above)
from bench.cases import CASES, LARGER  # noqa: E402
from bench.clock import paired, peak_growth, repeats_for  # noqa: E402


def test_a_run_of_one_program() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "hello", "--json", "-"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    warm = found["programs"]["hello"]["warm"]
    assert 0.0 < warm["objective"] < 1.0 and warm["ratio"] > 0.0
    assert found["overhead"]["one number"] < 1e-3


def test_all_twelve_are_there() -> None:
    names = "hello gmm ba ht lstm kmeans det llsq lse ode particle saddle"
    assert [case.name for case in CASES] == names.split()


@pytest.mark.parametrize("name", ["process", "convolution", "waves"])
def test_programs_of_our_own(name: str) -> None:
    """The derivative along a direction is the slope of the program on NumPy."""
    case = next(case for case in LARGER if case.name == name)
    objective, derivative = case.functions()
    first, *rest = case.arguments()
    direction, step = np.random.default_rng(1).normal(size=first.shape), 1e-6
    ends = [objective.python(first + sign * step * direction, *rest) for sign in (1.0, -1.0)]
    found = derivative(first, *rest)
    slope = np.sum((found[0] if isinstance(found, tuple) else found) * direction)
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2.0 * step), rtol=1e-5)


def test_forces_end_nearer_to_rest() -> None:
    case = next(case for case in LARGER if case.name == "forces")
    force, descent = case.functions()
    positions, pairs = case.arguments()
    later = descent(positions, pairs)
    assert np.linalg.norm(force(later, pairs)) < np.linalg.norm(force(positions, pairs))


def test_kernels_beside_array_programs() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "kernels.py"), "--small", "--rounds", "1", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert list(found) == ["rsbench", "xsbench", "lbm"]
    for program in found.values():
        assert all(seconds > 0.0 for seconds in program["seconds"].values())
        assert program["ratios"]["gradient / value, kernel"] > 0.0


def test_loops_in_lanes() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "lanes.py"), "--small", "--rounds", "1", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert len(found) == 10
    assert all(program["ratios"]["one by one / in lanes, value"] > 0.0 for program in found.values())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_programs_beside_c() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "native.py"), "--small", "--rounds", "1", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert len(found) == 14
    for program in found.values():
        assert all(seconds > 0.0 for seconds in program["seconds"].values())
        assert program["ratios"]["gradient / C"] > 0.0


def test_pairs_and_memory() -> None:
    times = paired(lambda: time.sleep(1e-3), lambda: time.sleep(3e-3), seconds=0.05)
    assert 1.5 < times.ratio < 6.0
    assert repeats_for(lambda: None) > 100
    growth = peak_growth(lambda: np.ones(4_000_000))
    assert growth is None or growth > 16_000_000


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_c_objective_is_the_same_function() -> None:
    case = next(case for case in CASES if case.name == "gmm")
    objective, _ = case.functions()
    alpha, mu, q, lower, x, gamma, m = case.arguments()
    arguments = (alpha, mu, q, lower, x[:10], gamma, m)
    (found,) = c_objective(arguments)()
    assert np.isclose(found, objective.python(*arguments), rtol=1e-10)
