"""Sparse Jacobians of the bundle adjustment and hand tracking programs: few directions, the dense values."""

from __future__ import annotations

import ba
import ht
import numpy as np
from adbench_data import generated_hand, generated_hand_model
from scipy.sparse import block_array

import anadrome as ad


def scene(cameras: int, points: int, observations: int) -> tuple[np.ndarray, ...]:
    source = np.random.default_rng(0)
    seen = (source.integers(0, cameras, observations), source.integers(0, points, observations))
    return (
        0.1 * source.normal(size=(cameras, 11)),
        source.normal(size=(points, 3)) + np.array([0.0, 0.0, 8.0]),
        source.uniform(size=observations),
        source.normal(size=(observations, 2)),
        np.stack(seen, axis=1),
    )


def test_bundle_adjustment():
    args = scene(6, 20, 40)
    derivative = ad.jacobian(ba.residuals, argnums=(0, 1, 2), sparse=True)
    found = derivative(*args)
    dense = ad.jacfwd(ba.residuals, argnums=(0, 1, 2))(*args)
    for row, expected in zip(found, dense, strict=True):
        for block, part in zip(row, expected, strict=True):
            np.testing.assert_allclose(block.toarray(), part.reshape(block.shape), rtol=1e-12, atol=1e-9)
    seen = derivative.sparsity(*args)
    # a coordinate of an image depends on one of the two coordinates of the principal point
    assert (seen.mode, seen.directions, seen.nonzeros) == ("forward", 14, 40 * (2 * 14 + 1))
    rows, columns, values = ba.jacobian(*args)
    by_hand = np.zeros((120, 6 * 11 + 20 * 3 + 40))
    by_hand[np.repeat(np.arange(120), np.diff(rows)), columns] = values
    whole = block_array(found, format="csr")
    np.testing.assert_allclose(whole.toarray(), by_hand, rtol=1e-12, atol=1e-9)


def test_directions_do_not_grow_with_the_scene():
    derivative = ad.jacobian(ba.residuals, argnums=(0, 1, 2), sparse=True)
    assert derivative.sparsity(*scene(20, 500, 3000)).directions <= 16


def test_hand_tracking():
    model = generated_hand_model(60, 50)
    data = generated_hand(model, 30, "complicated")
    rest = (ht.hand_model(model), data["data"]["correspondences"], data["data"]["points"])
    args = (data["theta"], data["us"], *rest)
    derivative = ad.jacobian(ht.residuals, argnums=(0, 1), sparse=True)
    found = derivative(*args)
    dense = ad.jacfwd(ht.residuals, argnums=(0, 1))(*args)
    for block, part in zip(found, dense, strict=True):
        np.testing.assert_allclose(block.toarray(), part.reshape(block.shape), rtol=1e-10, atol=1e-10)
    # of θ a residual depends on all but two of the three translations, and on its own two coordinates
    assert derivative.sparsity(*args).directions == 26
