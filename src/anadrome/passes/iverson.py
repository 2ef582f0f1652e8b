"""Sums over brackets, each solved for what it adds to: accumulators become stacks, reductions and gathers.

An accumulator collects Σ_i [at(i) = k]·v(i). Where every `at` is affine in the indices of the parfors around
it, each element k can be asked for what it gets instead (`iverson_gather`; Bernstein et al. 2020, §6): a nest
of stacks over the sum's dimensions, in it reductions over the loops that are left. That is pure, needs no
private copies or atomics to run in parallel, and fuses. The accumulator stays

* where a sequential loop carries it on, where an index is data, where an index is read from two loops and a
  third one sums (`iverson_gather` says when an element cannot be asked for);
* where what is contributed is expensive and would have to be computed again, or kept in more memory than the
  sum and its outermost loop take;
* where the sums would read down the columns of arrays that the nest reads along;
* where it has few elements, and a long loop adds to all of them: going over the loop once is then less than
  doing so for each, and what they share is computed once;
* where few elements get anything: a diagonal or a band of a matrix has fewer long loops than dimensions;
* where it starts from something else than a fresh array of zeros: going over all of its elements is then not
  paid for.

`accumulate add` of a parfor is the same with one loop.

Before:
    fn f(x: f64[n], w: f64[m]) -> f64[n] {
      z = full [n] 0.0
      s = with_sum (t = z) {
        a = parfor i < m {
          b = parfor j < n { u = x[j]; v = w[i]; p = mul u v; c = add_to t[j] p; yield carry t c }
          yield carry t b
        }
        return a
      }
      return s
    }
After:
    fn f(x: f64[n], w: f64[m]) -> f64[n] {
      s = parfor j < n {
        a = parfor i < m { u = x[j]; v = w[i]; p = mul u v; yield reduce add p }
        yield stack a
      }
      return s
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import STRUCTURED
from anadrome.array_ir.nodes import (
    Accumulate,
    Apply,
    ArrayType,
    Atom,
    Body,
    Carry,
    Const,
    Expr,
    Full,
    Function,
    Let,
    ParFor,
    Reduce,
    Stack,
    Var,
    WithSum,
)
from anadrome.array_ir.overwriting import overwritten_around
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, let_variables, type_sizes
from anadrome.config import Config
from anadrome.passes.eliminate_bounds_checks import eliminate_bounds_checks
from anadrome.passes.iverson_gather import (
    CannotGatherError,
    Definitions,
    Way,
    element,
    is_dense,
    turns_along,
    ways,
)
from anadrome.passes.iverson_sites import Site, sites_of_token, sites_of_yield
from anadrome.passes.restrict_domains import restrict_domains
from anadrome.passes.simplify import simplify
from anadrome.prims.costs import SHORT

MOST_SITES = 8
"""Contributions to one sum beyond which it stays: each one becomes code of its own for every element."""


NEST = 3
"""Loops of a nest that adds up rows, from which on it is turned inside out if it then reads along rows: a
loop over rows alone is as fast."""


def iverson(fn: Function, config: Config) -> Function:
    """The function with every accumulator gathered that can be, and what that left behind cleaned up."""
    walk = _Gatherer()
    body = walk.body(fn.body)
    if not walk.count:
        return fn
    simple = simplify(with_body(fn, body), config)
    bounded = eliminate_bounds_checks(restrict_domains(simple, config), config)
    return simple if bounded is simple else simplify(bounded, config)


class _Kept:
    """What the nests of one statement keep for the gathered elements: further yields of their parfors."""

    def __init__(self) -> None:
        self.arrays: dict[Var, Var] = {}
        self.yields: dict[Let, list[tuple[Atom, Var]]] = {}
        self.results: list[tuple[Var, Var]] = []
        """(variable of the sum's own body, what it is outside)"""

    def keep(self, site: Site, var: Var) -> Var:
        """The array of a variable's values over the loops around it.

        Raises CannotGatherError where there is none: the loops are ragged, the values are arrays, or they are
        made in a branch, whose other side has nothing to put in their place.
        """
        if var in self.arrays:
            return self.arrays[var]
        binding = site.bindings[var]
        loops = site.loops[: binding.depth]
        type_ = var.type
        is_fixed = not any(
            size in site.bindings or any(size is loop.index for loop in site.loops)
            for size in (*(loop.extent for loop in loops), *type_sizes(type_))
        )
        if not is_fixed or binding.guards or (loops and type_.shape) or not isinstance(type_, ArrayType):
            raise CannotGatherError
        value = var
        for position in reversed(range(len(loops))):
            shape = tuple(loop.extent for loop in loops[position:])
            target = Var(var.name, ArrayType(type_.dtype, shape))
            self.yields.setdefault(site.path[position], []).append((value, target))
            value = target
        outside = Var(var.name, value.type)
        self.arrays[var] = outside
        self.results.append((value, outside))
        return outside

    def rewrite(self, let: Let) -> Let:
        """A statement whose parfors keep what is asked of them."""
        change = Substitution()

        def body(old: Body) -> Body:
            return Body(tuple(map(statement, old.lets)), old.results)

        def statement(old: Let) -> Let:
            if not isinstance(old.expr, STRUCTURED):
                return old
            expr = change.expr(old.expr, body)
            extra = self.yields.get(old, [])
            if isinstance(expr, ParFor) and extra:
                stacks = [Stack.of(value) for value, _ in extra]
                expr = expr.yielding((*expr.parts, *stacks))
            return Let((*old.targets, *(target for _, target in extra)), expr, old.span)

        return statement(let)


class _Gatherer:
    """One walk, inside out; `count` says how many sums were gathered."""

    def __init__(self) -> None:
        self.definitions: dict[Var, Expr] = {}
        self.rebuild = Substitution()
        self.count = 0

    def body(self, body: Body) -> Body:
        """A body with its sums gathered."""
        zeros: set[Var] = set()
        lets: list[Let] = []
        for let in body.lets:
            lets.extend(self.statement(let, zeros))
        return remade(body, lets, body.results)

    def statement(self, let: Let, zeros: set[Var]) -> list[Let]:
        """What becomes of a statement; `zeros` are the arrays of zeros made in its body."""
        expr = let.expr
        match expr:
            case Apply():
                self.definitions[let.targets[0]] = expr
            case Full(value=Const(value=value)) if value == 0:
                zeros.add(let.targets[0])
            case _ if isinstance(expr, STRUCTURED):
                if isinstance(expr, ParFor) and _adds_rows(expr):
                    self.define(expr.body)
                    lets = self.sums(let, zeros)
                    if lets != [let]:
                        return lets
                before = self.count
                new = self.rebuild.expr(expr, self.body)
                if self.count > before:
                    let = Let(let.targets, new, let.span)
                return self.sums(let, zeros)
            case _:
                pass
        return [let]

    def define(self, body: Body) -> None:
        """Note the scalar operations of a nest that is looked at from outside."""
        for let in all_lets(body):
            if isinstance(let.expr, Apply):
                self.definitions[let.targets[0]] = let.expr

    def sums(self, let: Let, zeros: set[Var]) -> list[Let]:
        """The statement, and after it the sums that it no longer has to make; before it those that read an
        array of which it makes another version."""
        kept = _Kept()
        gathered: dict[Var, list[Let]] = {}
        before: set[Var] = set()
        ended = overwritten_around(let)
        for target, type_, sites, is_moved in _sums(let, zeros, self.definitions):
            trial = _Kept() if ended else kept
            lets = self.gathered(let, target, type_, sites, is_moved, trial)
            if lets is None:
                continue
            if ended.isdisjoint(_reads(lets)):
                lets = self.gathered(let, target, type_, sites, is_moved, kept) if ended else lets
                assert lets is not None
            elif trial.results:
                continue
            else:
                before.add(target)
            gathered[target] = lets
        if not gathered:
            return [let]
        self.count += 1
        replaced = {target: Var(target.name, target.type) for target in gathered}
        if isinstance(let.expr, ParFor):
            replaced.update((value, outside) for value, outside in kept.results)
        new = kept.rewrite(let)
        targets = tuple(replaced.get(target, target) for target in new.targets)
        if isinstance(new.expr, WithSum):
            inner = new.expr.body
            body = Body(inner.lets, (*inner.results, *(value for value, _ in kept.results)))
            expr = WithSum(new.expr.init, new.expr.tokens, body)
            first = [Let((*targets, *(outside for _, outside in kept.results)), expr, let.span)]
        else:
            first = [Let(targets, new.expr, let.span)]
        earlier = [part for target, lets in gathered.items() if target in before for part in lets]
        later = [part for target, lets in gathered.items() if target not in before for part in lets]
        return [*earlier, *first, *later]

    def gathered(
        self, let: Let, target: Var, type_: ArrayType, sites: Sequence[Site], is_moved: bool, kept: _Kept
    ) -> list[Let] | None:
        """The statements that make a sum element by element, or None where it cannot be."""
        if len(sites) > MOST_SITES or not any(
            is_dense(site, type_.shape, self.definitions) for site in sites
        ):
            return None
        found: list[Way] = []
        for site in sites:
            way = next(
                (way for way in ways(site, self.definitions, is_moved) if self.leads(way, type_)), None
            )
            if way is None:
                return None
            found.append(way)
        builder = Builder()
        builder.span = let.span

        def value(inner: Builder, places: tuple[Var, ...]) -> Atom:
            total: Atom | None = None
            for way in found:
                part = element(inner, way, places, self.definitions, kept.keep)
                total = part if total is None else inner.apply("add", total, part)
            assert total is not None
            return total

        builder.build(type_.shape, value)
        last = builder.lets.pop()
        return [*builder.lets, Let((target,), last.expr, last.span)]

    def leads(self, way: Way, type_: ArrayType) -> bool:
        """Whether an element can be asked for in this way."""
        trial = _Kept()
        places = tuple(Var("k", ArrayType(size.type.dtype)) for size in type_.shape)
        try:
            element(Builder(), way, places, self.definitions, trial.keep)
        except CannotGatherError:
            return False
        return True


def _sums(
    let: Let, zeros: set[Var], definitions: Definitions
) -> Iterator[tuple[Var, ArrayType, list[Site], bool]]:
    """The sums that a statement makes from zeros: the result, its type, the contributions, whether nothing
    else is made of them."""
    match let.expr:
        case WithSum(init=init, tokens=tokens, body=body):
            for target, start, token, final in zip(let.targets, init, tokens, body.results, strict=False):
                found = sites_of_token(body, token, final) if start in zeros and token.type.shape else None
                if found and not _is_short(_array(target), found):
                    is_moved = len(tokens) == len(found) == 1 and _only_carries(found[0])
                    yield target, _array(target), found, is_moved
        case ParFor() as expr:
            for part, where in expr.slices():
                item = part.item
                is_sum = isinstance(item, Accumulate) and item.operator == "add" and item.init in zeros
                is_row = isinstance(item, Reduce) and item.operator == "add" and bool(part.value.type.shape)
                if is_sum or is_row:
                    target, sites = let.targets[where.start], sites_of_yield(let, expr, part)
                    is_moved = all(len(loop.yields) == 1 for loop in sites[0].loops)
                    is_asked = is_sum and not _is_short(_array(target), sites)
                    if is_asked or _is_worth_turning(sites[0], definitions, is_moved):
                        yield target, _array(target), sites, is_moved
        case _:
            pass


def _is_worth_turning(site: Site, definitions: Definitions, is_moved: bool) -> bool:
    """Whether a nest that adds up rows is faster the other way round: where there are few long rows, for each
    of which it would go over the sum; or where it then reads along rows."""
    counts = [loop.extent for loop in site.loops if loop.index not in site.at]
    is_few = all(isinstance(count, Const) and int(count.value) <= SHORT for count in counts)
    is_long = any(not isinstance(loop.extent, Const) for loop in site.loops if loop.index in site.at)
    return (is_few and is_long) or (is_moved and len(site.loops) >= NEST and turns_along(site, definitions))


def _is_short(type_: ArrayType, sites: Sequence[Site]) -> bool:
    """Whether long loops add to few elements, each time to all of them, side by side. A number of which
    nothing else is made is a reduction."""
    sizes = [int(size.value) for size in type_.shape if isinstance(size, Const)]
    counts = [loop.extent for site in sites for loop in site.loops if loop.index not in site.at]
    is_long = any(not isinstance(count, Const) or int(count.value) > SHORT for count in counts)
    is_alone = len(sites) == 1 and all(len(loop.yields) == 1 for loop in sites[0].loops)
    return is_long and len(sizes) == len(type_.shape) and is_alone < prod(sizes) <= SHORT


def _reads(lets: Sequence[Let]) -> set[Var]:
    """The variables that statements read, those of the loops in them too."""
    body = Body(tuple(lets), ())
    return {var for let in all_lets(body) for var in let_variables(let)}


def _adds_rows(expr: ParFor) -> bool:
    """Whether a loop adds up arrays."""
    rows = [
        part.value for part in expr.parts if isinstance(part.item, Reduce) and part.item.operator == "add"
    ]
    return any(row.type.shape for row in rows)


def _only_carries(site: Site) -> bool:
    """Whether the loops around a contribution make nothing but sums."""
    return all(isinstance(item, Carry) for loop in site.loops for item in loop.yields)


def _array(var: Var) -> ArrayType:
    assert isinstance(var.type, ArrayType)
    return var.type
