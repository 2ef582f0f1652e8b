"""Random programs of the data model mean what Python means, or are refused, at every threshold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.meaning.grammar import random_program
from tests.meaning.judge import Program, judge
from tests.meaning.operators import operator_program
from tests.meaning.thresholds import configurations

GENERATORS: dict[str, tuple[Callable[[int], Program], int, int]] = {
    "statements": (random_program, 400, 20_000),
    "operators": (operator_program, 200, 5_000),
}
"""What makes the program of a number, how many programs are the sample, and how many the long search."""
CHUNK = 100
"""Programs of one test: its failure counts them, and shows the first."""
MOST_REFUSED = 15
"""Of the programs of one test no more are refused; of all of them it is one in twenty."""
CONFIGURATIONS = configurations()

Chunk = tuple[str, int]


def chunks(is_sample: bool) -> list[Chunk]:
    """Which programs each test takes: the family, and the first number."""
    return [
        (name, start)
        for name, (_, sample, many) in GENERATORS.items()
        for start in (range(0, sample, CHUNK) if is_sample else range(sample, many, CHUNK))
    ]


def name_of(chunk: Chunk) -> str:
    return f"{chunk[0]}-{chunk[1]}"


def assert_right(chunk: Chunk, configuration: str = "default", is_compiled: bool = False) -> None:
    name, start = chunk
    config = CONFIGURATIONS[configuration]
    make = GENERATORS[name][0]
    judged = [judge(make(number), config, is_compiled) for number in range(start, start + CHUNK)]
    failures = [found for found in judged if found.is_failure]
    if failures:
        pytest.fail(f"{len(failures)} of {CHUNK} programs fail, with {config}\n\n{failures[0]}")
    refused = [found for found in judged if found.verdict == "refused"]
    if configuration == "default" and len(refused) > MOST_REFUSED:
        pytest.fail(f"{len(refused)} of {CHUNK} programs are refused\n\n{refused[0]}")


@pytest.mark.parametrize("chunk", chunks(is_sample=True), ids=name_of)
def test_programs(chunk: Chunk) -> None:
    assert_right(chunk)


@pytest.mark.parametrize("configuration", ["all=0", "all=64"])
@pytest.mark.parametrize("name", GENERATORS)
def test_programs_at_other_thresholds(name: str, configuration: str) -> None:
    assert_right((name, 0), configuration)


def test_machine_code_of_programs() -> None:
    assert_right(("statements", 0), "all=0", is_compiled=True)


@pytest.mark.fuzz
@pytest.mark.parametrize("configuration", ["default", "all=0"])
@pytest.mark.parametrize("chunk", chunks(is_sample=False)[::4], ids=name_of)
def test_machine_code_of_many_programs(chunk: Chunk, configuration: str) -> None:
    assert_right(chunk, configuration, is_compiled=True)


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", chunks(is_sample=False), ids=name_of)
def test_many_programs(chunk: Chunk) -> None:
    assert_right(chunk)


@pytest.mark.fuzz
@pytest.mark.parametrize("configuration", [name for name in CONFIGURATIONS if name != "default"])
@pytest.mark.parametrize("chunk", chunks(is_sample=False)[::10], ids=name_of)
def test_many_programs_at_other_thresholds(chunk: Chunk, configuration: str) -> None:
    assert_right(chunk, configuration)


@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_number_gives_the_same_program(name: str) -> None:
    make = GENERATORS[name][0]
    assert make(7) == make(7)
    assert make(7).text != make(8).text
