"""Two processes make the same text of a program, so that one finds in the cache what the other compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.test_corpus import PROGRAMS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_texts_are_the_same_in_every_process(every: int) -> None:
    first, second = (_digests(every, seed) for seed in (1, 2))
    assert len(first) == -(-len(PROGRAMS) // every)
    assert first == second


def _digests(every: int, hash_seed: int) -> list[str]:
    command = [sys.executable, "-m", "tests.corpus.texts", str(every)]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, text=True, capture_output=True)
    return done.stdout.splitlines()
