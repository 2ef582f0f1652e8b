"""Loops that a program has several times: one function, which each of them calls with its own arrays."""

import numpy as np
import pytest

import anadrome as ad
from anadrome.config import Config
from anadrome.errors.runtime import AssertionFailed
from anadrome.kernel_ir.likeness import Likeness, repeated
from anadrome.kernel_ir.nodes import For
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.kernel_ir.work import Works
from tests.targets.oracle import NO_CACHE, agree, compiled
from tests.targets.test_heap import resident
from tests.targets.test_poll import time_limit

X, Y = np.linspace(-1.0, 2.0, 11), np.linspace(3.0, 4.0, 11)


def functions(text, name="loop", config=NO_CACHE):
    """How many functions of loops there are in a program, and how many calls of them."""
    written = compiled(text, config).llvm_text
    return written.count(f"define internal i64 @{name}."), written.count(f" = call i64 @{name}.")


def both(first, second, ends="return a as f64 [n], b as f64 [n]"):
    """A program of two loops that write arrays a and b."""
    return f"""fn f(x: f64 buffer, y: f64 buffer, n: i64, c: f64, d: f64) {{
      alloc a: f64 global [n]
      alloc b: f64 global [n]
      fill a [n] = 5.0
      fill b [n] = 7.0
      {first}
      {second}
      {ends}
    }}"""


def test_loops_that_differ_in_names_are_one_function():
    text = both(
        "for i in 0 .. n parallel { let v: f64 = mul(x[i], c) a[i] = add(v, a[i]) }",
        "for j in 0 .. n parallel { let w: f64 = mul(y[j], d) b[j] = add(w, b[j]) }",
    )
    assert functions(text) == (1, 2)
    a, b = agree(text, X, Y, len(X), 2.0, 3.0)
    np.testing.assert_allclose(a, 2 * X + 5)
    np.testing.assert_allclose(b, 3 * Y + 7)


UNLIKE = {
    "another operation": "for j in 0 .. n parallel { let w: f64 = mul(y[j], d) b[j] = sub(w, b[j]) }",
    "another constant": "for j in 1 .. n parallel { let w: f64 = mul(y[j], d) b[j] = add(w, b[j]) }",
    "its numbers turned": "for j in 0 .. n parallel { let w: f64 = mul(d, y[j]) b[j] = add(w, b[j]) }",
    "one array for two": "for j in 0 .. n parallel { let w: f64 = mul(b[j], d) b[j] = add(w, b[j]) }",
    "in order": "for j in 0 .. n sequential { let w: f64 = mul(y[j], d) b[j] = add(w, b[j]) }",
    "a number for an element": "for j in 0 .. n parallel { let w: f64 = mul(d, d) b[j] = add(w, b[j]) }",
    "its sum turned": "for j in 0 .. n parallel { let w: f64 = mul(y[j], d) b[j] = add(b[j], w) }",
}


@pytest.mark.parametrize("second", UNLIKE.values(), ids=UNLIKE)
def test_other_loops_stay_what_they_are(second):
    text = both("for i in 0 .. n parallel { let v: f64 = mul(x[i], c) a[i] = add(v, a[i]) }", second)
    assert functions(text) == (0, 0)
    agree(text, X, Y, len(X), 2.0, 3.0)


@pytest.mark.parametrize(
    ("one", "other"), [("0.0", "-0.0"), ("nan", "0.0"), ("1.0", "1.0000000000000002"), ("inf", "-inf")]
)
def test_constants_are_told_apart_by_what_they_are(one, other):
    first, second = (
        f"for i in 0 .. n parallel {{ a[i] = mul(x[i], {one}) }}",
        f"for i in 0 .. n parallel {{ b[i] = mul(y[i], {other}) }}",
    )
    text = both(first, second)
    assert functions(text) == (0, 0)
    agree(text, X, Y, len(X), 2.0, 3.0)
    assert functions(both(first, second.replace(f", {other})", f", {one})"))) == (1, 2)


def test_what_is_known_of_a_number_tells_loops_apart():
    """The last loop may run for long, the others do not and never look whether they are to end."""
    loop = "for i in 0 .. {m} sequential {{ {a}[i] = add(mul({a}[0], 0.5), x[i]) }}"
    short = "let m: i64 = min(n, 5) let k: i64 = min(n, 5)"
    alike = both(short + loop.format(m="m", a="a"), loop.format(m="k", a="b"))
    assert functions(alike) == (1, 2)
    apart = both(short + loop.format(m="m", a="a"), loop.format(m="n", a="b"))
    assert functions(apart) == (2, 2)
    for text in (alike, apart):
        agree(text, X, Y, len(X), 2.0, 3.0)


def test_views_of_one_array_are_told_from_arrays_of_their_own():
    view = "view u = a [2]"
    loop = "for i in 0 .. 5 sequential {{ {to}[add(i, 1)] = add({at}[i], x[i]) }}"
    text = both(view + loop.format(to="u", at="a"), loop.format(to="b", at="y"))
    assert functions(text) == (2, 2)  # alike, and not of one kind of arrays
    agree(text, X, Y.copy(), len(X), 2.0, 3.0)


def test_arrays_that_were_swapped_are_the_ones_they_are_now():
    loop = "for i in 0 .. n parallel { a[i] = add(mul(a[i], 2.0), x[i]) }"
    text = both(f"{loop} swap a, b {loop}", f"swap a, b {loop}")
    assert functions(text) == (1, 3)
    a, b = agree(text, X, Y, len(X), 2.0, 3.0)
    np.testing.assert_allclose(a, 2 * (2 * 5 + X) + X)
    np.testing.assert_allclose(b, 2 * 7 + X)


def test_a_loop_that_stands_twice_runs_twice():
    loop = "for i in 0 .. n parallel { a[i] = add(mul(a[i], 2.0), x[i]) }"
    text = both(loop, loop)
    assert functions(text) == (1, 2)
    a, _ = agree(text, X, Y, len(X), 2.0, 3.0)
    np.testing.assert_allclose(a, 2 * (2 * 5 + X) + X)


def test_sums_in_registers_come_in_and_go_out():
    loop = "for i in 0 .. n sequential {{ {s}[0] = add~({s}[0], {x}[i]) }}"
    starts = "alloc s: f64 local [1] alloc t: f64 local [1] s[0] = 2.0 t[0] = c "
    text = both(
        starts + loop.format(s="s", x="x"), loop.format(s="t", x="y"), "return s[0] as f64, t[0] as f64"
    )
    assert functions(text) == (1, 2)
    s, t = agree(text, X, Y, len(X), 2.5, 3.0)
    np.testing.assert_allclose((s, t), (2 + X.sum(), 2.5 + Y.sum()))


@pytest.mark.parametrize(("room", "other"), [(3, 3), (16, 16), (17, 17), (40, 40), (3, 4), (40, 41)])
def test_arrays_in_registers_or_on_the_stack(room, other):
    loop = "for i in 0 .. n sequential {{ {a}[i] = add({x}[i], {s}[sub({r}, 1)]) {s}[sub({r}, 2)] = 8.0 }}"
    text = both(
        f"alloc s: f64 local [{room}] alloc t: f64 local [{other}] "
        f"fill s [{room}] = c fill t [{other}] = d " + loop.format(a="a", x="x", s="s", r=room),
        loop.format(a="b", x="y", s="t", r=other),
        f"return a as f64 [n], b as f64 [n], s[{room - 2}] as f64, t[{other - 1}] as f64",
    )
    assert functions(text) == ((1, 2) if room == other else (0, 0))
    a, b, s, t = agree(text, X, Y, len(X), 2.0, 3.0)
    np.testing.assert_allclose(a, X + 2)
    np.testing.assert_allclose(b, Y + 3)
    assert (s, t) == (8.0, 3.0)


@pytest.mark.parametrize(
    ("kind", "one", "another"),
    [("bool", "true", "false"), ("i8", "3:i8", "5:i8"), ("f32", "0.5:f32", "1.5:f32")],
)
def test_numbers_of_all_sizes_come_in_and_go_out(kind, one, another):
    loop = "for i in 0 .. n sequential {{ {a}[i] = {x}[i] {s}[0] = {other} }}"
    text = both(
        f"alloc s: {kind} local [1] alloc t: {kind} local [1] s[0] = {one} t[0] = {one} "
        + loop.format(a="a", x="x", s="s", other=another),
        loop.format(a="b", x="y", s="t", other=another),
        f"return s[0] as {kind}, t[0] as {kind}",
    )
    assert functions(text) == (1, 2)
    assert len(set(map(float, agree(text, X, Y, len(X), 2.0, 3.0)))) == 1


def test_large_loops_of_a_long_program_are_functions():
    work = " ".join(f"let v{at}: f64 = add(v{at - 1}, {at}.0)" for at in range(1, 320))
    loop = "for i in 0 .. n parallel {{ let v0: f64 = mul({x}[i], c) {work} {a}[i] = {op}(v319, d) }}"
    first = loop.format(x="x", a="a", op="add", work=work)
    text = both(first, loop.format(x="y", a="b", op="mul", work=work))
    assert functions(text) == (2, 2)
    assert functions(both(first, "b[0] = 1.0")) == (0, 0)
    a, b = agree(text, X, Y, len(X), 2.0, 3.0)
    np.testing.assert_allclose(a, 2 * X + 51040 + 3)
    np.testing.assert_allclose(b, (2 * Y + 51040) * 3)


def test_each_loop_says_what_fails_in_it():
    text = (
        both(
            "for i in 0 .. n parallel { check 0: lt(x[i], c), x[i], i a[i] = x[i] }",
            "for i in 0 .. n parallel { check 1: lt(y[i], d), y[i], i b[i] = y[i] }",
        )
        + """
        failure assert "first {0} at {1}"
        failure assert "second {0} at {1}"
        """
    )
    assert functions(text) == (1, 2)
    run = compiled(text)
    for _ in range(2):
        run([X, Y, len(X), 5.0, 5.0])
        with pytest.raises(AssertionFailed, match=r"first 2.0 at 10"):
            run([X, Y, len(X), 2.0, 5.0])
        with pytest.raises(AssertionFailed, match=r"second 4.0 at 10"):
            run([X, Y, len(X), 5.0, 4.0])


def test_one_check_that_stands_twice_is_not_like_two():
    first = "for i in 0 .. n parallel { check 0: lt(x[i], c), x[i] a[i] = x[i] check 0: lt(a[i], c), a[i] }"
    second = "for i in 0 .. n parallel { check 1: lt(y[i], d), y[i] b[i] = y[i] check 2: lt(b[i], d), b[i] }"
    fn = parse(both(first, second) + 'failure assert "0"\nfailure assert "1"\nfailure assert "2"')
    loops = [stmt for stmt in statements(fn.body) if isinstance(stmt, For)]
    once, twice = loops[0].body[0], loops[1].body[0]
    assert len(Likeness.of(once, twice).checks) == 2
    assert Likeness.of((once, twice)).key == Likeness.of((twice, once)).key
    assert Likeness.of((once, once)).key != Likeness.of((once, twice)).key


@pytest.mark.parametrize("limits", [(0.0, 1.0), (1.0, 0.0)], ids=["the first", "the second"])
def test_memory_of_a_loop_is_freed_where_it_fails(limits):
    loop = """for i in 0 .. 2 sequential {{
        alloc own{k}: f64 global [n]
        for e in 0 .. n parallel {{ own{k}[e] = add(x[e], x[i]) }}
        check {k}: lt(own{k}[0], {c}), own{k}[0]
        {a}[i] = own{k}[1]
    }}"""
    body = both(loop.format(k=0, a="a", c="c"), loop.format(k=1, a="b", c="d"))
    text = body + 'failure assert "first {0}"\nfailure assert "second {0}"'
    assert functions(text) == (1, 2)
    agree(text, X, Y, len(X), 9.0, 3.0, config=Config(cache=False, measure_memory=True))
    run, count, before = compiled(text), 200_000, 0
    x = np.zeros(count)  # one for all calls: errors keep what they were called with for a while
    for turn in range(100):
        if turn == 10:
            before = resident()
        with pytest.raises(AssertionFailed, match="second" if limits[0] else "first"):
            run([x, x, count, *limits])
    assert resident() - before < 40 * 8 * count  # else 90 arrays are left


@pytest.mark.parametrize("long", [0, 1])
def test_a_signal_ends_a_loop_that_is_called(long):
    loop = "for i in 0 .. {m} sequential {{ {a}[0] = add(mul({a}[0], 0.5), x[0]) }}"
    first, second = loop.format(m="m", a="a"), loop.format(m="k", a="b")
    text = both(first, second).replace("n: i64,", "n: i64, m: i64, k: i64,")
    assert functions(text) == (1, 2)
    run, times = compiled(text), [3, 3]
    run([X, Y, len(X), *times, 2.0, 3.0])
    times[long] = 1 << 60
    with time_limit():
        run([X, Y, len(X), *times, 2.0, 3.0])


def test_workers_share_what_they_do():
    part = """for t in 0 .. workers threads {{
        let lo: i64 = truncdiv(mul(t, n), workers)
        let hi: i64 = truncdiv(mul(add(t, 1), n), workers)
        for i in lo .. hi parallel {{ check {k}: lt({x}[i], {c}), {x}[i] {a}[i] = mul({x}[i], {c}) }}
    }}"""
    text = (
        both(part.format(k=0, x="x", a="a", c="c"), part.format(k=1, x="y", a="b", c="d"))
        + """
        failure assert "first {0}"
        failure assert "second {0}"
        """
    )
    threads = Config(cache=False, threads=2)
    assert compiled(text, threads).llvm_text.count("define internal i64 @threads.") == 1
    agree(text, X, Y, len(X), 7.0, 8.0, config=threads)
    run = compiled(text, threads)
    with pytest.raises(AssertionFailed, match=r"first 2\.0"):
        run([X, Y, len(X), 2.0, 8.0])
    with pytest.raises(AssertionFailed, match=r"second 4\.0"):
        run([X, Y, len(X), 7.0, 4.0])


def test_only_loops_of_as_much_work_are_compared():
    fn = parse(
        both(
            "for i in 0 .. n parallel { a[i] = mul(x[i], c) }",
            "for i in 0 .. n parallel { b[i] = mul(mul(y[i], c), d) }"
            " if gt(n, 3) { for k in 0 .. n parallel { b[k] = mul(x[k], d) } }",
        )
    )
    loops = [stmt for stmt in statements(fn.body) if isinstance(stmt, For)]
    assert list(repeated(fn.body, Works())) == [loops[0], loops[2]]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_chain_of_statements_costs_llvm_one(threads):
    def chain(a, k):
        a = np.sin(a) * k + a[::-1] * 0.5
        a = np.sin(a) * k + a[::-1] * 0.5
        a = np.sin(a) * k + a[::-1] * 0.5
        a = np.sin(a) * k + a[::-1] * 0.5
        a = np.sin(a) * k + a[::-1] * 0.5
        a = np.sin(a) * k + a[::-1] * 0.5
        a = np.sin(a) * k + a[::-1] * 0.5
        return np.sum(a)

    a, k = np.linspace(0.1, 0.5, 100), np.linspace(0.5, 0.6, 100)
    gradient = ad.jit(ad.grad(chain), config=Config(threads=threads, cache=False))
    text = ad.show(gradient, a, k, stage="llvm")
    calls = text.count("call i64 @loop.") + text.count("call i64 @threads.")
    made = text.count("define internal i64 @loop.") + text.count("define internal i64 @threads.")
    assert 2 <= made <= calls - 4
    step = 1e-6
    got = gradient(a, k)
    for at in (0, 57, 99):
        e = np.zeros(100)
        e[at] = step
        np.testing.assert_allclose(got[at], (chain(a + e, k) - chain(a - e, k)) / (2 * step), rtol=1e-6)


def test_dimensions_of_what_is_made_inside_are_compared():
    """The first dimension of a view says nothing of where an element is, and is a parameter all the same."""
    part = """for t in 0 .. 2 threads {{
        view u [{first}, m] = {x} [0]
        for i in 0 .. n parallel {{ {a}[add(mul(t, n), i)] = add(u[t, i], c[sub(n, m)]) }}
    }}"""
    text = f"""fn f(n: size, m: size, x: f64 buffer, y: f64 buffer, c: f64 buffer) {{
      alloc a: f64 global [mul(n, 2)]
      alloc b: f64 global [mul(n, 2)]
      {part.format(first="n", x="x", a="a")}
      {part.format(first="m", x="y", a="b")}
      return a as f64 [mul(n, 2)], b as f64 [mul(n, 2)]
    }}"""
    agree(text, 5, 3, np.arange(8.0), -np.arange(8.0), np.arange(3.0), config=Config(cache=False, threads=2))
