"""The interpreter of the kernel IR: values, memory errors, races."""

import numpy as np
import pytest

from anadrome.errors.ir import IRError
from anadrome.errors.runtime import AssertionFailed, OutOfMemory
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.text import parse


def program(body, outputs="", failures=""):
    return parse(f"fn f(x: f64 buffer, n: i64) {{ {body} return {outputs} }} {failures}")


def test_loops_branches_and_swaps():
    fn = program(
        """
        alloc a: f64 global [n] alloc b: f64 global [n] alloc k: i64 local [1]
        copy a [n] = x  k[0] = 0
        while { let go: bool = lt(k[0], 3) } test go {
          for i in 0 .. n parallel { b[i] = add(a[i], 1.0) }
          swap a, b
          k[0] = add(k[0], 1)
        }
        if gt(a[0], 100.0) { a[0] = 0.0 } else { a[0] = neg(a[0]) }
        """,
        "a as f64 [n], k[0] as i64",
    )
    a, k = run(fn, [np.array([1.0, 2.0]), 2])
    assert a.tolist() == [-4.0, 5.0]
    assert k == 3


def test_results_take_their_shapes():
    fn = program("alloc a: f64 global [n] copy a [n] = x", "a as f64 [2, truncdiv(n, 2)]")
    (a,) = run(fn, [np.arange(6.0), 6])
    assert a.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("let v: f64 = x[n]", r"read of x\[2:3\], which has 2 elements"),
        ("let v: f64 = x[-1]", r"read of x\[-1:0\]"),
        ("alloc a: f64 global [n] a[2] = 1.0", "at Store"),
        ("alloc a: f64 global [1] copy a [n] = x", "at Copy"),
        ("alloc a: f64 global [1] fill a [n] = 1.0", "at Fill"),
        ("view v = x [1] let w: f64 = v[1]", r"read of v\[1:2\], which has 1"),
        ("alloc a: f64 global [n] if true { free a } let v: f64 = a[0]", "used after it was freed"),
    ],
)
def test_memory_errors_name_the_statement(body, message):
    with pytest.raises(IRError, match=message):
        run(program(body), [np.zeros(2), 2])


@pytest.mark.parametrize("binding", ["threads", "parallel"])
@pytest.mark.parametrize(
    "body",
    [
        "a[0] = 1.0",
        "a[i] = a[min(add(i, 1), sub(n, 1))]",
        "a[i] = 1.0 let v: f64 = a[0]",
        "atomic add a[0] = 1.0 a[0] = 2.0",
        "atomic add a[0] = 1.0 let v: f64 = a[0]",
        "for j in 0 .. 2 sequential { a[j] = 1.0 }",
    ],
)
def test_iterations_that_conflict_are_found(binding, body):
    fn = program(f"alloc a: f64 global [n] fill a [n] = 0.0 for i in 0 .. n {binding} {{ {body} }}")
    with pytest.raises(IRError, match="parallel loop"):
        run(fn, [np.zeros(3), 3])


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = add(a[i], x[0])",
        "atomic add a[0] = 1.0",
        "alloc own: f64 global [1] own[0] = 1.0 own[0] = add(own[0], 1.0)",
        "alloc own: f64 local [1] own[0] = 1.0 a[i] = own[0]",
    ],
)
def test_iterations_that_do_not_conflict_pass(body):
    fn = program(f"alloc a: f64 global [n] fill a [n] = 0.0 for i in 0 .. n parallel {{ {body} }}")
    run(fn, [np.zeros(3), 3])


def test_sequential_iterations_may_depend_on_each_other():
    run(program("alloc a: f64 global [1] for i in 0 .. n sequential { a[0] = x[i] }"), [np.zeros(3), 3])


def test_checks_raise_their_class():
    fn = program(
        "for i in 0 .. n parallel { check 0: lt(x[i], 1.0), x[i], i }", failures='failure assert "{0} at {1}"'
    )
    run(fn, [np.zeros(3), 3])
    with pytest.raises(AssertionFailed, match=r"2\.0 at 1"):
        run(fn, [np.array([0.0, 2.0, 3.0]), 3])


def test_absurd_sizes_are_no_crash():
    for size in ("-1", "1152921504606846976"):
        with pytest.raises(OutOfMemory):
            run(program(f"alloc a: f64 global [{size}]"), [np.zeros(1), 1])
