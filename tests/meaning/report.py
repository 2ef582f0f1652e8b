"""What came of the programs of the judge: counts, failures made short, and what was right before.

python -m tests.meaning.report                              counts of every family
python -m tests.meaning.report --count 5000 statements      of more programs of one family
python -m tests.meaning.report --shrink 20 statements       the first failures, made as short as they can be
python -m tests.meaning.report --show refused statements    the programs of a verdict
python -m tests.meaning.report --thresholds all=0           under another configuration
python -m tests.meaning.report --write before.json          the verdicts, in a file
python -m tests.meaning.report --against before.json        what was right there and is not now
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from anadrome.config import Config
from tests.meaning.functions import function_program
from tests.meaning.grammar import random_program
from tests.meaning.judge import Judgement, Program, Subject, judge
from tests.meaning.shrink import shrunk
from tests.meaning.special_recipes import all_recipes
from tests.meaning.tally import Tally
from tests.meaning.test_cases import EITHER, RIGHT, SIZES, case
from tests.meaning.thresholds import FIXED, configurations


def statements(count: int) -> Iterator[Subject]:
    """Random programs of the data model."""
    return (random_program(seed) for seed in range(count))


def cases(count: int) -> Iterator[Subject]:
    """Programs by hand."""
    return (case(function, size) for function in (*RIGHT, *EITHER) for size in SIZES)


def functions(count: int) -> Iterator[Subject]:
    """Every recipe so often that there are at least `count` programs."""
    recipes = all_recipes()
    times = -(-count // len(recipes))
    return (function_program(recipe, number) for number in range(times) for recipe in recipes)


FAMILIES: dict[str, Callable[[int], Iterator[Subject]]] = {
    "cases": cases,
    "statements": statements,
    "functions": functions,
}

LETTERS = {"right": "R", "refused": "F", "wrong": "W", "crash": "C"}


def key(subject: Subject) -> str:
    """What a program is known by in a file of verdicts."""
    return f"{subject.id} {subject.args[-2] if subject.args else ''}"


def judged(family: str, count: int, config: Config) -> Iterator[Judgement]:
    """The judgements of a family."""
    return (judge(subject, config) for subject in FAMILIES[family](count))


def main(arguments: list[str]) -> int:
    """The command."""
    options = parsed(arguments)
    config = configurations()[options.thresholds]
    verdicts: dict[str, dict[str, str]] = {}
    for family in options.families or FAMILIES:
        tally = Tally()
        left = options.shrink
        verdicts[family] = {}
        for judgement in judged(family, options.count, config):
            tally.add(judgement)
            verdicts[family][key(judgement.program)] = LETTERS[judgement.verdict]
            if options.show == judgement.verdict:
                print(f"{judgement}\n")
            if left and judgement.is_failure and isinstance(judgement.program, Program):
                left -= 1
                print(f"{judge(shrunk(judgement.program, config), config)}\n", flush=True)
        print(f"== {family}: " + "\n".join(tally.lines()) + "\n", flush=True)
    if FIXED:
        print(f"thresholds that cannot be set: {', '.join(FIXED)}")
    if options.write:
        Path(options.write).write_text(json.dumps(verdicts, indent=0))
    return compare(json.loads(Path(options.against).read_text()), verdicts) if options.against else 0


def compare(before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> int:
    """Print what was right and is not any more; 1 where there is such a program."""
    lost = [
        (family, name, now[family][name])
        for family, those in before.items()
        for name, letter in those.items()
        if letter == "R" and now.get(family, {}).get(name, "R") != "R"
    ]
    for family, name, letter in lost:
        print(f"was right, is {letter}: {family} {name}")
    print(f"{len(lost)} programs were right before and are not now")
    return 1 if lost else 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.meaning.report")
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES])
    parser.add_argument("--count", type=int, default=1000, help="programs of each random family")
    parser.add_argument("--shrink", type=int, default=0, help="print so many failures, made short")
    parser.add_argument("--show", choices=LETTERS, help="print the programs of this verdict")
    parser.add_argument("--thresholds", default="default", choices=configurations())
    parser.add_argument("--write", help="write the verdicts to a file")
    parser.add_argument("--against", help="compare with a file of verdicts")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
