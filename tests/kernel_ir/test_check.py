"""The verifier of the kernel IR: each rule, broken once."""

import pytest

from anadrome.dtypes import F64, I64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.nodes import Alloc, Buffer, Function, Let, Load, Output, Space, Var, i64
from anadrome.kernel_ir.text import parse

BROKEN = {
    "index": ("x[0.5] = 1.0", "an index has type f64"),
    "stored type": ("alloc a: f64 global [n] a[0] = 1", "what is stored in a has type i64"),
    "parameter": ("x[0] = 1.0", "the parameter x is written"),
    "view of a parameter": ("view v = x [1] v[0] = 1.0", "the parameter v is written"),
    "operand types": ("let v: f64 = add(1, 2.0)", "add is not defined on"),
    "let type": ("let v: f64 = add(1, 2)", "the value of v has type i64"),
    "arity": ("let v: f64 = add(1.0)", "add is not defined on"),
    "condition": ("if 1 { }", "a condition has type i64"),
    "loop bounds": ("for i in 0.5 .. n parallel { }", "a loop's start has type f64"),
    "local size": ("alloc a: f64 local [n]", "is not constant"),
    "large local": ("alloc a: f64 local [100000]", "takes more than"),
    "free of a parameter": ("free x", "x is freed, but was not allocated"),
    "use after free": ("alloc a: f64 global [n] free a let v: f64 = a[0]", "the buffer a is used where"),
    "use after free in a loop": (
        "alloc a: f64 global [n] for i in 0 .. n sequential { free a } let v: f64 = a[0]",
        "the buffer a is used where",
    ),
    "swap of types": ("alloc a: f64 global [n] alloc b: i64 global [n] swap a, b", "the swapped a"),
    "swap between threads": (
        "alloc a: f64 global [n] alloc b: f64 global [n] for t in 0 .. 2 threads { swap a, b }",
        "a is swapped, but was not allocated",
    ),
    "check without failure": ("check 3: true", "check 3 has no failure"),
    "print without message": ("print 3: n", "print 3 has no message"),
    "print of another number of values": ("print 0: n, n", "does not hold every value"),
    "print of a free name": ("if true { let v: f64 = 1.0 } print 0: v", "the variable v is used where"),
    "print in any order": (
        "for i in 0 .. n parallel { if true { print 0: i } }",
        "that prints is sequential",
    ),
    "routine": ("call frobnicate(x)", "is no routine"),
    "routine arity": ("call argsort_f64(x)", "takes 3 arguments"),
    "routine argument": ("alloc a: i64 global [n] call argsort_f64(x, a, x)", "is a value"),
    "routine type": ("alloc a: f64 global [n] call argsort_f64(x, a, n)", "has type f64, not i64"),
    "copy of types": ("alloc a: i64 global [n] copy a [n] = x", "what a is copied from"),
    "atomic": ("alloc a: f64 global [n] atomic mul a[0] = 1.0", "no atomic `mul`"),
    "scope": ("if true { let v: f64 = 1.0 } let w: f64 = v", "the variable v is used where"),
}


MESSAGE = r'message "[\"stdout\",false,[[\"str\",{\"real\":0},[]]]]"'


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_named(name):
    body, message = BROKEN[name]
    fn = parse(f'fn f(x: f64 buffer, n: i64) {{ {body} return }} failure assert "no" {MESSAGE}')
    with pytest.raises(IRError, match=message):
        check(fn)


RESULTS = {
    "parameter": ("", "x as f64 [n]", "is not allocated in the function"),
    "twice": ("alloc a: f64 global [n]", "a as f64 [n], a as f64 [n]", "returned twice"),
    "local": ("alloc a: f64 local [1]", "a as f64 [1]", "is not allocated in the function"),
    "type": ("alloc a: f64 global [n]", "a as f32 [n]", "the result a has type f64"),
    "scalar type": ("", "n as f64", "a result has type i64"),
    "dimension": ("alloc a: f64 global [n]", "a as f64 [0.5]", "a result's dimension has type f64"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_checked(name):
    body, outputs, message = RESULTS[name]
    with pytest.raises(IRError, match=message):
        check(parse(f"fn f(x: f64 buffer, n: i64) {{ {body} return {outputs} }}"))


def test_names_are_bound_once():
    v = Var("v", I64)
    with pytest.raises(IRError, match="v is bound twice"):
        check(Function("f", (v,), (Let(v, i64(1)),), ()))


def test_a_buffer_bound_in_a_branch_is_not_returned():
    a = Buffer("a", F64)
    with pytest.raises(IRError, match="used where it has no storage"):
        check(Function("f", (), (), (Output(Load(a, (i64(0),)), F64),)))


def test_local_buffers_may_hold_nothing():
    check(Function("f", (), (Alloc(Buffer("a", F64, Space.LOCAL), i64(0)),), ()))


AT = "at gx gy gz, bx bw bz, ix iy iz, tx ty tz, bytes"
BROKEN_KERNELS = {
    "heap": ("alloc a: f64 global [n]", "allocates the global buffer a"),
    "shared in a branch": ("if true { alloc s: f64 shared [4] }", "the shared buffer s is bound inside of"),
    "local in a branch": ("if true { alloc s: f64 local [n] }", "is not constant"),
    "workers": ("for i in 0 .. n threads { }", "a loop of worker threads in a kernel"),
    "print": ("print 0: n", "Print in a kernel"),
    "free": ("alloc a: f64 local [1] free a", "Free in a kernel"),
    "dimensions": ("x[1] = 1.0", "x has 2 dimensions, not 1"),
    "dimensions of a load": ("let v: f64 = x[1, 2, 3]", "x has 2 dimensions, not 3"),
    "barrier": ("barrier: max true", "no barrier `max`"),
    "predicate": ("barrier: count 1 -> c: i64", "a predicate has type i64"),
    "count": ("barrier: count true -> c: bool", "the result c has type bool"),
    "shuffle without a lane": ("warp up 1, 2.0 -> v: f64", "a shuffle has a lane"),
    "vote with a lane": ("warp any 1, true, 2 -> v: bool", "another warp operation none"),
    "vote of a number": ("warp any 1, 2.0 -> v: bool", "a vote has type f64"),
    "ballot": ("warp ballot 1, true -> v: bool", "the result v has type bool, not i64"),
    "mask": ("warp sync 1.0", "a mask has type f64"),
    "bits of a float": ("atomic and x[0, 0] = 1.0", "no atomic `and` of f64"),
    "sum of bools": ("alloc s: bool shared [1] atomic add s[0] = true", "no atomic `add` of bool"),
    "compare": ("atomic compare x[0, 0] = 1.0", "an atomic `compare` expects a value"),
    "old value": ("atomic add x[0, 0] = 1.0 -> o: i64", "the result o has type i64"),
}


@pytest.mark.parametrize("name", BROKEN_KERNELS)
def test_a_broken_rule_of_kernels_is_named(name):
    body, message = BROKEN_KERNELS[name]
    kernel = f"kernel k(n: i64, x: f64 buffer [n, 3]) {AT} {{ {body} }}"
    fn = parse(f"{kernel} fn f() {{ alloc a: f64 global [9] launch k [1,1,1] [1,1,1] [0] (3, a) return }}")
    with pytest.raises(IRError, match=message):
        check(fn)


BROKEN_LAUNCHES = {
    "extent": ("launch k [1,1.0,1] [1,1,1] [0] (a, b)", "an extent of a launch has type f64"),
    "arity": ("launch k [1,1,1] [1,1,1] [0] (a)", "k takes 2 arguments, got 1"),
    "a value": ("launch k [1,1,1] [1,1,1] [0] (a, 1.0)", "the argument y of k is a buffer"),
    "parameter": ("launch k [1,1,1] [1,1,1] [0] (a, x)", "the parameter x is written"),
    "twice": ("launch k [1,1,1] [1,1,1] [0] (b, b)", "the argument y of k is written, and given twice"),
    "barrier": ("barrier", "Barrier in a host program"),
    "shared": ("alloc s: f64 shared [4]", "in a host program"),
}


@pytest.mark.parametrize(
    "write", ["y[tx] = 1.0", "atomic add y[0] = 1.0", "fill y [2] = 0.0", "copy y [2] = x"]
)
def test_every_write_of_a_kernel_counts(write):
    kernel = f"kernel k(x: f64 buffer, y: f64 buffer) {AT} {{ {write} }}"
    fn = parse(f"{kernel} fn f(x: f64 buffer) {{ launch k [1,1,1] [1,1,1] [0] (x, x) return }}")
    with pytest.raises(IRError, match="the parameter x is written"):
        check(fn)


@pytest.mark.parametrize("name", BROKEN_LAUNCHES)
def test_launches_are_checked(name):
    body, message = BROKEN_LAUNCHES[name]
    kernel = f"kernel k(x: f64 buffer, y: f64 buffer) {AT} {{ y[tx] = x[tx] }}"
    allocs = "alloc a: f64 global [9] alloc b: f64 global [9]"
    fn = parse(f"{kernel} fn f(x: f64 buffer) {{ {allocs} {body} return }}")
    with pytest.raises(IRError, match=message):
        check(fn)


def donated(body: str, results: str = "x as f64 [n]") -> Function:
    """A host program that is given `x`, and not `y`."""
    return parse(f"fn f(n: i64, x: f64 buffer donated, y: f64 buffer) {{ {body} return {results} }}")


@pytest.mark.parametrize(
    "body",
    [
        "x[0] = 1.0",
        "view v = x [1] v[0] = 1.0",
        "alloc a: f64 global [n] swap x, a",
        "for t in 0 .. 2 threads { x[t] = 1.0 }",
    ],
)
def test_what_is_donated_is_written_swapped_and_returned(body: str) -> None:
    fn = donated(body)
    assert fn.donated == fn.params[1:2]
    check(fn)


@pytest.mark.parametrize(
    ("body", "results", "words"),
    [
        ("free x", "", "the parameter x is freed"),
        ("y[0] = 1.0", "", "the parameter y is written"),
        ("", "y as f64 [n]", "is not allocated in the function"),
        ("", "x as f64 [n], x as f64 [n]", "is returned twice"),
        ("alloc a: f64 global [n] for t in 0 .. 2 threads { swap x, a }", "", "x is swapped, but"),
    ],
)
def test_what_is_not_done_with_what_is_donated(body: str, results: str, words: str) -> None:
    with pytest.raises(IRError, match=words):
        check(donated(body, results))
