"""The stages behind the front end, written out in the part of Python that mypyc compiles well.

    python scripts/written_out.py FOLDER    writes all sources there, those of `COMPILED` written out

mypyc knows nothing of dataclasses with slots, looks up what a pattern names by text, and gets patterns with a
star or with alternatives that bind names wrong. So this writes these out, and leaves the rest as it is:

* a node or dataclass as a class with `__init__`, `__match_args__`, and what else its decorator would add;
* `match` as a chain of `if` and `elif` on `isinstance`;
* `in (*a, b)` and `in generator()` with a sequence that is made first;
* a default that is a `lambda` as a function of the module;
* `float`, numbers that may be bools, and choices of numbers as `Any`: mypyc makes 1.0 of 1, and 1 of True, by
  their types.

What a program means stays the same; `tests/test_written_out.py` runs both.
"""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"

COMPILED = re.compile(
    r"anadrome\.(array_ir|kernel_ir|passes|ad|lower|schedule|sparsity|prediction|prims\.record|prims\.numbers|prims\.polynomials|targets\.llvm_\w+)(\.\w+)*"
)
"""What is compiled: the stages behind the front end, which recurse as deep as loops are nested. The front end
recurses as deep as a program's expressions and calls, and must see Python's limit of recursion."""

INTERPRETED = re.compile(
    r".*\.__init__"
    r"|anadrome\.kernel_ir\.interp\w*"  # its classes narrow fields of their bases
    r"|anadrome\.array_ir\.(interp\w*|text_parse\w*)"  # for tests
    r"|anadrome\.array_ir\.key"  # a pickler, whose base is none of mypyc's
    r"|anadrome\.targets\.llvm_functions"  # mypyc fails on it
)
"""What stays Python in the compiled rooms."""


def is_compiled(module: str) -> bool:
    """Whether a module is one of those that are compiled."""
    return COMPILED.fullmatch(module) is not None and INTERPRETED.fullmatch(module) is None


def module_of(path: Path, root: Path) -> str:
    """The dotted name of a source file."""
    return ".".join(path.relative_to(root).with_suffix("").parts)


# ---------------------------------------------------------------------------- what classes have
@dataclass
class Classes:
    """The fields of every node, dataclass and named tuple, in the order of their constructors; and which
    functions yield."""

    by_name: dict[tuple[str, str], ast.ClassDef] = field(default_factory=dict)
    imported: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(module, name there) → (module it comes from, name there)"""
    generators: set[tuple[str, str]] = field(default_factory=set)
    """Module and name of each function that yields."""

    @classmethod
    def of(cls, modules: Iterable[tuple[str, ast.Module]]) -> Classes:
        """Those of some modules."""
        found = cls()
        for module, tree in modules:
            for item in ast.walk(tree):
                if isinstance(item, ast.ClassDef):
                    found.by_name[module, item.name] = item
                elif isinstance(item, ast.FunctionDef):
                    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(item)):
                        found.generators.add((module, item.name))
                elif isinstance(item, ast.ImportFrom):
                    for one in item.names:
                        found.imported[module, one.asname or one.name] = (item.module or "", one.name)
        return found

    def fields(self, module: str, item: ast.ClassDef) -> dict[str, ast.AnnAssign]:
        """Name and declaration of each field, those of the bases first."""
        inherited: dict[str, ast.AnnAssign] = {}
        for base in self.generated_bases(module, item):
            inherited |= self.fields(*base)
        return inherited | dict(_own_fields(item))

    def generated_bases(self, module: str, item: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
        """The bases that are nodes or dataclasses themselves."""
        for base in item.bases:
            found = self.found(module, base)
            if found is not None and _decorator(found[1]) is not None:
                yield found

    def found(self, module: str, name: ast.expr) -> tuple[str, ast.ClassDef] | None:
        """The class that a name stands for, and its module."""
        home, last = self.resolved(module, name)
        item = self.by_name.get((home, last))
        return None if item is None else (home, item)

    def resolved(self, module: str, name: ast.expr) -> tuple[str, str]:
        """The module that defines what a name stands for, and its name there."""
        *folders, last = ast.unparse(name).split("[")[0].split(".")
        for folder in folders:
            module = ".".join(self.imported.get((module, folder), (module, folder)))
        while (module, last) in self.imported:
            module, last = self.imported[module, last]
        return module, last

    def match_args(self, module: str, name: ast.expr) -> list[str]:
        """What the positions of a class pattern stand for."""
        found = self.found(module, name)
        if found is None:
            raise ValueError(f"{module}: the fields of `{ast.unparse(name)}` are not known")
        return [one for one, declared in self.fields(*found).items() if _parameter(declared) == "position"]


def _decorator(item: ast.ClassDef) -> tuple[ast.expr, dict[str, bool]] | None:
    """The decorator that generates a class's methods, and how it is set."""
    for given in item.decorator_list:
        match given:
            case ast.Name(id="node"):
                return given, {"eq": False}
            case ast.Name(id="dataclass"):
                return given, {"eq": True}
            case ast.Call(func=ast.Name(id="dataclass"), keywords=keywords):
                said = {one.arg or "": ast.literal_eval(one.value) for one in keywords}
                return given, {"eq": True, **said}
            case _:
                pass
    return None


def _own_fields(item: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for part in item.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                if not ast.unparse(annotation).startswith("ClassVar"):
                    yield name, part
            case _:
                pass


def _settings(declared: ast.AnnAssign) -> dict[str, ast.expr] | None:
    """What `field(…)` says of a field; None where it is not used."""
    match declared.value:
        case ast.Call(func=ast.Name(id="field"), keywords=keywords):
            return {one.arg or "": one.value for one in keywords}
        case _:
            return None


def _parameter(declared: ast.AnnAssign) -> str:
    """How a field is given to the constructor: by position, by keyword, or not at all."""
    settings = _settings(declared) or {}
    if "init" in settings and not ast.literal_eval(settings["init"]):
        return "none"
    return "keyword" if "kw_only" in settings and ast.literal_eval(settings["kw_only"]) else "position"


# ---------------------------------------------------------------------------- classes written out
def _written_class(classes: Classes, module: str, item: ast.ClassDef) -> None:
    """
    Before:
        @node
        class Pair:
            first: Atom
            second: Atom = ONE
    After:
        class Pair:
            first: Atom
            second: Atom
            __match_args__: Final = ("first", "second")

            def __init__(self, first: Atom, second: Atom = ONE) -> None:
                self.first = first
                self.second = second

            def __reduce__(self) -> object:
                return Pair, (self.first, self.second)
    """
    generated = _decorator(item)
    if generated is None:
        return
    decorator, settings = generated
    fields = classes.fields(module, item)
    item.decorator_list.remove(decorator)
    methods = {part.name for part in item.body if isinstance(part, ast.FunctionDef)}
    positions = [name for name, declared in fields.items() if _parameter(declared) == "position"]
    lines = []
    if not any(classes.generated_bases(module, item)):
        lines.append(f"__match_args__: Final = {tuple(positions)!r}")
    lines += _constructor(fields, "__post_init__" in methods)
    of_self, of_other = (f"({''.join(f'{one}.{name}, ' for name in fields)})" for one in ("self", "other"))
    if "__repr__" not in methods:
        shown = ", ".join(f"{name}={{self.{name}!r}}" for name in fields)
        lines += ["def __repr__(self) -> str:", f"    return f'{item.name}({shown})'"]
    if "__reduce__" not in methods and positions == list(fields):
        lines += ["def __reduce__(self) -> object:", f"    return {item.name}, {of_self}"]
    if settings["eq"] and "__eq__" not in methods:
        lines += [
            "def __eq__(self, other: object) -> bool:",
            f"    is_same = isinstance(other, {item.name}) and type(other) is type(self)",
            f"    return is_same and {of_self} == {of_other}",
        ]
        if settings.get("frozen") and "__hash__" not in methods:
            lines += ["def __hash__(self) -> int:", f"    return hash({of_self})"]
    for declared in fields.values():
        if declared in item.body:
            item.body[item.body.index(declared)] = ast.AnnAssign(
                declared.target, declared.annotation, None, declared.simple
            )
    item.body += ast.parse("\n".join(lines)).body


def _constructor(fields: dict[str, ast.AnnAssign], has_more: bool) -> list[str]:
    positions: list[str] = []
    keywords: list[str] = []
    body: list[str] = []
    for name, declared in fields.items():
        settings, annotation = _settings(declared), ast.unparse(declared.annotation)
        how, value, default = _parameter(declared), name, declared.value
        if settings is not None:
            default = settings.get("default")
            if "default_factory" in settings:
                made = settings["default_factory"]
                made = made.body if isinstance(made, ast.Lambda) else ast.Call(made, [], [])
                value, default = f"{ast.unparse(made)} if {name} is None else {name}", ast.Constant(None)
                annotation = f"{annotation} | None"
                if how == "none":
                    value = ast.unparse(made)
            elif how == "none" and default is not None:
                value = ast.unparse(default)
            elif how == "none":
                continue
        body.append(f"    self.{name} = {value}")
        parameter = f"{name}: {annotation}" + ("" if default is None else f" = {ast.unparse(default)}")
        if how != "none":
            (keywords if how == "keyword" else positions).append(parameter)
    parameters = ["self", *positions, *(["*", *keywords] if keywords else [])]
    body += ["    self.__post_init__()"] * has_more
    return [f"def __init__({', '.join(parameters)}) -> None:", *(body or ["    pass"])]


# ---------------------------------------------------------------------------- matches written out
@dataclass
class _Taken:
    """A pattern as what must hold, and what its names then stand for."""

    holds: list[ast.expr] = field(default_factory=list)
    names: dict[str, ast.expr] = field(default_factory=dict)

    def and_of(self) -> ast.expr:
        """All that must hold."""
        return self.holds[0] if len(self.holds) == 1 else ast.BoolOp(ast.And(), self.holds)


def _bound(names: dict[str, ast.expr]) -> list[ast.stmt]:
    """Names bound to what they stand for: one after the other, or at once where a name is read for others."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    values = list(names.values())
    read = {part.id for value in values for part in ast.walk(value) if isinstance(part, ast.Name)}
    if len(names) > 1 and read & set(names):
        return [ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load()))]
    return [ast.Assign([target], value) for target, value in zip(targets, values, strict=True)]


def _expression(text: str, **parts: ast.expr) -> ast.expr:
    """An expression from its text, with expressions for some names."""
    return _with_names(ast.parse(text, mode="eval").body, parts)


def _with_names(tree: ast.expr, names: dict[str, ast.expr]) -> ast.expr:
    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return copy.deepcopy(names[name.id]) if name.id in names else name

    new: ast.expr = Put().visit(copy.deepcopy(tree))
    return new


class _Exact(ast.NodeTransformer):
    """A type in which numbers stay what they are."""

    def visit_Name(self, name: ast.Name) -> ast.Name:
        """A name that may be that of a floating-point number."""
        return ast.Name("Any", ast.Load()) if name.id == "float" else name

    def visit_BinOp(self, union: ast.BinOp) -> ast.AST:
        """A union, whose parts may be numbers."""
        return ast.Name("Any", ast.Load()) if _has_numbers(union) else self.generic_visit(union)


def _has_numbers(union: ast.expr) -> bool:
    return {"bool", "int"} <= {part.id for part in ast.walk(union) if isinstance(part, ast.Name)}


def _is_number(value: ast.expr) -> bool:
    match value:
        case (
            ast.Constant(value=bool() | int() | float())
            | ast.Call(func=ast.Name(id="bool" | "int" | "float"))
        ):
            return True
        case _:
            return False


def _exact(annotation: ast.expr) -> ast.expr:
    new: ast.expr = _Exact().visit(annotation)
    return new


@dataclass
class _Functions(ast.NodeTransformer):
    """Writes out what stands in the functions of a module, from the inside out."""

    classes: Classes
    module: str
    count: int = 0
    functions: list[ast.stmt] = field(default_factory=list)
    """Those of the module that stand for defaults."""

    def visit_Match(self, match: ast.Match) -> list[ast.stmt]:
        """A match as assignments and one chain of `if`."""
        self.generic_visit(match)
        before: list[ast.stmt] = []
        subjects = match.subject.elts if isinstance(match.subject, ast.Tuple) else [match.subject]
        paths = [self._path(one, before) for one in subjects]
        path = ast.Tuple(paths, ast.Load()) if isinstance(match.subject, ast.Tuple) else paths[0]
        chain: list[ast.stmt] = []
        for case in reversed(match.cases):
            taken = self._taken(case.pattern, path)
            if case.guard is not None:
                self._check_guard(case.guard, taken.names)
                taken.holds.append(_with_names(case.guard, taken.names))
            body = [*_bound(taken.names), *case.body]
            chain = [ast.If(taken.and_of(), body, chain)] if taken.holds else body
        return before + chain

    def visit_Compare(self, compare: ast.Compare) -> ast.Compare:
        """Membership in a sequence that has a star in it, or in what a generator gives."""
        self.generic_visit(compare)
        match compare:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple(elts) | ast.Set(elts)]):
                if any(isinstance(one, ast.Starred) for one in elts):
                    compare.comparators = [_expression("list(it)", it=ast.List(elts, ast.Load()))]
            case ast.Compare(
                ops=[ast.In() | ast.NotIn()], comparators=[ast.Call(func=ast.Name() as name) as made]
            ):
                if self.classes.resolved(self.module, name) in self.classes.generators:
                    compare.comparators = [_expression("tuple(it)", it=made)]
            case _:
                pass
        return compare

    def visit_IfExp(self, choice: ast.IfExp) -> ast.IfExp:
        """A choice, which mypyc converts to one type of number."""
        self.generic_visit(choice)
        if any(_is_number(one) for one in (choice.body, choice.orelse)):
            choice.body, choice.orelse = (
                _expression("cast(Any, it)", it=one) for one in (choice.body, choice.orelse)
            )
        return choice

    def visit_AnnAssign(self, assign: ast.AnnAssign) -> ast.AnnAssign:
        """A declaration."""
        assign.annotation = _exact(assign.annotation)
        self.generic_visit(assign)
        return assign

    def visit_Assign(self, assign: ast.Assign) -> ast.Assign:
        """A type's name."""
        if isinstance(assign.value, ast.BinOp | ast.Subscript):
            assign.value = _exact(assign.value) if _has_numbers(assign.value) else assign.value
        self.generic_visit(assign)
        return assign

    def visit_arg(self, argument: ast.arg) -> ast.arg:
        """A parameter."""
        argument.annotation = argument.annotation and _exact(argument.annotation)
        return argument

    def visit_FunctionDef(self, function: ast.FunctionDef) -> ast.FunctionDef:
        """A function, for its defaults and what it returns."""
        function.returns = function.returns and _exact(function.returns)
        self.generic_visit(function)
        for place, default in enumerate(function.args.defaults):
            if isinstance(default, ast.Lambda):
                name = f"default_{len(self.functions)}"
                own = ast.FunctionDef(name, default.args, [ast.Return(default.body)], [])
                self.functions.append(own)
                function.args.defaults[place] = ast.Name(name, ast.Load())
        return function

    def _check_guard(self, guard: ast.expr, names: Iterable[str]) -> None:
        """Refuse a guard in which a name of its pattern is bound to something else."""
        for part in ast.walk(guard):
            own = part.arg if isinstance(part, ast.arg) else part.id if isinstance(part, ast.Name) else ""
            if own in names and not (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)):
                raise NotImplementedError(f"{self.module}:{guard.lineno}: the guard binds `{own}` again")

    def _path(self, subject: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """An expression that may be read again and again for a subject."""
        inner = subject
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Name):
            return subject
        self.count += 1
        name = f"subject_{self.count}"
        before.append(ast.Assign([ast.Name(name, ast.Store())], subject))
        return ast.Name(name, ast.Load())

    def _taken(self, pattern: ast.pattern, path: ast.expr) -> _Taken:
        match pattern:
            case ast.MatchAs(pattern=inner, name=name):
                taken = _Taken() if inner is None else self._taken(inner, path)
                return _Taken(taken.holds, taken.names | ({} if name is None else {name: path}))
            case ast.MatchValue(value=value):
                return _Taken([_expression("it == value", it=path, value=value)])
            case ast.MatchSingleton(value=value):
                return _Taken([_expression("it is value", it=path, value=ast.Constant(value))])
            case ast.MatchClass():
                return self._of_class(pattern, path)
            case ast.MatchOr(patterns=patterns):
                return self._of_either([self._taken(one, path) for one in patterns], patterns, path)
            case ast.MatchSequence(patterns=patterns):
                return self._of_sequence(patterns, path)
            case _:
                raise NotImplementedError(f"{self.module}:{pattern.lineno}: a {type(pattern).__name__}")

    def _of_class(self, pattern: ast.MatchClass, path: ast.expr) -> _Taken:
        taken = _Taken([_expression("isinstance(it, cls)", it=path, cls=pattern.cls)])
        inner = list(zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True))
        if pattern.patterns and ast.unparse(pattern.cls) in ("str", "int", "float", "bool", "tuple", "list"):
            own = self._taken(pattern.patterns[0], path)
            return _Taken([*taken.holds, *own.holds], own.names)
        if pattern.patterns:
            known = self.classes.match_args(self.module, pattern.cls)
            inner = [*zip(known, pattern.patterns, strict=False), *inner]
        for name, part in inner:
            own = self._taken(part, ast.Attribute(path, name, ast.Load()))
            taken = _Taken([*taken.holds, *own.holds], taken.names | own.names)
        return taken

    @staticmethod
    def _of_either(choices: list[_Taken], patterns: list[ast.pattern], path: ast.expr) -> _Taken:
        are_plain = all(len(one.holds) == 1 and not one.names for one in choices)
        classes = [one.cls for one in patterns if isinstance(one, ast.MatchClass)]
        values = [one.value for one in patterns if isinstance(one, ast.MatchValue)]
        if are_plain and len(classes) == len(patterns):
            either = ast.Tuple([*classes], ast.Load())
            return _Taken([_expression("isinstance(it, either)", it=path, either=either)])
        if len(values) == len(patterns):
            return _Taken([_expression("it in either", it=path, either=ast.Tuple([*values], ast.Load()))])
        names = dict(choices[-1].names)
        for choice in reversed(choices[:-1]):
            for name, value in choice.names.items():
                if ast.unparse(value) != ast.unparse(names[name]):
                    names[name] = ast.IfExp(choice.and_of(), value, names[name])
        return _Taken([ast.BoolOp(ast.Or(), [choice.and_of() for choice in choices])], names)

    def _of_sequence(self, patterns: list[ast.pattern], path: ast.expr) -> _Taken:
        star = next((k for k, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
        if isinstance(path, ast.Tuple):
            parts: list[ast.expr] = path.elts
            taken = _Taken()
        else:
            least = len(patterns) - (star is not None)
            parts = [
                self._item(path, k if star is None or k < star else k - len(patterns))
                for k in range(len(patterns))
            ]
            size = _expression(f"len(it) {'==' if star is None else '>='} {least}", it=path)
            taken = _Taken([_expression("isinstance(it, (tuple, list))", it=path), size])
        for k, (part, inner) in enumerate(zip(patterns, parts, strict=True)):
            if isinstance(part, ast.MatchStar):
                stop = k + 1 - len(patterns)
                rest = _expression(f"list(it[{k}:{stop or ''}])", it=path)
                taken.names |= {} if part.name is None else {part.name: rest}
            else:
                own = self._taken(part, inner)
                taken = _Taken([*taken.holds, *own.holds], taken.names | own.names)
        return taken

    @staticmethod
    def _item(path: ast.expr, place: int) -> ast.expr:
        return _expression(f"it[{place}]", it=path)


# ---------------------------------------------------------------------------- whole modules
def written_out(modules: dict[str, str]) -> dict[str, str]:
    """The text of each module, those that are compiled written out."""
    classes = Classes.of((module, ast.parse(text)) for module, text in modules.items())
    for (module, name), item in classes.by_name.items():
        bases = [found for base in item.bases if (found := classes.found(module, base)) is not None]
        for base, own in bases:
            if is_compiled(base) and not is_compiled(module):
                raise ValueError(
                    f"{module}: `{name}` derives from `{own.name}`, which is compiled; compile it too"
                )
    return {
        module: _written_module(classes, module, ast.parse(text)) if is_compiled(module) else text
        for module, text in modules.items()
    }


def _written_module(classes: Classes, module: str, tree: ast.Module) -> str:
    for item in ast.walk(tree):
        if isinstance(item, ast.ClassDef):
            _written_class(classes, module, item)
    written = _Functions(classes, module)
    tree = written.visit(tree)
    if written.functions:
        first = next(
            k for k, part in enumerate(tree.body) if isinstance(part, ast.FunctionDef | ast.ClassDef)
        )
        tree.body[first:first] = written.functions
    place = next((k + 1 for k, part in enumerate(tree.body) if isinstance(part, ast.ImportFrom)), 0)
    tree.body.insert(place, ast.parse("from typing import Any, Final, cast").body[0])
    text = ast.get_docstring(tree, clean=False)
    if text is not None:  # mypyc keeps none
        tree.body.insert(place, ast.Assign([ast.Name("__doc__", ast.Store())], ast.Constant(text)))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def write(folder: Path) -> list[Path]:
    """Write all sources to a folder, and say which of them are to be compiled."""
    paths = {module_of(path, SOURCES): path for path in sorted(SOURCES.rglob("*.py"))}
    texts = written_out({module: path.read_text(encoding="utf-8") for module, path in paths.items()})
    compiled = []
    for module, path in paths.items():
        target = folder / path.relative_to(SOURCES)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(texts[module], encoding="utf-8")
        if is_compiled(module):
            compiled.append(target)
    return compiled


if __name__ == "__main__":
    print(*write(Path(sys.argv[1])), sep="\n")
