"""What mypyc compiles means what the sources mean (`scripts/written_out.py`)."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scripts.written_out import is_compiled, module_of, write, written_out

NODES = '''
from __future__ import annotations
from dataclasses import dataclass, field
from typing import NamedTuple
from anadrome.prims.node import node, replace

@node
class Leaf:
    value: int
    name: str = "leaf"

@node
class Pair:
    """Two of them."""
    first: Leaf | Pair
    second: Leaf | Pair
    rest: tuple[Leaf, ...] = ()

@dataclass(frozen=True, slots=True)
class Key:
    place: int
    of: Leaf | None = None

    @property
    def next(self) -> Key:
        return replace(self, place=self.place + 1)

@dataclass(slots=True, eq=False)
class Walk:
    seen: list[Leaf]
    known: dict[str, int] = field(default_factory=dict)
    depth: int = field(init=False, default=3)
    marks: list[int] = field(default_factory=lambda: [7])

    def __post_init__(self) -> None:
        self.depth += len(self.seen)

@dataclass(slots=True, eq=False)
class Deeper(Walk):
    level: int = field(kw_only=True)

class Place(NamedTuple):
    row: int
    column: int

def odd():
    yield 1
    yield 3
'''

MATCHES = """
from __future__ import annotations
from collections.abc import Callable
from typing import Any
from anadrome.array_ir.sample_nodes import Key, Leaf, Pair, Place, Walk, odd
from anadrome.array_ir import sample_nodes as nodes

def of(value: Any) -> Any:
    match value:
        case Leaf(0, name):
            return "nothing", name
        case Leaf(value=int() as number, name="big" | "huge") if number > 10:
            return "big", number
        case Leaf(value=number):
            return "leaf", number
        case Pair(Leaf(name=name), Leaf(value=0)) | Pair(Pair(second=Leaf(name=name)), _):
            return "named", name
        case Pair(first=Leaf(value=number), rest=(one, *more)):
            return "rest", number, one.name, more
        case Pair(first=Pair() as value, second=other):
            return "pairs", value, other
        case nodes.Pair(rest=()):
            return "two"
        case Pair(rest=(*_, last)):
            return "last", last
        case Place(row, column=3):
            return "place", row
        case Place():
            return "elsewhere"
        case True | None:
            return "single", value
        case "a" | "b":
            return "letter"
        case str(text):
            return "text", text
        case [1, 2, *rest]:
            return "sequence", rest
        case (first, _):
            return "couple", first
        case Key() | Walk():
            return "other"
        case float():
            return "float"
        case _:
            return None

def of_two(left: Any, right: Any) -> Any:
    match left, right:
        case Leaf(), Leaf(value=number):
            return number
        case (Leaf(value=number), _) if number in (*range(3), 8) and number not in odd():
            return -number
        case _, None:
            return "none"
    return "end"

def of_call(value: Any, then: Callable[[int], int] = lambda number: number + 1) -> Any:
    match len(value):
        case 0:
            name = "empty"
        case size if size > 2:
            name = str(then(size))
        case _:
            name = "few"
    return name
"""


def _modules(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name, text in texts.items():
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(text, name, "exec"), module.__dict__)
    return module


def _outcomes(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the functions make of values of every kind, and the classes of their fields, as text."""
    with monkeypatch.context() as patch:
        module = _modules(texts, patch)
        nodes: Any = module.nodes
        leaf, empty = nodes.Leaf(4, "x"), nodes.Leaf(0)
        values = [
            leaf,
            empty,
            nodes.Leaf(11, "big"),
            nodes.Leaf(9, name="huge"),
            nodes.Leaf(True, "big"),
            nodes.Pair(leaf, empty),
            nodes.Pair(leaf, leaf),
            nodes.Pair(nodes.Pair(empty, leaf), leaf),
            nodes.Pair(nodes.Pair(leaf, nodes.Pair(leaf, leaf)), leaf, (empty, leaf)),
            nodes.Pair(leaf, leaf, (empty,)),
            nodes.Pair(leaf, leaf, (empty, leaf, leaf)),
            nodes.Place(1, 3),
            nodes.Place(1, 4),
            nodes.Key(1),
            nodes.Walk([leaf]),
            *(True, None, 1, "a", "b", "c", [1, 2], [1, 2, 3], (1, 2, 5), (3, 4), [3], (), 1.5, {}),
        ]
        found = [repr(module.of(value)) for value in values]
        found += [repr(module.of_two(left, right)) for left in values for right in values]
        found += [module.of_call(value) for value in ((), (1,), (1, 2, 3))]
        found.append(module.of_call("abcd", lambda size: size * 2))
        key, walk, deeper = nodes.Key(1, leaf), nodes.Walk([leaf]), nodes.Deeper([], {"a": 1}, level=2)
        found += [repr(key.next), repr(walk), repr(deeper), str(walk.marks is nodes.Walk([]).marks)]
        found += [str(key == nodes.Key(1, leaf)), str(hash(key) == hash(nodes.Key(1, leaf)))]
        found += [str(key == nodes.Key(2, leaf)), str(leaf == nodes.Leaf(4, "x")), str(key == leaf)]
        found += [
            repr(nodes.replace(leaf, value=3)),
            repr(pickle.loads(pickle.dumps(nodes.Pair(leaf, empty)))),
        ]
        for wrong in (lambda: nodes.Leaf(), lambda: nodes.Leaf(1, "a", 2), lambda: nodes.Deeper([])):
            with pytest.raises(TypeError):
                wrong()
    return found


def test_classes_and_patterns_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"anadrome.array_ir.sample_nodes": NODES, "anadrome.array_ir.sample": MATCHES}
    new = written_out(texts)
    assert "match value" not in new["anadrome.array_ir.sample"]
    assert "not in tuple(odd())" in new["anadrome.array_ir.sample"]
    assert "@" not in new["anadrome.array_ir.sample_nodes"].replace("@property", "")
    assert _outcomes(new, monkeypatch) == _outcomes(texts, monkeypatch)


def test_a_guard_that_binds_its_names_again_is_refused() -> None:
    text = "def f(x):\n    match x:\n        case [y, *z] if all(y for y in z):\n            return y\n"
    with pytest.raises(NotImplementedError, match="the guard binds `y` again"):
        written_out({"anadrome.array_ir.guarded": text})


def test_what_python_cannot_derive_from_is_refused() -> None:
    texts = {
        "anadrome.array_ir.base": "class Base:\n    pass\n",
        "anadrome.frontend.own": "from anadrome.array_ir.base import Base\n\nclass Own(Base):\n    pass\n",
    }
    with pytest.raises(
        ValueError, match=r"anadrome\.frontend\.own: `Own` derives from `Base`, which is compiled"
    ):
        written_out(texts)


PROGRAM = """
import numpy as np
import anadrome as ad

def energy(x, w, c):
    total, y = 0.0, x.copy()
    for i in range(len(x)):
        if x[i] > 0:
            total += np.sum(np.tanh(w[i] * y)) * x[i]
        else:
            y[i] = np.exp(x[i]) + w[c[i], i]
    return total + np.sum((w @ y)[c]) + np.max(np.cumsum(x))

x, w, c = np.linspace(-1, 1, 6), np.linspace(0, 2, 36).reshape(6, 6), np.array([1, 0, 3, 5, 5, 2])
print(ad.__file__)
for stage in ("canonical", "kernel", "schedule"):
    print(ad.show(ad.grad(energy, argnums=(0, 1)), x, w, c, stage=stage))
print(ad.hessian(energy)(x, w, c).tolist())
"""


def test_the_compiler_written_out_makes_the_same_programs(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    compiled = write(sources)
    assert len(compiled) > 150
    assert all(is_compiled(module_of(path, sources)) for path in compiled)

    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")

    def output(**more: str) -> list[str]:
        environment = {**os.environ, "ANADROME_CACHE": "0", **more}
        run = [sys.executable, str(program)]
        return subprocess.run(
            run, env=environment, check=True, capture_output=True, text=True
        ).stdout.splitlines()

    ours, new = output(), output(PYTHONPATH=str(sources))
    assert new[0].startswith(str(sources)) and not ours[0].startswith(str(sources))
    assert new[1:] == ours[1:] and len(new) > 100
