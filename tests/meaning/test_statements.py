"""Random programs of the data model mean what Python means, or are refused, at every threshold."""

from __future__ import annotations

import pytest

from tests.meaning.grammar import random_program
from tests.meaning.judge import judge
from tests.meaning.thresholds import configurations

SAMPLE, MANY = 500, 20_000
CHUNK = 100
CONFIGURATIONS = configurations()
"""Programs of one test: its failure shows the first that is wrong, and counts the others."""


def assert_right(seeds: range, configuration: str = "default") -> None:
    config = CONFIGURATIONS[configuration]
    failures = [found for seed in seeds if (found := judge(random_program(seed), config)).is_failure]
    if failures:
        pytest.fail(f"{len(failures)} of {len(seeds)} programs fail, with {config}\n\n{failures[0]}")


@pytest.mark.parametrize("start", range(0, SAMPLE, CHUNK))
def test_statements(start: int) -> None:
    assert_right(range(start, start + CHUNK))


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(SAMPLE, MANY, CHUNK))
def test_many_statements(start: int) -> None:
    assert_right(range(start, start + CHUNK))


@pytest.mark.parametrize("configuration", ["all=0", "all=64"])
def test_statements_at_other_thresholds(configuration: str) -> None:
    assert_right(range(CHUNK), configuration)


@pytest.mark.fuzz
@pytest.mark.parametrize("configuration", [name for name in CONFIGURATIONS if name != "default"])
@pytest.mark.parametrize("start", range(0, MANY // 10, CHUNK))
def test_many_statements_at_other_thresholds(configuration: str, start: int) -> None:
    assert_right(range(start, start + CHUNK), configuration)


def test_the_same_seed_gives_the_same_program() -> None:
    assert random_program(7) == random_program(7)
    assert random_program(7).text != random_program(8).text
