"""Programs do not pile up: those used last are kept, and what goes takes its machine code with it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import anadrome as ad
from anadrome.api.call import KEPT_TRANSFORMS
from anadrome.api.signature import Signature
from anadrome.api.store import KEPT_STATES, ProgramStore
from anadrome.config import Config
from anadrome.frontend.captured import KEPT

FOUR = Config(programs=4, cache=False)
X = np.linspace(0.0, 1.0, 20)


def scaled(x, c):
    return np.sum(x * c)


def engine_of(compiled, *args):
    """A weak reference to the machine code of the program for a call."""
    return weakref.ref(compiled.program(args, {})[0].executable._owner)


def test_static_values_are_bounded_and_their_machine_code_is_freed():
    f = ad.jit(scaled, config=FOUR, static_argnums=1)
    engines = []
    for k in range(12):
        assert f(X, float(k)) == pytest.approx(k * X.sum())
        engines.append(engine_of(f, X, float(k)))
    gc.collect()
    assert len(f._programs) == 4 and f.compilations == 12
    assert [engine() is not None for engine in engines] == [False] * 8 + [True] * 4


def test_the_least_recently_used_go_first():
    f = ad.jit(scaled, config=FOUR, static_argnums=1)
    for k in (0.0, 1.0, 2.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0):
        f(X, k)
    assert f.compilations == 7
    f(X, 0.0)
    assert f.compilations == 7
    f(X, 1.0)
    assert f.compilations == 8


@pytest.mark.parametrize(
    "values",
    [[f"{k}" for k in range(9)], [lambda x, k=k: x + k for k in range(9)], [object() for _ in range(9)]],
    ids=["strings", "functions", "objects"],
)
def test_every_kind_of_static_value_counts(values):
    f = ad.jit(lambda x, how: how(x) if callable(how) else x, config=FOUR)
    for value in values:
        f(X, value)
    assert f.compilations == 9 and len(f._programs) == 4


def test_a_program_that_is_called_the_short_way_stays():
    f = ad.jit(lambda x, c=None: np.sum(x) if c is None else np.sum(x) + len(c), config=FOUR)
    f(X)
    engine = engine_of(f, X)
    for k in range(20):
        f(X, "a" * k)
        assert f(X) == pytest.approx(X.sum())
    assert engine() is not None
    assert f.compilations == 21
    for k in range(8):
        f(X, "b" * k)
    gc.collect()
    assert engine() is None
    assert f(X) == pytest.approx(X.sum()) and f.compilations == 30


def test_small_dimensions_count_too():
    f = ad.jit(lambda x: np.sum(x), config=FOUR)
    for n in range(1, 11):
        assert f(np.ones(n)) == n
    assert f.compilations == 10 and len(f._programs) == 4
    assert len(f._plain) <= 4


def test_one_program_is_always_kept():
    f = ad.jit(scaled, config=Config(programs=0, cache=False), static_argnums=1)
    for _ in range(3):
        f(X, 2.0)
    assert f.compilations == 1 and len(f._programs) == 1


def test_states_of_one_signature_are_bounded_too():
    class Machine:
        pass

    store = ProgramStore(3)
    signature, other = (Signature(None, (n,)) for n in (1, 2))
    programs = [Machine() for _ in range(5)]
    store.put(other, programs[0])
    for program in programs[1:]:
        store.put(signature, program)
    assert store.of(signature) == (programs[4], programs[3], programs[2])
    assert len(store) == 3 and store.of(other) == ()
    store = ProgramStore(100)
    for _ in range(20):
        store.put(signature, Machine())
    assert len(store) == KEPT_STATES


def test_transforms_kept_with_a_function_are_bounded():
    def f(x):
        return x * x

    first = ad.vmap(f, in_axes=0)
    assert ad.vmap(f, in_axes=0) is first
    for k in range(1, 3 * KEPT_TRANSFORMS):
        ad.vmap(f, in_axes=k)
        assert ad.vmap(f, in_axes=0) is first
    assert len(vars(f)[KEPT]) == KEPT_TRANSFORMS
    last = ad.vmap(f, in_axes=3 * KEPT_TRANSFORMS - 1)
    assert ad.vmap(f, in_axes=1) is not ad.vmap(f, in_axes=2)
    assert ad.vmap(f, in_axes=3 * KEPT_TRANSFORMS - 1) is last


def test_several_threads_at_a_small_store():
    f = ad.jit(scaled, config=Config(programs=2, cache=False), static_argnums=1)
    wrong = []

    def work(seed):
        for k in range(6):
            c = float((seed + k) % 5)
            if f(X, c) != pytest.approx(c * X.sum()):
                wrong.append(c)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(f._programs) == 2


GROWTH = """
import gc
import numpy as np
import anadrome as ad

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

f = ad.jit(lambda x, c: np.sum(np.sin(x) * c), config=ad.Config(programs=8, cache=False), static_argnums=1)
x = np.linspace(0.0, 1.0, 100)
for k in range(50):
    f(x, float(k))
before = resident()
for k in range(50, 200):
    f(x, float(k))
print(resident() - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="no /proc to read the memory of a process in"
)
def test_memory_does_not_grow_with_static_values(tmp_path):
    """Before, 150 values took 26 MiB: their programs and, for each, what LLVM's passes had allocated."""
    (tmp_path / "growth.py").write_text(GROWTH)
    found = subprocess.run(
        [sys.executable, tmp_path / "growth.py"],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "ANADROME_VERIFY": "0",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
    )
    assert float(found.stdout) < 5.0
