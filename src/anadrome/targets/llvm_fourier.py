"""Fourier transforms as LLVM: wrappers around the loops of NumPy's own transforms.

NumPy holds each transform as a generalised ufunc; its loop takes arrays of complex numbers with any strides
and needs no interpreter lock (decision 14). Rows go through it in blocks that stay in the cache: the parts
are interleaved, transformed, and taken apart again.

A loop that gets no memory leaves its output as it was and sets a Python error that nobody would see. So a
signalling NaN, which no arithmetic gives, is put where the first element of each row will be; where it still
stands afterwards, the error is cleared and the wrapper returns -1. The output runs backwards in memory: then
the loop writes elements when a row is done, never on the way.
"""

from __future__ import annotations

from collections.abc import Callable

from anadrome.dtypes import F32, DType
from anadrome.kernel_ir.work import ALWAYS
from anadrome.targets.llvm_poll import python_function
from anadrome.targets.llvm_text import ModuleText, Value, literal
from anadrome.targets.llvm_wrapper import Wrapper

LOOP_PREFIX = "anadrome.numpy."
"""How compiled code spells the record of a loop, the addresses of it and of its data."""
LOOPS = ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft")
"""The ufuncs of which loops are called, each for f32 and f64."""
BLOCK = 1 << 15
"""Elements that are transformed at a time, or one row."""
_MARKS = {32: str(0x7FA501A5), 64: str(0x7FF401A501A501A5)}
"""The bits of the signalling NaN."""

Column = Callable[[Value, Value], None]
"""(offset in the block, offset in the whole) -> the code of one element."""


def fourier(module: ModuleText, name: str, dtype: DType) -> None:
    """Complex to complex, forward or backward."""
    parameters = "ptr %real, ptr %imag, ptr %out_real, ptr %out_imag, i64 %rows, i64 %n, i1 %backward"
    w = Wrapper(module, name, dtype, parameters)
    room = _block_rows(w, "%n")
    elements = w.text.value(f"mul i64 {room}, %n")
    source, target = w.scratch(elements, 2 * dtype.bytes), w.scratch(elements, 2 * dtype.bytes)
    loop = w.text.value(f"select i1 %backward, ptr @{_record(w, 'ifft')}, ptr @{_record(w, 'fft')}")

    def block(first: Value, rows: Value) -> None:
        _interleave(w, source, "%real", "%imag", first, rows, "%n")
        _run(w, loop, source, target, rows, ("%n", 2 * dtype.bytes), ("%n", 2 * dtype.bytes))
        _take_apart(w, target, "%out_real", "%out_imag", first, rows, "%n")

    _blocks(w, room, "%n", block)
    w.finish()


def fourier_of_real(module: ModuleText, name: str, dtype: DType) -> None:
    """Real to complex, the first half of the spectrum; the values are read where they are."""
    w = Wrapper(module, name, dtype, "ptr %values, ptr %real, ptr %imag, i64 %rows, i64 %n, i64 %half")
    text, size = w.text, dtype.bytes
    room = _block_rows(w, "%n")
    target = w.scratch(text.value(f"mul i64 {room}, %half"), 2 * size)
    is_odd = text.value("trunc i64 %n to i1")
    even, odd = _record(w, "rfft_n_even"), _record(w, "rfft_n_odd")
    loop = text.value(f"select i1 {is_odd}, ptr @{odd}, ptr @{even}")

    def block(first: Value, rows: Value) -> None:
        source = w.element("%values", text.value(f"mul i64 {first}, %n"))
        _run(w, loop, source, target, rows, ("%n", size), ("%half", 2 * size))
        _take_apart(w, target, "%real", "%imag", first, rows, "%half")

    def zero(k: Value) -> None:
        for part in ("%real", "%imag"):
            text.do(f"store {w.kind} {literal(0.0, dtype)}, ptr {w.element(part, k)}")

    _blocks(w, room, "%n", block)
    w.when(text.value("icmp eq i64 %n, 0"), lambda: w.loop(text.value("mul i64 %rows, %half"), zero))
    w.finish()


def fourier_to_real(module: ModuleText, name: str, dtype: DType) -> None:
    """Half a spectrum to real values."""
    w = Wrapper(module, name, dtype, "ptr %real, ptr %imag, ptr %out, i64 %rows, i64 %n, i64 %half")
    text, size = w.text, dtype.bytes
    room = _block_rows(w, "%n")
    source = w.scratch(text.value(f"mul i64 {room}, %half"), 2 * size)
    target = w.scratch(text.value(f"mul i64 {room}, %n"), size)
    loop = f"@{_record(w, 'irfft')}"

    def block(first: Value, rows: Value) -> None:
        _interleave(w, source, "%real", "%imag", first, rows, "%half")
        _run(w, loop, source, target, rows, ("%half", 2 * size), ("%n", size))

        def put(inside: Value, at: Value) -> None:
            value = text.value(f"load {w.kind}, ptr {w.element(target, inside)}")
            text.do(f"store {w.kind} {value}, ptr {w.element('%out', at)}")

        _backwards(w, first, rows, "%n", put)

    _blocks(w, room, "%n", block)
    w.finish()


# ---------------------------------------------------------------------------- blocks of rows
def _block_rows(w: Wrapper, n: Value) -> Value:
    """How many rows are transformed at a time: at least one, at most all."""
    text = w.text
    positive = text.intrinsic("llvm.smax.i64", "i64", [("i64", n), ("i64", "1")])
    fitting = text.value(f"udiv i64 {BLOCK}, {positive}")
    some = text.intrinsic("llvm.smax.i64", "i64", [("i64", fitting), ("i64", "1")])
    return text.intrinsic("llvm.smin.i64", "i64", [("i64", some), ("i64", "%rows")])


def _blocks(w: Wrapper, room: Value, n: Value, block: Callable[[Value, Value], None]) -> None:
    """`block(first row, rows)` for all rows; no row has anything to transform where n is 0."""
    text = w.text
    is_empty = text.value(f"icmp eq i64 {n}, 0")
    rows = text.value(f"select i1 {is_empty}, i64 0, i64 %rows")
    done = text.alloca("i64", "0")

    def more() -> Value:
        return text.value(f"icmp slt i64 {text.value(f'load i64, ptr {done}')}, {rows}")

    def one() -> None:
        first = text.value(f"load i64, ptr {done}")
        left = text.value(f"sub i64 {rows}, {first}")
        count = text.intrinsic("llvm.smin.i64", "i64", [("i64", left), ("i64", room)])
        block(first, count)
        text.do(f"store i64 {text.value(f'add i64 {first}, {count}')}, ptr {done}")

    w.repeat(more, one, work=ALWAYS)


def _interleave(
    w: Wrapper, target: Value, real: Value, imag: Value, first: Value, rows: Value, n: Value
) -> None:
    """The rows from `first` on as complex numbers."""
    text = w.text
    start = text.value(f"mul i64 {first}, {n}")

    def put(k: Value) -> None:
        at, place = text.value(f"add i64 {start}, {k}"), text.value(f"shl i64 {k}, 1")
        for part, shift in ((real, 0), (imag, 1)):
            value = text.value(f"load {w.kind}, ptr {w.element(part, at)}")
            to = w.element(target, text.value(f"or i64 {place}, {shift}"))
            text.do(f"store {w.kind} {value}, ptr {to}")

    w.loop(text.value(f"mul i64 {rows}, {n}"), put)


def _take_apart(
    w: Wrapper, source: Value, real: Value, imag: Value, first: Value, rows: Value, n: Value
) -> None:
    """The parts of the rows from `first` on."""
    text = w.text

    def put(inside: Value, at: Value) -> None:
        place = text.value(f"shl i64 {inside}, 1")
        for part, shift in ((real, 0), (imag, 1)):
            found = w.element(source, text.value(f"or i64 {place}, {shift}"))
            text.do(f"store {w.kind} {text.value(f'load {w.kind}, ptr {found}')}, ptr {w.element(part, at)}")

    _backwards(w, first, rows, n, put)


def _backwards(w: Wrapper, first: Value, rows: Value, n: Value, column: Column) -> None:
    """Every element of a block whose rows run backwards, with its place in the whole."""
    text = w.text

    def row(r: Value) -> None:
        start = text.value(f"mul i64 {r}, {n}")
        last = text.value(f"add i64 {start}, {text.value(f'sub i64 {n}, 1')}")
        whole = text.value(f"mul i64 {text.value(f'add i64 {first}, {r}')}, {n}")
        w.loop(n, lambda k: column(text.value(f"sub i64 {last}, {k}"), text.value(f"add i64 {whole}, {k}")))

    w.loop(rows, row)


# ---------------------------------------------------------------------------- NumPy's loop
def _record(w: Wrapper, loop: str) -> str:
    symbol = f"{LOOP_PREFIX}{loop}_{w.dtype.name}"
    w.text.module.declare(symbol, f"@{symbol} = external global [2 x ptr]")
    return symbol


def _run(
    w: Wrapper,
    loop: Value,
    source: Value,
    target: Value,
    rows: Value,
    taken: tuple[Value, int],
    given: tuple[Value, int],
) -> None:
    """Transform rows: `taken` and `given` are the elements of a row and the bytes of one, in and out.

    A loop of NumPy is `void (char **arrays, intp *sizes, intp *steps, void *data)`: the input, the factor and
    the output; the rows, and the elements of a row in and out; the bytes from row to row of the three, and
    from element to element in and out.
    """
    text, (n, bytes_in), (m, bytes_out) = w.text, taken, given
    row_in = text.value(f"mul i64 {n}, {bytes_in}")
    row_out = text.value(f"mul i64 {m}, {bytes_out}")
    last = text.value(f"sub i64 {row_out}, {bytes_out}")
    output = text.value(f"getelementptr inbounds i8, ptr {target}, i64 {last}")
    mark = "i32" if w.dtype is F32 else "i64"

    def place(r: Value) -> Value:
        return text.value(
            f"getelementptr inbounds i8, ptr {output}, i64 {text.value(f'mul i64 {r}, {row_out}')}"
        )

    w.loop(rows, lambda r: text.do(f"store {mark} {_MARKS[w.dtype.bits]}, ptr {place(r)}"))
    arrays = _words(w, "ptr", (source, w.number(1.0), output))
    sizes = _words(w, "i64", (rows, n, m))
    steps = _words(w, "i64", (row_in, "0", row_out, str(bytes_in), str(-bytes_out)))
    function = text.value(f"load ptr, ptr {loop}")
    data = text.value(f"load ptr, ptr {w.element(loop, '1', 'ptr')}")
    text.do(f"call void {function}(ptr {arrays}, ptr {sizes}, ptr {steps}, ptr {data}) nounwind")

    def look(r: Value) -> None:
        found = text.value(f"load {mark}, ptr {place(r)}")
        is_done = text.value(f"icmp ne {mark} {found}, {_MARKS[w.dtype.bits]}")
        w.when(is_done, lambda: None, lambda: _clear_error(w))
        w.leave_unless(is_done)

    w.loop(rows, look)


def _words(w: Wrapper, kind: str, values: tuple[Value, ...]) -> Value:
    """The address of an array of these words."""
    array = w.text.alloca(f"[{len(values)} x {kind}]")
    for position, value in enumerate(values):
        w.text.do(f"store {kind} {value}, ptr {w.element(array, str(position), kind)}")
    return array


def _clear_error(w: Wrapper) -> None:
    """Forget the Python error that a loop has set, which the failure of the program replaces."""
    ensure, clear, release = (
        python_function(w.text.module, name)
        for name in ("PyGILState_Ensure", "PyErr_Clear", "PyGILState_Release")
    )
    state = w.text.value(f"call i32 @{ensure}()")
    w.text.do(f"call void @{clear}()")
    w.text.do(f"call void @{release}(i32 {state})")
