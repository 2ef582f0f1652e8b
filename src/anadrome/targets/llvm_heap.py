"""The heap of compiled programs, in the runtime that a process loads once: what is freed is kept for a while.

The system clears every page of fresh memory when it is first touched, which takes longer than most programs
take to fill it: an array of 80 MB costs 10 ms more where it is new. So a large block that is freed goes to a
list, and is handed out again to whoever asks for as much or a little less:

* in the 64 bytes in front of what its user gets a block says how large it is, and what is to be freed;
* the list holds at most `ENTRIES` blocks and as many bytes as it may; the oldest leave it first;
* where memory runs out, the list is given back and the system asked once more;
* large blocks begin at different places of their pages, in turn: streams through arrays that all begin at one
  place meet in the same sets of the caches, and a load waits for a store a multiple of a page away.

A lock of one word stands before the list. Who does not get it within some tries goes to the C library, and
so nobody waits for a thread that a fork left behind.
"""

from __future__ import annotations

from anadrome.targets.llvm_text import ModuleText

ALLOCATE, RELEASE = "anadrome.allocate", "anadrome.release"
"""`ptr (i64 count, i64 bytes of each)`: memory aligned to 64 bytes, or null where the count is absurd or
memory runs out; and `void (ptr)`: hands it back; null is nothing."""

KEEP = "anadrome.keep"
"""`i64 (i64 limit)`: from now on keep at most so many bytes, or as many as before where that is negative;
give back what is kept, and say how much it was."""

HEAP = (ALLOCATE, RELEASE, KEEP)

LARGEST_ALLOCATION = 1 << 46
"""More bytes than any machine has: no size in bytes overflows below it."""

HUGE_PAGE_BYTES = 1 << 22
"""Allocations of at least this size ask for huge pages."""

LEAST_KEPT = 1 << 16
"""Blocks of fewer bytes go to the C library, which keeps such ones itself."""

LIMIT = 1 << 29
"""Bytes that are kept unless `KEEP` says something else."""

ENTRIES = 64
HEADER = 64
_SLACK = 3
"""A block may be larger than what is asked for by this binary fraction: an eighth."""
_TRIES = 200
_MADV_HUGEPAGE = 14
_PAGE = 4096
_STEP = 9 * 64
"""From where one block begins in its page to where the next one does: all 64 places have their turn."""


def add_heap(module: ModuleText) -> None:
    """Define the functions of the heap."""
    module.declare("aligned_alloc", "declare noalias ptr @aligned_alloc(i64, i64) nounwind")
    module.declare("free", "declare void @free(ptr) nounwind")
    if "linux" in module.target.triple:
        module.declare("madvise", "declare i32 @madvise(ptr, i64, i32) nounwind")
        module.functions.append(_ADVISE)
    else:
        module.functions.append(_NO_ADVICE)
    module.functions += [_STATE, _LOCK, _FREE, _REMOVE, _TAKE, _ALLOCATE, _RELEASE, _KEEP]


_STATE = f"""@anadrome.lock = internal global i32 0
@anadrome.turn = internal global i64 0
@anadrome.limit = internal global i64 {LIMIT}
@anadrome.kept = internal global i64 0
@anadrome.count = internal global i64 0
@anadrome.blocks = internal global [{ENTRIES} x ptr] zeroinitializer
@anadrome.sizes = internal global [{ENTRIES} x i64] zeroinitializer"""
"""The list, the oldest first."""

_ADVISE = f"""define internal void @anadrome.advise(ptr %memory, i64 %size) noinline #0 {{
  %address = ptrtoint ptr %memory to i64
  %up = add i64 %address, {_PAGE - 1}
  %first = and i64 %up, -{_PAGE}
  %skipped = sub i64 %first, %address
  %page = inttoptr i64 %first to ptr
  %rest = sub i64 %size, %skipped
  %ignored = call i32 @madvise(ptr %page, i64 %rest, i32 {_MADV_HUGEPAGE})
  ret void
}}"""

_NO_ADVICE = """define internal void @anadrome.advise(ptr %memory, i64 %size) #0 {
  ret void
}"""

_LOCK = f"""define internal i1 @anadrome.lock_heap() #0 {{
entry:
  br label %try
try:
  %count = phi i32 [0, %entry], [%next, %again]
  %pair = cmpxchg ptr @anadrome.lock, i32 0, i32 1 acquire monotonic
  %got = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %got, label %done, label %again
again:
  %next = add i32 %count, 1
  %more = icmp ult i32 %next, {_TRIES}
  br i1 %more, label %try, label %done
done:
  ret i1 %got
}}
define internal void @anadrome.unlock_heap() #0 {{
  store atomic i32 0, ptr @anadrome.lock release, align 4
  ret void
}}"""

_FREE = """define internal void @anadrome.free(ptr %block) #0 {
  %pbase = getelementptr inbounds i64, ptr %block, i64 1
  %base = load ptr, ptr %pbase
  call void @free(ptr %base)
  ret void
}"""

_REMOVE = """define internal ptr @anadrome.remove(i64 %at) noinline #0 {
entry:
  %pblock = getelementptr inbounds ptr, ptr @anadrome.blocks, i64 %at
  %block = load ptr, ptr %pblock
  %psize = getelementptr inbounds i64, ptr @anadrome.sizes, i64 %at
  %size = load i64, ptr %psize
  %kept = load i64, ptr @anadrome.kept
  %less = sub i64 %kept, %size
  store i64 %less, ptr @anadrome.kept
  %count = load i64, ptr @anadrome.count
  %fewer = sub i64 %count, 1
  store i64 %fewer, ptr @anadrome.count
  %after = add i64 %at, 1
  %pblocks = getelementptr inbounds ptr, ptr @anadrome.blocks, i64 %after
  %psizes = getelementptr inbounds i64, ptr @anadrome.sizes, i64 %after
  %behind = sub i64 %fewer, %at
  %bytes = mul i64 %behind, 8
  call void @llvm.memmove.p0.p0.i64(ptr %pblock, ptr %pblocks, i64 %bytes, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %psize, ptr %psizes, i64 %bytes, i1 false)
  ret ptr %block
}
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)"""
"""Take the block of an entry out of the list, under the lock."""

_TAKE = f"""define internal ptr @anadrome.take(i64 %size) noinline #0 {{
entry:
  %slack = lshr i64 %size, {_SLACK}
  %largest = add i64 %size, %slack
  %got = call i1 @anadrome.lock_heap()
  br i1 %got, label %search, label %none
search:
  %count = load i64, ptr @anadrome.count
  br label %head
head:
  %at = phi i64 [%count, %search], [%before, %each]
  %best = phi i64 [-1, %search], [%better, %each]
  %least = phi i64 [%largest, %search], [%smaller, %each]
  %more = icmp sgt i64 %at, 0
  br i1 %more, label %each, label %found
each:
  %before = sub i64 %at, 1
  %psize = getelementptr inbounds i64, ptr @anadrome.sizes, i64 %before
  %has = load i64, ptr %psize
  %is_enough = icmp uge i64 %has, %size
  %is_first = icmp eq i64 %best, -1
  %is_less = icmp ult i64 %has, %least
  %is_as_large = icmp ule i64 %has, %least
  %is_small = select i1 %is_first, i1 %is_as_large, i1 %is_less
  %fits = and i1 %is_enough, %is_small
  %better = select i1 %fits, i64 %before, i64 %best
  %smaller = select i1 %fits, i64 %has, i64 %least
  br label %head
found:
  %is_none = icmp eq i64 %best, -1
  br i1 %is_none, label %leave, label %remove
remove:
  %block = call ptr @anadrome.remove(i64 %best)
  call void @anadrome.unlock_heap()
  ret ptr %block
leave:
  call void @anadrome.unlock_heap()
  br label %none
none:
  ret ptr null
}}"""
"""The smallest kept block that is large enough and not much too large, of these the one that was freed last;
null if there is none."""

_ALLOCATE = f"""define noalias ptr @{ALLOCATE}(i64 %count, i64 %each) #3 {{
entry:
  %limit = udiv i64 {LARGEST_ALLOCATION}, %each
  %is_sane = icmp ule i64 %count, %limit
  br i1 %is_sane, label %sane, label %refuse
refuse:
  ret ptr null
sane:
  %exact = mul nuw nsw i64 %count, %each
  %padded = add nuw nsw i64 %exact, {HEADER + 127}
  %size = and i64 %padded, -64
  %may_be_kept = icmp uge i64 %size, {LEAST_KEPT}
  br i1 %may_be_kept, label %look, label %ask
look:
  %taken = call ptr @anadrome.take(i64 %size)
  %is_kept = icmp ne ptr %taken, null
  br i1 %is_kept, label %again, label %ask
again:
  %old = getelementptr inbounds i8, ptr %taken, i64 {HEADER}
  ret ptr %old
ask:
  %turn = atomicrmw add ptr @anadrome.turn, i64 {_STEP} monotonic
  %moved = and i64 %turn, {_PAGE - 1}
  %colour = select i1 %may_be_kept, i64 %moved, i64 0
  %whole = add i64 %size, %colour
  %first = call noalias ptr @aligned_alloc(i64 64, i64 %whole)
  %is_there = icmp ne ptr %first, null
  br i1 %is_there, label %got, label %short
short:
  %ignored = call i64 @anadrome.empty()
  %second = call noalias ptr @aligned_alloc(i64 64, i64 %whole)
  %is_there_now = icmp ne ptr %second, null
  br i1 %is_there_now, label %got, label %refuse
got:
  %base = phi ptr [%first, %ask], [%second, %short]
  %is_large = icmp uge i64 %size, {HUGE_PAGE_BYTES}
  br i1 %is_large, label %huge, label %done
huge:
  call void @anadrome.advise(ptr %base, i64 %whole)
  br label %done
done:
  %block = getelementptr inbounds i8, ptr %base, i64 %colour
  store i64 %size, ptr %block
  %pbase = getelementptr inbounds i64, ptr %block, i64 1
  store ptr %base, ptr %pbase
  %memory = getelementptr inbounds i8, ptr %block, i64 {HEADER}
  ret ptr %memory
}}"""
"""Large allocations ask for huge pages: without them, filling fresh memory is all page faults."""

_RELEASE = f"""define void @{RELEASE}(ptr %memory) #3 {{
entry:
  %is_nothing = icmp eq ptr %memory, null
  br i1 %is_nothing, label %done, label %held
held:
  %block = getelementptr inbounds i8, ptr %memory, i64 -{HEADER}
  %size = load i64, ptr %block
  %is_small = icmp ult i64 %size, {LEAST_KEPT}
  %limit = load atomic i64, ptr @anadrome.limit monotonic, align 8
  %is_too_large = icmp ugt i64 %size, %limit
  %goes = or i1 %is_small, %is_too_large
  br i1 %goes, label %free, label %try
try:
  %got = call i1 @anadrome.lock_heap()
  br i1 %got, label %room, label %free
room:
  %kept = load i64, ptr @anadrome.kept
  %more = add i64 %kept, %size
  %count = load i64, ptr @anadrome.count
  %has_bytes = icmp ule i64 %more, %limit
  %has_entries = icmp ult i64 %count, {ENTRIES}
  %has_room = and i1 %has_bytes, %has_entries
  br i1 %has_room, label %keep, label %oldest
keep:
  %pblock = getelementptr inbounds ptr, ptr @anadrome.blocks, i64 %count
  store ptr %block, ptr %pblock
  %psize = getelementptr inbounds i64, ptr @anadrome.sizes, i64 %count
  store i64 %size, ptr %psize
  store i64 %more, ptr @anadrome.kept
  %many = add i64 %count, 1
  store i64 %many, ptr @anadrome.count
  call void @anadrome.unlock_heap()
  ret void
oldest:
  %is_empty = icmp eq i64 %count, 0
  br i1 %is_empty, label %lowered, label %victim
victim:
  %old = call ptr @anadrome.remove(i64 0)
  call void @anadrome.unlock_heap()
  call void @anadrome.free(ptr %old)
  br label %try
lowered:
  call void @anadrome.unlock_heap()
  br label %free
free:
  call void @anadrome.free(ptr %block)
  ret void
done:
  ret void
}}"""

_KEEP = f"""define internal i64 @anadrome.empty() noinline #0 {{
entry:
  br label %next
next:
  %sum = phi i64 [0, %entry], [%total, %some]
  %got = call i1 @anadrome.lock_heap()
  br i1 %got, label %look, label %done
look:
  %count = load i64, ptr @anadrome.count
  %is_none = icmp eq i64 %count, 0
  br i1 %is_none, label %none, label %some
some:
  %size = load i64, ptr @anadrome.sizes
  %total = add i64 %sum, %size
  %block = call ptr @anadrome.remove(i64 0)
  call void @anadrome.unlock_heap()
  call void @anadrome.free(ptr %block)
  br label %next
none:
  call void @anadrome.unlock_heap()
  br label %done
done:
  ret i64 %sum
}}
define i64 @{KEEP}(i64 %limit) #3 {{
  %is_new = icmp sge i64 %limit, 0
  br i1 %is_new, label %set, label %empty
set:
  store atomic i64 %limit, ptr @anadrome.limit monotonic, align 8
  br label %empty
empty:
  %given = call i64 @anadrome.empty()
  ret i64 %given
}}"""
