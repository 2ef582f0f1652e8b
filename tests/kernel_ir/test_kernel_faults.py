"""What the judge of kernels finds, in which words; and race-free programs of which one part is broken."""

import re

import numpy as np
import pytest

from anadrome.errors.base import Span
from anadrome.errors.kernels import DataRace, InactiveLane, UninitialisedRead
from anadrome.errors.runtime import (
    AssertionFailed,
    BarrierDivergence,
    IndexOutOfBounds,
    RaisedValueError,
    RuntimeCheckError,
    in_thread,
)
from anadrome.kernel_ir.interp import run, run_kernel
from anadrome.kernel_ir.text import parse
from tests.kernel_ir.kernels import AT, RACE_FREE, kernel

SEEDS = (None, 0, 1, 2, 3)
ONE_BLOCK = (1, 1, 1)


def fault(body, block, grid=ONE_BLOCK, *, seed=None, failures=""):
    """The error that a launch of a kernel with one array ends in."""
    with pytest.raises(RuntimeCheckError) as caught:
        run_kernel(kernel("y: f64 buffer", body, failures), grid, (block, 1, 1), 0, [np.ones(64)], seed)
    return caught.value


# ---------------------------------------------------------------------------- words
WORDS = {
    "a race in a block": (
        "alloc s: f64 shared [4, 2] [8] s[tx, 1] = 1.0 let v: f64 = s[sub(3, tx), 1] y[tx] = v",
        4,
        """\
DataRace A514
error: two threads of the kernel `k` access `s[2, 1]` in no order: a data race (k.py:2:3)
   = thread (2, 0, 0) of block (0, 0, 0) writes it
note: thread (1, 0, 0) of the same block reads it at k.py:3:3
help: put a barrier (`syncthreads`) between the two accesses, let each thread have elements of its own, \
or make both accesses atomic""",
    ),
    "a race of two blocks": (
        "if eq(gx, 0) { y[tx] = 1.0 } else { let v: f64 = y[sub(2, tx)] }",
        3,
        """\
DataRace A514
error: two threads of the kernel `k` access `y[2]` in no order: a data race (k.py:3:3)
   = thread (0, 0, 0) of block (1, 0, 0) reads it
note: thread (2, 0, 0) of block (0, 0, 0) writes it at k.py:2:3
help: blocks of one launch run in any order: let each block have elements of its own, make both accesses \
atomic, or divide the kernel into two launches""",
    ),
    "an atomic and a plain access": (
        "if lt(tx, 2) { atomic add y[0] = 1.0 } else { y[0] = 2.0 }",
        3,
        """\
DataRace A514
error: two threads of the kernel `k` access `y[0]` in no order: a data race (k.py:3:3)
   = thread (2, 0, 0) of block (0, 0, 0) writes it
note: thread (0, 0, 0) of the same block atomically updates it at k.py:2:3
help: put a barrier (`syncthreads`) between the two accesses, let each thread have elements of its own, \
or make both accesses atomic""",
    ),
    "shared memory that nothing has written": (
        "alloc s: f64 shared [4] if lt(tx, 2) { s[tx] = 1.0 } barrier y[tx] = s[tx]",
        4,
        """\
UninitialisedRead A515
error: the kernel `k` reads `s[2]` of shared memory, which nothing has written (k.py:5:3)
   = read by thread (2, 0, 0) of block (0, 0, 0)
help: write the element before it is read, on every way that leads there; its memory begins anew in each \
block""",
    ),
    "local memory that nothing has written": (
        "alloc s: f64 local [4] if lt(tx, 2) { s[0] = 1.0 } y[tx] = s[0]",
        4,
        """\
UninitialisedRead A515
error: the kernel `k` reads `s[0]` of local memory, which nothing has written (k.py:4:3)
   = read by thread (2, 0, 0) of block (0, 0, 0)
help: write the element before it is read, on every way that leads there""",
    ),
    "a barrier that some threads do not reach": (
        "if lt(tx, 5) { barrier }",
        9,
        """\
BarrierDivergence A513
error: threads of block (0, 0, 0) of the kernel `k` wait at a barrier that others do not reach (k.py:2:3)
   = threads (0, 0, 0), (1, 0, 0), (2, 0, 0) and 2 others wait here
note: threads (5, 0, 0), (6, 0, 0), (7, 0, 0) and 1 other have finished
help: let all threads of a block reach each barrier: move it out of the branch or loop, or make the \
condition the same for all of them""",
    ),
    "two barriers": (
        "if lt(tx, 1) { barrier } else { if lt(tx, 3) { barrier } }",
        4,
        """\
BarrierDivergence A513
error: threads of block (0, 0, 0) of the kernel `k` wait at a barrier that others do not reach (k.py:2:3)
   = thread (0, 0, 0) waits here
note: threads (1, 0, 0), (2, 0, 0) wait at a barrier at k.py:4:3
note: thread (3, 0, 0) has finished
help: let all threads of a block reach each barrier: move it out of the branch or loop, or make the \
condition the same for all of them""",
    ),
    "a barrier in different iterations": (
        "for k in 0 .. 3 sequential { if or(gt(k, 0), gt(tx, 0)) { barrier } }",
        2,
        """\
BarrierDivergence A513
error: threads of block (0, 0, 0) of the kernel `k` wait at a barrier that others do not reach (k.py:3:3)
   = thread (1, 0, 0) waits here
note: thread (0, 0, 0) waits in another iteration of a loop around it
help: let all threads of a block reach each barrier: move it out of the branch or loop, or make the \
condition the same for all of them""",
    ),
    "a lane that the mask does not name": (
        "if lt(tx, 8) { warp shuffle 255, 1.0, 9 -> v: f64 }",
        16,
        """\
InactiveLane A516
error: in a warp operation of the kernel `k`, lane 0 takes the value of lane 9, which the mask 0x000000ff \
does not name (k.py:2:3)
   = executed by thread (0, 0, 0) of block (0, 0, 0)
help: let all lanes that the mask names reach the operation: move it out of the branch or loop, or pass the \
mask of the lanes that are there""",
    ),
    "a mask without the own lane": (
        "warp sync 255",
        40,
        """\
InactiveLane A516
error: in a warp operation of the kernel `k`, the mask 0x000000ff does not name lane 8, which executes it \
(k.py:1:3)
   = executed by thread (8, 0, 0) of block (0, 0, 0)
help: let all lanes that the mask names reach the operation: move it out of the branch or loop, or pass the \
mask of the lanes that are there""",
    ),
    "a lane that takes no part": (
        "if lt(tx, 5) { warp shuffle 255, 1.0, add(tx, 3) -> v: f64 }",
        32,
        """\
InactiveLane A516
error: in a warp operation of the kernel `k`, lane 2 takes the value of lane 5, which does not take part \
(k.py:2:3)
   = executed by thread (2, 0, 0) of block (0, 0, 0)
help: let all lanes that the mask names reach the operation: move it out of the branch or loop, or pass the \
mask of the lanes that are there""",
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_words(name):
    body, block, words = WORDS[name]
    error = fault(body, block, (2, 1, 1))
    assert f"{type(error).__name__} {error.code}\n{error}" == words


def test_a_race_shows_the_other_line_of_the_program(tmp_path):
    file = tmp_path / "user.py"
    file.write_text("    s[0] = 1\n    t = s[0]\n")
    fn = kernel("y: f64 buffer", "y[tx] = 1.0 let t: f64 = y[1]")
    for line, stmt in enumerate(fn.body, start=1):
        stmt.span = Span(str(file), line, 4, 8)
    with pytest.raises(DataRace) as caught:
        run_kernel(fn, ONE_BLOCK, (2, 1, 1), 0, [np.zeros(2)])
    assert f"note: thread (0, 0, 0) of the same block reads it at {file}:2:5, `t = s[0]`" in str(caught.value)
    assert caught.value.first.thread == (0, 0, 0)
    assert caught.value.second.span.line == 1


def test_places_are_left_out_where_nobody_knows_them():
    fn = kernel("y: f64 buffer", "if lt(y[0], 2.0) { y[0] = 1.0 }")
    fn.body[0].then[0].span = None
    with pytest.raises(DataRace) as caught:
        run_kernel(fn, ONE_BLOCK, (2, 1, 1), 0, [np.zeros(1)])
    assert str(caught.value).splitlines()[:3] == [
        "error: two threads of the kernel `k` access `y[0]` in no order: a data race",
        "thread (1, 0, 0) of block (0, 0, 0) reads it",
        "note: thread (0, 0, 0) of the same block writes it",
    ]


# ---------------------------------------------------------------------------- every kind, in every order
RACES = {
    "two writes": "y[0] = 1.0",
    "two writes of the same value": "y[0] = y[1]",
    "a read before a write": "let v: f64 = y[0] if eq(tx, 5) { y[0] = 2.0 }",
    "a write before a read": "if eq(tx, 0) { y[0] = 2.0 } let v: f64 = y[0]",
    "a sum without atomics": "y[0] = add(y[0], 1.0)",
    "an atomic and a read": "if eq(tx, 3) { let v: f64 = y[0] } else { atomic add y[0] = 1.0 }",
    "a plain read after many atomics": "atomic add y[0] = 1.0 if eq(tx, 3) { let v: f64 = y[0] }",
    "a fill": "if eq(tx, 9) { fill y [12] = 0.0 } let v: f64 = y[tx]",
    "a copy": "alloc s: f64 shared [16] if eq(tx, 0) { copy s [16] = y } s[5] = 1.0",
    "a read through a condition": "if lt(y[0], 0.5) { y[1] = 2.0 } if eq(tx, 4) { y[0] = 1.0 }",
    "an index that is read": "let v: f64 = y[to_i64(y[0])] if eq(tx, 4) { y[0] = 1.0 }",
    "a barrier before both": "barrier y[0] = 1.0",
    "a warp that waits for itself alone": (
        "if lt(tx, 32) { y[tx] = 2.0 } warp sync -1 let v: f64 = y[sub(39, tx)]"
    ),
    "a fence": "if eq(tx, 0) { y[0] = 1.0 fence atomic exchange y[1] = 1.0 } else { let v: f64 = y[0] }",
    "a shuffle orders no memory": "y[tx] = 1.0 warp xor -1, 1, 1 -> k: i64 let v: f64 = y[bitxor(tx, 1)]",
    "lanes that wait for others": """
        y[tx] = 1.0
        if lt(tx, 8) { warp sync 255 } else { if lt(tx, 32) { warp sync 4294967040 } }
        let v: f64 = y[sub(39, tx)]""",
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RACES)
def test_races_are_found_in_every_order(name, seed):
    assert isinstance(fault(RACES[name], 40, seed=seed), DataRace)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "body",
    [
        "y[tx] = to_f64(gx)",
        "if eq(gx, 1) { y[0] = 2.0 } else { let v: f64 = y[0] }",
        "barrier if eq(gx, 1) { y[tx] = 2.0 } barrier if eq(gx, 0) { let v: f64 = y[tx] }",
        "if eq(gx, 0) { atomic add y[0] = 2.0 } else { let v: f64 = y[0] }",
    ],
)
def test_blocks_are_never_ordered(body, seed):
    assert isinstance(fault(body, 1, (2, 1, 1), seed=seed), DataRace)


UNWRITTEN = {
    "an array of the block": "alloc s: f64 shared [9] let v: f64 = s[tx]",
    "what another block wrote": (
        "alloc s: f64 shared [9] if eq(gx, 0) { s[tx] = 1.0 } barrier let v: f64 = s[tx]"
    ),
    "written behind a barrier": "alloc s: f64 shared [9] let v: f64 = s[tx] barrier s[tx] = 1.0",
    "a local array of an iteration": (
        "for k in 0 .. 2 sequential { alloc a: f64 local [1] if eq(k, 0) { a[0] = 1.0 } let v: f64 = a[0] }"
    ),
    "a sum of nothing": "alloc s: f64 shared [9] atomic add s[0] = 1.0",
    "an old value of nothing": "alloc s: f64 shared [9] atomic exchange s[0] = 1.0 -> old: f64",
    "lanes that wait for one that reads": (
        "alloc s: f64 shared [9] if eq(tx, 1) { let v: f64 = s[0] } warp shuffle -1, 1.0, 1 -> w: f64"
    ),
    "a copy of more than there is": (
        "alloc s: f64 local [9] alloc t: f64 local [9] fill s [3] = 0.0 copy t [4] = s"
    ),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", UNWRITTEN)
def test_reads_of_what_nothing_has_written_are_found(name, seed):
    assert isinstance(fault(UNWRITTEN[name], 4, (2, 1, 1), seed=seed), UninitialisedRead)


DIVERGENT = {
    "a branch": "if lt(tx, 5) { barrier }",
    "two branches": "if lt(tx, 5) { barrier } else { barrier }",
    "a loop": "for k in 0 .. tx sequential { barrier }",
    "a loop that ends early": """
        alloc k: i64 local [1] k[0] = 0
        while { } test lt(k[0], max(tx, 1)) { barrier: or true -> any: bool k[0] = add(k[0], 1) }""",
    "an early return": "if gt(tx, 0) { barrier y[tx] = 1.0 barrier }",
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", DIVERGENT)
@pytest.mark.parametrize("judge", [True, False])
def test_divergent_barriers_are_found(name, seed, judge):
    fn = kernel("y: f64 buffer", DIVERGENT[name])
    with pytest.raises(BarrierDivergence):
        run_kernel(fn, (2, 1, 1), (9, 1, 1), 0, [np.zeros(9)], seed, judge)


INACTIVE = {
    "another branch": "if eq(mod(tx, 2), 0) { warp xor -1, tx, 1 -> v: i64 }",
    "an early return": "if lt(tx, 20) { warp down -1, tx, 2 -> v: i64 }",
    "a short mask": "if lt(tx, 8) { warp up 127, tx, 1 -> v: i64 }",
    "two masks": "warp shuffle select(lt(tx, 8), 255, 4294967040), tx, 8 -> v: i64",
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", INACTIVE)
def test_inactive_lanes_are_found(name, seed):
    assert isinstance(fault(INACTIVE[name], 32, seed=seed), InactiveLane)


# ---------------------------------------------------------------------------- planted faults
WAITS = [
    (name, place)
    for name, program in RACE_FREE.items()
    for place, _ in enumerate(re.findall(r"\bbarrier\b(?!:)|\bwarp sync -1", program.body))
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "place"), WAITS)
def test_each_dropped_barrier_is_found(name, place, seed):
    program = RACE_FREE[name]
    found = list(re.finditer(r"\bbarrier\b(?!:)|\bwarp sync -1", program.body))[place]
    broken = program.body[: found.start()] + program.body[found.end() :]
    with pytest.raises(DataRace):
        run_kernel(
            kernel(program.params, broken), program.grid, program.block, program.shared, program.args, seed
        )


def test_barriers_are_dropped_from_many_programs():
    assert len(WAITS) >= 14


ATOMICS = [
    ("a reduction of the whole grid by an atomic", "atomic add y[0] = s[0]", "y[0] = add(y[0], s[0])"),
    ("a histogram with shared bins", "atomic add s[x[i]] = 1", "s[x[i]] = add(s[x[i]], 1)"),
    ("a histogram with shared bins", "atomic add y[tx] = s[tx]", "y[tx] = add(y[tx], s[tx])"),
    ("every atomic of integers", "atomic xor y[6] = v", "y[6] = v"),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "atomic", "plain"), ATOMICS)
def test_each_addition_that_is_not_atomic_is_found(name, atomic, plain, seed):
    program = RACE_FREE[name]
    assert atomic in program.body
    broken = kernel(program.params, program.body.replace(atomic, plain))
    with pytest.raises(DataRace):
        run_kernel(broken, program.grid, program.block, program.shared, program.args, seed)


# ---------------------------------------------------------------------------- failures of the program
CHECKS = {
    "index": (
        'failure index "index {0} is out of bounds for a dimension of size {1}" at "k.py" 3 2 5',
        IndexOutOfBounds,
        "index 3 is out of bounds for a dimension of size 3, in block (0, 0, 0), thread (3, 0, 0)",
    ),
    "raise": (
        'failure raise "ValueError: {0} of {1} {{}}"',
        RaisedValueError,
        "ValueError: 3 of 3 {}, in block (0, 0, 0), thread (3, 0, 0)",
    ),
    "assert": ('failure assert "no"', AssertionFailed, "no, in block (0, 0, 0), thread (3, 0, 0)"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_failures_name_block_and_thread(name):
    failure, kind, words = CHECKS[name]
    body = "check 0: lt(tx, 3)" + ("" if name == "assert" else ", tx, 3")
    error = fault(body, 5, (2, 1, 1), failures=failure)
    assert type(error) is kind
    assert error.diagnostic.message == f"error: {words}"


def test_a_negative_index_of_a_thread_is_told_as_written():
    words = in_thread("index {0} is out of bounds for size {1}", 2)
    error = IndexOutOfBounds.of(words, [-1, 4, 5, 6, 7, 8, 9, 10], None)
    assert "index -1 is out of bounds for size 4, in block (5, 6, 7), thread (8, 9, 10)" in str(error)
    assert "index -5 is out" in str(error.at(Span("k.py", 1, 0, 1)))


def test_host_programs_raise_what_their_launches_find():
    text = f"""
    kernel k(x: f64 buffer) {AT} {{ x[0] = 1.0 }}
    fn main() {{ alloc x: f64 global [1] launch k [1, 1, 1] [2, 1, 1] [0] (x) return x as f64 [1] }}
    """
    with pytest.raises(DataRace):
        run(parse(text), [])
    assert run(parse(text), [], judge=False)[0] == 1.0
