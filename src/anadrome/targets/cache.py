"""Object code on disk, found by what it was compiled from.

A file holds a mark, the checksum of the code, and the code. It is written under another name and renamed, so
that a reader never sees half of one, whatever other processes do. Reading touches it; when the folder grows
over its bound the files untouched for longest go. A folder that cannot be written is no error: programs are
then compiled again in each process.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MARK = b"anadrome object 1\n"
_CHECKSUM = hashlib.sha256().digest_size
_KEPT = 0.8
"""The part of the bound that is left after old files were removed, so that it is not done at every write."""


def key_of(*parts: str) -> str:
    """The name under which code compiled from these parts is kept."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class ObjectCache:
    """A folder of object code of at most `megabytes`."""

    folder: Path
    megabytes: int

    def read(self, key: str) -> bytes | None:
        """The code of a key; None where there is none. A damaged file is removed."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MARK) + _CHECKSUM
        code = data[start:]
        if data[: len(_MARK)] != _MARK or data[len(_MARK) : start] != hashlib.sha256(code).digest():
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return code

    def write(self, key: str, code: bytes) -> None:
        """Keep the code of a key, if the folder can be written."""
        if len(code) > self.megabytes << 20:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_MARK + hashlib.sha256(code).digest() + code)
                os.replace(temporary, self._path(key))
            except OSError:
                with suppress(OSError):
                    os.unlink(temporary)
                return
            self._remove_old()

    def size(self) -> int:
        """The bytes of all files in the folder."""
        return sum(size for _, size, _ in self._files())

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.object"

    def _files(self) -> list[tuple[float, int, str]]:
        """(time of the last use, size, path) of every file; those that vanish meanwhile are left out."""
        found: list[tuple[float, int, str]] = []
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat()
                    found.append((status.st_mtime, status.st_size, entry.path))
        return found

    def _remove_old(self) -> None:
        files = self._files()
        total = sum(size for _, size, _ in files)
        bound = self.megabytes << 20
        if total <= bound:
            return
        for _, size, path in sorted(files):
            with suppress(OSError):
                os.unlink(path)
            total -= size
            if total <= bound * _KEPT:
                return
