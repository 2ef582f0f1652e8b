"""Containers taken apart and put together."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from anadrome.api.pytree import describe, flatten, leaf_paths, map_leaves, unflatten

Point = namedtuple("Point", ("x", "y"))


@dataclass(frozen=True)
class Layer:
    weights: Any
    bias: Any = None


class Opaque:
    pass


TREES = [
    1.0,
    (),
    (1, 2.0, "text"),
    [1, [2, [3]]],
    {"b": 1, "a": (2, None)},
    Point(1, [2, 3]),
    Layer([1, 2], {"k": Point(3, 4)}),
    (None, Layer(None, 5.0)),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_round_trip(tree: object) -> None:
    leaves, structure = flatten(tree)
    again = unflatten(structure, leaves)
    assert again == tree
    assert type(again) is type(tree)
    assert flatten(again)[1] == structure
    assert hash(structure) == hash(flatten(again)[1])
    assert len(leaf_paths(structure)) == len(leaves)


def test_structures_differ_where_python_differs() -> None:
    trees = [
        (1, 2),
        [1, 2],
        {"a": 1, "b": 2},
        {"b": 1, "a": 2},
        Point(1, 2),
        Layer(1, 2),
        (1, (2,)),
        (1, 2, None),
    ]
    structures = [flatten(tree)[1] for tree in trees]
    assert len(set(structures)) == len(structures)


def test_a_dataclass_is_made_without_running_its_code() -> None:
    @dataclass
    class Checked:
        value: Any

        def __post_init__(self) -> None:
            raise AssertionError("not run")

    made = object.__new__(Checked)
    made.value = 2
    assert map_leaves(lambda leaf: leaf + 1, made).value == 3


def test_what_is_a_leaf() -> None:
    class Kind(dict):  # type: ignore[type-arg]
        pass

    for leaf in (Opaque(), Kind(a=1), Layer, "text", len):
        assert flatten(leaf)[0] == [leaf]


def test_paths_read_like_python() -> None:
    structure = flatten({"model": [Layer(1, 2), None], 3: Point(4, 5)})[1]
    assert leaf_paths(structure, "p") == [
        "p['model'][0].weights",
        "p['model'][0].bias",
        "p[3].x",
        "p[3].y",
    ]
    assert describe(structure) == "{'model': [Layer(weights=*, bias=*), None], 3: Point(x=*, y=*)}"
