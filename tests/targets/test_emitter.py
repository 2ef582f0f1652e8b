"""Statements and expressions of the kernel IR on the CPU: the same results as the interpreter's."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.dtypes import ALL
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import For
from anadrome.kernel_ir.text import parse, show
from anadrome.kernel_ir.walk import statements
from anadrome.schedule.cpu import schedule_cpu
from anadrome.targets.cpu_machine import optimised_text, this_machine
from anadrome.targets.llvm_memory import PART, ROW
from anadrome.targets.llvm_scope import MANY_ARRAYS
from tests.targets.oracle import NO_CACHE, agree, compiled, in_lanes

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, 37)


def test_let_load_store_and_reductions():
    agree(
        """fn f(x: f64 buffer, n: i64) {
          alloc out: f64 global [n]
          alloc s: f64 local [1]
          s[0] = 0.0
          for i in 0 .. n sequential {
            let v: f64 = exp(x[i])
            out[i] = v
            s[0] = add~(s[0], mul(v, v))
          }
          return out as f64 [n], s[0] as f64
        }""",
        X,
        len(X),
    )


@pytest.mark.parametrize("operation", ["add~", "mul~", "min", "max"])
def test_reductions_of_any_operator(operation):
    agree(
        f"""fn f(x: f64 buffer, n: i64) {{
          alloc s: f64 local [1]
          s[0] = x[0]
          for i in 1 .. n sequential {{ s[0] = {operation}(s[0], x[i]) }}
          return s[0] as f64
        }}""",
        X,
        len(X),
    )


def test_branches_with_and_without_else():
    agree(
        """fn f(x: f64 buffer, n: i64) {
          alloc out: f64 global [n]
          for i in 0 .. n parallel {
            out[i] = 0.0
            if gt(x[i], 0.0) { out[i] = sqrt(x[i]) } else { out[i] = neg(x[i]) }
            if lt(x[i], -1.0) { if lt(x[i], -1.5) { out[i] = 7.0 } }
          }
          return out as f64 [n]
        }""",
        X,
        len(X),
    )


def test_while_loops_read_what_their_prelude_binds():
    agree(
        """fn f(a: f64) {
          alloc v: f64 local [2]
          v[0] = 1.0
          v[1] = 0.0
          while {
            let next: f64 = div(add(v[0], div(a, v[0])), 2.0)
            let off: f64 = abs(sub(next, v[0]))
          } test gt(off, 1e-14) {
            v[0] = next
            v[1] = add(v[1], 1.0)
          }
          return v[0] as f64, v[1] as f64
        }""",
        2.0,
    )


def test_nested_loops_of_runtime_extent_and_loops_that_do_not_run():
    agree(
        """fn f(x: f64 buffer, n: i64, m: i64) {
          alloc out: f64 global [n]
          alloc s: f64 local [1]
          for i in 0 .. n parallel {
            s[0] = 0.0
            for j in 0 .. i sequential { s[0] = add~(s[0], x[j]) }
            for k in 5 .. m sequential { s[0] = inf }
            for l in -2 .. 2 sequential { s[0] = add(s[0], to_f64(l)) }
            out[i] = s[0]
          }
          return out as f64 [n]
        }""",
        X,
        len(X),
        5,
    )


def test_views_copies_and_fills():
    agree(
        """fn f(x: f64 buffer, n: i64) {
          alloc a: f64 global [n]
          alloc flags: bool global [n]
          alloc words: i64 global [n]
          copy a [n] = x
          view tail = a [10]
          view last = tail [20]
          fill last [3] = 2.5
          tail[0] = last[1]
          fill flags [n] = true
          fill words [n] = -7
          flags[3] = lt(a[3], 0.0)
          fill words [2] = 0
          fill words [-5] = 1
          return a as f64 [n], flags as bool [n], words as i64 [n]
        }""",
        X,
        len(X),
    )


def test_swapped_buffers_keep_their_contents():
    text = """fn f(x: f64 buffer, n: i64, steps: i64) {
      alloc a: f64 global [n]
      alloc b: f64 global [n]
      copy a [n] = x
      for t in 0 .. steps sequential {
        for i in 0 .. n parallel {
          let left: f64 = a[max(sub(i, 1), 0)]
          b[i] = div(add(left, a[i]), 2.0)
        }
        swap a, b
      }
      free b
      return a as f64 [n]
    }"""
    for steps in (0, 1, 2, 7):
        agree(text, X, len(X), steps)


def test_memory_allocated_in_loops_is_reused_and_freed():
    agree(
        """fn f(x: f64 buffer, n: i64) {
          alloc s: f64 local [1]
          s[0] = 0.0
          for i in 0 .. n sequential {
            alloc work: f64 global [add(i, 1)]
            work[i] = x[i]
            s[0] = add(s[0], work[i])
            if gt(x[i], 0.0) { free work }
          }
          return s[0] as f64
        }""",
        X,
        len(X),
    )


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_type_goes_in_and_out(dtype):
    values = RNG.integers(0, 2 if dtype.bits == 1 else 100, 11).astype(dtype.numpy)
    scalar = values[3].item()
    agree(
        f"""fn f(x: {dtype} buffer, n: i64, s: {dtype}) {{
          alloc out: {dtype} global [n]
          for i in 0 .. n parallel {{ out[i] = x[i] }}
          return out as {dtype} [n], x[2] as {dtype}, s as {dtype}
        }}""",
        values,
        len(values),
        scalar,
    )


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_integer], ids=str)
def test_limits_of_integers_go_in_and_out(dtype):
    limits = np.iinfo(dtype.numpy)
    for value in (limits.min, limits.max):
        (got,) = compiled(f"fn f(s: {dtype}) {{ return s as {dtype} }}")([value])
        assert got == value


@pytest.mark.parametrize(
    ("dtype", "operation"), [(d, o) for d in ("f64", "f32", "i64", "u32") for o in ("add", "min", "max")]
)
def test_atomics(dtype, operation):
    agree(
        f"""fn f(x: {dtype} buffer, n: i64) {{
          alloc out: {dtype} global [2]
          fill out [2] = x[0]
          for i in 0 .. n parallel {{ atomic {operation} out[mod(i, 2)] = x[i] }}
          return out as {dtype} [2]
        }}""",
        np.abs(X) * 10,
        len(X),
    )


def test_results_may_be_empty_and_may_have_several_dimensions():
    (empty,) = agree("fn f(n: i64) { alloc a: f64 global [n] return a as f64 [n, 3] }", 0)
    assert empty.shape == (0, 3)
    (cube,) = agree("fn f(n: i64) { alloc a: i64 global [8] fill a [8] = 5 return a as i64 [n, 2, 2] }", 2)
    assert cube.flags.writeable
    cube[...] = 6
    assert cube.sum() == 48


def test_empty_arguments_are_accepted():
    agree("fn f(x: f64 buffer, n: i64) { alloc a: f64 global [n] copy a [n] = x return a as f64 [n] }", [], 0)


def test_results_own_their_memory():
    run = compiled("fn f(n: i64) { alloc a: f64 global [n] fill a [n] = 1.5 return a as f64 [n] }")
    kept = [run([1000])[0] for _ in range(50)]
    views = [array[10:20] for array in kept]
    del kept
    for _ in range(50):
        run([1000])[0][...] = 0.0
    assert all((view == 1.5).all() for view in views)


def test_loops_over_lanes_become_vector_code():
    run = in_lanes(
        """fn f(x: f64 buffer, n: i64) {
          alloc out: f64 global [n]
          for i in 0 .. n parallel { out[i] = mul(x[i], 2.0) }
          return out as f64 [n]
        }"""
    )
    assert "x double>" in optimised_text(run.llvm_text, this_machine())


def test_compiled_code_is_called_from_several_threads_at_once():

    run = compiled(
        """fn f(x: f64 buffer, n: i64, c: f64) {
          alloc out: f64 global [n]
          for i in 0 .. n parallel { out[i] = mul(sin(x[i]), c) }
          return out as f64 [n], c as f64
        }""",
        Config(cache=False, threads=1),
    )
    x = np.linspace(0, 1, 2000)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda c: run([x, len(x), c]), map(float, range(64))))
    for c, (array, scalar) in enumerate(results):
        assert scalar == c
        np.testing.assert_allclose(array, np.sin(x) * c, rtol=1e-14)


def test_a_barrier_outside_a_block_is_refused():

    with pytest.raises(IRError, match="Barrier in a host program"):
        compiled("fn f() { barrier return 1.0 as f64 }", NO_CACHE)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.kind in ("int", "float")], ids=str)
@pytest.mark.parametrize("condition", ["lt(v, 0{zero})", "lt(0{zero}, v)", "le(v, 0{zero})"])
def test_a_choice_like_that_of_an_index(dtype, condition):
    """v + 7 where v is negative and else v, of every type; of i64 it is an index counted from the end."""
    name = dtype.name
    zero, seven = (f".0:{name}", f"7.0:{name}") if dtype.is_float else (f":{name}", f"7:{name}")
    body = f"let c: bool = {condition.format(zero=zero)} let moved: {name} = add(v, {seven})"
    for choice in ("select(c, moved, v)", "select(c, v, moved)", f"select(c, add(v, {seven}), v)"):
        text = f"""fn f(x: {name} buffer) {{
          alloc out: {name} global [9]
          for i in 0 .. 9 sequential {{ let v: {name} = x[i] {body} out[i] = {choice} }}
          return out as {name} [9]
        }}"""
        agree(text, np.arange(9) - 4)


@pytest.mark.parametrize("divisor", [1, -1, 2, 8, -8, 3, 0, -(2**63)])
def test_quotients_by_constants(divisor):
    numbers = np.array([0, 1, -1, 7, 8, -8, 17, 2**62, -(2**63), 2**63 - 1], dtype=np.int64)
    agree(
        f"""fn f(a: i64 buffer, n: i64) {{
          alloc out: i64 global [n]
          for i in 0 .. n sequential {{
            out[i] = truncdiv(a[i], {divisor})
          }}
          return out as i64 [n], truncdiv(n, {divisor}) as i64
        }}""",
        numbers,
        len(numbers),
    )


def body_of(text):
    """The LLVM text of a function itself."""
    found = compiled(text).llvm_text
    return found[found.index("@body(") :].split("\n}")[0]


def test_numbers_are_computed_once():
    """Where they were computed in a block that is always run before."""
    text = """fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = add(x[add(mul(n, 2), 1)], x[add(mul(n, 2), 1)])
      if gt(n, 3) { s[0] = x[add(mul(n, 2), 1)] }
      return s[0] as f64
    }"""
    assert body_of(text).count("mul i64") == 1
    text = """fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      if gt(n, 3) { s[0] = x[mul(n, 2)] } else { s[0] = add(x[mul(n, 2)], 1.0) }
      s[0] = add(s[0], x[mul(n, 2)])
      return s[0] as f64
    }"""
    assert body_of(text).count("mul i64") == 3  # no branch knows of the other, nor what follows of either
    for n in (1, 4):
        agree(text, np.arange(20.0), n)


def test_a_condition_is_asked_for_once():
    text = """fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      check 0: gt(n, 0), n
      if gt(n, 0) { s[0] = 1.0 } else { s[0] = 2.0 }
      if gt(n, 2) {
        if gt(n, 2) { s[0] = add(s[0], 10.0) }
      } else {
        if gt(n, 2) { s[0] = add(s[0], 100.0) } else { s[0] = add(s[0], 1000.0) }
      }
      if gt(n, 2) { s[0] = add(s[0], 10000.0) }
      return s[0] as f64
    }
    failure assert "n = {0}"
    """
    assert body_of(text).count("\n  br i1") == 3  # the check, and n > 2 twice
    for n in (1, 2, 3):
        agree(text, np.arange(3.0), n)


def test_loops_in_loops_ask_once_whether_there_is_anything_to_do():
    text = """fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential { for j in 0 .. n sequential { s[0] = add(mul(s[0], 0.5), x[j]) } }
      return s[0] as f64
    }"""
    assert body_of(text).count("icmp slt i64 0, %p1") == 1
    assert len(re.findall(r"br i1 .*, label %first", body_of(text))) == 1
    for n in (0, 1, 3):
        agree(text, np.arange(3.0), n)


CHANGES = {
    "nothing": "",
    "another array": "z[1] = s[0]",
    "a store": "y[1] = add(y[1], 1.0)",
    "a view": "view w = y [1] w[0] = add(w[0], 1.0)",
    "a view of a view": "view v = y [0] view w = v [1] w[0] = add(w[0], 1.0)",
    "a copy": "copy y [2] = x",
    "a fill": "fill y [2] = s[0]",
    "an atomic": "combine add y[1] = 1.0",
    "a loop in it": "for j in 0 .. n sequential { y[j] = add(y[j], 1.0) }",
    "a branch in it": "if gt(i, 0) { y[1] = 7.0 }",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_each_iteration_reads_is_read_in_front_of_a_loop_that_does_not_change_it(change):
    """Also of an array that is stored to elsewhere."""
    text = f"""fn f(x: f64 buffer, n: i64) {{
      alloc s: f64 local [1]
      alloc y: f64 global [3]
      alloc z: f64 global [3]
      s[0] = 0.0
      for i in 0 .. 3 sequential {{ y[i] = x[i] z[i] = x[i] }}
      for i in 0 .. n sequential {{
        s[0] = add(mul(s[0], 0.5), y[1])
        {CHANGES[change]}
      }}
      y[1] = add(y[1], s[0])
      return s[0] as f64, y as f64 [3], z as f64 [3]
    }}"""
    body = body_of(text)
    loop = body[body.rindex("\nbody") :] if change != "a loop in it" else body.split("\nbody")[-2]
    is_read_before = "load double, ptr %v" not in loop.split("fadd")[0]
    assert is_read_before == (change in ("nothing", "another array"))
    for n in (0, 1, 3):
        agree(text, np.arange(1.0, 4.0), n)


def test_what_an_iteration_may_leave_out_is_not_read_in_front_of_its_loop():
    """It may lie outside: here 2⁴⁰ elements behind the array."""
    text = """fn f(x: f64 buffer, n: i64, k: i64, far: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential { if lt(far, 3) { s[0] = add(s[0], x[far]) } }
      for i in 0 .. n sequential { for j in 0 .. k sequential { s[0] = add(s[0], x[far]) } }
      for i in 0 .. n sequential {
        for j in 0 .. 3 sequential { if lt(add(far, j), 3) { s[0] = add(s[0], x[add(far, j)]) } }
      }
      return s[0] as f64
    }"""
    agree(text, np.arange(1.0, 4.0), 2, 0, 1 << 40)
    agree(text, np.arange(1.0, 4.0), 2, 2, 1)


def test_iterations_that_decide_something_are_written_one_after_the_other():
    text = """fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential {
        for j in 0 .. 6 sequential {
          let k: i64 = sub(j, 2)
          if lt(k, 0) { s[0] = add(s[0], x[j]) } else { if eq(k, 3) { s[0] = mul(s[0], x[5]) } }
          s[0] = add(s[0], select(gt(j, 4), 1.0, 2.0))
        }
      }
      return s[0] as f64
    }"""
    body = body_of(text)
    assert "select" not in body and body.count("\nthen") == 0 and body.count("load double, ptr %p0") == 1
    assert body.index("load double") < body.index("\nbody")
    for n in (0, 1, 3):
        agree(text, np.arange(1.0, 7.0), n)


@pytest.mark.parametrize(("size", "arrays"), [(8, 4), (64, 4), (65, 1), (4000, 1)])
def test_iterations_with_long_arrays_are_not_written_out(size, arrays):
    """Each would have its own on the stack."""
    text = f"""fn f(x: f64 buffer) {{
      alloc s: f64 local [1]
      s[0] = 0.0
      for j in 0 .. 4 sequential {{
        alloc a: f64 local [{size}]
        a[j] = x[j]
        if lt(j, 2) {{ a[3] = 1.0 }} else {{ a[3] = 2.0 }}
        s[0] = add(s[0], mul(a[j], a[3]))
      }}
      return s[0] as f64
    }}"""
    lengths = "|".join(str(size + lanes - 1) for lanes in (1, 2, 4, 8))  # a vector may go over the end
    assert len(re.findall(rf"alloca \[({lengths}) x double\]", body_of(text))) == arrays
    agree(text, np.arange(1.0, 5.0))


def test_long_loops_stay_loops():
    text = """fn f(x: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for j in 0 .. 1000 sequential { if lt(j, 500) { s[0] = add(s[0], x[j]) } }
      return s[0] as f64
    }"""
    assert body_of(text).count("load double, ptr %v") == 1
    agree(text, np.arange(1000.0))


def test_what_a_loop_does_not_change_stands_in_front_of_it():
    """Of the innermost one; what it cannot divide by waits until it is asked for."""
    text = """fn f(x: f64 buffer, n: i64, m: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential {
        for j in 0 .. n sequential {
          if gt(m, 0) { s[0] = add(s[0], x[add(mul(m, 7), add(mul(i, 3), truncdiv(j, m)))]) }
        }
      }
      return s[0] as f64
    }"""
    body = compiled(text).llvm_text
    body = body[body.index("@body(") :].split("\n}")[0]
    outer, inner = (body.index(f"\nbody{number}:") for number in re.findall(r"\nbody(\d+):", body)[:2])
    assert outer < body.index("mul i64 %p2, 7") < inner < body.index("sdiv")
    assert outer < body.index(", 3\n") < inner
    x = np.arange(30.0)
    for n, m in ((3, 2), (4, 1), (3, 0), (0, 2), (2, -1)):
        agree(text, x, n, m)


def test_what_was_read_holds_until_something_is_written():
    program = """fn f(x: f64 buffer, n: i64) {{
      alloc y: f64 global [n]
      for i in 0 .. n parallel {{ y[i] = mul(x[i], 2.0) }}
      let a: f64 = y[0]
      {}
      let b: f64 = y[0]
      return add(a, b) as f64, y as f64 [n]
    }}"""
    loads = [
        compiled(program.format(between)).llvm_text.count("load double") for between in ("", "y[0] = 5.0")
    ]
    assert loads[1] == loads[0] + 1
    agree(program.format("y[0] = 5.0"), np.arange(1.0, 4.0), 3)
    text = """fn f(x: f64 buffer, n: i64) {
      alloc y: f64 global [n]
      for i in 0 .. n sequential { y[i] = x[0] y[0] = add(x[0], y[0]) }
      return y as f64 [n]
    }"""
    found = compiled(text).llvm_text
    assert found[found.index("@body(") :].count("load double, ptr %p0") == 1  # nobody writes to an argument
    agree(text, np.arange(1.0, 4.0), 3)


def test_numbers_that_constants_decide_are_no_instructions():
    program = compiled(
        """fn f(x: f64 buffer, n: i64) {
          return x[add(mul(add(n, 0), 1), min(max(1, 0), 5))] as f64, truncdiv(n, 8) as i64
        }"""
    )
    body = program.llvm_text[program.llvm_text.index("@body(") :].split("\n}")[0]
    assert body.count("add i64") == 1 and "mul i64" not in body and "llvm.smax" not in body
    assert body.count("sdiv") == 1 and "select" not in body


@pytest.mark.parametrize("size", [-1, 0, 1, PART // 8 - 1, PART // 8, PART // 8 + 1, PART // 4 + 5])
def test_arrays_are_cleared_and_copied_in_parts(size):
    """Between which the program looks whether it is to end; inside of loops it does so anyway."""
    text = """fn f(x: f64 buffer, n: i64, count: i64) {
      alloc y: f64 global [add(n, 2)]
      alloc z: f64 global [add(n, 2)]
      fill y [add(n, 2)] = 1.5
      fill z [add(n, 2)] = 2.5
      fill y [count] = 0.0
      copy z [count] = x
      for t in 0 .. 2 sequential { fill z [1] = 0.0 copy y [1] = x }
      return y as f64 [add(n, 2)], z as f64 [add(n, 2)]
    }"""
    found = compiled(text).llvm_text
    assert found.count("call i1 @anadrome.clear(") == found.count("call i1 @anadrome.copy(") == 1
    assert (
        len(re.findall(r"= call i1 @anadrome\.(?:clear|copy)\(.*\n  br i1 %v\d+, label %cleanup", found)) == 2
    )
    length = max(size, 1)
    agree(text, np.linspace(1.0, 2.0, length), length, size)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_arrays_of_every_type_are_cleared_and_copied(dtype):
    zero = "false" if dtype.kind == "bool" else f"{'0.0' if dtype.is_float else '0'}:{dtype}"
    text = f"""fn f(x: {dtype} buffer, n: i64) {{
      alloc y: {dtype} global [n]
      alloc z: {dtype} global [n]
      for i in 0 .. n parallel {{ y[i] = x[i] }}
      for i in 0 .. n parallel {{ z[i] = {zero} }}
      return y as {dtype} [n], z as {dtype} [n]
    }}"""
    x = (RNG.integers(0, 100, 37) % 2 if dtype.kind == "bool" else RNG.integers(0, 100, 37)).astype(
        dtype.numpy
    )
    fn = schedule_cpu(parse(text), NO_CACHE, 512).function
    assert not any(isinstance(stmt, For) for stmt in statements(fn.body))
    agree(show(fn), x, 37)


def test_slots_of_many_arrays_stay_in_memory():
    """As values handed on to the way out from each check they took most of LLVM's time. Those that are
    swapped are read in loops."""
    few = """fn f(n: i64, m: i64) {
      alloc x: f64 global [n]
      alloc y: f64 global [n]
      alloc z: f64 global [n]
      for e in 0 .. n parallel { x[e] = 1.0 y[e] = 2.0 z[e] = 3.0 }
      for i in 0 .. m sequential { swap x, y }
      free z
      return x as f64 [n], y as f64 [n]
    }"""
    more = " ".join(f"alloc a{k}: f64 global [n] free a{k}" for k in range(MANY_ARRAYS - 2))
    many = few.replace("free z", f"free z {more}")
    for text in (few, many):
        x, y = agree(text, 3, 5)
        assert list(x) == [2.0] * 3 and list(y) == [1.0] * 3
    assert "@anadrome.claim" not in compiled(few).llvm_text
    written = compiled(many).llvm_text
    assert written.count("= call ptr @anadrome.claim(") == MANY_ARRAYS - 1
    assert len(re.findall(r"@anadrome.drop\(ptr %s\d", written)) == MANY_ARRAYS - 1
    assert len(re.findall(r"@anadrome.drop_all\(ptr %s\d", written)) == -(-(MANY_ARRAYS - 1) // ROW)
