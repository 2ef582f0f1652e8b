"""`show` and the pipeline behind it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import anadrome as ad
from anadrome import compile
from anadrome.api.show import KNOWN_STAGES, as_compiled, difference, show_stages
from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir import text as array_text
from anadrome.compile import PIPELINE, PRIMAL_STAGES, STAGES, Statistics, compile_function, optimise, prepare
from anadrome.errors.api import UnknownStage
from anadrome.errors.ir import IRError
from anadrome.kernel_ir import text as kernel_text


def cost(points, scale):
    return sum(np.exp(-scale * point) for point in points)


POINTS = np.linspace(0.0, 1.0, 20)


def test_every_stage_has_text() -> None:
    text = show_stages(as_compiled(cost), ad.jit(cost).signature((POINTS, 2.0), {}))
    for stage in KNOWN_STAGES:
        assert text(stage).strip(), stage
    for stage in STAGES[STAGES.index("array") : STAGES.index("kernel")]:
        assert array_text.show(array_text.parse(text(stage))) == text(stage)
    plan, _, program = text("schedule").partition("\n\n")
    assert plan.startswith("# plan for") and all(line.startswith("# ") for line in plan.splitlines())
    assert kernel_text.show(kernel_text.parse(text("schedule"))) == program
    assert kernel_text.show(kernel_text.parse(text("kernel"))) == text("kernel")
    assert "define" in text("llvm")


def test_show_of_functions_and_transforms() -> None:
    assert "exp" in ad.show(cost, POINTS, 2.0)
    assert "exp" in ad.show(ad.grad(cost, argnums=1), POINTS, 2.0, stage="array")
    with pytest.raises(UnknownStage, match="no stage `nonsense`"):
        ad.show(cost, POINTS, 2.0, stage="nonsense")


def test_values_have_the_first_name_that_the_program_gives_them() -> None:
    def f(x: np.ndarray) -> object:
        scaled = 2.0 * x
        table = np.zeros(30)
        exp = np.sin(x[0])
        same = x
        for i in range(20):
            table[i] = table[i - 1] + exp * same[i % 3]
        final = table
        return final, scaled

    text = ad.show(f, np.ones(3), stage="array")
    first, *rest = text.splitlines()
    assert first.startswith("fn f(x: f64[3])")
    assert "  scaled = parfor" in text and "  table = full [30] 0.0" in text
    assert re.search(r"  exp = sin v", text)
    assert re.search(r"  (table\d+) = loop \((table\d+) = table\)", text)
    assert re.search(r"    table\d+ = update table\d+\[i\d*\]", text)
    assert "final" not in text and "same" not in text
    assert rest


def test_what_has_a_name_keeps_it() -> None:
    """Also an argument or a carried number called as values without a name are."""

    def f(a: np.ndarray, v: float) -> object:
        again, same = a, v
        other = a
        for _ in range(20):
            before = v
            v = np.sin(before)
        return other * again * v * same

    text = ad.show(f, np.ones(3), 2.0, stage="array")
    assert text.startswith("fn f(a: f64[3], v: f64) -> f64[3] {")
    assert re.search(r"= loop \(v\d* = v\)", text)
    assert not any(name in text for name in ("again", "same", "other", "before"))


def test_what_is_differentiated_is_shown_before_it_is() -> None:
    peak = ad.grad(lambda points: np.max(np.exp(points)))
    text = show_stages(as_compiled(peak), peak.signature((POINTS,), {}))
    for stage in PRIMAL_STAGES:
        assert array_text.show(array_text.parse(text(stage))) == text(stage)
    assert "reduce max" in text("primal") and "exp" in text("primal")
    assert text("primal") != text("canonical") != text("array")
    assert text(PRIMAL_STAGES[-2]) == array_text.show(prepare(array_text.parse(text("primal")), ad.Config()))

    nested = ad.grad(lambda x: np.sum(ad.grad(cost)(x, 2.0) ** 2))
    inner, outer = ad.show(nested, POINTS, stage="primal").split("\nfn ")
    assert "exp" in inner and outer.count("exp") > 0
    assert "nothing is differentiated" in ad.show(cost, POINTS, 2.0, stage="canonical")


def test_difference_of_a_stage() -> None:
    text = show_stages(as_compiled(ad.grad(cost)), ad.grad(cost).signature((POINTS, 2.0), {}))
    lines = difference("simplify", text).splitlines()
    assert lines[:2] == ["--- before simplify", "+++ after simplify"]
    with pytest.raises(UnknownStage):
        difference("primal", text)


def test_the_verifier_blames_the_stage() -> None:
    broken = array_text.parse("fn f(x: f64) -> f64 {\n  y = mul x x\n  return y\n}\n")
    object.__setattr__(broken.body.lets[0], "targets", ())
    with pytest.raises(IRError, match="after the stage `array`"):
        optimise(broken, ad.Config(verify=True))


@pytest.mark.parametrize("read_back", (1, 4))
def test_so_many_programs_are_read_back_from_their_text(
    monkeypatch: pytest.MonkeyPatch, read_back: int
) -> None:
    monkeypatch.setattr(compile, "READ_BACK", read_back)
    monkeypatch.setattr(compile, "_read_back", lambda program: "fn f() { }")
    blamed = 0
    for count in range(1, 9):
        lets = "".join(f"  y{k} = sin {'x' if k == 0 else f'y{k - 1}'}\n" for k in range(count))
        fn = array_text.parse(f"fn f(x: f64) -> f64 {{\n{lets}  return y{count - 1}\n}}\n")
        try:
            compile._verify("array", fn)
        except IRError as error:
            assert "the text of the program" in str(error)
            blamed += 1
    assert blamed == 8 // read_back


def test_every_stage_of_a_program_is_what_its_text_is_read_as(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "READ_BACK", 1)

    def f(x: np.ndarray, n: int) -> object:
        table, total = np.zeros(20), 0.0
        for i in range(n):
            if x[i % 3] > 0.5:
                table[i % 20] += np.exp(-x[i % 3])
            total = np.sin(total) + table[(3 * i) % 20]
        while total > 3.0:
            total = 0.5 * total
        return total + np.sum(np.cumsum(table) * np.sort(table)) + np.linalg.det(np.outer(x, x) + np.eye(3))

    config = ad.Config(verify=True, cache=False)
    x = np.array([0.2, 0.7, 0.9])
    for derivative in (ad.jit, ad.grad, ad.hessian):
        found = derivative(ad.jit(f, config=config))(x, 30)
        assert np.all(np.isfinite(found))
    assert np.isclose(ad.jit(f, config=config)(x, 30), f(x, 30))


def test_dumps_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    fn = array_text.parse("fn f(x: f64) -> f64 {\n  y = mul x x\n  return y\n}\n")
    compile_function(fn, ad.Config(dump="array,kernel", cache=False))
    words = capsys.readouterr().err
    assert "--- array\nfn f(x: f64)" in words and "--- kernel\nfn f(x: f64)" in words


def test_times_by_stage() -> None:
    fn = array_text.parse("fn f(x: f64) -> f64 {\n  y = mul x x\n  return y\n}\n")
    statistics = Statistics()
    compile_function(fn, ad.Config(cache=False), statistics)
    assert set(statistics.seconds) == {*(name for name, _ in PIPELINE), "kernel", "schedule", "machine"}
    assert statistics.total > 0.0


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("y = x[0]; z = sin y; return z", {"simplify": 2, "fuse": 1, "hoist": 1, "join": 2}),
        (
            "y = parfor i < n { v = x[i]; w = sin v; yield reduce add w }; return y",
            {"simplify": 2, "fuse": 1, "hoist": 1, "join": 2},
        ),
        (
            "u = x[0]; y = parfor i < n { v = x[i]; w = sin u; z = mul v w; yield reduce add z }; return y",
            {"simplify": 3, "fuse": 2, "hoist": 1, "join": 2},
        ),
    ],
)
def test_a_pass_runs_again_if_another_has_made_work_for_it(
    body: str, runs: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    counted: dict[compile.Pass, compile.Pass] = {}

    def counting(name: str, run: compile.Pass) -> compile.Pass:
        def counts(fn: array_ir.Function, config: ad.Config) -> array_ir.Function:
            ran.append(name)
            return run(fn, config)

        return counted.setdefault(run, counts)

    pipeline = tuple((name, counting(name, run)) for name, run in PIPELINE)
    monkeypatch.setattr(compile, "PIPELINE", pipeline)
    fn = array_text.parse(f"fn f(x: f64[n]) -> f64 {{ {body} }}\n")
    optimise(fn, ad.Config())
    assert {name: ran.count(name) for name in runs} == runs
