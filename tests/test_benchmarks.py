"""The measuring programs run and give sensible numbers; how large the numbers are is not tested."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "examples", ROOT / "benchmarks"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from bench import peers, programs  # noqa: E402 (the path is set above)
from bench.agreement import assert_agree, is_slope  # noqa: E402
from bench.cases import GALLERY, TABLE  # noqa: E402
from bench.clock import paired, peak_growth, repeats_for, times_in_turn  # noqa: E402
from bench.table import lines  # noqa: E402
from compile import adaptive, bodies, network, optics  # noqa: E402


def measured(program: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a program of `benchmarks/` answers; passes are not verified, as they are in other tests."""
    command = [sys.executable, str(ROOT / "benchmarks" / program), *options]
    names = {**os.environ, "ANADROME_VERIFY": "0", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=names)


def numbers(program: str, *options: str) -> dict[str, Any]:
    """The numbers that a program of `benchmarks/` prints as JSON."""
    answer = measured(program, *options)
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_table(tmp_path: Path) -> None:
    file = tmp_path / "out" / "bench.json"
    answer = measured("run.py", "--small", "--json", str(file))
    assert answer.returncode == 0, answer.stderr
    found = json.loads(file.read_text(encoding="utf-8"))
    assert list(found["programs"]) == [case.name for case in TABLE]
    assert len(found["limits"]) == 6 and all(rate > 0.0 for rate in found["limits"].values())
    assert found["overhead"]["one number"] < 1e-3
    for case in TABLE:
        program = found["programs"][case.name]
        assert all(seconds > 0.0 for seconds in program["seconds"].values())
        assert program["ratios"]["gradient / objective"] > 0.0
        assert ("C objective" in program["seconds"]) == (case.native is not None)
        for line in lines(case.name, case.size, program, []):
            assert line in answer.stdout


def test_the_gallery() -> None:
    found = numbers("run.py", "--small", "--gallery", "--json", "-")
    assert list(found["programs"]) == [case.name for case in GALLERY]
    assert found["programs"]["hello"]["memory"] is None or found["programs"]["hello"]["memory"] >= 0


def test_no_c_compiler() -> None:
    printed = measured("run.py", "--small", "max", PATH="").stdout
    assert "no C compiler (`cc` is not on the path): columns of C stay empty" in printed
    assert "limits were not measured" in printed
    (line,) = (line for line in printed.splitlines() if line.startswith("max"))
    assert line.count(" ms") == 2


def test_an_unknown_program() -> None:
    answer = measured("run.py", "maximum")
    assert answer.returncode == 2 and "no program `maximum`; there are gmm10_25," in answer.stderr


@pytest.mark.skipif(any(map(peers.is_installed, peers.PEERS)), reason="a peer is installed")
def test_no_peers() -> None:
    answer = measured("run.py", "--peers")
    assert answer.returncode == 2 and "none of jax, torch, numba is installed" in answer.stderr


def test_all_twelve_of_the_suite_are_there() -> None:
    names = "gmm10_25 ba1 lstm2 hello ht kmeans_step det llsq lse ode particle saddle"
    assert set(names.split()) <= {case.name for case in (*TABLE, *GALLERY)}


@pytest.mark.parametrize("name", ["process", "convolution", "waves"])
def test_programs_of_our_own(name: str) -> None:
    """The derivative along a direction is the slope of the program on NumPy."""
    case = next(case for case in TABLE if case.name == name)
    assert case.check is not None
    case.check(case.objective.python, case.derivative, case.arguments(True))


def test_forces_end_nearer_to_rest() -> None:
    case = next(case for case in TABLE if case.name == "forces")
    positions, pairs = case.arguments(False)
    later = programs.descent(positions, pairs)
    before, after = (np.linalg.norm(programs.force(x, pairs)) for x in (positions, later))
    assert after < before


def test_what_does_not_agree() -> None:
    square = lambda x: np.sum(x**2)
    is_slope(0)(square, lambda x: 2.0 * x, (np.arange(3.0),))
    with pytest.raises(AssertionError):
        is_slope(0)(square, lambda x: 2.001 * x, (np.arange(3.0),))
    with pytest.raises(AssertionError):
        assert_agree((1.0, np.ones(2)), (1.0, np.array([1.0, 1.0 + 1e-8])))
    with pytest.raises(AssertionError):
        assert_agree(1.0, (1.0, 2.0))


def test_kernels_beside_array_programs() -> None:
    found = numbers("kernels.py", "--small", "--rounds", "1", "--json")
    assert list(found) == ["rsbench", "xsbench", "lbm"]
    for program in found.values():
        assert all(seconds > 0.0 for seconds in program["seconds"].values())
        assert program["ratios"]["gradient / value, kernel"] > 0.0


def test_loops_in_lanes() -> None:
    found = numbers("lanes.py", "--small", "--rounds", "1", "--json")
    assert len(found) == 13
    assert all(program["ratios"]["one by one / in lanes, value"] > 0.0 for program in found.values())


def test_pairs_and_memory() -> None:
    times = paired(lambda: time.sleep(1e-3), lambda: time.sleep(3e-3), seconds=0.05)
    assert 1.5 < times.ratio < 6.0
    assert repeats_for(lambda: None) > 100
    growth = peak_growth(lambda: np.ones(4_000_000))
    assert growth is None or growth > 16_000_000


def test_calls_in_turn() -> None:
    made: list[str] = []
    calls = {name: (lambda name=name: made.append(name)) for name in ("one", "two")}
    times = times_in_turn(calls, 2, repeats={"one": 1, "two": 2})
    assert made == ["two", "two", "one", "one", "two", "two"]
    assert [len(taken) for taken in times.values()] == [2, 2]


@pytest.mark.parametrize(
    ("function", "gradient", "arguments"),
    [
        (adaptive.misfit, adaptive.gradient, adaptive.arguments),
        (bodies.after, bodies.gradient, bodies.arguments),
        (network.loss, network.gradient, network.arguments),
        (optics.spot, lambda *given: optics.gradient(*given)[0], optics.arguments),
    ],
    ids=["adaptive", "bodies", "network", "optics"],
)
def test_programs_whose_compilation_is_measured(function: Any, gradient: Any, arguments: Any) -> None:
    given, h = arguments(), 1e-7  # pooling has kinks close by
    parts = given[0] if isinstance(given[0], tuple) else (given[0],)

    def along(step: float) -> Any:
        moved = tuple(part + step * np.cos(part) for part in parts)
        return function(moved if isinstance(given[0], tuple) else moved[0], *given[1:])

    found = gradient(*given)
    found = found if isinstance(given[0], tuple) else (found,)
    slope = sum(np.vdot(each, np.cos(part)) for each, part in zip(found, parts, strict=True))
    assert np.isclose(slope, (along(h) - along(-h)) / (2 * h), rtol=1e-4)
