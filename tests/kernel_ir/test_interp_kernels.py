"""The interpreter of kernels: values, in every order of blocks and threads."""

import itertools

import numpy as np
import pytest

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.interp import run, run_kernel
from anadrome.kernel_ir.text import parse
from tests.kernel_ir.kernels import AT, RACE_FREE, kernel


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("name", RACE_FREE)
def test_kernels_without_races_pass_and_have_the_values_of_numpy(name, seed):
    program = RACE_FREE[name]
    fn = kernel(program.params, program.body)
    results = run_kernel(fn, program.grid, program.block, program.shared, program.args, seed)
    expected = program.expected(*program.args)
    assert len(results) == len(expected)
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(got, np.reshape(wanted, got.shape))


@pytest.mark.parametrize("name", RACE_FREE)
def test_the_judge_changes_no_value(name):
    program = RACE_FREE[name]
    fn = kernel(program.params, program.body)
    launch = (fn, program.grid, program.block, program.shared, program.args)
    for got, wanted in zip(run_kernel(*launch, judge=False), run_kernel(*launch), strict=True):
        np.testing.assert_array_equal(got, wanted)


HOST = f"""
kernel double(n: i64, x: f64 buffer [n], y: f64 buffer [n]) {AT} {{
  let i: i64 = add(mul(gx, dx), tx)
  if lt(i, n) {{ y[i] = mul(2.0, x[i]) }}
}}
fn main(n: i64, x: f64 buffer) {{
  alloc y: f64 global [n] alloc z: f64 global [n]
  launch double [truncdiv(add(n, 7), 8), 1, 1] [8, 1, 1] [0] (n, x, y)
  view tail = y [1]
  fill z [n] = 0.0
  launch double [1, 1, 1] [8, 1, 1] [0] (sub(n, 1), tail, z)
  launch double [1, 1, 1] [8, 1, 1] [0] (1, z, y)
  return y as f64 [n], z as f64 [n]
}}
"""


@pytest.mark.parametrize("seed", [None, 5])
def test_host_programs_see_what_launches_write(seed):
    y, z = run(parse(HOST), [6, np.arange(6.0)], seed=seed)
    assert z.tolist() == [4.0, 8.0, 12.0, 16.0, 20.0, 0.0]
    assert y.tolist() == [8.0, 2.0, 4.0, 6.0, 8.0, 10.0]


ORDER = """
atomic add place[0] = 1 -> at: i64
order[at] = add(mul(gx, dx), tx)
"""


def order(seed):
    fn = kernel("place: i64 buffer; order: i64 buffer", ORDER)
    args = [np.zeros(1), np.zeros(24)]
    return run_kernel(fn, (6, 1, 1), (4, 1, 1), 0, args, seed)[1].tolist()


def test_without_a_seed_threads_run_in_order():
    assert order(None) == list(range(24))


def test_a_seed_determines_an_order():
    orders = [order(seed) for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert len(set(map(tuple, orders))) == 3
    assert all(sorted(one) == list(range(24)) for one in orders)


def test_with_a_seed_blocks_are_interleaved():
    blocks = [thread // 4 for thread in order(0)]
    changes = sum(one != other for one, other in itertools.pairwise(blocks))
    assert changes > 5


LOST_UPDATE = "let old: i64 = x[0] x[0] = add(old, 1)"


def test_with_a_seed_threads_change_at_statements_that_touch_memory():
    fn = kernel("x: i64 buffer", LOST_UPDATE)
    launch = (fn, (1, 1, 1), (16, 1, 1), 0, [np.zeros(1)])
    assert run_kernel(*launch, judge=False)[0] == 16
    assert min(run_kernel(*launch, seed, judge=False)[0] for seed in range(3)) < 16


def test_memory_of_blocks_and_threads_is_uninitialised():
    fn = kernel(
        "x: f64 buffer; y: i64 buffer",
        """alloc s: f64 shared [1] alloc k: i64 local [1] let v: f64 = s[0] s[0] = 1.0
        x[gx] = v y[gx] = k[0] k[0] = 0""",
    )
    x, y = run_kernel(fn, (2, 1, 1), (1, 1, 1), 0, [np.zeros(2), np.zeros(2)], judge=False)
    assert np.isnan(x).all()
    assert y.tolist() == [85, 85]


@pytest.mark.parametrize(
    "extents", [((0, 1, 1), (1, 1, 1), 0), ((1, 1, 1), (1, -1, 1), 0), ((1, 1, 1), (1, 1, 1), -8)]
)
def test_launches_of_no_threads_are_no_program(extents):
    with pytest.raises(IRError, match="a launch of"):
        run_kernel(kernel("x: f64 buffer", ""), *extents, [np.zeros(1)])


@pytest.mark.parametrize(
    ("index", "message"),
    [("0, 3", "outside of a dimension"), ("-1, 2", "outside of a dimension"), ("2, 0", "outside")],
)
def test_an_index_outside_of_its_dimension_is_no_program(index, message):
    fn = kernel("x: f64 buffer [2, 3]", f"x[{index}] = 1.0")
    with pytest.raises(IRError, match=message):
        run_kernel(fn, (1, 1, 1), (1, 1, 1), 0, [np.zeros(6)])


def test_an_element_outside_of_its_buffer_is_no_program():
    fn = kernel("n: i64; x: f64 buffer [n]", "x[tx] = 1.0")
    with pytest.raises(IRError, match=r"write of x\[2:3\].*\n.*block \(0, 0, 0\), thread \(2, 0, 0\)"):
        run_kernel(fn, (1, 1, 1), (3, 1, 1), 0, [3, np.zeros(2)])
