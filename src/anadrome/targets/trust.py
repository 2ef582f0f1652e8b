"""Whether a file can be relied on: whether another ordinary user could have written it.

The owner of a file and of every folder above it must be this user or root, and nobody else may write there.
A folder above may be open to all where it is sticky, as `/tmp` is: in it nobody can move what belongs to
others. The group may write where it is the user's own and has no other member.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = 0


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a file cannot be relied on, and the command that mends it."""

    path: str
    words: str
    remedy: str


@dataclass(frozen=True, slots=True)
class User:
    """Who reads: the user's number and name, and the group that has no other member, if there is one."""

    number: int
    name: str
    own_group: int | None


def this_user() -> User:
    """The user of this process."""
    number = os.geteuid()
    try:
        entry = pwd.getpwuid(number)
    except KeyError:  # a container without an entry for its user
        return User(number, str(number), None)
    own_group = None
    with suppress(KeyError):
        group = grp.getgrgid(entry.pw_gid)
        if group.gr_name == entry.pw_name and set(group.gr_mem) <= {entry.pw_name}:
            own_group = entry.pw_gid
    return User(number, entry.pw_name, own_group)


def doubt_of(path: str, status: os.stat_result, user: User, is_above: bool = False) -> Doubt | None:
    """What speaks against a file or folder with this status; `is_above` for one that holds another folder."""
    quoted = shlex.quote(path)
    if status.st_uid not in (user.number, ROOT):
        words = f"{path} belongs to {_name_of(status.st_uid)}"
        return Doubt(path, words, f"sudo chown {shlex.quote(user.name)} {quoted}")
    writers = stat.S_IWOTH | (0 if status.st_gid == user.own_group else stat.S_IWGRP)
    is_sticky = is_above and bool(status.st_mode & stat.S_ISVTX)
    if status.st_mode & writers and not is_sticky:
        words = f"other users may write to {path} ({stat.filemode(status.st_mode)})"
        return Doubt(path, words, f"chmod go-w {quoted}")
    return None


def doubt_above(path: Path, user: User) -> Doubt | None:
    """What speaks against the folders that hold `path`, and against the links on the way to it.

    Folders that cannot be looked at are passed over: nothing below them can be opened. The owner of a link
    may let it lead elsewhere, whoever may write to the folder that holds it.
    """
    absolute = Path(os.path.abspath(path))
    for link in (absolute, *absolute.parents):
        with suppress(OSError):
            status = os.lstat(link)
            if stat.S_ISLNK(status.st_mode) and status.st_uid not in (user.number, ROOT):
                words = f"the link {link} belongs to {_name_of(status.st_uid)}"
                return Doubt(str(link), words, f"sudo chown -h {user.name} {shlex.quote(str(link))}")
    for folder in Path(os.path.realpath(path)).parents:
        with suppress(OSError):
            found = doubt_of(str(folder), os.stat(folder), user, is_above=True)
            if found is not None:
                return found
    return None


def _name_of(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user {number}"
