"""What a compiled function reads around it may change between calls: globals, closures, attributes, defaults,
containers and arrays. Each call gives what Python would give then."""

import copy
import gc
import math
import pickle
import threading
import time
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import anadrome as ad
from anadrome.api import call
from anadrome.api.program import make_program

X = np.array([1.0, 2.0, 3.0])
RATE: Any = 2.0
LIMIT = 1.0
MODE = "twice"
WEIGHTS = np.array([1.0, 2.0, 3.0])
ORDER = np.array([2, 1, 0])
LARGE = np.ones((20, 20))
ITEMS = [1.0, 2.0, 3.0]
NESTED = ([1.0, 2.0], {"a": [5.0]})
LAYERS = [np.ones((20, 20)), np.ones((20, 20))]
MODULE = types.ModuleType("settings")
MODULE.alpha = 2.0  # type: ignore[attr-defined]


class Model:
    rate = 2.0

    def __init__(self) -> None:
        self.scale = 1.0
        self.items = [1.0, 2.0]
        self.weights = np.zeros(3)
        self.calls = 0

    def apply(self, x: Any) -> Any:
        return x * self.rate * self.scale

    @property
    def doubled(self) -> float:
        return 2.0 * self.scale

    def __getitem__(self, place: int) -> float:
        return self.items[place]

    def loss(self, x: Any) -> Any:
        return np.sum((x @ self.weights - 1.0) ** 2)

    @ad.jit
    def compiled(self, x: Any) -> Any:
        return x * self.doubled


MODEL = Model()


@pytest.fixture(params=["staged", "found"], autouse=True)
def way(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether programs look after what was staged, or after what was found on disk."""

    def made(function: object, name: str, names: Any, signature: Any, config: ad.Config, *rest: Any) -> Any:
        kept = replace(config, cache=True, verify=False, cache_dir=str(tmp_path))
        make_program(function, name, names, signature, kept, *rest)
        return make_program(function, name, names, signature, kept, *rest)

    if request.param == "found":
        monkeypatch.setattr(call, "make_program", made)
    way: str = request.param
    return way


def helper(x: Any) -> Any:
    return x * 2.0


def with_defaults(x: Any, many: Any = [1.0], *, named: Any = {"q": 2.0}) -> Any:  # noqa: B006
    return x * many[0] + named["q"]


def factorial(n: int) -> Any:
    return LIMIT if n <= 0 else n * factorial(n - 1)


@ad.jit
def inner(x: Any) -> Any:
    return x * RATE


def agrees(function: Callable[..., Any], args: tuple[Any, ...], *changes: Callable[[], object]) -> None:
    """Compiled and plain are equal before and after each change, and nothing is compiled without one."""
    compiled = ad.jit(function)
    for change in (lambda: None, *changes):
        change()
        np.testing.assert_allclose(compiled(*args), function(*args), rtol=1e-13)
    made = compiled.compilations
    assert made <= 1 + len(changes)
    compiled(*args)
    assert compiled.compilations == made


# ---------------------------------------------------------------------------- bindings
def test_a_global(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to = lambda name, value: lambda: monkeypatch.setitem(globals(), name, value)
    agrees(lambda x: x * RATE, (X,), set_to("RATE", 3.0), set_to("RATE", 3), set_to("RATE", X))
    agrees(lambda x: inner(x) + 1.0, (X,), set_to("RATE", 5.0))
    agrees(lambda x: x if MODE == "twice" else -x, (X,), set_to("MODE", "never"))
    agrees(lambda x: helper(x), (X,), set_to("helper", lambda x: x * 3.0), set_to("helper", np.sin))
    agrees(lambda x: x * factorial(4), (X,), set_to("LIMIT", 2.0))
    agrees(lambda x: x * sum(ITEMS), (X,), set_to("sum", lambda values: 1.0))
    monkeypatch.delitem(globals(), "sum")


def test_two_alternating_values_are_two_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ad.jit(lambda x: x * RATE)
    for turn in range(10):
        monkeypatch.setitem(globals(), "RATE", float(turn % 2))
        assert compiled(3.0) == 3.0 * (turn % 2)
    assert compiled.compilations == 2


def test_the_program_inside_another_one_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = ad.grad(inner)
    assert slope(1.0) == RATE
    monkeypatch.setitem(globals(), "RATE", 7.0)
    assert slope(1.0) == inner(1.0) == 7.0


def test_a_closure() -> None:
    def make() -> tuple[Any, Callable[[float], None], list[float]]:
        factor, items = 1.0, [1.0]

        def change(value: float) -> None:
            nonlocal factor
            factor = value

        return (lambda x: x * factor + items[0]), change, items

    function, change, items = make()
    agrees(function, (X,), lambda: change(4.0), lambda: items.__setitem__(0, 9.0))


def test_defaults() -> None:
    agrees(
        lambda x: with_defaults(x),
        (X,),
        lambda: with_defaults.__defaults__[0].__setitem__(0, 4.0),
        lambda: with_defaults.__kwdefaults__["named"].__setitem__("q", -1.0),
        lambda: setattr(with_defaults, "__defaults__", ([8.0],)),
        lambda: with_defaults.__kwdefaults__.__setitem__("named", {"q": 0.5}),
    )


def test_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    agrees(lambda x: x * MODULE.alpha, (X,), lambda: setattr(MODULE, "alpha", 3.0))
    model = Model()
    agrees(
        lambda x: model.apply(x) + model.doubled,
        (X,),
        lambda: setattr(model, "scale", 3.0),
        lambda: setattr(model, "rate", 4.0),
        lambda: setattr(model, "apply", lambda x: x * 9.0),
    )
    agrees(
        lambda x: x * getattr(model, "scale") + (1.0 if hasattr(model, "extra") else 0.0),  # noqa: B009
        (X,),
        lambda: setattr(model, "scale", 5.0),
        lambda: setattr(model, "extra", 1.0),
    )
    model.function = math.sin  # type: ignore[attr-defined]
    agrees(lambda x: model.function(x[0]), (X,), lambda: setattr(model, "function", math.cos))
    patched = lambda name, value: lambda: monkeypatch.setattr(Model, name, value)
    agrees(lambda x: model.doubled * x, (X,), patched("doubled", property(lambda self: 3.0)))
    agrees(lambda x: x * model[0] + sum(model), (X,), lambda: model.items.__setitem__(0, 6.0))


def test_a_method_reads_its_instance() -> None:
    model = Model()
    assert model.compiled(1.0) == 2.0
    model.scale = 7.0
    assert model.compiled(1.0) == 14.0


def test_attributes_that_are_not_read_do_not_count() -> None:
    model = Model()
    compiled = ad.jit(model.apply)
    for _ in range(3):
        compiled(X)
        model.calls += 1
    assert compiled.compilations == 1


# ---------------------------------------------------------------------------- contents
def test_containers() -> None:
    items, nested = copy.deepcopy(ITEMS), copy.deepcopy(NESTED)
    agrees(
        lambda x: x * np.array(items) + np.sum(items) + len(items) + max(items),
        (X,),
        lambda: items.__setitem__(2, -5.0),
        lambda: items.reverse(),
    )
    agrees(
        lambda x: x * nested[0][0] + sum(value[0] for value in nested[1].values()),
        (X,),
        lambda: nested[0].__setitem__(0, 8.0),
        lambda: nested[1]["a"].__setitem__(0, -1.0),
        lambda: nested[1].__setitem__("b", [3.0]),
    )


def test_small_arrays() -> None:
    weights, order = WEIGHTS.copy(), ORDER.copy()
    agrees(
        lambda x: x * weights + weights[0] + weights.sum() + np.max(weights * 2.0),
        (X,),
        lambda: weights.__setitem__(0, 5.0),
        lambda: weights.__imul__(2.0),
    )
    agrees(
        lambda x: x[order] + sum(1.0 for _ in range(order[0])),
        (X,),
        lambda: order.__setitem__(0, 1),
        lambda: order.__setitem__(1, 0),
    )


def test_large_arrays_are_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ad.jit(lambda x: np.sum(LARGE) * x + LARGE[0, 0] + (LARGE * 2.0)[0, 1])
    for large in (LARGE, LARGE * 3.0, np.zeros((20, 20))):
        monkeypatch.setitem(globals(), "LARGE", large)
        for _ in range(2):
            assert compiled(1.0) == compiled.python(1.0)
            large[0, 0] += 4.0
    assert compiled.compilations == 1
    monkeypatch.setitem(globals(), "LARGE", np.ones((30, 20)))
    assert compiled(1.0) == compiled.python(1.0)
    layers = copy.deepcopy(LAYERS)
    agrees(
        lambda x: x * np.sum(layers[0] @ layers[1]) + sum(np.sum(layer) for layer in layers),
        (X,),
        lambda: layers[0].__setitem__((0, 0), 5.0),
        lambda: layers.__setitem__(1, np.zeros((20, 20))),
    )


def test_a_large_array_that_plain_python_reads() -> None:
    large = np.ones((20, 20))
    agrees(lambda x: x * np.linalg.matrix_rank(large), (X,), lambda: large.__setitem__((0, 0), 5.0))


def test_small_arrays_that_change_become_arguments() -> None:
    model = Model()
    loss, x = ad.jit(model.loss), np.eye(3)
    for _ in range(5):
        model.weights = model.weights + 1.0
        assert loss(x) == model.loss(x)
    model.weights[0] = 9.0
    assert loss(x) == model.loss(x)
    assert loss.compilations == 2


def test_objects_made_in_the_program_are_its_own() -> None:
    def function(x: Any) -> Any:
        model = Model()
        model.scale = MODEL.scale
        model.items.append(x[0])
        kept = [item * model.scale for item in model.items]
        kept.append(1.0)
        return sum(kept)

    agrees(function, (X,), lambda: setattr(MODEL, "scale", 3.0))


# ---------------------------------------------------------------------------- threads, methods, copies
def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ad.jit(lambda x: x * LIMIT)
    found: set[float] = set()
    end = time.monotonic() + 0.5

    def work() -> None:
        while time.monotonic() < end:
            found.add(float(compiled(1.0)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    turn = 0
    while time.monotonic() < end:
        turn += 1
        monkeypatch.setitem(globals(), "LIMIT", 1.0 + turn % 2)
    for thread in threads:
        thread.join()
    assert found <= {1.0, 2.0}


def test_methods_keep_their_transforms_as_long_as_they_live() -> None:
    model, x = Model(), np.eye(3)
    assert ad.grad(model.loss) is ad.grad(model.loss)
    assert ad.grad(model.loss) is not ad.grad(Model().loss)
    for _ in range(3):
        ad.jvp(model.loss, (x,), (x,))
    assert all(made.compilations <= 1 for made in vars(model)["__anadrome_transforms__"].values())
    for make in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        other = make(model)
        other.weights = np.ones(3)
        np.testing.assert_array_equal(ad.jvp(other.loss, (x,), (x,))[0], other.loss(x))
    gone = weakref.ref(model)
    del model, other
    gc.collect()
    assert gone() is None


def test_compiled_functions_are_copied_and_pickled_as_functions_are() -> None:
    assert copy.deepcopy(inner) is inner
    assert pickle.loads(pickle.dumps(inner)) is inner
    slope = pickle.loads(pickle.dumps(ad.grad(helper)))
    assert slope(1.0) == 2.0
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(ad.jit(lambda x: x))


def test_the_class_of_what_the_program_makes() -> None:
    class Layer:
        weights: Any = (1.0, 2.0)

        def __init__(self, scale: Any) -> None:
            self.scale = scale

        def apply(self, x: Any) -> Any:
            return x * self.scale * self.weights[1]

    @dataclass
    class Point:
        at: Any
        unit: ClassVar[Any] = 2.0

    compiled = ad.jit(lambda x: Layer(2.0).apply(x))
    measured = ad.jit(lambda point: point.at * point.unit)
    np.testing.assert_array_equal(compiled(X), 4.0 * X)
    np.testing.assert_array_equal(measured(Point(X)), 2.0 * X)
    Layer.weights = (1.0, 3.0)
    Point.unit = 5.0
    np.testing.assert_array_equal(compiled(X), 6.0 * X)
    np.testing.assert_array_equal(measured(Point(X)), 5.0 * X)
    Layer.apply = lambda self, x: x - self.scale  # type: ignore[method-assign]
    np.testing.assert_array_equal(compiled(X), X - 2.0)


def test_an_attribute_with_a_default_that_is_there_later() -> None:
    class Settings:
        pass

    settings: Any = Settings()
    compiled = ad.jit(lambda x: x * getattr(settings, "rate", 1.0))
    np.testing.assert_array_equal(compiled(X), X)
    settings.rate = 4.0
    np.testing.assert_array_equal(compiled(X), 4.0 * X)
    del settings.rate
    np.testing.assert_array_equal(compiled(X), X)


def test_the_special_methods_of_classes() -> None:
    """What Python asks of an object's class, whether the program has made the object or was given it."""

    class Vector:
        def __init__(self, numbers: Any) -> None:
            self.numbers = numbers

        def __getitem__(self, place: Any) -> Any:
            return self.numbers[place]

        def __add__(self, other: Any) -> Any:
            return Vector(self.numbers + other.numbers)

        def __len__(self) -> int:
            return 2

        def __call__(self, x: Any) -> Any:
            return x * self.numbers[0]

    given = Vector(np.array([1.0, 2.0, 3.0]))

    def program(x: Any) -> Any:
        both = Vector(x) + given
        found = both[0] * given[1] + given(x[2]) + len(both)
        return found + (1.0 if given else 2.0) + (-both)[1] if hasattr(Vector, "__neg__") else found

    def become(name: str, method: Any) -> Callable[[], object]:
        return lambda: setattr(Vector, name, method)

    agrees(
        program,
        (X,),
        become("__add__", lambda self, other: Vector(self.numbers - 2.0 * other.numbers)),
        become("__getitem__", lambda self, place: 3.0 * self.numbers[1 - place]),
        become("__len__", lambda self: 5),
        become("__call__", lambda self, x: 7.0 * x),
        become("__neg__", lambda self: Vector(-2.0 * self.numbers)),
        become("__bool__", lambda self: False),
        become("__bool__", lambda self: True),
        lambda: delattr(Vector, "__bool__"),
        become("__len__", lambda self: 0),
    )


def test_the_class_of_an_object_becomes_another_one() -> None:
    class Spring:
        k = 2.0

        def __init__(self) -> None:
            self.rest = 0.5

        def __getitem__(self, place: int) -> float:
            return self.k * place

        def force(self, x: Any) -> Any:
            return -self.k * (x - self.rest)

    class Stiff(Spring):
        k = 9.0

    class Damped(Spring):
        def __getitem__(self, place: int) -> float:
            return -self.k

        def force(self, x: Any) -> Any:
            return super().force(x) - 0.1 * x

    spring: Any = Spring()

    def become(kind: type) -> Callable[[], object]:
        return lambda: setattr(spring, "__class__", kind)

    changes = become(Stiff), become(Damped), become(Spring)
    agrees(lambda x: spring.force(x), (X,), *changes)
    agrees(lambda x: x * spring[1], (X,), *changes)
    agrees(lambda x: x * (2.0 if isinstance(spring, Stiff) else 1.0), (X,), *changes)
    agrees(lambda x: x * (2.0 if type(spring) is Damped else 1.0), (X,), *changes)
    agrees(lambda x: x * spring.rest * (2.0 if isinstance(spring, Stiff) else 1.0), (X,), *changes)
