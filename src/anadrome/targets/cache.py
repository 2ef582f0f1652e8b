"""Object code and interfaces on disk, found by what they were made from, and used only where this user has
written them.

An entry holds a mark, a digest, and the code. The digest is keyed: the key stands in a file beside the
entries that only the user can read, and the name of the entry goes into it. A folder that another ordinary
user could write to, or whose key is not the user's own, is not used (`CacheRefused` says how to mend it).

An entry is written under another name and renamed, so that a reader never sees half of one, whatever other
processes do. Reading touches it; when the folder grows over its bound the entries untouched for longest go.
Only files that carry both a name and a mark of the cache are ever removed. Whatever else goes wrong (a full
disk, a folder that is only read, a damaged entry, something that is no file under the name of one) costs a
compilation: the program is compiled again in each process.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import secrets
import shlex
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from anadrome.targets.trust import Doubt, doubt_above, doubt_of, this_user

_MARK = b"anadrome object 2\n"
_ANY_MARK = b"anadrome object "
"""How the entries of every version begin."""
_DIGEST = 32
_KEY_NAME = "anadrome.key"
_KEY_MARK = b"anadrome key 1\n"
_KEY_BYTES = 32
_ENTRY = re.compile(r"[0-9a-f]{64}\.object")
_UNFINISHED = re.compile(r"(?:[0-9a-f]{64}|anadrome)\.[0-9a-f]{16}\.part")
_KEPT = 0.8
"""The part of the bound that is left when old entries were removed, so that not every write does it."""
_WRITES = 64
"""After so many writes of a process a folder is looked through again."""
_FREE: dict[tuple[int, int, int], tuple[int, int]] = {}
"""Of a folder (device, number, bound): how many bytes were free in it, and how often was written since."""
_COUNTING = threading.Lock()
"""Held while that is changed: who looks through the folder would else forget what other threads write."""
_ABANDONED = 3600.0
"""Seconds after which a file that is still unfinished belongs to a process that was killed."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class CacheRefused(Exception):
    """The folder is not to be relied on; `doubt` says why."""

    def __init__(self, doubt: Doubt) -> None:
        super().__init__(doubt.words)
        self.doubt = doubt


def key_of(*parts: str | bytes) -> str:
    """The name under which what was made of these parts is kept."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class ObjectCache:
    """A folder of object code of at most `megabytes`. Reading and writing raise `CacheRefused`, no other
    error."""

    folder: Path
    megabytes: int

    def read(self, key: str) -> bytes | None:
        """The code of a key; None where there is none, or none that can be used."""
        with suppress(OSError), self._opened() as folder:
            secret = _secret(folder, self.folder)
            data = _content(folder, _entry_name(key), self._most_bytes)
            start = len(_MARK) + _DIGEST
            if secret is None or data is None or data[: len(_MARK)] != _MARK:
                return None
            code = data[start:]
            if not hmac.compare_digest(data[len(_MARK) : start], _digest(secret, key, code)):
                return None
            with suppress(OSError):
                os.utime(_entry_name(key), dir_fd=folder, follow_symlinks=False)
            return code
        return None

    def write(self, key: str, code: bytes) -> None:
        """Keep the code of a key, if the folder can be written and what stands there is no foreign thing."""
        if len(code) > self.megabytes << 20:
            return
        with suppress(OSError), self._opened(is_made=True) as folder:
            secret = _secret(folder, self.folder) or _new_secret(folder, self.folder)
            if secret is not None:
                data = _MARK + _digest(secret, key, code) + code
                with _unfinished(folder, key, data) as name:
                    if _is_free(folder, _entry_name(key)):
                        os.rename(name, _entry_name(key), src_dir_fd=folder, dst_dir_fd=folder)
                self._keep_bound(folder, len(data))

    def size(self) -> int:
        """The bytes of all entries."""
        with suppress(OSError, CacheRefused), self._opened() as folder:
            return sum(size for _, size, _ in _files(folder, _ENTRY))
        return 0

    def doubt(self) -> Doubt | None:
        """What speaks against using the folder, or None."""
        try:
            with suppress(OSError), self._opened() as folder:
                _secret(folder, self.folder)
        except CacheRefused as refusal:
            return refusal.doubt
        return None

    def is_writable(self) -> bool:
        """Whether entries can be made: in the folder, or in the one that will hold it."""
        path = Path(os.path.realpath(self.folder))
        while not path.exists() and path.parent != path:
            path = path.parent
        return os.access(path, os.W_OK | os.X_OK)

    def clear(self) -> int:
        """Remove all entries, what is unfinished, and the key; how many bytes the entries had."""
        freed = 0
        with suppress(OSError), self._opened() as folder:
            for pattern in (_ENTRY, _UNFINISHED):
                for _, size, name in _files(folder, pattern):
                    freed += size if _remove(folder, name) and pattern is _ENTRY else 0
            if (_content(folder, _KEY_NAME, 4096) or b"").startswith(_KEY_MARK):
                os.unlink(_KEY_NAME, dir_fd=folder)
            with suppress(OSError):  # something else is in it
                os.rmdir(os.path.realpath(self.folder))
        return freed

    @property
    def _most_bytes(self) -> int:
        """The size of the largest entry that is ever written."""
        return (self.megabytes << 20) + len(_MARK) + _DIGEST

    @contextmanager
    def _opened(self, is_made: bool = False) -> Iterator[int]:
        """The folder, open, with all that holds it above suspicion; made first where it is to be there."""
        user, path = this_user(), os.path.realpath(self.folder)
        doubt = doubt_above(self.folder, user)
        if doubt is not None:
            raise CacheRefused(doubt)
        if is_made:
            _make_folders(Path(path))
        folder = os.open(path, _READ | os.O_DIRECTORY)
        try:
            doubt = doubt_of(path, os.fstat(folder), user)
            if doubt is not None:
                raise CacheRefused(doubt)
            yield folder
        finally:
            os.close(folder)

    def _keep_bound(self, folder: int, written: int) -> None:
        """Look through the folder where it may be over its bound: not at each write, since it may have many
        entries, but when this process has written as much as was free, or so often that others may have."""
        status = os.fstat(folder)
        key = (status.st_dev, status.st_ino, self.megabytes)
        with _COUNTING:
            free, writes = _FREE.get(key, (0, 0))
            if written <= free and writes < _WRITES:
                _FREE[key] = (free - written, writes + 1)
            else:
                _FREE[key] = ((self.megabytes << 20) - self._remove_old(folder), 0)

    def _remove_old(self, folder: int) -> int:
        """Remove what killed processes left, and the oldest entries where the folder is over its bound; the
        bytes of what stays."""
        for changed, _, name in _files(folder, _UNFINISHED):
            if changed < time.time() - _ABANDONED:
                _remove(folder, name)
        files = _files(folder, _ENTRY)
        total = sum(size for _, size, _ in files)
        bound = self.megabytes << 20
        if total > bound:
            for _, size, name in sorted(files):
                total -= size if _remove(folder, name) else 0
                if total <= bound * _KEPT:
                    break
        return total


# ---------------------------------------------------------------------------- the key
def _secret(folder: int, path: Path) -> bytes | None:
    """The key of the folder, or None where it has none yet."""
    place = str(path / _KEY_NAME)
    quoted = shlex.quote(place)
    try:
        with _regular(folder, _KEY_NAME) as file:
            status, content = os.fstat(file.fileno()), file.read(4096)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CacheRefused(Doubt(place, f"{place}: {error.strerror}", f"rm -r {quoted}")) from None
    doubt = doubt_of(place, status, this_user())
    if doubt is None and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        doubt = Doubt(place, f"other users may read {place}", f"chmod 600 {quoted}")
    if doubt is None and (not content.startswith(_KEY_MARK) or len(content) != len(_KEY_MARK) + _KEY_BYTES):
        doubt = Doubt(place, f"{place} is no key that Anadrome has written", f"rm {quoted}")
    if doubt is not None:
        raise CacheRefused(doubt)
    return content[len(_KEY_MARK) :]


def _new_secret(folder: int, path: Path) -> bytes | None:
    """A key for the folder: this one or, where another process was first, that one's."""
    data = _KEY_MARK + secrets.token_bytes(_KEY_BYTES)
    with _unfinished(folder, "anadrome", data, is_lasting=True) as name:
        try:
            os.link(name, _KEY_NAME, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            pass
        except OSError:  # a file system without links: the last of several processes wins
            os.rename(name, _KEY_NAME, src_dir_fd=folder, dst_dir_fd=folder)
    return _secret(folder, path)


def _digest(secret: bytes, key: str, code: bytes) -> bytes:
    digest = hashlib.blake2b(key.encode(), key=secret, digest_size=_DIGEST)
    digest.update(code)
    return digest.digest()


# ---------------------------------------------------------------------------- files
def _entry_name(key: str) -> str:
    return f"{key}.object"


def _make_folders(path: Path) -> None:
    """Make a folder and those that hold it, where they are not there, for this user alone."""
    if not path.is_dir():
        _make_folders(path.parent)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _regular(folder: int, name: str) -> BinaryIO:
    """A regular file, open; OSError where there is anything else, which is not even opened."""
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise OSError(errno.EINVAL, "not a file")
    return os.fdopen(os.open(name, _READ, dir_fd=folder), "rb")


def _content(folder: int, name: str, most_bytes: int) -> bytes | None:
    """What a regular file holds that nobody else could have written; None of anything else."""
    with suppress(OSError), _regular(folder, name) as file:
        status = os.fstat(file.fileno())
        if status.st_size <= most_bytes and doubt_of(name, status, this_user()) is None:
            return file.read(most_bytes + 1)
    return None


@contextmanager
def _unfinished(folder: int, stem: str, data: bytes, is_lasting: bool = False) -> Iterator[str]:
    """The name of a new file with this content, which is gone afterwards unless it was renamed."""
    name = f"{stem}.{secrets.token_hex(8)}.part"
    try:
        descriptor = os.open(name, _CREATE, 0o600, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(data)
            file.flush()
            if is_lasting:
                os.fsync(descriptor)
        yield name
    finally:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _is_free(folder: int, name: str) -> bool:
    """Whether an entry may be put here: there is nothing, or a file."""
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return True


def _files(folder: int, pattern: re.Pattern[str]) -> list[tuple[float, int, str]]:
    """(time of the last use, size, name) of the regular files with such a name."""
    found: list[tuple[float, int, str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name):
                with suppress(OSError):  # it vanished meanwhile
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append((status.st_mtime, status.st_size, entry.name))
    return found


def _remove(folder: int, name: str) -> bool:
    """Remove a file that carries a mark of the cache, or nothing yet; whether it is gone."""
    with suppress(OSError):
        with _regular(folder, name) as file:
            start = file.read(len(_MARK))
        if start.startswith((_ANY_MARK, _KEY_MARK)) or not start:
            os.unlink(name, dir_fd=folder)
            return True
    return False
