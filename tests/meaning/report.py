"""What came of the programs of the judge: counts, failures made short, and what was right before.

python -m tests.meaning.report                              counts of every family
python -m tests.meaning.report --count 5000 statements      of more programs of one family
python -m tests.meaning.report --shrink 20 statements       the first failures, made as short as they can be
python -m tests.meaning.report --show refused statements    the programs of a verdict
python -m tests.meaning.report --thresholds all=0           under another configuration
python -m tests.meaning.report --compiled statements        as machine code, not by the interpreter
python -m tests.meaning.report --write before.json          the programs that are right, in a file
python -m tests.meaning.report --against before.json        what was right there and is not now
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from anadrome.config import Config
from tests.meaning.functions import function_program
from tests.meaning.grammar import random_program
from tests.meaning.judge import Judgement, Program, Subject, judge
from tests.meaning.operators import operator_program
from tests.meaning.shrink import shrunk
from tests.meaning.special_recipes import all_recipes
from tests.meaning.tally import VERDICTS, Tally
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


def operators(count: int) -> Iterator[Subject]:
    """In-place operators."""
    return (operator_program(number) for number in range(count))


FAMILIES: dict[str, Callable[[int], Iterator[Subject]]] = {
    "cases": cases,
    "statements": statements,
    "operators": operators,
    "functions": functions,
}


def key(subject: Subject) -> str:
    """What a program is known by in a file of those that are right."""
    return f"{subject.id} {subject.args[-2] if len(subject.args) > 2 else subject.args[-1]}"


def digest(subject: Subject) -> str:
    """Tells a program from another that a later grammar makes of the same seed."""
    return f"{zlib.crc32(str(subject).encode()):08x}"


def judged(family: str, count: int, config: Config, is_compiled: bool) -> Iterator[Judgement]:
    """The judgements of a family."""
    return (judge(subject, config, is_compiled) for subject in FAMILIES[family](count))


def main(arguments: list[str]) -> int:
    """The command."""
    options = parsed(arguments)
    config = configurations()[options.thresholds]
    right: dict[str, dict[str, str]] = {}
    before = json.loads(Path(options.against).read_text()) if options.against else {}
    lost = changed = 0
    for family in options.families or FAMILIES:
        tally = Tally()
        left = options.shrink
        right[family] = {}
        known = before.get(family, {})
        for judgement in judged(family, options.count, config, options.compiled):
            tally.add(judgement)
            subject = judgement.program
            if judgement.verdict == "right":
                right[family][key(subject)] = digest(subject)
            elif key(subject) in known:
                is_lost = known[key(subject)] == digest(subject)
                lost, changed = lost + is_lost, changed + (not is_lost)
                if is_lost:
                    print(f"was right:\n{judgement}\n", flush=True)
            if options.show == judgement.verdict:
                print(f"{judgement}\n", flush=True)
            if left and judgement.is_failure and isinstance(subject, Program):
                left -= 1
                shorter = shrunk(subject, config, options.compiled)
                print(f"{judge(shorter, config, options.compiled)}\n", flush=True)
        print(f"== {family}: " + "\n".join(tally.lines()) + "\n", flush=True)
    if FIXED:
        print(f"thresholds that cannot be set: {', '.join(FIXED)}")
    if options.write:
        Path(options.write).write_text(json.dumps(right, indent=0))
    if options.against:
        print(f"{lost} programs were right and are not now; {changed} are other programs than then")
    return 1 if lost else 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.meaning.report")
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES])
    parser.add_argument("--count", type=int, default=1000, help="programs of each random family")
    parser.add_argument("--shrink", type=int, default=0, help="print so many failures, made short")
    parser.add_argument("--show", choices=VERDICTS, help="print the programs of this verdict")
    parser.add_argument("--thresholds", default="default", choices=configurations())
    parser.add_argument("--compiled", action="store_true", help="run machine code")
    parser.add_argument("--write", help="write the programs that are right to a file")
    parser.add_argument("--against", help="compare with such a file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
