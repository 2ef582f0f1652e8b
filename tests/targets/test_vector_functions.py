"""Loops over C functions call their vector versions where the C library has them."""

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from anadrome.targets.cpu_machine import assembly, object_code, optimised_text, this_machine
from tests.targets.oracle import compiled, in_lanes

LOOP = """fn f(x: f64 buffer, y: f32 buffer, n: i64) {
  alloc a: f64 global [n]
  alloc b: f32 global [n]
  for i in 0 .. n parallel { a[i] = cos(x[i]) }
  for j in 0 .. n parallel { b[j] = pow(y[j], sin(y[j])) }
  return a as f64 [n], b as f32 [n]
}"""

KEPT = """fn f(x: f64 buffer, n: i64) {
  alloc a: f64 global [n]
  for i in 0 .. n parallel { a[i] = add(exp(x[i]), sin(x[i])) }
  return a as f64 [n]
}"""


@pytest.fixture
def machine():
    machine = this_machine()
    if not machine.target.vector_functions:
        pytest.skip("the C library of this machine has no vector functions")
    return machine


def test_loops_become_vector_calls(machine):
    text = optimised_text(in_lanes(LOOP).llvm_text, machine)
    widest = {name: versions[0] for name, versions in machine.target.vector_functions.items()}
    for name in ("cos", "powf", "sinf"):
        kind = "float" if name.endswith("f") else "double"
        assert f"call contract <{widest[name].lanes} x {kind}> @{widest[name].symbol}(" in text


def test_vector_calls_agree_with_numpy(machine):
    x = np.linspace(-1.5, 1.5, 1003)
    y = np.linspace(0.1, 5, 1003, dtype=np.float32)
    a, b = compiled(LOOP)([x, y, len(x)])
    np.testing.assert_allclose(a, np.cos(x), rtol=1e-15)
    np.testing.assert_allclose(b, y ** np.sin(y), rtol=1e-6)


def test_object_code_names_its_functions(machine):
    code = object_code(in_lanes(LOOP).llvm_text, machine)
    assert machine.target.vector_functions["cos"][0].symbol.encode() in code
    assert llvm.address_of_symbol(machine.target.vector_functions["cos"][0].symbol)


def test_vectors_kept_over_a_call_lie_in_one_cache_line(machine):
    """Else one of them may lie across the end of a page, as the system puts the stack: 1.4 times the time."""
    register = {256: "ymm", 512: "zmm"}.get(machine.target.vector_bits)
    if register is None or not machine.target.triple.startswith("x86_64"):
        pytest.skip("the vectors of this machine are no wider than what every stack is aligned to")
    code = assembly(in_lanes(KEPT).llvm_text, machine)
    kept = re.findall(rf"(vmov\w+)\s+%{register}\d+, (\d*)\(%rsp\)", code)
    assert kept
    for move, offset in kept:
        assert move.startswith(("vmova", "vmovdqa")), move
        assert int(offset or 0) % (machine.target.vector_bits // 8) == 0
