"""Hypothesis profiles, and the skipping of `gpu` tests where there is no GPU."""

from __future__ import annotations

import ctypes
import os

import pytest
from hypothesis import HealthCheck, settings

# Every program a test compiles is verified, and read back from its text, after each pass.
os.environ.setdefault("ANADROME_VERIFY", "1")

# A test that fails shows where in this package it failed.
os.environ.setdefault("ANADROME_TRACEBACK", "full")

# An example may compile a program, so neither a deadline nor a slow start says anything.
settings.register_profile(
    "ci", max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "fuzz", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip `gpu` tests on a machine without an NVIDIA GPU."""
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    if gpu_items and not _has_gpu():
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU"))


def _has_gpu() -> bool:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
