"""Hypothesis profiles, Ctrl-C in runs in the background, samples of long tables, and the skipping of `gpu`
tests where there is no GPU."""

from __future__ import annotations

import ctypes
import os
import signal
import zlib

import pytest
from hypothesis import HealthCheck, settings

from anadrome.compile import IS_COMPILED

# Every program a test compiles is verified after each pass, and one in four is read back from its text.
os.environ.setdefault("ANADROME_VERIFY", "1")

# A test that fails shows where in this package it failed.
os.environ.setdefault("ANADROME_TRACEBACK", "full")

# A shell starts what runs in the background deaf to Ctrl-C, and so would be every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example may compile a program, so neither a deadline nor a slow start says anything.
settings.register_profile(
    "ci", max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "fuzz", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


SAMPLED = {
    "ad/test_blocks.py::test_derivatives": 2,
    "ad/test_inverse.py::test_histograms": 2,
    "ad/test_inverse.py::test_reductions": 3,
    "ad/test_kernels.py::test_the_derivative_of_the_derivative": 2,
    "ad/test_kernels.py::test_the_order_of_threads_changes_no_derivative": 2,
    "ad/test_undo.py::test_gradients_are_cheap": 2,
    "ad/test_undo.py::test_optimised_gradients_are_cheap": 2,
    "api/test_parallel.py::test_derivatives": 3,
    "corpus/test_corpus.py::test_first_order": 2,
    "corpus/test_corpus.py::test_second_order": 4,
    "corpus/test_corpus.py::test_work": 2,
    "corpus/test_donated.py::test_values_and_pullbacks": 8,
    "derivatives/test_checkpoint.py::test_second_order": 3,
    "derivatives/test_decompositions.py::test_cholesky": 3,
    "derivatives/test_decompositions.py::test_second_order": 3,
    "derivatives/test_distributions.py::test_continuous_distributions": 3,
    "derivatives/test_distributions.py::test_discrete_distributions": 2,
    "derivatives/test_eigenvalues.py::test_hermitian": 2,
    "derivatives/test_fourier.py::test_of_complex_values": 3,
    "derivatives/test_fourier.py::test_of_real_values": 3,
    "derivatives/test_matrix_functions.py::test_condition_numbers": 3,
    "derivatives/test_matrix_functions.py::test_exponential": 3,
    "derivatives/test_matrix_functions.py::test_least_squares": 2,
    "derivatives/test_neighbours.py::test_hessians_agree": 3,
    "derivatives/test_neighbours.py::test_second_derivatives_by_one_number_agree": 4,
    "derivatives/test_selections.py::test_derivatives": 3,
    "derivatives/test_selections.py::test_second_derivatives": 3,
    "derivatives/test_splines.py::test_cubic_splines": 4,
    "frontend/test_gradients_of_cases.py::test_both_modes_agree_with_differences": 2,
    "frontend/test_sparse_matrices.py::test_small_and_empty_matrices": 2,
    "frontend/test_sparse_matrices.py::test_sums_of_matrices_with_places_of_their_own": 2,
    "gradbench/test_gradbench_programs.py::test_derivative_against_complex_step": 4,
    "gradbench/test_gradbench_programs.py::test_derivative_against_forward_mode": 3,
    "kernels/test_corpus.py::test_first_order": 2,
    "kernels/test_corpus.py::test_no_races": 3,
    "kernels/test_corpus.py::test_second_order": 5,
    "kernels/test_corpus.py::test_values": 2,
    "kernels/test_examples.py::test_forward_mode_and_second_derivatives": 2,
    "kernels/test_generated.py::test_kernels": 2,
    "kernels/test_public_faults.py::test_right_in_second_order": 4,
    "meaning/test_cases.py::test_thresholds_change_no_meaning": 4,
}
"""Tests that take long over a long table: each run takes one row of so many, `make fuzz` takes all. Of other
tables it takes as many as `STRIDES` says."""

STRIDES = ((400, 4), (30, 3), (6, 2))
"""Rows from which on one of so many is taken, if nothing else is said."""

WHOLE = ("errors/test_corpus.py", "errors/test_catalogue.py", "test_docs.py", "meaning/test_page.py")
"""What pins texts: every row is taken."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `slow` what the samples leave out; skip `gpu` tests on a machine without an NVIDIA GPU, and
    `interpreted` ones where mypyc has compiled the stages."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        tables.setdefault(item.nodeid.partition("[")[0].removeprefix("tests/"), []).append(item)
    for name, rows in tables.items():
        for item in _left_out(name, rows):
            item.add_marker(pytest.mark.slow)
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    if gpu_items and not _has_gpu():
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU"))
    for item in items if IS_COMPILED else ():
        if item.get_closest_marker("interpreted"):
            item.add_marker(pytest.mark.skip(reason="looks into stages that are compiled here"))


def _left_out(name: str, rows: list[pytest.Item]) -> list[pytest.Item]:
    """The rows of a table that a run does not take: the same ones in each run, whatever their order."""
    if name in SAMPLED:
        return [row for at, row in enumerate(rows) if at % SAMPLED[name]]
    stride = next((stride for least, stride in STRIDES if len(rows) >= least), 1)
    if name.startswith(WHOLE) or stride == 1:
        return []
    by_chance = sorted(rows, key=lambda row: zlib.crc32(row.nodeid.encode()))
    return by_chance[-(-len(rows) // stride) :]


def _has_gpu() -> bool:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
