"""The disk cache among strangers and faults: it runs and deletes its own files, and never fails a call."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time
import warnings

import pytest

from anadrome.config import Config
from anadrome.errors.targets import UntrustedCache
from anadrome.kernel_ir.text import parse
from anadrome.targets import cache as cache_module
from anadrome.targets import cpu
from anadrome.targets.cache import CacheRefused, ObjectCache, key_of
from anadrome.targets.cpu import Statistics, compile_cpu
from anadrome.tools.doctor import cache_state, clear_cache

NOBODY = 65534
FN = parse("fn f(a: f64) { return add(exp(a), 1.0) as f64 }")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")


@pytest.fixture
def config(tmp_path):
    return Config(cache_dir=str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _warnings_again():
    cpu._warn.cache_clear()


def compile_once(config, fn=FN):
    statistics = Statistics()
    assert compile_cpu(fn, config, statistics)([0.0]) == [2.0]
    return statistics


def entry(config):
    (path,) = config.cache_path.glob("*.object")
    return path


def is_refused(config, words):
    """Whether a program is compiled and run in memory, with one warning that has these words."""
    with pytest.warns(UntrustedCache) as caught:
        assert compile_once(config).compiled == 1
        assert compile_once(config).compiled == 1
    (warning,) = caught
    assert words in str(warning.message), str(warning.message)
    assert warning.filename == __file__
    return words in cache_state(config)


# ---------------------------------------------------------------------------- whose files are deleted
def test_foreign_files_are_never_touched(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    strangers = {
        "thesis.dat": b"all of it",
        "notes.object": b"anadrome object 2\n mine",
        f"{key_of('x')}.object.bak": b"anadrome object 2\n copy",
        f"{key_of('y')}.object": b"an object of another program",
        "tmp1234.part": b"a download",
        f"{key_of('z')}.0123456789abcdef.part": b"a part of something else",
    }
    for name, content in strangers.items():
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1, 1))
    cache = ObjectCache(folder, 1)
    for number in range(30):
        cache.write(key_of(str(number)), bytes(100_000))
    assert cache.size() <= 1 << 20
    cache.clear()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == strangers


def test_what_killed_processes_left_is_removed(tmp_path, monkeypatch):
    cache = ObjectCache(tmp_path, 1)
    cache.write(key_of("one"), b"code")
    old = time.time() - 7200
    names = [f"{key_of('a')}.{number:016x}.part" for number in range(3)]
    (tmp_path / names[0]).write_bytes(b"anadrome object 2\nhalf of")
    (tmp_path / names[1]).write_bytes(b"")
    (tmp_path / names[2]).write_bytes(b"anadrome object 2\nwritten just now")
    for name in names[:2]:
        os.utime(tmp_path / name, (old, old))
    cache.write(key_of("two"), b"code")
    assert len(list(tmp_path.glob("*.part"))) == 3  # this process has looked through the folder
    monkeypatch.setattr(cache_module, "_FREE", {})
    cache.write(key_of("two"), b"code")
    assert [path.name for path in tmp_path.glob("*.part")] == [names[2]]


def test_a_folder_is_looked_through_when_it_may_be_full(tmp_path, monkeypatch):
    """Not at each write, but at the first, when what was free is written, and every `_WRITES` times."""
    looks, cache = [], ObjectCache(tmp_path, 1)
    whole = ObjectCache._remove_old

    def remove_old(self, folder):
        looks.append(written)
        return whole(self, folder)

    monkeypatch.setattr(ObjectCache, "_remove_old", remove_old)
    for written in range(2 * cache_module._WRITES + 3):
        cache.write(key_of(str(written)), b"code")
    assert looks == [0, cache_module._WRITES + 1, 2 * cache_module._WRITES + 2]
    looks.clear()
    for written in range(30):
        cache.write(key_of(f"large {written}"), bytes(100_000))
    assert 2 <= len(looks) <= 30
    assert cache.size() <= 1 << 20


def test_entries_of_earlier_versions_make_room(tmp_path):
    cache = ObjectCache(tmp_path, 1)
    earlier = tmp_path / f"{key_of('earlier')}.object"
    earlier.write_bytes(b"anadrome object 1\n" + bytes(900_000))
    os.utime(earlier, (1, 1))
    assert cache.read(key_of("earlier")) is None
    cache.write(key_of("new"), bytes(400_000))
    assert not earlier.exists() and cache.read(key_of("new")) == bytes(400_000)


def test_clearing_removes_the_folder_only_where_nothing_else_is_in_it(config):
    compile_once(config)
    (config.cache_path / "thesis.dat").write_text("mine")
    assert clear_cache(config).startswith("removed 0.0 MiB")
    assert [path.name for path in config.cache_path.iterdir()] == ["thesis.dat"]
    (config.cache_path / "thesis.dat").unlink()
    clear_cache(config)
    assert not config.cache_path.exists()


# ---------------------------------------------------------------------------- whose entries are run
def test_a_valid_checksum_over_garbage_is_no_entry(config):
    compile_once(config)
    path = entry(config)
    garbage = b"\x7fELF" + bytes(2000)
    path.write_bytes(b"anadrome object 1\n" + hashlib.sha256(garbage).digest() + garbage)
    assert compile_once(config).compiled == 1
    path.write_bytes(b"anadrome object 2\n" + hashlib.blake2b(garbage, digest_size=32).digest() + garbage)
    assert compile_once(config).compiled == 1
    assert compile_once(config).cache_hits == 1


def test_an_entry_under_another_name_or_of_another_key_is_no_entry(tmp_path):
    cache = ObjectCache(tmp_path / "cache", 1)
    cache.write(key_of("one"), b"code one")
    cache.write(key_of("two"), b"code two")
    folder = tmp_path / "cache"
    shutil.copy(folder / f"{key_of('one')}.object", folder / f"{key_of('two')}.object")
    assert cache.read(key_of("one")) == b"code one"
    assert cache.read(key_of("two")) is None
    (folder / "anadrome.key").unlink()
    assert cache.read(key_of("one")) is None
    cache.write(key_of("two"), b"code two")
    assert cache.read(key_of("one")) is None and cache.read(key_of("two")) == b"code two"


def test_folder_key_and_entries_are_for_the_user_alone(config):
    before = os.umask(0)
    try:
        compile_once(config)
    finally:
        os.umask(before)
    for path in (config.cache_path, *config.cache_path.iterdir()):
        assert path.stat().st_mode & 0o077 == 0
    key = config.cache_path / "anadrome.key"
    assert len(key.read_bytes()) == len(b"anadrome key 1\n") + 32


@as_root
@pytest.mark.parametrize("where", ["cache", "folder/above"])
def test_a_folder_of_another_user_is_refused(tmp_path, where):
    config = Config(cache_dir=str(tmp_path / "folder/above/cache" if "/" in where else tmp_path / where))
    compile_once(config)
    os.chown(tmp_path / where, NOBODY, NOBODY)
    assert is_refused(config, f"{tmp_path / where} belongs to the user nobody")
    assert "sudo chown" in cache_state(config)
    assert clear_cache(config).startswith("nothing removed")


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o720])
@pytest.mark.parametrize("where", ["cache", "folder/above"])
def test_a_folder_that_others_may_write_to_is_refused(tmp_path, where, mode):
    config = Config(cache_dir=str(tmp_path / "folder/above/cache" if "/" in where else tmp_path / where))
    compile_once(config)
    made = entry(config).read_bytes()
    (tmp_path / where).chmod(mode)
    if mode == 0o720:
        os.chown(tmp_path / where, -1, other_group())
    assert is_refused(config, f"other users may write to {tmp_path / where}")
    assert f"chmod go-w {tmp_path / where}" in cache_state(config)
    subprocess.run(["chmod", "go-w", tmp_path / where], check=True)
    assert compile_once(config).cache_hits == 1
    assert entry(config).read_bytes() == made


def other_group():
    """A group that is not this user's own."""
    groups = [group for group in os.getgroups() if group != os.getegid()]
    if os.geteuid() == 0:
        return NOBODY
    if not groups:
        pytest.skip("this user is in no group but its own")
    return groups[0]


def test_a_sticky_folder_above_is_as_good_as_tmp(tmp_path):
    above = tmp_path / "like_tmp"
    above.mkdir()
    above.chmod(0o1777)
    config = Config(cache_dir=str(above / "cache"))
    compile_once(config)
    assert compile_once(config).cache_hits == 1
    (above / "cache").chmod(0o1777)
    assert is_refused(config, "other users may write to")


@as_root
def test_an_entry_of_another_user_is_not_run(config):
    compile_once(config)
    os.chown(entry(config), NOBODY, NOBODY)
    assert compile_once(config).compiled == 1
    assert entry(config).stat().st_uid == 0
    assert compile_once(config).cache_hits == 1


def test_an_entry_that_others_may_write_to_is_not_run(config):
    compile_once(config)
    entry(config).chmod(0o666)
    assert compile_once(config).compiled == 1
    assert stat.S_IMODE(entry(config).stat().st_mode) == 0o600


@as_root
def test_a_link_of_another_user_is_not_followed_to_a_folder(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    config = Config(cache_dir=str(link))
    compile_once(config)
    assert compile_once(config).cache_hits == 1
    os.lchown(link, NOBODY, NOBODY)
    assert is_refused(config, f"the link {link} belongs to the user nobody")


# ---------------------------------------------------------------------------- the key
@pytest.mark.parametrize("kind", ["garbage", "empty", "short", "fifo", "folder", "link", "readable", "other"])
def test_a_key_that_is_not_to_be_relied_on(config, kind):
    compile_once(config)
    key = config.cache_path / "anadrome.key"
    content = key.read_bytes()
    words = "no key that Anadrome has written"
    match kind:
        case "garbage":
            key.write_bytes(b"x" * len(content))
        case "empty":
            key.write_bytes(b"")
        case "short":
            key.write_bytes(content[:-1])
        case "readable":
            key.chmod(0o644)
            words = "other users may read"
        case "other":
            if os.geteuid():
                pytest.skip("only root can give a file to another user")
            os.chown(key, NOBODY, NOBODY)
            words = "belongs to the user nobody"
        case _:
            key.unlink()
            words = "not a file"
            make_strange(key, kind)
    assert is_refused(config, words)
    with pytest.raises(CacheRefused):
        ObjectCache(config.cache_path, 1).write(key_of("more"), b"code")
    doubt = ObjectCache(config.cache_path, 1).doubt()
    subprocess.run(doubt.remedy.replace("sudo ", ""), shell=True, check=True)
    compile_once(config)
    assert compile_once(config).cache_hits == 1


@not_as_root
def test_a_key_that_cannot_be_read(config):
    compile_once(config)
    (config.cache_path / "anadrome.key").chmod(0)
    assert is_refused(config, "Permission denied")


def test_processes_that_begin_at_once_agree_on_a_key(tmp_path):
    program = """
    import sys
    from pathlib import Path
    from anadrome.targets.cache import ObjectCache, key_of
    cache = ObjectCache(Path(sys.argv[1]), 8)
    sys.stdin.read()
    for number in range(50):
        cache.write(key_of(sys.argv[2], str(number)), f"{sys.argv[2]} {number}".encode())
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "cache")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    children = [
        subprocess.Popen([*command, str(name)], stdin=subprocess.PIPE, env=environment) for name in range(4)
    ]
    for child in children:
        child.stdin.close()
    assert [child.wait(timeout=60) for child in children] == [0] * 4
    cache = ObjectCache(tmp_path / "cache", 8)
    for name in range(4):
        for number in range(50):
            assert cache.read(key_of(str(name), str(number))) == f"{name} {number}".encode()


def test_a_file_system_without_links_has_a_key_too(config, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    compile_once(config)
    assert compile_once(config).cache_hits == 1


# ---------------------------------------------------------------------------- strange things and faults
def make_strange(path, kind):
    """Something that is no file, where a file is expected."""
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
            (path / "file").write_text("inside")
        case "link":
            (path.parent / "target").write_bytes(b"what the link leads to")
            path.symlink_to("target")
        case "loop":
            path.symlink_to(path.name)
        case "socket":
            subprocess.run(
                [
                    sys.executable,
                    "-c",
                    f"import socket; socket.socket(socket.AF_UNIX).bind({path.name!r})",
                ],
                cwd=path.parent,
                check=True,
            )
        case "device":
            if os.geteuid():
                pytest.skip("only root can make a device")
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "loop", "socket", "device"])
@pytest.mark.timeout(60)
def test_what_is_no_file_under_the_name_of_an_entry(config, kind):
    compile_once(config)
    path = entry(config)
    path.unlink()
    make_strange(path, kind)
    before = path.lstat()
    for _ in range(2):
        assert compile_once(config).compiled == 1
    after = path.lstat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    clear_cache(config)
    assert path.lstat().st_ino == before.st_ino


def test_a_huge_file_under_the_name_of_an_entry_is_not_read(tmp_path):
    cache = ObjectCache(tmp_path, 1)
    cache.write(key_of("one"), b"code")
    path = tmp_path / f"{key_of('one')}.object"
    with open(path, "ab") as file:
        file.truncate(1 << 40)
    assert cache.read(key_of("one")) is None
    cache.write(key_of("one"), b"code")
    assert cache.read(key_of("one")) == b"code"


def test_machine_and_version_are_part_of_the_name(config, monkeypatch):
    compile_once(config)
    monkeypatch.setattr(cpu.llvmlite, "__version__", "0.0")
    assert compile_once(config).compiled == 1
    monkeypatch.setattr(cpu, "EMITTER_VERSION", -1)
    assert compile_once(config).compiled == 1
    assert len(list(config.cache_path.glob("*.object"))) == 3


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("call", ["open", "rename", "fchmod", "mkdir", "link"])
def test_a_fault_while_writing_costs_a_compilation(config, monkeypatch, call, code):
    real = getattr(os, call)
    fails = True

    def fail(*args, **kwargs):
        is_writing = call != "open" or args[1] & os.O_CREAT
        if fails and is_writing:
            raise OSError(code, os.strerror(code))
        return real(*args, **kwargs)

    monkeypatch.setattr(os, call, fail)
    assert compile_once(config).compiled == 1
    assert compile_once(config).compiled + (call == "link") >= 1
    assert not list(config.cache_path.glob("*.part"))
    fails = False
    compile_once(config)
    assert compile_once(config).cache_hits == 1


def test_a_full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        config = Config(cache_dir=str(disk / "cache"))
        (disk / "cache").mkdir(mode=0o700)
        with open(disk / "filling", "wb") as file:
            with pytest.raises(OSError, match="No space"):
                file.write(bytes(1 << 20))
                file.flush()
            os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size)
        for _ in range(2):
            assert compile_once(config).compiled == 1
        assert not list((disk / "cache").glob("*.part")) and not list((disk / "cache").glob("*.object"))
        (disk / "filling").unlink()
        compile_once(config)
        assert compile_once(config).cache_hits == 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_on_a_disk_that_is_only_read(tmp_path):
    config = Config(cache_dir=str(tmp_path / "disk"))
    compile_once(config)
    mounted = subprocess.run(
        ["mount", "--bind", "-o", "ro", tmp_path / "disk", tmp_path / "disk"],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root can mount a disk to be read only")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", tmp_path / "disk"], check=True)
        assert compile_once(config).cache_hits == 1
        other = parse("fn g(a: f64) { return add(a, 2.0) as f64 }")
        assert compile_once(config, other).compiled == 1
        assert "cannot be written" in cache_state(config)
        assert len(list((tmp_path / "disk").glob("*.object"))) == 1
    finally:
        subprocess.run(["umount", tmp_path / "disk"], check=True)


def test_a_limit_on_the_size_of_files(tmp_path):
    """A fault of the system itself, in the middle of writing: every file may have 100 bytes."""
    folder = tmp_path / "cache"
    ObjectCache(folder, 1).write(key_of("first"), b"code")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
            ObjectCache(folder, 1).write(key_of("second"), bytes(50_000))
            is_clean = not list(folder.glob("*.part")) and len(list(folder.glob("*.object"))) == 1
            status = 0 if is_clean and ObjectCache(folder, 1).read(key_of("second")) is None else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_process_killed_while_writing_leaves_nothing_that_is_read(tmp_path, monkeypatch):
    child = os.fork()
    if child == 0:
        try:
            monkeypatch.setattr(os, "rename", lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL))
            ObjectCache(tmp_path / "cache", 1).write(key_of("one"), b"code")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    cache = ObjectCache(tmp_path / "cache", 1)
    assert len(list((tmp_path / "cache").glob("*.part"))) == 1
    assert cache.read(key_of("one")) is None
    cache.write(key_of("one"), b"code")
    assert cache.read(key_of("one")) == b"code"


def test_ctrl_c_while_writing_leaves_nothing(tmp_path, monkeypatch):
    cache = ObjectCache(tmp_path, 1)
    cache.write(key_of("one"), b"code")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_module.os, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.write(key_of("two"), b"code")
    assert not list(tmp_path.glob("*.part"))
    assert cache.read(key_of("one")) == b"code" and cache.read(key_of("two")) is None


def test_the_warning(tmp_path):
    folder = tmp_path / "open to all"
    config = Config(cache_dir=str(folder))
    folder.mkdir()
    folder.chmod(0o777)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_once(config)
    assert str(caught[0].message) == (
        f"compiled code is not kept on disk: other users may write to {folder} (drwxrwxrwx)\n"
        f"help: `chmod go-w '{folder}'`; or set `cache_dir` (ANADROME_CACHE_DIR) to a folder of your own; "
        "or `cache=False` (ANADROME_CACHE=0)"
    )
    with pytest.raises(CacheRefused, match="other users may write"):
        ObjectCache(folder, 1).read(key_of("x"))
