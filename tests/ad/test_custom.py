"""The node `Custom`: its text, its rules in both modes and transposed, the refusals, the pass `inline`."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.ad.forward import jvp
from anadrome.ad.linear import is_linear
from anadrome.ad.reverse import vjp
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Custom, i64
from anadrome.array_ir.rewrite import copy_function
from anadrome.array_ir.text import parse, show
from anadrome.array_ir.walk import all_lets
from anadrome.compile import optimise, prepare
from anadrome.config import Config
from anadrome.errors.ad import ClosedOver, RuleNotLinear
from anadrome.errors.ir import IRError
from anadrome.passes.inline import inline
from tests.ad.oracles import assert_derivatives

PROGRAM = """
fn f(x: f64[n], k: f64) -> f64 {{
  y = custom (t = x, q = k) {{
    a = parfor i < n {{ v = t[i]; w = sin v; z = mul w q; yield stack z }}
    return a
  }} {rule}
  s = parfor i < n {{ v = y[i]; w = mul v v; yield reduce add w }}
  return s
}}
"""
FORWARD = """jvp (u, r, u_tan, r_tan) {
    a, b = parfor i < n {
      v = u[i]; w = sin v; z = mul w r; d = u_tan[i]; c = cos v; e = mul c d; g = mul e r
      h = mul w r_tan; m = add g h; yield stack z; yield stack m
    }
    return a, b
  }"""
REVERSE = """vjp (u, r) {
    a = parfor i < n { v = u[i]; w = sin v; z = mul w r; yield stack z }
    return a, u, r
  } (p, m, c) {
    d, e = parfor i < n {
      v = p[i]; w = sin v; o = cos v; g = c[i]; h = mul g o; l = mul h m; z = mul g w
      yield stack l; yield reduce add z
    }
    return d, e
  }"""
RULES = {"jvp": FORWARD, "vjp": REVERSE, "both": f"{FORWARD} {REVERSE}"}
ARGUMENTS = (np.array([0.3, 1.2, -0.7]), np.float64(2.0))
CONFIG = Config(verify=True)
rules = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


@rules
def test_text(rule):
    fn = parse(PROGRAM.format(rule=rule))
    check(fn)
    assert show(parse(show(fn))) == show(fn)
    assert show(copy_function(fn)) == show(fn)


@rules
def test_derivatives(rule):
    fn = parse(PROGRAM.format(rule=rule))
    for program in (fn, prepare(fn, CONFIG)):
        assert_derivatives(program, ARGUMENTS, order=2)


@rules
def test_many_directions(rule):
    fn = parse(PROGRAM.format(rule=rule))
    derivative = jvp(fn, (True, True), i64(4))
    check(derivative)
    tangents = (np.eye(3, 4), np.array([0.0, 0.0, 0.0, 1.0]))
    _, tangent = run(derivative, (*ARGUMENTS, *tangents)).results
    adjoints = run(vjp(fn, (True, True)), (*ARGUMENTS, np.float64(1.0))).results[1:]
    np.testing.assert_allclose(tangent, [*adjoints[0], adjoints[1]], rtol=1e-14)


@rules
def test_inline(rule):
    fn = parse(PROGRAM.format(rule=rule))
    done = inline(fn, CONFIG)
    check(done)
    assert not any(isinstance(let.expr, Custom) for let in all_lets(done.body))
    assert (
        run(done, ARGUMENTS).results
        == run(fn, ARGUMENTS).results
        == run(optimise(fn, CONFIG), ARGUMENTS).results
    )
    assert inline(done, CONFIG) is done


def test_a_rule_is_believed():
    """The rule says that the derivative is seven times as large; so does the other mode."""
    seven = FORWARD.replace("m = add g h", "j = add g h; m = mul j 7.0")
    plain, scaled = (parse(PROGRAM.format(rule=rule)) for rule in (FORWARD, seven))
    for program in (plain, scaled):
        reverse = run(vjp(program, (True, False)), (*ARGUMENTS, np.float64(1.0))).results[1]
        columns = run(jvp(program, (True, False), i64(3)), (*ARGUMENTS, np.eye(3))).results[1]
        np.testing.assert_allclose(columns, reverse, rtol=1e-14)
    left = run(vjp(plain, (True, False)), (*ARGUMENTS, np.float64(1.0))).results[1]
    right = run(vjp(scaled, (True, False)), (*ARGUMENTS, np.float64(1.0))).results[1]
    np.testing.assert_allclose(right, 7 * left, rtol=1e-14)


CHECKPOINT = """
fn f(x: f64[n], p: i64[m]) -> f64 {
  a = custom () {
    b = parfor i < n { v = x[i]; w = exp v; yield stack w }
    s = loop (t = 1.0) for i < m {
      j = p[i]; v = b[j]?; u = x[j]?; c = mul v u; d = add t c; e = sin d
      return e
    }
    return s
  }
  r = mul a a
  return r
}
"""


def test_a_checkpoint_reads_what_is_around_it():
    fn = parse(CHECKPOINT)
    check(fn)
    args = (np.array([0.1, 0.5, 0.9]), np.array([0, 2, 2, 1, 0]))
    assert_derivatives(fn, args, order=2)
    assert_derivatives(prepare(fn, CONFIG), args, order=2)


def test_a_checkpoint_keeps_nothing_of_its_loop():
    """The first run's loop has no array that is as long as it runs; that of the return sweep has."""
    fn = vjp(parse(CHECKPOINT), (True, False))
    loops = [let.expr for let in all_lets(fn.body) if type(let.expr).__name__ == "Loop"]
    assert len(loops) == 3
    assert all(not var.type.shape for var in loops[0].carried)
    assert any(var.type.shape for var in loops[1].carried)


# ---------------------------------------------------------------------------- refusals
def test_a_differentiated_value_that_is_no_argument():
    text = PROGRAM.format(rule=FORWARD).replace("z = mul w q", "g = mul w q; z = mul g k", 1)
    fn = parse(text)
    check(fn)
    for mode in (jvp, vjp):
        with pytest.raises(ClosedOver):
            mode(fn, (True, True))
        mode(fn, (True, False)) if mode is jvp else None
    vjp(parse(PROGRAM.format(rule=FORWARD)), (True, False))


def test_a_rule_that_is_not_linear():
    square = REVERSE.replace("h = mul g o", "y = mul g g; h = mul y o")
    fn = parse(PROGRAM.format(rule=square))
    vjp(fn, (True, True))
    with pytest.raises(RuleNotLinear):
        jvp(fn, (True, True))
    affine = parse(PROGRAM.format(rule=FORWARD.replace("m = add g h", "j = add g h; m = add j 1.0")))
    jvp(affine, (True, True))
    with pytest.raises(RuleNotLinear):
        vjp(affine, (True, True))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return a, b\n", "return b\n"),
        ("return a, b\n", "return a, r_tan\n"),
        ("return a, u, r\n", "return u, a, r, r\n"),
        ("return d, e\n", "return e, d\n"),
        ("return d, e\n", "return d\n"),
    ],
)
def test_rules_of_wrong_types(old, new):
    rule = RULES["both"]
    assert old in rule
    with pytest.raises((IRError, Exception), match=r"rule|expected|residual"):
        check(parse(PROGRAM.format(rule=rule.replace(old, new))))


LINEAR = [
    ("a = add t t; b = mul a c; d = neg b", True),
    ("a = mul t t; d = neg a", False),
    ("a = add t c; d = neg a", False),
    ("a = div t c; d = sub a t", True),
    ("a = div c t; d = neg a", False),
    ("a = sin t; d = neg a", False),
    ("a = mul t 0.0; d = add a t", True),
    ("p = lt c 1.0; a = select p t 0.0; d = neg a", True),
    ("p = lt t 1.0; a = select p t 0.0; d = neg a", False),
    ("p = lt c 1.0; d = if p { a = add t t; return a } else { return 0.0 }", True),
    ("p = lt t 1.0; d = if p { a = add t t; return a } else { return 0.0 }", False),
    ("d = loop (s = t) for i < n { a = mul s c; b = add a t; return b }", True),
    ("d = loop (s = t) for i < n { a = mul s t; return a }", False),
    ("d = loop (s = 1.0) for i < n { a = add s t; return a }", False),
    ("d = loop (s = t) while { p = lt s 1.0; return p } do { a = add s s; return a }", False),
    ("e = parfor i < n { v = x[i]; a = mul v t; yield stack a }; d = e[0]", True),
    ("d = parfor i < n { v = x[i]; a = mul v t; yield reduce add a }", True),
    ("d = parfor i < n { v = x[i]; a = mul v t; yield reduce max a }", False),
    ("z = full [n] 0.0; w = update z[0] t; d = w[0]", True),
    ("w = update x[0] t; d = w[0]", False),
    (
        "a = full [n, n] t; b = full [n, n] c; e = call cholesky_adjoint(b, a); d = e[0, 0]",
        True,
    ),
    (
        "a = full [n, n] t; b = full [n, n] c; e = call cholesky_adjoint(a, b); d = e[0, 0]",
        False,
    ),
    ("a = stop_gradient t; d = neg a", False),
]


@pytest.mark.parametrize(("statements", "expected"), LINEAR, ids=[text for text, _ in LINEAR])
def test_linear(statements, expected):
    fn = parse(f"fn f(x: f64[n], c: f64, t: f64) -> f64 {{ {statements}; return d }}")
    check(fn)
    assert is_linear(fn.body, [fn.params[2]], fn.body.results) is expected
