"""Tracebacks end at the user's call; `ANADROME_TRACEBACK=full` shows all frames."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import numpy as np
import pytest

import anadrome as ad
from anadrome.api.call import Compiled
from anadrome.errors.tracebacks import BUG, PACKAGE
from anadrome.frontend.captured import KEPT

X = np.linspace(1.0, 2.0, 20)


def square(x):
    return x * x


def vector(x):
    return x[1:] * x[:-1]


def picks(x, i):
    return x[i] * 2.0


def strict(x):
    assert x > 0.0, "positive"
    return x


def divides(v):
    return 1 // v


def sorts(x):
    return x * sorted([1, 0], key=divides)[0]


@ad.custom_jvp
def ruled(x):
    return x // 0


@ad.checkpoint
def kept(x):
    return x // 0


class Model:
    scale = 2.0

    @ad.jit(config=ad.Config())
    def run(self, x):
        return x * self.scael


pick = ad.jit(picks, config=ad.Config())


@ad.kernel(config=ad.Config())
def doubled(x):
    x[ad.grid(1)] *= 2.0


DOORS: dict[str, Callable[[], object]] = {
    "jit": lambda: ad.jit(square)("a", 2),
    "jit of no function": lambda: ad.jit(5),
    "jit with settings": lambda: ad.jit(config=ad.Config())(5),
    "jit of a method": lambda: Model().run(2.0),
    "no argument": lambda: ad.grad(),
    "an argument too many": lambda: ad.grad(square, step=1),
    "index": lambda: pick(X, 40),
    "the same index again": lambda: pick(X, 40),
    "keyword": lambda: pick(X, i=40),
    "integer": lambda: ad.jit(square)(2**70),
    "assert": lambda: ad.jit(strict)(-1.0),
    "grad": lambda: ad.grad(vector)(X),
    "value_and_grad": lambda: ad.value_and_grad(vector)(X),
    "vjp": lambda: ad.vjp(square, "a"),
    "pullback": lambda: ad.vjp(vector, X)[1]("a"),
    "jvp": lambda: ad.jvp(square, 2.0, 1.0),
    "hvp": lambda: ad.hvp(vector, (X,), (X,)),
    "linearize": lambda: ad.linearize(square, "a"),
    "pushforward": lambda: ad.linearize(vector, X)[1](1.0),
    "jacfwd": lambda: ad.jacfwd(square)(2),
    "jacrev": lambda: ad.jacrev(square)(2),
    "jacobian": lambda: ad.jacobian(square, mode="both"),
    "sparse jacobian": lambda: ad.jacobian(vector, sparse=True)(3),
    "sparsity": lambda: ad.sparsity(square)("a"),
    "hessian": lambda: ad.hessian(vector)(X),
    "sparse hessian": lambda: ad.hessian(vector, sparse=True)(X),
    "vmap": lambda: ad.vmap(square, in_axes=3)(X),
    "custom_jvp": lambda: ad.custom_jvp(5),
    "custom_jvp with settings": lambda: ad.custom_jvp(nondiff_argnums=(0,))(5),
    "custom_vjp": lambda: ad.custom_vjp(5),
    "checkpoint": lambda: ad.checkpoint(5),
    "fixed_point": lambda: ad.fixed_point(lambda x: x + 1.0, 0.0),
    "root": lambda: ad.root(lambda x: x * x + 1.0, 0.5, tolerance=-1),
    "range": lambda: ad.range(5, checkpoint="some"),
    "unroll": lambda: list(ad.unroll(5)),
    "reduce": lambda: ad.reduce("plus", X),
    "scan": lambda: ad.scan(lambda a, b: a + b, X),
    "reduce_by_index": lambda: ad.reduce_by_index(3, "add", np.array([5]), X[:1]),
    "scatter": lambda: ad.scatter(np.zeros(3), np.array([5]), X[:1]),
    "segment_sum": lambda: ad.segment_sum(X[:1], np.array([5]), 3),
    "segment_prod": lambda: ad.segment_prod(X[:1], np.array([5]), 3),
    "segment_max": lambda: ad.segment_max(X[:1], np.array([5]), 3),
    "segment_min": lambda: ad.segment_min(X[:1], np.array([5]), 3),
    "sort": lambda: ad.sort(X, 3),
    "argsort": lambda: ad.argsort(X, 3),
    "filter": lambda: ad.filter(lambda x: x, 5),
    "map": lambda: ad.map(square, 5),
    "stop_gradient": lambda: ad.stop_gradient(),
    "check_grads": lambda: ad.check_grads(square, 2.0),
    "check_kernel": lambda: ad.check_kernel(5),
    "check_kernel on an index": lambda: ad.check_kernel(doubled[1, 40], X.copy()),
    "trace_nan": lambda: ad.trace_nan(5),
    "traced": lambda: ad.trace_nan(square)("a", 2),
    "explain": lambda: ad.explain(square, "a"),
    "show": lambda: ad.show(square, 2.0, stage="some"),
    "Config": lambda: ad.Config(threads=-1),
    "release_memory": lambda: ad.release_memory(keep=-1),
    "kernel": lambda: ad.kernel(shared_limit=-1),
    "kernel called": lambda: doubled(X),
    "kernel without threads": lambda: doubled[0, 1](X),
    "kernel launched": lambda: doubled[1, 40](X.copy()),
    "kernel on a list": lambda: doubled[1, 1]([1.0, 2.0]),
    "place of a thread": lambda: ad.threadIdx.x,
    "laneid": lambda: int(ad.laneid),
    "grid": lambda: ad.grid(1),
    "gridsize": lambda: ad.gridsize(2),
    "shared": lambda: ad.shared.array(3, np.float64),
    "local": lambda: ad.local.array(3, np.float64),
    "atomic": lambda: ad.atomic.add(X, 0, 1.0),
    "atomic cas": lambda: ad.atomic.cas(X, 0, 1.0, 2.0),
    "atomic compare_and_swap": lambda: ad.atomic.compare_and_swap(X, 1.0, 2.0),
    "syncthreads": lambda: ad.syncthreads(),
    "syncthreads_count": lambda: ad.syncthreads_count(True),
    "syncthreads_and": lambda: ad.syncthreads_and(True),
    "syncthreads_or": lambda: ad.syncthreads_or(True),
    "syncwarp": lambda: ad.syncwarp(),
    "shfl_sync": lambda: ad.shfl_sync(1, 2.0, 0),
    "shfl_up_sync": lambda: ad.shfl_up_sync(1, 2.0, 0),
    "shfl_down_sync": lambda: ad.shfl_down_sync(1, 2.0, 0),
    "shfl_xor_sync": lambda: ad.shfl_xor_sync(1, 2.0, 0),
    "ballot_sync": lambda: ad.ballot_sync(1, True),
    "any_sync": lambda: ad.any_sync(1, True),
    "all_sync": lambda: ad.all_sync(1, True),
    "threadfence": lambda: ad.threadfence(),
}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short tracebacks, also of the transforms that a test before kept with its functions."""
    monkeypatch.delenv("ANADROME_TRACEBACK", raising=False)
    for function in (square, vector, picks, strict, sorts):
        vars(function).pop(KEPT, None)


def error_of(call: Callable[[], object]) -> BaseException:
    try:
        call()
    except BaseException as error:
        return error
    raise AssertionError("no error")


def places(found: TracebackType | None) -> list[tuple[str, str]]:
    """The file and function of every frame below the one that asks."""
    return [(frame.filename, frame.name) for frame in traceback.extract_tb(found)[1:]]


@pytest.mark.parametrize("name", DOORS)
def test_traceback_ends_at_the_call(name: str) -> None:
    error = error_of(DOORS[name])
    assert places(error.__traceback__) == [(__file__, "<lambda>")]
    assert error.__cause__ is None and error.__context__ is None
    assert isinstance(error, ad.AnadromeError | TypeError | np.exceptions.AxisError)


def test_every_callable_of_the_interface_is_tried() -> None:
    callables = {name for name in ad.__all__ if callable(getattr(ad, name))} - {"AnadromeError"}
    assert callables <= {name.partition(" ")[0] for name in DOORS}


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: ad.reduce(lambda a, b: divides(0), [1, 2], identity=0), ["<lambda>", "<lambda>", "divides"]),
        (lambda: ad.map(divides, [0]), ["<lambda>", "divides"]),
        (lambda: ad.filter(divides, [0]), ["<lambda>", "divides"]),
        (lambda: ruled(1), ["<lambda>", "ruled"]),
        (lambda: kept(1), ["<lambda>", "kept"]),
    ],
)
def test_functions_that_python_runs_keep_their_frames(call: Callable[[], object], names: list[str]) -> None:
    error = error_of(call)
    assert isinstance(error, ZeroDivisionError)
    assert places(error.__traceback__) == [(__file__, name) for name in names]


def test_an_argument_that_fails_keeps_its_frame() -> None:
    class Strange:
        def __hash__(self):
            raise LookupError("mine")

    error = error_of(lambda: ad.jit(square)(Strange()))
    assert isinstance(error, LookupError)
    assert [name for _, name in places(error.__traceback__)] == ["<lambda>", "__hash__"]


def test_code_run_while_compiling_is_the_cause() -> None:
    error = error_of(lambda: ad.grad(sorts)(2.0))
    assert places(error.__traceback__) == [(__file__, "<lambda>")]
    assert isinstance(error, ZeroDivisionError) and isinstance(error.__cause__, ZeroDivisionError)
    frames = traceback.extract_tb(error.__cause__.__traceback__)
    assert [(frame.filename, frame.name) for frame in frames] == [(__file__, "divides")]


def test_a_transform_in_a_function_that_python_runs() -> None:
    def slope(v):
        return ad.grad(vector)(X * v)

    error = error_of(lambda: ad.map(slope, [1.0]))
    assert isinstance(error, ad.AnadromeError)
    assert [name for _, name in places(error.__traceback__)] == ["<lambda>", "slope"]


def test_what_the_user_was_handling_is_still_the_context() -> None:
    def call():
        try:
            raise KeyError("mine")
        except KeyError:
            ad.grad(vector)(X)

    error = error_of(call)
    assert isinstance(error.__context__, KeyError) and not error.__suppress_context__
    assert [name for _, name in places(error.__traceback__)] == ["call"]
    shown = "".join(traceback.format_exception(error))
    assert "During handling of the above exception" in shown
    assert PACKAGE not in shown


def test_all_frames_are_shown_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ad.jit(vector, config=ad.Config(traceback="full"))
    for call in (lambda: whole("a"), lambda: ad.grad(whole)(X), lambda: ad.vjp(whole, "a")):
        assert len(places(error_of(call).__traceback__)) > 10
    monkeypatch.setenv("ANADROME_TRACEBACK", "full")
    for name in ("index", "grad", "pullback", "sparse jacobian", "check_grads", "Config"):
        assert any(file.startswith(PACKAGE) for file, _ in places(error_of(DOORS[name]).__traceback__))


def test_a_bug_of_ours_keeps_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = eval("lambda *rest: [][0]", {"__name__": "anadrome.api.call"})
    monkeypatch.setattr(Compiled, "make", broken)
    for call in (lambda: ad.jit(square)(3.0), lambda: ad.vjp(square, 3.0)):
        error = error_of(call)
        assert isinstance(error, IndexError)
        assert error.__notes__ == [BUG]
        assert any(file.startswith(PACKAGE) for file, _ in places(error.__traceback__))


def test_an_interrupt_ends_at_the_call_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*rest: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Compiled, "signature", interrupted)
    error = error_of(lambda: ad.show(square, 3.0))
    assert isinstance(error, KeyboardInterrupt)
    assert places(error.__traceback__) == [(__file__, "<lambda>"), (__file__, "interrupted")]


# ---------------------------------------------------------------------------- what a user sees
PROGRAM = """\
import numpy as np
import anadrome as ad

def middle(x, i):
    return x[i + 1]

def cost(x, i):
    return np.sum(x) * middle(x, i)

def fit(x):
    return ad.grad(cost)(x, 7)

fit(np.ones(5))
"""

SHOWN = """\
Traceback (most recent call last):
  File "{file}", line 13, in <module>
    fit(np.ones(5)){first}
  File "{file}", line 11, in fit
    return ad.grad(cost)(x, 7)
           {second}
anadrome.errors.runtime.IndexOutOfBounds: error: index 8 is out of range for a dimension of size 5 \
({file}:5:12)
  |
5 |     return x[i + 1]
  |            ^^^^^^^^ this index
help: a dimension of size n has the indices 0 to n - 1, and -n to -1 from its end
"""


def run(program: Path, input: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a file in a process of its own, in an environment without our settings."""
    environment = {"PYTHONPATH": str(Path(PACKAGE).parent), "PATH": "/usr/bin:/bin", **settings}
    command = [sys.executable, str(program)]
    return subprocess.run(command, input=input, capture_output=True, text=True, env=environment, timeout=120)


def test_a_whole_traceback(tmp_path: Path) -> None:
    program = tmp_path / "fit.py"
    program.write_text(PROGRAM, encoding="utf-8")
    found = run(program, ANADROME_CACHE="0")
    assert found.returncode == 1 and not found.stdout
    is_old = sys.version_info < (3, 13)
    carets = ("", "^" * 19) if is_old else ("\n    ~~~^^^^^^^^^^^^", "~" * 13 + "^" * 6)
    assert found.stderr == SHOWN.format(file=program, first=carets[0], second=carets[1])


def test_a_whole_traceback_with_all_frames(tmp_path: Path) -> None:
    program = tmp_path / "fit.py"
    program.write_text(PROGRAM, encoding="utf-8")
    found = run(program, ANADROME_CACHE="0", ANADROME_TRACEBACK="full")
    assert len(found.stderr.splitlines()) > 14
    assert f'File "{PACKAGE}api/call.py"' in found.stderr
    assert found.stderr.endswith(SHOWN.partition("anadrome.errors")[2].format(file=program))


def test_the_debugger_lands_in_the_call(tmp_path: Path) -> None:
    program = tmp_path / "fit.py"
    program.write_text(PROGRAM, encoding="utf-8")
    starter = tmp_path / "start.py"
    starter.write_text(
        "import pdb, runpy, sys\n"
        "try:\n    runpy.run_path(sys.argv[0].replace('start', 'fit'))\n"
        "except IndexError:\n    pdb.post_mortem()\n"
    )
    found = run(starter, input="p x\nq\n", ANADROME_CACHE="0")
    assert "fit.py(11)fit()" in found.stdout.splitlines()[0]
    assert "array([1., 1., 1., 1., 1.])" in found.stdout
