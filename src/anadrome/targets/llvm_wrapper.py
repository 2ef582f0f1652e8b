"""Writing a routine of the runtime as LLVM: loops, variables, scratch memory, calls of Fortran."""

from __future__ import annotations

from collections.abc import Callable

from anadrome.dtypes import F32, DType
from anadrome.targets.llvm_memory import allocate, release
from anadrome.targets.llvm_poll import charge, look_if_spent
from anadrome.targets.llvm_text import FunctionText, ModuleText, Value, literal, memory_type

FOREIGN_PREFIX = "anadrome.lapack."
"""How compiled code spells a BLAS or LAPACK symbol: `anadrome.lapack.dgemm`."""

LETTERS = ("sd", "cz")
"""The letters of real and of complex functions, in single and in double precision."""

LARGEST_SIZE = (1 << 31) - 1


class Wrapper:
    """The text of one wrapper: FunctionText with the idioms of calling Fortran.

    It returns 0, or -1 where memory has run out or the call is to end; that is in the frame then.
    """

    def __init__(self, module: ModuleText, name: str, dtype: DType, parameters: str) -> None:
        header = f"define internal i64 @{name}(ptr noalias %frame, {parameters}) noinline #0"
        self.text = FunctionText(module, header)
        self.frame = "%frame"
        self.way_out = "refused"
        self.unlikely = module.metadata('!{!"branch_weights", i32 1, i32 1048575}')
        self.dtype = dtype
        self.kind = memory_type(dtype)
        self._held: list[Value] = []
        self._patience: Value = ""

    def patience(self, start: int) -> Value:
        """The variable that counts operations down, from `start` at the beginning of the function."""
        if not self._patience:
            self._patience = self.text.alloca("i64", str(start))
        return self._patience

    def integer(self, value: Value) -> Value:
        """The address of a 32-bit copy of an i64."""
        narrow = self.text.value(f"trunc i64 {value} to i32")
        return self.put("i32", narrow)

    def leading(self, value: Value) -> Value:
        """The address of a leading dimension: max(1, value)."""
        return self.integer(self.text.intrinsic("llvm.smax.i64", "i64", [("i64", value), ("i64", "1")]))

    def number(self, value: float) -> Value:
        """The address of a float constant."""
        return self.put(self.kind, literal(value, self.dtype))

    def number_if(self, condition: Value, then: float, other: float) -> Value:
        """The address of one of two float constants."""
        kind = self.kind
        chosen = self.text.value(
            f"select i1 {condition}, {kind} {literal(then, self.dtype)}, {kind} {literal(other, self.dtype)}"
        )
        return self.put(kind, chosen)

    def letter(self, value: str) -> Value:
        """The address of a character."""
        return self.put("i8", str(ord(value)))

    def letter_if(self, condition: Value, then: str, other: str) -> Value:
        """The address of one of two characters."""
        return self.put("i8", self.text.value(f"select i1 {condition}, i8 {ord(then)}, i8 {ord(other)}"))

    def put(self, kind: str, value: Value) -> Value:
        """The address of a new variable with this value."""
        address = self.text.alloca(kind)
        self.text.do(f"store {kind} {value}, ptr {address}")
        return address

    def fortran(self, function: str, *arguments: Value, is_complex: bool = False) -> None:
        """Call a BLAS or LAPACK function on numbers of the wrapper's type, or on complex ones of such parts.

        Every argument is an address.
        """
        letter = LETTERS[is_complex][self.dtype is not F32]
        symbol = f"{FOREIGN_PREFIX}{letter}{function}"
        types = ", ".join(["ptr"] * len(arguments))
        self.text.module.declare(symbol, f"declare void @{symbol}({types}) nounwind")
        self.text.do(f"call void @{symbol}({', '.join(f'ptr {argument}' for argument in arguments)})")

    def limit(self, *sizes: Value) -> None:
        """Leave with -1 where a size does not fit 32 bits."""
        largest = sizes[0]
        for size in sizes[1:]:
            largest = self.text.intrinsic("llvm.umax.i64", "i64", [("i64", largest), ("i64", size)])
        self.leave_unless(self.text.value(f"icmp ule i64 {largest}, {LARGEST_SIZE}"))

    def scratch(self, count: Value, bytes_each: int) -> Value:
        """Memory for the call; leaves with -1 where there is none."""
        slot = self.text.alloca("ptr", "null")
        self._held.append(slot)
        memory = allocate(self.text, count, bytes_each)
        self.text.do(f"store ptr {memory}, ptr {slot}")
        self.leave_unless(self.text.value(f"icmp ne ptr {memory}, null"))
        return memory

    def leave_unless(self, condition: Value) -> None:
        """Leave with -1 where a condition does not hold."""
        good = self.text.fresh("good")
        self.text.do(f"br i1 {condition}, label %{good}, label %refused")
        self.text.label(good)

    def copy(self, target: Value, source: Value, count: Value) -> None:
        """Copy elements."""
        size = self.text.value(f"mul i64 {count}, {self.dtype.bytes}")
        self.text.module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        self.text.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)")

    def element(self, base: Value, offset: Value, kind: str = "") -> Value:
        """The address of an element."""
        return self.text.value(f"getelementptr inbounds {kind or self.kind}, ptr {base}, i64 {offset}")

    def loop(self, count: Value, body: Callable[[Value], None], work: int = 0) -> None:
        """`body(k)` for k = 0 … count - 1. Where its operations are given, a long loop may be ended."""
        text = self.text
        before = text.block
        head, inside, after = text.fresh("head"), text.fresh("body"), text.fresh("after")
        text.do(f"br label %{head}")
        text.label(head)
        index, following = text.fresh(), text.fresh()
        phi = text.reserve()
        more = text.value(f"icmp slt i64 {index}, {count}")
        text.do(f"br i1 {more}, label %{inside}, label %{after}")
        with text.branch(inside, more):
            body(index)
            self._look(work)
            text.fill(phi, f"{index} = phi i64 [0, %{before}], [{following}, %{text.block}]")
            text.do(f"{following} = add nuw nsw i64 {index}, 1")
            text.do(f"br label %{head}")
        text.label(after)

    def when(
        self, condition: Value, then: Callable[[], None], other: Callable[[], None] | None = None
    ) -> None:
        """`then()` where the condition holds, else `other()`."""
        text = self.text
        yes, no, after = text.fresh("then"), text.fresh("else"), text.fresh("after")
        text.do(f"br i1 {condition}, label %{yes}, label %{no}")
        with text.branch(yes, condition):
            then()
            text.do(f"br label %{after}")
        with text.branch(no, condition, "false"):
            if other is not None:
                other()
            text.do(f"br label %{after}")
        text.label(after)

    def repeat(self, condition: Callable[[], Value], body: Callable[[], None], work: int = 0) -> None:
        """`body()` while the condition holds. Where its operations are given, a long loop may be ended."""
        text = self.text
        head, inside, after = text.fresh("head"), text.fresh("body"), text.fresh("after")
        text.do(f"br label %{head}")
        text.label(head)
        goes_on = condition()
        text.do(f"br i1 {goes_on}, label %{inside}, label %{after}")
        with text.branch(inside, goes_on):
            body()
            self._look(work)
            text.do(f"br label %{head}")
        text.label(after)

    def _look(self, work: int) -> None:
        if work:
            charge(self, str(work))
            look_if_spent(self)

    def finish(self) -> None:
        """Both ways out; scratch memory is freed on each."""
        for label, code in (("done", 0), ("refused", -1)):
            if label == "done":
                self.text.do("br label %done")
            self.text.forget()
            self.text.label(label)
            for slot in self._held:
                release(self.text, slot)
            self.text.do(f"ret i64 {code}")
        self.text.finish()
