"""Fourier transforms as routines: NumPy's values, rows in blocks, threads, no memory, another NumPy."""

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.dtypes import F32, F64
from anadrome.errors.targets import MissingTransforms
from anadrome.kernel_ir.text import parse
from anadrome.targets import cpu
from anadrome.targets.cpu_transforms import _record, _types, add_transforms
from anadrome.targets.llvm_fourier import BLOCK, LOOP_PREFIX, LOOPS
from tests.targets.oracle import agree, compiled

RNG = np.random.default_rng(23)
TYPES = ("f64", "f32")
SIZES = [(1, 1), (3, 1), (1, 2), (3, 7), (0, 4), (4, 0), (5, 1024), (300, 300), (2, BLOCK), (1, BLOCK + 1)]
SIZES += [(2, 2 * 16411), (1, 32771), (9, 8), (40, 997)]

COMPLEX = """fn f(a: {0} buffer, b: {0} buffer, r: i64, n: i64, half: i64) {{
  alloc x: {0} global [mul(r, n)]
  alloc y: {0} global [mul(r, n)]
  call fourier_{0}(a, b, x, y, r, n, {1})
  return x as {0} [r, n], y as {0} [r, n]
}}"""
OF_REAL = """fn f(a: {0} buffer, b: {0} buffer, r: i64, n: i64, half: i64) {{
  alloc x: {0} global [mul(r, half)]
  alloc y: {0} global [mul(r, half)]
  call fourier_of_real_{0}(a, x, y, r, n, half)
  return x as {0} [r, half], y as {0} [r, half]
}}"""
TO_REAL = """fn f(a: {0} buffer, b: {0} buffer, r: i64, n: i64, half: i64) {{
  alloc x: {0} global [mul(r, n)]
  call fourier_to_real_{0}(a, b, x, r, n, half)
  return x as {0} [r, n]
}}"""


def numbers(dtype, *shape):
    return RNG.normal(size=shape).astype("float64" if dtype == "f64" else "float32")


def close(found, wanted, dtype):
    scale = np.abs(wanted).max(initial=1.0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=scale * (1e-15 if dtype == "f64" else 1e-6))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("backward", [False, True])
def test_complex(dtype, backward):
    run = compiled(COMPLEX.format(dtype, "true" if backward else "false"))
    for rows, n in SIZES:
        real, imag = numbers(dtype, 2, rows, n)
        x, y = run([real, imag, rows, n, 0])
        assert x.shape == y.shape == (rows, n)
        if n:
            values = real.astype(float) + 1j * imag
            close(x + 1j * y, np.fft.ifft(values, norm="forward") if backward else np.fft.fft(values), dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_real(dtype):
    forward, back = compiled(OF_REAL.format(dtype)), compiled(TO_REAL.format(dtype))
    for rows, n in SIZES:
        half = n // 2 + 1
        values, (real, imag) = numbers(dtype, rows, n), numbers(dtype, 2, rows, half)
        x, y = forward([values, values, rows, n, half])
        (z,) = back([real, imag, rows, n, half])
        assert x.shape == y.shape == (rows, half) and z.shape == (rows, n)
        if n:
            close(x + 1j * y, np.fft.rfft(values.astype(float)), dtype)
            close(z, np.fft.irfft(real.astype(float) + 1j * imag, n, norm="forward"), dtype)
        else:
            assert not x.any() and not y.any()


@pytest.mark.parametrize("text", [COMPLEX, OF_REAL, TO_REAL])
def test_the_interpreter_means_the_same(text):
    for rows, n in ((3, 6), (2, 5), (1, 1), (2, 0)):
        half = n // 2 + 1
        width = half if text is TO_REAL else n
        agree(text.format("f64", "true"), RNG.normal(size=rows * width), np.ones(rows * width), rows, n, half)


def test_what_is_not_finite_stays_so():
    real, imag = np.array([[1.0, np.inf, 0.0], [np.nan, 0.0, 1.0]]), np.zeros((2, 3))
    x, y = compiled(COMPLEX.format("f64", "false"))([real, imag, 2, 3, 0])
    with np.errstate(invalid="ignore"):
        wanted = np.fft.fft(real)
    assert np.array_equal(x, wanted.real, equal_nan=True) and np.array_equal(y, wanted.imag, equal_nan=True)


def test_threads():
    text = """fn f(a: f64 buffer, b: f64 buffer, r: i64, n: i64) {
      alloc x: f64 global [mul(r, n)]
      alloc y: f64 global [mul(r, n)]
      for i in 0 .. r threads {
        view p = a [mul(i, n)]
        view q = b [mul(i, n)]
        view u = x [mul(i, n)]
        view v = y [mul(i, n)]
        call fourier_f64(p, q, u, v, 1, n, false)
      }
      return x as f64 [r, n], y as f64 [r, n]
    }"""
    run = compiled(text, Config(cache=False, threads=4))
    inputs = [RNG.normal(size=(2, 64, n)) for n in (243, 997, 1024)]

    def right(pair):
        x, y = run([*pair, *pair[0].shape])
        return np.array_equal(x + 1j * y, np.fft.fft(pair[0] + 1j * pair[1]))

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(right, inputs * 10))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_without_memory_a_transform_is_refused():
    """At every limit the result is right, or the call says that there is no memory; the process lives on."""
    program = """
        import resource
        import numpy as np
        import anadrome as ad
        from anadrome.errors.runtime import OutOfMemory
        from tests.targets.oracle import compiled
        from tests.targets.test_fourier import COMPLEX

        run, n = compiled(COMPLEX.format("f64", "false")), 1 << 18
        real, imag = np.random.default_rng(0).normal(size=(2, n))
        wanted = np.fft.fft(real + 1j * imag)
        run([real, imag, 1, n, 0])
        ad.release_memory(keep=0)
        held = lambda: int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        outcomes = []
        for megabytes in range(0, 48, 1):
            resource.setrlimit(resource.RLIMIT_AS, (held() + (megabytes << 20), hard))
            try:
                x, y = run([real, imag, 1, n, 0])
            except OutOfMemory:
                outcomes.append(False)
            else:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
                assert np.array_equal(x[0] + 1j * y[0], wanted)
                outcomes.append(True)
                del x, y
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        assert not all(outcomes) and any(outcomes)
        print(sum(not one for one in outcomes))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    scratch_alone = 12  # megabytes: two parts of the result and two arrays of complex numbers
    assert int(done.stdout) > scratch_alone, "the loop itself never lacked memory"


def test_object_code_holds_names():
    text = compiled(COMPLEX.format("f64", "true")).llvm_text
    assert f"@{LOOP_PREFIX}ifft_f64 = external global" in text
    assert all(str(int(record[0])) not in text for record in add_transforms().values())


def test_records_are_of_the_types_asked_for():
    assert set(add_transforms()) == {f"{LOOP_PREFIX}{name}_{kind}" for name in LOOPS for kind in TYPES}
    assert [_types(name, F64) for name in LOOPS] == ["Dd->D", "Dd->D", "dd->D", "dd->D", "Dd->d"]
    assert _types("irfft", F32) == "Ff->f"
    assert _record(np.add, "dd->d") is None
    assert _record(np.matmul, "dd->d") is None


def test_another_numpy_is_refused():
    program = """
        import sys, types, numpy.fft
        sys.modules["numpy.fft._pocketfft_umath"] = types.ModuleType("numpy.fft._pocketfft_umath")
        from anadrome.errors.targets import MissingTransforms
        from tests.targets.oracle import compiled
        from tests.targets.test_fourier import TO_REAL
        try:
            compiled(TO_REAL.format("f32"))
        except MissingTransforms as error:
            assert "irfft_f32" in str(error) and numpy.__version__ in str(error)
        else:
            raise SystemExit("was not refused")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(cpu, "missing_symbols", lambda symbols: [f"{LOOP_PREFIX}fft_f64"])
    with pytest.raises(MissingTransforms, match="`fft_f64`"):
        cpu.compile_cpu(parse(COMPLEX.format("f64", "false")), Config(cache=False))
