"""The same programs in other systems, each in the formulation in which it is fastest there.

A file for each system has a table `PROGRAMS`: by the name of a program a function that takes its arguments,
and gives a call of its objective and one of its derivative, with what our derivative gives. They are compared
with ours before anything is timed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

Call = Callable[[], Any]
Maker = Callable[..., tuple[Call, Call]]

PEERS = {"jax": "JAX", "torch": "PyTorch", "numba": "Numba"}
"""The packages, and what they are called."""


def is_installed(peer: str) -> bool:
    """Whether a package is there; it is not imported."""
    return importlib.util.find_spec(peer) is not None


def programs(peer: str) -> Mapping[str, Maker]:
    """The programs of one system, which is imported now."""
    found: Mapping[str, Maker] = importlib.import_module(f"bench.peers.in_{peer}").PROGRAMS
    return found
