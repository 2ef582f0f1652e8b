"""The disk cache of object code: hits, damage, concurrency, size."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from anadrome.config import Config
from anadrome.kernel_ir.text import parse
from anadrome.targets.cache import ObjectCache, key_of
from anadrome.targets.cpu import Statistics, compile_cpu

MARK = b"anadrome object 2\n"

FN = parse("fn f(a: f64) { return add(exp(a), 1.0) as f64 }")


@pytest.fixture
def config(tmp_path):
    return Config(cache_dir=str(tmp_path / "cache"))


def compile_once(config, fn=FN):
    statistics = Statistics()
    assert compile_cpu(fn, config, statistics)([0.0]) == [2.0]
    return statistics


def files(config):
    return sorted(config.cache_path.glob("*.object"))


def test_the_second_compilation_is_a_hit(config):
    first, second = compile_once(config), compile_once(config)
    assert (first.compiled, first.cache_hits) == (1, 0)
    assert (second.compiled, second.cache_hits) == (0, 1)
    assert first.seconds > 0 and second.seconds == 0
    assert len(files(config)) == 1


def test_without_the_cache_nothing_is_written(config):
    off = Config(cache=False, cache_dir=config.cache_dir)
    assert compile_once(off).compiled == 1
    assert not config.cache_path.exists()


def test_programs_that_differ_have_files_of_their_own(config):
    compile_once(config)
    compile_once(config, parse("fn f(a: f64) { return add(exp(a), mul(1.0, exp(a))) as f64 }"))
    assert len(files(config)) == 2
    assert key_of("ab", "c") != key_of("a", "bc")


@pytest.mark.parametrize("damage", [b"", MARK, MARK + bytes(5000), b"x" * 5000, "flip", "cut"])
def test_a_damaged_file_is_compiled_again_and_replaced(config, damage):
    compile_once(config)
    (path,) = files(config)
    data = path.read_bytes()
    if damage == "flip":
        damage = data[:-1] + bytes([data[-1] ^ 1])
    elif damage == "cut":
        damage = data[: len(data) // 2]
    path.write_bytes(damage)
    assert compile_once(config).compiled == 1
    assert path.read_bytes() == data
    assert compile_once(config).cache_hits == 1


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert compile_once(Config(cache_dir=str(tmp_path / "file" / "cache"))).compiled == 1


def test_the_size_is_bounded_and_the_files_used_last_are_kept(tmp_path):
    cache = ObjectCache(tmp_path / "cache", 1)
    now = time.time()
    for number in range(30):
        key = key_of(str(number))
        cache.write(key, bytes([number]) * 100_000)
        os.utime(tmp_path / "cache" / f"{key}.object", (now - 100 + number, now - 100 + number))
        assert cache.read(key_of("0")) == bytes(100_000)
        assert cache.size() <= 1 << 20
    assert cache.read(key_of("29")) is not None
    assert cache.read(key_of("3")) is None


def test_code_larger_than_the_bound_is_not_kept(tmp_path):
    cache = ObjectCache(tmp_path, 1)
    cache.write(key_of("big"), bytes(2 << 20))
    assert cache.read(key_of("big")) is None
    assert not list(tmp_path.iterdir())
    cache.write(key_of("small"), bytes(1 << 19))
    assert cache.read(key_of("small")) == bytes(1 << 19)
    assert ObjectCache(tmp_path, 0).read(key_of("small")) is None


def test_concurrent_writers_and_readers_see_whole_files(tmp_path):
    cache = ObjectCache(tmp_path, 1)
    contents = {key_of(str(number)): bytes([number]) * 50_000 for number in range(40)}

    def work(seed):
        for key in sorted(contents, key=lambda key: hash((seed, key))):
            cache.write(key, contents[key])
            found = cache.read(key)
            assert found is None or found == contents[key]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert cache.size() <= 1 << 20
    assert not list(tmp_path.glob("*.part"))


def test_another_process_uses_the_code(config):
    compile_once(config)
    program = f"""
from anadrome.config import Config
from anadrome.kernel_ir.text import parse
from anadrome.targets.cpu import Statistics, compile_cpu
statistics = Statistics()
fn = parse("fn f(a: f64) {{ return add(exp(a), 1.0) as f64 }}")
print(compile_cpu(fn, Config(cache_dir={config.cache_dir!r}), statistics)([0.0])[0], statistics.cache_hits)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    children = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    for child in children:
        assert child.communicate(timeout=60)[0].split() == ["2.0", "1"]
