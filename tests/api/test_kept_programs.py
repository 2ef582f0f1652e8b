"""Programs on disk: another process finds what this one has compiled, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import anadrome as ad
from anadrome import compile as compiler
from anadrome.api import program as programs
from anadrome.array_ir.key import bytes_of
from anadrome.array_ir.nodes import Body, Const, Function
from anadrome.array_ir.text import parse
from anadrome.dtypes import F64
from anadrome.errors.runtime import IndexOutOfBounds


@pytest.fixture
def config(tmp_path: Path) -> ad.Config:
    return ad.Config(cache_dir=str(tmp_path), verify=False)


@ad.kernel
def triple(x, y):
    i = ad.threadIdx.x
    y[i] = 3.0 * x[i]


class CompiledAgain(Exception):
    """A program that should be on disk is not."""


def refused(*_: Any, **__: Any) -> Any:
    raise CompiledAgain


@pytest.fixture
def only_kept(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on nothing is compiled."""
    return lambda: monkeypatch.setattr(compiler, "lower_function", refused)


def test_a_failure_names_its_line(config: ad.Config, only_kept: Callable[[], None]) -> None:
    def pick(x, k):
        return x[k] * 2.0

    x = np.arange(3.0)
    assert ad.jit(pick, config=config)(x, 1) == 2.0
    only_kept()
    again = ad.jit(pick, config=config)
    assert again(x, 2) == 4.0
    with pytest.raises(IndexOutOfBounds, match=r"index 7 .* size 3") as caught:
        again(x, 7)
    assert f"test_kept_programs.py:{pick.__code__.co_firstlineno + 1}" in str(caught.value)


def test_what_is_printed(
    config: ad.Config, only_kept: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> None:
    def tell(x):
        print("x is", x, sep=": ")
        return x

    ad.jit(tell, config=config)(1.5)
    only_kept()
    ad.jit(tell, config=config)(2.5)
    assert capfd.readouterr().out == "x is: 1.5\nx is: 2.5\n"


def test_what_a_call_does_beside_computing(config: ad.Config, only_kept: Callable[[], None]) -> None:
    """Donated arrays, random numbers, sparse systems, kernels, measured memory."""
    matrix = scipy.sparse.csr_array(2.0 * np.eye(3))

    def drawn(rng, x):
        return x + rng.normal(size=3)

    def solved(x):
        return scipy.sparse.linalg.spsolve(matrix, x)

    def moved(x):
        return x + 1.0

    def tripled(x):
        y = np.zeros(3)
        triple[1, 3](x, y)
        return y

    x = np.arange(3.0)

    def every() -> list[Any]:
        given = np.arange(100_000.0)
        place = given.ctypes.data
        result = ad.jit(moved, donate_argnums=0, config=config)(given)
        counted = ad.jit(lambda v: np.cumsum(v), config=replace(config, measure_memory=True))
        return [
            ad.jit(drawn, config=config)(np.random.default_rng(1), x),
            ad.jit(solved, config=config)(x),
            ad.jit(tripled, config=config)(x),
            [result[0], result.ctypes.data == place],
            counted(np.ones(1000)),
        ]

    expected = every()
    only_kept()
    for one, other in zip(every(), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_tells_programs_apart(
    config: ad.Config, only_kept: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    factor = 2.0

    def scaled(x):
        return np.sum(np.exp(x) * factor)

    x = np.ones(20)

    def call(config: ad.Config, x: Any = x, **rest: Any) -> Any:
        return ad.jit(scaled, config=config, **rest)(x)

    expected = call(config)
    only_kept()
    assert call(config) == expected
    assert call(replace(config, threads=1, progress=False)) == expected
    assert call(config, np.ones(30)) == pytest.approx(1.5 * expected)
    for other in (
        *({"fused": False}, {"reordered": False}, {"functions": "library"}, {"lanes": 1}),
        *({"measure_memory": True}, {"checks": False}, {"cache": False}, {"verify": True}),
    ):
        with pytest.raises(CompiledAgain):
            call(replace(config, **other))  # type: ignore[arg-type]
    with pytest.raises(CompiledAgain):
        call(config, np.ones(20, np.float32))
    with pytest.raises(CompiledAgain):
        call(config, np.ones(20), donate_argnums=0)
    factor = 3.0
    with pytest.raises(CompiledAgain):
        call(config)
    factor = 2.0
    assert call(config) == expected
    monkeypatch.setattr(compiler, "_sources", lambda: "another Anadrome")
    with pytest.raises(CompiledAgain):
        call(config)


def test_what_tells_calls_apart(config: ad.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is staged."""

    def scaled(x):
        return np.sum(np.exp(x) * 2.0)

    x = np.ones(20)
    gradient = ad.grad(ad.jit(scaled, config=config))
    expected = gradient(x)
    monkeypatch.setattr(programs, "staged_program", refused)

    def call(config: ad.Config, x: Any = x) -> Any:
        return ad.grad(ad.jit(scaled, config=config))(x)

    for like in ({"threads": 1}, {"progress": False}, {"programs": 3}):
        np.testing.assert_array_equal(call(replace(config, **like)), expected)  # type: ignore[arg-type]
    longer = call(config, np.ones(30))  # the end may be one by one, where vectors have no masks
    np.testing.assert_allclose(longer, np.full(30, expected[0]), rtol=1e-14)
    for other in ({"fused": False}, {"lanes": 1}, {"checks": False}, {"verify": True}, {"cache": False}):
        with pytest.raises(CompiledAgain):
            call(replace(config, **other))  # type: ignore[arg-type]
    for argument in (np.ones(3), np.ones(20, np.float32), np.ones((20, 2))):
        with pytest.raises(CompiledAgain):
            call(config, argument)
    with pytest.raises(CompiledAgain):
        ad.value_and_grad(ad.jit(scaled, config=config))(x)
    with np.errstate(divide="raise"), pytest.raises(CompiledAgain):
        call(config)
    np.testing.assert_array_equal(call(config), expected)


def test_what_is_shown_is_compiled(config: ad.Config) -> None:
    def square(x):
        return x * x

    ad.jit(square, config=config)(2.0)
    compiled = ad.jit(square, config=config)
    assert compiled(3.0) == 9.0
    assert "define" in ad.show(compiled, 2.0, stage="llvm")
    assert "square" in str(ad.explain(compiled, 2.0))


def test_code_that_is_gone_is_compiled_again(config: ad.Config, tmp_path: Path) -> None:
    def cube(x):
        return x * x * x

    assert ad.jit(cube, config=config)(2.0) == 8.0
    (program,) = [one for one in tmp_path.glob("*.object") if b"Interface" in one.read_bytes()]
    for one in tmp_path.glob("*.object"):
        if one != program:
            one.unlink()
    assert ad.jit(cube, config=config)(3.0) == 27.0


SCRIPT = """
import numpy as np
import anadrome as ad
from anadrome import compile as compiler
def refused(*_, **__):
    raise SystemExit("compiled again")
if {is_second}:
    compiler.lower_function = refused
def f(x, names):
    table = {{"a": x * 2.0, "b": x + 1.0}}
    return sum(np.sum(table[name] ** 2) for name in sorted(set(names)))
print(ad.grad(f)(np.arange(20.0), ("b", "a", "b")).sum())
"""


def test_another_process_finds_it(tmp_path: Path) -> None:
    """Whatever order sets and names have there."""
    found = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "ANADROME_VERIFY": "0"}
        environment["ANADROME_CACHE_DIR"] = str(tmp_path)
        file = tmp_path / "program.py"
        file.write_text(SCRIPT.format(is_second=seed == "2"), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    assert found[0] == found[1]


def test_what_is_known_by_its_name_alone_has_no_key() -> None:
    fn = parse("fn f(x: f64) -> f64 { y = add x 1.0; return y }")
    assert bytes_of(fn) == bytes_of(parse("fn f(x: f64) -> f64 { y = add x 1.0; return y }"))
    assert bytes_of(fn) != bytes_of(parse("fn f(x: f64) -> f64 { y = add x 2.0; return y }"))
    local = lambda: 0
    local.__module__ = "anadrome.nowhere"
    for value in (lambda x: x, refused, CompiledAgain, Path, local):
        strange: Any = Const(value, F64)  # type: ignore[arg-type]
        assert bytes_of(Function(fn.name, fn.params, Body(fn.body.lets, (strange,)))) is None


def test_without_its_own_files_nothing_tells_states_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an archive, as byte code alone, or where another version has been put in their place."""
    sources = compiler._sources.__wrapped__
    monkeypatch.setattr(compiler, "_IMPORTED", time.time() + 3600.0)
    assert sources() != ""
    monkeypatch.setattr(compiler, "__file__", str(tmp_path / "compile.py"))
    assert sources() == ""
    (tmp_path / "compile.py").write_text("one", encoding="utf-8")
    first = sources()
    (tmp_path / "compile.py").write_text("two", encoding="utf-8")
    assert "" != first != sources() != ""
    monkeypatch.setattr(compiler, "_IMPORTED", time.time() - 3600.0)
    assert sources() == ""
