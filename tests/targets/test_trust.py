"""What another ordinary user could have written, decided from the status of files."""

from __future__ import annotations

import grp
import os
import pwd
import stat

import pytest

from anadrome.targets.trust import ROOT, User, doubt_of, this_user

ME = User(1000, "ada", 1000)
OTHER = 1001


def status(owner, mode, group=1000, kind=stat.S_IFDIR):
    return os.stat_result((kind | mode, 1, 1, 1, owner, group, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("owner", "mode", "group", "is_above", "words"),
    [
        (1000, 0o700, 1000, False, None),
        (1000, 0o755, 1000, False, None),
        (ROOT, 0o755, 0, False, None),
        (ROOT, 0o755, 0, True, None),
        (ROOT, 0o1777, 0, True, None),
        (1000, 0o775, 1000, False, None),  # the group is the user's own
        (1000, 0o775, 1000, True, None),
        (OTHER, 0o700, OTHER, False, "belongs to the user 1001"),
        (OTHER, 0o755, OTHER, True, "belongs to the user 1001"),
        (OTHER, 0o1777, OTHER, True, "belongs to the user 1001"),
        (1000, 0o775, 50, False, "(drwxrwxr-x)"),
        (1000, 0o775, 50, True, "(drwxrwxr-x)"),
        (ROOT, 0o775, 0, True, "(drwxrwxr-x)"),
        (1000, 0o757, 1000, False, "(drwxr-xrwx)"),
        (1000, 0o1777, 1000, False, "(drwxrwxrwt)"),  # others could put entries there
        (ROOT, 0o777, 0, True, "(drwxrwxrwx)"),
    ],
)
def test_decisions(owner, mode, group, is_above, words):
    found = doubt_of("/a/cache", status(owner, mode, group), ME, is_above)
    assert (found is None) == (words is None)
    if found is not None:
        assert words in found.words and "/a/cache" in found.remedy


def test_a_user_without_a_group_of_its_own():
    found = doubt_of("/a", status(1000, 0o770), User(1000, "ada", None))
    assert found is not None and found.remedy == "chmod go-w /a"


def test_the_remedy_can_be_pasted_into_a_shell():
    found = doubt_of("/a b/it's", status(OTHER, 0o700), ME)
    assert found is not None and found.remedy == """sudo chown ada '/a b/it'"'"'s'"""


def user_of(monkeypatch, group, members):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(
        pwd, "getpwuid", lambda number: pwd.struct_passwd(("ada", "x", 1000, 77, "", "/home/ada", "/bin/sh"))
    )
    monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group((group, "x", number, members)))
    return this_user()


def test_which_group_is_the_users_own(monkeypatch):
    assert user_of(monkeypatch, "ada", []) == User(1000, "ada", 77)
    assert user_of(monkeypatch, "ada", ["ada"]).own_group == 77
    assert user_of(monkeypatch, "ada", ["ada", "bob"]).own_group is None
    assert user_of(monkeypatch, "users", []).own_group is None


def test_a_user_without_a_name(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000)
    assert this_user() == User(4_000_000, "4000000", None)
