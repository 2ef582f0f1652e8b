"""The state of lowering one function, and where arrays are built: destinations, deliveries, copies.

Every array statement first asks for an offer: a place in which its value is wanted anyway (the row of the
array that a parfor stacks, an element of a literal, the next state of a loop, the row of an accumulator).
Taking it saves a copy and is never needed: `deliver` copies whatever lies elsewhere.

Invariants:
* A place offered for writing is read by nobody from the moment it is taken until its value is delivered.
* A place offered with an operator is combined into; the value has no other reader.
* Whoever binds a variable to a place says so in the place's storage (`bind`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.own_reads import Knowledge
from anadrome.array_ir.walk import operands
from anadrome.config import Config
from anadrome.dtypes import DType
from anadrome.errors import Span
from anadrome.errors.kernels_launch import KernelCopy
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Buffer, Expr
from anadrome.lower.emit import Emitter
from anadrome.lower.memory import Liveness
from anadrome.lower.origin import turned
from anadrome.lower.pieces import Piece
from anadrome.lower.values import Delivered, Destination, Place, Splat, Storage, Value


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """An element or row of an array: its place (of shape () for an element), and the condition under which
    it may be written (None: always)."""

    place: Place
    guard: Expr | None = None


Offer = Callable[[], Destination | None]
StatementRule = Callable[["Lowering", array_ir.Let], None]


class Lowering:
    """Lowers one function; the rules of the constructs are functions that take this."""

    def __init__(
        self,
        fn: array_ir.Function,
        config: Config,
        statement: StatementRule,
        supply: SupplyRule,
        *,
        is_kernel: bool = False,
    ) -> None:
        self.config = config
        self.emit = Emitter(is_kernel, config.reordered)
        self.live = Liveness(Knowledge(fn))
        self.env: dict[array_ir.Var, Value] = {}
        self.failures: dict[tuple[str, str, Span | None], int] = {}
        self.messages: dict[str, int] = {}
        self._statement = statement
        self._supply = supply
        self._wanted: dict[array_ir.Var, Offer] = {}
        self._reserved: dict[array_ir.Var, Destination] = {}
        self._versions: dict[array_ir.Var, array_ir.Var] = {}
        """An array -> the last of its updated versions that was found."""
        self.is_in_parfor = False
        self.located: dict[array_ir.Let, Located] = {}
        self.backwards: set[array_ir.Var] = set()
        """Arrays whose last row was put first, since the one statement that reads them turns them round."""
        self.pieces: dict[array_ir.Let, list[array_ir.Var]] = {}
        """Arrays that were offered a place in what a statement puts together: all of each is one piece,
        and no other piece reads it."""
        self.divided: dict[array_ir.ParFor, tuple[Piece, ...]] = {}
        self.successors: dict[array_ir.Let, dict[array_ir.Var, array_ir.Var]] = {}
        """The pieces of parfors whose arrays were asked whether they are one."""
        self._spare: dict[array_ir.Let, list[array_ir.Var]] = {}
        """The arrays that a parfor reads for the last time and that no result of it has taken so far."""
        self.donated: set[Buffer] = set()
        """Parameters whose memory the caller gives away: it is written and returned, but never freed."""
        self.exchanged: set[Buffer] = set()
        """Buffers that change their storage with a donated one: only the run knows which of both is to be
        freed, so that it happens at the end."""
        self.only: dict[array_ir.Let, bool] = {}
        """Contributions to sums that nobody has written to, each of which is put there instead of added ->
        whether it was."""

    # ------------------------------------------------------------------ operands
    def scalar(self, atom: array_ir.Atom) -> Expr:
        """The value of a scalar atom."""
        if isinstance(atom, array_ir.Const):
            return kernel_ir.Const(atom.value, atom.dtype)
        return number(self.env[atom])

    def scalars(self, atoms: Sequence[array_ir.Atom]) -> tuple[Expr, ...]:
        """The values of several scalar atoms."""
        return tuple(self.scalar(atom) for atom in atoms)

    def value(self, atom: array_ir.Atom) -> Value:
        """What an atom has become."""
        return self.scalar(atom) if isinstance(atom, array_ir.Const) else self.env[atom]

    def array(self, var: array_ir.Var) -> Place | Splat:
        """What an array has become."""
        value = self.env[var]
        assert isinstance(value, Place | Splat), f"{var} is not an array in memory"
        return value

    def place(self, var: array_ir.Var) -> Place:
        """Where an array is, written to memory if it was not."""
        value = self.array(var)
        if isinstance(value, Splat):
            place = self.emit.allocate(var.name, var.type.dtype, value.shape)
            self.deliver(value, Destination(place))
            return place
        return value

    def is_known(self, atoms: Sequence[array_ir.Atom]) -> bool:
        """Whether every atom has its value already."""
        return all(isinstance(atom, array_ir.Const) or atom in self.env for atom in atoms)

    def failure(self, error: str, message: str, span: Span | None) -> int:
        """The code of a failure in the function's table."""
        return self.failures.setdefault((error, message, span), len(self.failures))

    # ------------------------------------------------------------------ results
    def bind(self, var: array_ir.Var, value: Value) -> None:
        """A variable has its value."""
        self.env[var] = value
        self.live.bind(var)
        if isinstance(value, Place):
            storage = value.storage
            storage.referrers = [name for name in storage.referrers if not self.live.is_over(name)]
            storage.referrers.append(var)

    def allocate(self, var: array_ir.Var) -> Place:
        """New memory for an array."""
        return self.emit.allocate(var.name, var.type.dtype, self.scalars(var.type.shape))

    def filled(self, element: Expr, shape: tuple[array_ir.Size, ...]) -> Splat:
        """An array of one value, not in memory yet."""
        return Splat(element, self.scalars(shape))

    def needed_until(self, storage: Storage, places: Mapping[array_ir.Let, int]) -> int:
        """The last statement of the outermost body, by its place, that reads a variable which names a part of
        a buffer, or puts one there."""
        facts = self.live.frames[0].facts
        until = max((facts.uses.get(name, (-1,))[-1] for name in storage.names()), default=-1)
        for var, found in self._reserved.items():
            if found.place.buffer is storage.buffer:
                let = facts.definitions.get(var)
                until = max(until, len(places) if let is None else places[let])
        return until

    def temporary(self, name: str, dtype: DType, shape: tuple[Expr, ...]) -> Place:
        """New memory that no variable names."""
        return self.emit.allocate(name, dtype, shape)

    # ------------------------------------------------------------------ destinations
    def want(self, atom: array_ir.Atom, offer: Offer) -> None:
        """Offer a place for an array that the innermost open body defines; others are delivered later."""
        defined = self.live.frames[-1].facts.definitions
        if isinstance(atom, array_ir.Var) and not is_scalar(atom) and atom in defined:
            self._wanted.setdefault(atom, offer)

    def offer(self, var: array_ir.Var, *consumed: array_ir.Var) -> Destination | None:
        """Where an array about to be computed is wanted, or None. `consumed` are operands of the statement
        that may lie there already."""
        found = self.reserve(var)
        self._reserved.pop(var, None)
        self._wanted.pop(var, None)
        if found is None or found.operator is not None:
            return found
        return found if self.live.is_free(found.place.storage, consumed, found.replaced) else None

    def destination(self, var: array_ir.Var, *consumed: array_ir.Var) -> Place:
        """Where to write an array about to be computed: the place it is wanted in, or new memory."""
        found = self.offer(var, *consumed)
        return self.allocate(var) if found is None or found.operator is not None else found.place

    def turned_round(self, let: array_ir.Let, var: array_ir.Var, value: array_ir.Atom) -> Place | None:
        """The place of the same rows from the last to the first, where the one statement that reads an array
        about to be computed makes them, and nobody reads what is there but for the row to be replaced."""
        facts = self.live.frames[-1].facts
        used = facts.uses.get(var, ())
        if len(used) != 1 or used[0] == len(facts.lets):
            return None
        reader = facts.lets[used[0]]
        (target, *others) = reader.targets or (None,)
        is_turned = turned(reader, self.live.knowledge.definitions) is var
        if not is_turned or target is None or others:
            return None
        found = self.reserve(target)
        if found is None or found.operator is not None:
            old = self.read_for_the_last_time(let, var, value, backwards=True)
            if old is not None:
                return old
        place = self.reserve_place(target)
        return place if self.live.is_free(place.storage) else None

    def read_for_the_last_time(
        self, let: array_ir.Let, target: array_ir.Var, value: array_ir.Atom, *, backwards: bool = False
    ) -> Place | None:
        """The elements of an array that a parfor reads for the last time, where iteration i reads element i
        alone (`backwards`: element n - 1 - i): the elements of a result of the same type may lie there. Bound
        to that result at once, so that no other one takes them."""
        expr = let.expr
        if (
            not isinstance(expr, array_ir.ParFor)
            or len(target.type.shape) != 1
            or not self.live.is_live(target)
        ):
            return None
        spare = self._spare.get(let)
        if spare is None:
            spare = self._spare[let] = [
                var for var in self.live.knowledge.reads(expr) if self._may_lie_in(var)
            ]
        for var in spare:
            is_free = var.type == target.type and self._may_lie_in(var)
            if is_free and self.live.knowledge.reads_own(expr, value, var, backwards=backwards):
                spare.remove(var)
                old = self.place(var)
                self.bind(target, old)
                return old
        return None

    def _may_lie_in(self, var: array_ir.Var) -> bool:
        """Whether a result may lie in the memory of an array that is not read any more, all of its own."""
        old = self.env.get(var)
        if not isinstance(old, Place):
            return False
        storage = old.storage
        is_there = storage.is_owned and storage.is_whole and not storage.is_pinned
        is_taken = any(found.place.buffer is storage.buffer for found in self._reserved.values())
        is_read = self.live.is_live(var) or not self.live.is_free(storage, (var,))
        return is_there and not is_taken and not is_read

    def take_over(self, let: array_ir.Let, var: array_ir.Var, target: array_ir.Var) -> Place:
        """The elements of an operand in memory that the statement may overwrite, for its result `target`:
        where they are, if nobody needs the operand any more; else in a copy."""
        old = self.array(var)
        if is_pinned(old):
            assert isinstance(old, Place)
            if not self.live.is_consumable(var, old.storage, let):
                raise KernelCopy(old.buffer.name, let.span or self.emit.span)
            self.offer(target, var)
            return old
        if isinstance(old, Place) and self.live.is_consumable(var, old.storage, let):
            found = self.reserve(target)
            if found is None or found.operator is not None or found.place.is_at(old):
                self.offer(target, var)
                return old
        # what the statement's bodies read as well must not lie where it writes
        consumed = (var,) if self.live.is_sole_operand(var, let) else ()
        new = self.destination(target, *consumed)
        self.deliver(old, Destination(new))
        return new

    def reserve(self, var: array_ir.Var) -> Destination | None:
        """The destination an array will be offered when it is computed, decided now. Updated versions of an
        array, each read by the next one, have that of the last."""
        last, found = self._last_version(var)
        if found is None or (found.operator is not None and not self._is_read_once(last)):
            return None
        self._reserved[last] = found
        return found if last is var or found.operator is None else None

    def _last_version(self, var: array_ir.Var) -> tuple[array_ir.Var, Destination | None]:
        """The version of an array that is not updated again, or wanted somewhere, and where that will be."""
        last, passed = var, []
        while (found := self._reserved.get(last)) is None:
            wanted = self._wanted.get(last)
            supplied = wanted() if wanted is not None else self._versions.get(last) or self._consumer(last)
            if not isinstance(supplied, array_ir.Var):
                found = supplied
                break
            passed.append(last)
            last = supplied
        self._versions.update(dict.fromkeys(passed, last))
        return last, found

    def reserve_place(self, var: array_ir.Var) -> Place:
        """The place an array will be written to when it is computed, allocated now if need be."""
        found = self.reserve(var)
        if found is None or found.operator is not None:
            found = self._reserved[var] = Destination(self.allocate(var))
        return found.place

    def _is_read_once(self, var: array_ir.Var) -> bool:
        return len(self.live.frames[-1].facts.uses.get(var, ())) == 1

    def _consumer(self, var: array_ir.Var) -> Destination | array_ir.Var | None:
        """The place that the last statement to read an array has for it, or the version it makes of it."""
        facts = self.live.frames[-1].facts
        used = facts.uses.get(var)
        if not used or used[-1] == len(facts.lets):
            return None
        consumer = facts.lets[used[-1]]
        is_inside = isinstance(consumer.expr, array_ir.ParFor) and var in self.live.facts.nested(consumer)
        if operands(consumer.expr).count(var) + is_inside != 1:
            return None
        return self._supply(self, var, consumer)

    def deliver(self, value: Value, destination: Destination) -> None:
        """See that a value is where it is wanted."""
        place, operator = destination.place, destination.operator
        match value:
            case Delivered():
                return
            case Place() | Splat() if operator is not None:
                if not (isinstance(value, Splat) and is_zero(value.value) and operator == "add"):
                    self.emit.combine(place, value, operator)
            case Place():
                if not value.is_at(place):
                    self.emit.copy(place, value)
            case Splat(value=element, is_room=is_room):
                if not is_room:
                    self.emit.fill(place, element)
            case _:
                raise TypeError("a scalar has no place")

    # ------------------------------------------------------------------ bodies
    def lower(self, let: array_ir.Let) -> None:
        """Emit a statement and bind its targets. Offers that it did not take are void, since the body of a
        lambda may be lowered once more, elsewhere."""
        outer, self.emit.span = self.emit.span, let.span or self.emit.span
        self._statement(self, let)
        self.emit.span = outer
        self.located.pop(let, None)
        self._spare.pop(let, None)
        for target in let.targets:
            for known in (self._wanted, self._reserved, self._versions):
                known.pop(target, None)

    def run(
        self,
        body: array_ir.Body,
        destinations: Sequence[Destination | None] = (),
        *,
        is_repeating: bool,
        binders: Sequence[tuple[array_ir.Var, Value]] = (),
        wants: Sequence[tuple[array_ir.Atom, Offer]] = (),
    ) -> tuple[Value, ...]:
        """Lower a body; its results, each delivered to its destination if it has one."""
        with self.live.enter(body, is_repeating=is_repeating) as frame:
            for var, value in binders:
                self.bind(var, value)
            for atom, destination in zip(body.results, destinations, strict=False):
                if destination is not None:
                    self.want(atom, lambda found=destination: found)  # type: ignore[misc]
            for atom, offer in wants:
                self.want(atom, offer)
            for position, let in enumerate(body.lets):
                frame.position = position
                self.lower(let)
            frame.position = len(body.lets)
            values = [self.value(atom) for atom in body.results]
            return self._deliver_all(values, destinations)

    def _deliver_all(
        self, values: list[Value], destinations: Sequence[Destination | None]
    ) -> tuple[Value, ...]:
        """Deliver results at once: one that lies where another is going is moved out of the way first."""
        targets = {found.place.buffer for found in destinations if found is not None}
        for position, value in enumerate(values):
            found = destinations[position] if position < len(destinations) else None
            if not isinstance(value, Place) or value.buffer not in targets:
                continue
            if found is not None and value.is_at(found.place) and found.operator is None:
                continue
            values[position] = self.moved(value)
        for position, found in enumerate(destinations):
            if found is not None:
                self.deliver(values[position], found)
                values[position] = found.place if found.operator is None else Delivered()
        return tuple(values)

    def moved(self, place: Place) -> Place:
        """A copy in memory of its own."""
        copy = self.temporary(place.buffer.name, place.dtype, place.shape)
        self.emit.copy(copy, place)
        return copy


SupplyRule = Callable[[Lowering, array_ir.Var, array_ir.Let], Destination | array_ir.Var | None]
"""Where the consumer of an array has a place for it, if it has one; the version that it makes of the array,
where that one's place is meant."""


def is_pinned(value: Value | None) -> bool:
    """Whether a value lies in memory that a kernel shares, and cannot lie elsewhere."""
    return isinstance(value, Place) and value.storage.is_pinned


def is_scalar(atom: array_ir.Atom) -> bool:
    """Whether an atom is one number."""
    return not atom.type.shape


def number(value: Value) -> Expr:
    """A value that is a scalar."""
    assert not isinstance(value, Place | Splat | Delivered), "an array where a scalar is expected"
    return value


def is_zero(expr: Expr) -> bool:
    """Whether an expression is the constant 0."""
    return isinstance(expr, kernel_ir.Const) and expr.value == 0
