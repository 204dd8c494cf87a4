"""Files of shapes and of matrices, which floating bodies are made of: pipes, giants and damage are refused."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supple as sp
from supple.bodies.floating import load_matrices
from supple.errors import FileFormatError, SuppleError
from supple.geometry.files import file_guard
from supple.geometry.files.array_files import load_npz

HEADER = "%%MatrixMarket matrix "
SCENE = """
supple = 1
[materials.rubber]
young = 1e6
poisson = 0.3
density = 1000
[[bodies]]
kind = "floating"
"""
BY = {
    "matrices": SCENE + 'matrices = "given"\n',
    "basis": SCENE + 'material = "rubber"\nbasis = "given"\nmesh.box = { size = [1, 1, 1], cells = [1, 1, 1] }\n',
}


def given_text(path: Path) -> None:
    path.write_text("shapes\n")


def given_nothing(path: Path) -> None:
    path.write_bytes(b"")


def given_one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.eye(3))


def given_objects(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, U=np.array([{}]), nodes=np.array([{}]))


def given_words(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, **dict.fromkeys(("U", "nodes", "M", "K"), np.array(["a"] * 3)))


def given_a_claim(path: Path) -> None:
    """A header of 10^12 numbers, and none of them."""
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    member = b"\x93NUMPY\x01\x00" + (len(head) + 1).to_bytes(2, "little") + head.encode() + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("U.npy", "nodes.npy"):
            archive.writestr(name, member)


@pytest.mark.parametrize("key", BY)
@pytest.mark.parametrize(
    "give", [given_text, given_nothing, given_one_array, given_objects, given_words, given_a_claim, os.mkfifo]
)
def test_what_holds_no_shapes_is_refused(key: str, give: Callable[[Path], None], tmp_path: Path) -> None:
    give(tmp_path / "given")
    (tmp_path / "scene.toml").write_text(BY[key])
    with pytest.raises(SuppleError, match=rf"scene\.toml, bodies\[0\]\.{key}") as caught:
        sp.load(tmp_path / "scene.toml")
    assert len(str(caught.value)) < 500


def test_arrays_that_unpack_to_a_giant_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", U=np.zeros(1 << 17))
    assert (tmp_path / "a.npz").stat().st_size < 1 << 12
    assert len(load_npz(tmp_path / "a.npz")["U"]) == 1 << 17
    monkeypatch.setattr(file_guard.check_size, "__defaults__", (1 << 19,))
    with pytest.raises(FileFormatError, match="too large"):
        load_npz(tmp_path / "a.npz")


MATRICES: dict[str, tuple[str, str, str]] = {
    "words": ("0 0 x\n", "", "not a table of numbers"),
    "no header": ("0 0 0\n1 0 0\n0 1 0\n", "1\n", "not a Matrix Market file"),
    "entries": ("0 0 0\n1 0 0\n0 1 0\n", HEADER + "coordinate real general\n9 9 10000000000\n1 1 1\n", "claims"),
    "shape": ("0 0 0\n1 0 0\n0 1 0\n", HEADER + "array real general\n100000 100000\n1\n", "does not fit"),
    "rows": ("0 0 0\n1 0 0\n0 1 0\n", HEADER + "coordinate real general\n1000000000 1000000000 1\n1 1 1\n", "not fit"),
}


@pytest.mark.parametrize("case", MATRICES)
def test_folders_of_matrices_are_refused_with_their_file(case: str, tmp_path: Path) -> None:
    nodes, matrix, says = MATRICES[case]
    (tmp_path / "nodes.txt").write_text(nodes)
    for name in "MK":
        (tmp_path / f"{name}.mtx").write_text(matrix)
    with pytest.raises(FileFormatError, match=r"(nodes\.txt|M\.mtx).*" + says):
        load_matrices(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("pipe", ["nodes.txt", "M.mtx", "K.mtx"])
def test_pipes_among_matrices_are_refused(pipe: str, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "nodes.txt", np.eye(3))
    for name in "MK":
        (tmp_path / f"{name}.mtx").write_text(HEADER + "coordinate real general\n9 9 1\n1 1 1\n")
    (tmp_path / pipe).unlink()
    os.mkfifo(tmp_path / pipe)
    with pytest.raises(FileFormatError, match="a pipe or a device"):
        load_matrices(tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_matrices_are_refused_or_read(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, nodes=np.eye(3), M=np.eye(9), K=np.eye(9))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2]))])
    with contextlib.suppress(FileFormatError):
        load_matrices(path)
