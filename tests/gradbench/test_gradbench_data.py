"""The ADBench layouts as they are read, and inputs of the same shapes where there are no files."""

from __future__ import annotations

from pathlib import Path

import adbench_data
import numpy as np
import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder in the place of the real one."""
    monkeypatch.setenv("ANADROME_DATA", str(tmp_path))
    return tmp_path / "adbench"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_reads_a_mixture(folder: Path) -> None:
    write(folder / "gmm" / "gmm_d3_K1.txt", "3 1 2\n7\n1 2 3\n.1 .2 .3 21 31 32\n4 5 6\n7 8 9\n0.5 2\n")
    data = adbench_data.gmm_input(3, 1)
    assert (data["d"], data["k"], data["n"], data["gamma"], data["m"]) == (3, 1, 2, 0.5, 2)
    assert data["alpha"].tolist() == [7.0]
    assert data["mu"].tolist() == [[1.0, 2.0, 3.0]]
    assert data["q"].tolist() == [[0.1, 0.2, 0.3]]
    assert data["l"].tolist() == [[21.0, 31.0, 32.0]]
    assert data["x"].tolist() == [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
    assert adbench_data.gmm_input(3, 1, points=1)["x"].tolist() == [[4.0, 5.0, 6.0]]


def test_reads_a_scene(folder: Path) -> None:
    write(folder / "ba" / "ba2_n5_m6_p7.txt", "5 6 7\n1 2 3 4 5 6 7 8 9 10 11\n-1 -2 -3\n0.5\n20 30\n")
    data = adbench_data.ba_input(2)
    assert (data["n"], data["m"], data["p"], data["w"]) == (5, 6, 7, 0.5)
    assert data["cam"].tolist() == [float(i) for i in range(1, 12)]
    assert data["x"].tolist() == [-1.0, -2.0, -3.0]
    assert data["feat"].tolist() == [20.0, 30.0]


def test_reads_a_text(folder: Path) -> None:
    numbers = " ".join(str(i) for i in range(8))
    text = f"1 2 2\n\n{numbers}\n{numbers}\n\n1 2\n3 4\n5 6\n\n7 8\n9 0\n\n0 1\n1 1\n"
    write(folder / "lstm" / "lstm_l1_c2.txt", text)
    data = adbench_data.lstm_input(1, 2)
    assert data["main_params"].shape == (2, 8)
    assert data["extra_params"].tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert data["state"].tolist() == [[7.0, 8.0], [9.0, 0.0]]
    assert data["sequence"].tolist() == [[0.0, 1.0], [1.0, 1.0]]


def test_reads_a_hand(folder: Path) -> None:
    hand = folder / "hand" / "complicated_small"
    matrix = ":".join(str(i) for i in range(16))
    write(hand / "model" / "bones.txt", f"wrist:-1:{matrix}:{matrix}:1:0\nthumb1:0:{matrix}:{matrix}:1:0\n")
    write(hand / "model" / "vertices.txt", "1:2:3:0:0:0:0:0:1:1:0.5\n4:5:6:0:0:0:0:0:2:0:0.25:1:0.75\n")
    write(hand / "model" / "triangles.txt", "0:1:0\n")
    write(hand / "hand1_t2_c1.txt", "1 2\n0 1 2 3\n0.1 0.2\n8\n9\n")
    data = adbench_data.hand_input(1)
    model = data["data"]["model"]
    assert data["theta"].tolist() == [8.0, 9.0]
    assert data["us"].tolist() == [[0.1, 0.2]]
    assert data["data"]["correspondences"].tolist() == [0]
    assert data["data"]["points"].tolist() == [[1.0, 2.0, 3.0]]
    assert model["parents"].tolist() == [-1, 0]
    assert model["base_relatives"][1, 1].tolist() == [4.0, 5.0, 6.0, 7.0]
    assert model["base_positions"].tolist() == [[1.0, 2.0, 3.0, 1.0], [4.0, 5.0, 6.0, 1.0]]
    assert model["weights"].tolist() == [[0.0, 0.5], [0.25, 0.75]]
    assert model["triangles"].tolist() == [[0, 1, 0]]


def test_generates_inputs_of_the_same_shapes(folder: Path) -> None:
    gmm = adbench_data.gmm_input(10, 25)
    assert [gmm[name].shape for name in ("alpha", "mu", "q", "l", "x")] == [
        (25,),
        (25, 10),
        (25, 10),
        (25, 45),
        (1000, 10),
    ]
    lstm = adbench_data.lstm_input(4, 1024)
    assert [array.shape for array in lstm.values()] == [(8, 56), (3, 14), (8, 14), (1024, 14)]
    ba = adbench_data.ba_input(1)
    assert [ba[name] for name in ("n", "m", "p")] == [49, 7776, 31843]
    for variant, pairs in (("complicated", 100), ("simple", 0)):
        hand = adbench_data.hand_input(1, variant)
        assert hand["theta"].shape == (26,)
        assert hand["us"].shape == (pairs, 2)
        assert hand["data"]["points"].shape == (100, 3)
        assert hand["data"]["model"]["weights"].shape == (544, 22)


def test_a_generated_hand_at_rest_is_in_its_base_pose() -> None:
    model = adbench_data.generated_hand_model(vertices=5, triangles=2)
    assert np.allclose(np.sum(model["weights"], axis=1), 1.0)
    absolutes = [model["base_relatives"][0]]
    for parent, relative in zip(model["parents"][1:], model["base_relatives"][1:], strict=True):
        absolutes.append(absolutes[parent] @ relative)
    assert np.allclose(np.array(absolutes) @ model["inverse_base_absolutes"], np.eye(4))
