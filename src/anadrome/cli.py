"""The command `anadrome`: demo, show, explain, doctor, cache."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from anadrome.api.show import KNOWN_STAGES, as_compiled, difference, show_stages
from anadrome.api.transforms import grad
from anadrome.config import Config, from_environment
from anadrome.errors import AnadromeError
from anadrome.errors.tracebacks import VARIABLE
from anadrome.tools.demo import run_demo
from anadrome.tools.doctor import clear_cache, findings
from anadrome.tools.explain import explain
from anadrome.tools.from_file import load_function, parse_argument
from anadrome.tools.points import generated, read_adbench
from anadrome.tools.report import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it went well."""
    options = parser().parse_args(arguments)
    command: Callable[[argparse.Namespace, Config], None] = options.command
    try:
        command(options, from_environment(os.environ))
        sys.stdout.flush()
    except (AnadromeError, MemoryError) as error:
        if os.environ.get(VARIABLE) == "full":
            raise
        words = error if isinstance(error, AnadromeError) else f"error: not enough memory: {error}"
        print(words, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(
        prog="anadrome", description="A compiler that differentiates plain numerical Python."
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _demo_options(
        _command(commands, "demo", _demo, "fit a Gaussian mixture with a compiled gradient, and draw it")
    )
    _show_options(
        _command(commands, "show", _show, "print a function's program at a stage of its compilation")
    )
    _explain_options(
        _command(commands, "explain", _explain, "print what a call keeps and runs again, from the sizes")
    )
    _command(commands, "doctor", _doctor, "print versions, processor, libraries and cache")
    cache = _command(commands, "cache", _cache, "print where object code is kept, and how much")
    cache.add_argument("--clear", action="store_true", help="remove it")
    return top


def _command(commands: Any, name: str, run: Callable[..., None], words: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words)
    made.set_defaults(command=run)
    return made


def _whole(least: int) -> Callable[[str], int]:
    """The type of an option that is an integer of at least `least`."""

    def parse(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, and is {number}")
        return number

    parse.__name__ = "integer"  # argparse names it where the text is none
    return parse


def _step(text: str) -> float:
    """The type of an option that is a step length."""
    number = float(text)
    if not 0.0 < number <= LONGEST_STEP:
        raise argparse.ArgumentTypeError(f"must be a positive number up to {LONGEST_STEP:g}, and is {text}")
    return number


_step.__name__ = "number"


# ---------------------------------------------------------------------------- demo
LONGEST_STEP = 100.0


def _demo_options(options: argparse.ArgumentParser) -> None:
    options.add_argument("--data", type=Path, metavar="FILE", help="fit the points of an ADBench GMM file")
    options.add_argument("--points", type=_whole(1), default=3000, help="how many points to generate")
    options.add_argument("--components", type=_whole(1), default=6, help="how many clusters")
    options.add_argument("--steps", type=_whole(1), default=200, help="steps of gradient descent")
    options.add_argument("--rate", type=_step, default=0.05, help="the step length at first")
    options.add_argument("--seed", type=_whole(0), default=1)
    options.add_argument("--out", type=Path, default=Path("out"), help="the folder of the picture")


def _demo(options: argparse.Namespace, config: Config) -> None:
    if options.data is not None:
        problem = read_adbench(options.data)
    else:
        problem = generated(options.components, options.points, options.seed)
    run_demo(problem, options.steps, options.rate, options.seed, options.out, Report(sys.stdout))


# ---------------------------------------------------------------------------- a function and its arguments
def _function_options(options: argparse.ArgumentParser) -> None:
    options.add_argument("function", metavar="FILE:FUNCTION")
    options.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="TYPE",
        help="an argument: f64[100,3], i64 or a literal; repeat it",
    )
    options.add_argument("--args", nargs="*", default=[], metavar="TYPE", help="all arguments at once")
    options.add_argument("--grad", action="store_true", help="the gradient instead of the function")
    options.add_argument(
        "--argnums",
        type=lambda text: int(text) if text.lstrip("-").isdigit() else text,
        nargs="+",
        default=[0],
        metavar="ARGUMENT",
        help="what the gradient is by: positions or names",
    )


def _called(options: argparse.Namespace) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function that is named, or its gradient, and its arguments."""
    function = load_function(options.function)
    if options.grad:
        numbers = options.argnums[0] if len(options.argnums) == 1 else tuple(options.argnums)
        function = grad(function, argnums=numbers)
    return function, tuple(parse_argument(text) for text in (*options.arg, *options.args))


# ---------------------------------------------------------------------------- show and explain
def _show_options(options: argparse.ArgumentParser) -> None:
    _function_options(options)
    where = options.add_mutually_exclusive_group()
    where.add_argument(
        "--stage", default="optimised", metavar="STAGE", help=f"one of {', '.join(KNOWN_STAGES)}"
    )
    where.add_argument("--after", metavar="PASS", help="the program after this pass")
    options.add_argument("--diff", action="store_true", help="what that stage changed")


def _show(options: argparse.Namespace, config: Config) -> None:
    function, args = _called(options)
    compiled = as_compiled(function)
    text = show_stages(compiled, compiled.signature(args, {}))
    stage = options.after or options.stage
    print(difference(stage, text) if options.diff else text(stage))


def _explain_options(options: argparse.ArgumentParser) -> None:
    _function_options(options)
    options.add_argument("--measure", action="store_true", help="call it too, and count the bytes it held")


def _explain(options: argparse.Namespace, config: Config) -> None:
    function, args = _called(options)
    print(explain(function, *args, measure=options.measure))


# ---------------------------------------------------------------------------- doctor and cache
def _doctor(options: argparse.Namespace, config: Config) -> None:
    for what, how in findings(config):
        print(f"{what:<12} {how}")


def _cache(options: argparse.Namespace, config: Config) -> None:
    if options.clear:
        print(clear_cache(config))
        return
    print(dict(findings(config))["cache"])
