"""VegaFEM's matrix and `.cub` files: round trips, the layout byte by byte, broken and hostile files."""

from __future__ import annotations

import contextlib
import os
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supple.errors import FileFormatError, InputError
from supple.files.vega.reduced import load_basis, load_cub, load_matrix, save_cub, save_matrix
from supple.modal import CubicForce


def make_force(r=3):
    rng = np.random.default_rng(r)
    return CubicForce(*(rng.normal(size=(r, n)) for n in (r, r * (r + 1) // 2, r * (r + 1) * (r + 2) // 6)))


def test_a_matrix_comes_back(tmp_path):
    matrix = np.random.default_rng(1).normal(size=(6, 4))
    save_matrix(tmp_path / "a.U", matrix)
    np.testing.assert_array_equal(load_matrix(tmp_path / "a.U"), matrix)
    np.testing.assert_array_equal(load_basis(tmp_path / "a.U", 2), matrix)


def test_a_matrix_is_stored_by_columns(tmp_path):
    save_matrix(tmp_path / "a.U", np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert (tmp_path / "a.U").read_bytes() == struct.pack("<2i6d", 3, 2, 1, 3, 5, 2, 4, 6)


def test_a_force_comes_back(tmp_path):
    force = make_force()
    save_cub(tmp_path / "a.cub", force)
    again = load_cub(tmp_path / "a.cub")
    for part in ("linear", "quadratic", "cubic"):
        np.testing.assert_array_equal(getattr(again, part), getattr(force, part))


def test_a_force_is_stored_by_components(tmp_path):
    force = CubicForce(np.array([[1.0, 2], [3, 4]]), np.arange(6.0).reshape(2, 3), np.arange(8.0).reshape(2, 4))
    save_cub(tmp_path / "a.cub", force)
    expected = struct.pack("<4i18d", 2, 2, 3, 4, 1, 2, 3, 4, *range(6), *range(8))
    assert (tmp_path / "a.cub").read_bytes() == expected


HUGE = 2**31 - 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "too short"),
        (b"\1\0\0\0", "too short"),
        (struct.pack("<2i", 3, 2), "cut short"),
        (struct.pack("<2i5d", 3, 2, *range(5)), "cut short"),
        (struct.pack("<2i7d", 3, 2, *range(7)), "longer"),
        (struct.pack("<2i", 0, 5), "no rows"),
        (struct.pack("<2id", -1, -1, 0.0), "no rows"),
        (struct.pack("<2id", 40_000, 40_000, 0.0), "cut short"),
        (struct.pack("<2id", HUGE, HUGE, 0.0), "cut short"),
        (struct.pack("<2i2d", 2, 1, 1.0, np.nan), "not finite"),
    ],
)
def test_broken_matrices_are_refused(tmp_path, content, complaint):
    (tmp_path / "a.U").write_bytes(content)
    with pytest.raises(FileFormatError, match=complaint):
        load_matrix(tmp_path / "a.U")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (struct.pack("<3i", 1, 1, 1), "too short"),
        (struct.pack("<4i3d", 1, 1, 1, 2, 0, 0, 0), "belong together"),
        (struct.pack("<4i", 0, 0, 0, 0), "belong together"),
        (struct.pack("<4i", -1, -1, 0, 0), "belong together"),
        (struct.pack("<4i", 1000, 1000, 500500, 167167000), "cut short"),
        (struct.pack("<4i2d", 1, 1, 1, 1, 0, 0), "cut short"),
        (struct.pack("<4i4d", 1, 1, 1, 1, 0, 0, 0, 0), "longer"),
        (struct.pack("<4i3d", 1, 1, 1, 1, 0, np.inf, 0), "not finite"),
    ],
)
def test_broken_forces_are_refused(tmp_path, content, complaint):
    (tmp_path / "a.cub").write_bytes(content)
    with pytest.raises(FileFormatError, match=complaint):
        load_cub(tmp_path / "a.cub")


@given(st.binary(max_size=200))
def test_random_bytes_are_a_matrix_or_an_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "a"
    path.write_bytes(content)
    for load in (load_matrix, load_cub):
        with contextlib.suppress(FileFormatError):
            assert load(path) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("load", [load_matrix, load_cub])
def test_pipes_and_giants_are_refused(tmp_path, load):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="a pipe or a device"):
        load(tmp_path / "pipe")
    with (tmp_path / "giant").open("wb") as file:
        file.write(struct.pack("<2i", 40_000, 40_000))
        file.truncate(8 + 8 * 40_000**2)  # takes no room on the disk
    with pytest.raises(FileFormatError, match="too large"):
        load(tmp_path / "giant")


def test_missing_and_unfit_files_are_told(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_matrix(tmp_path / "none.U")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_cub(tmp_path)
    save_matrix(tmp_path / "a.U", np.ones((6, 2)))
    with pytest.raises(FileFormatError, match="does not fit the mesh"):
        load_basis(tmp_path / "a.U", 3)
    with pytest.raises(InputError, match="no finite matrix"):
        save_matrix(tmp_path / "b.U", np.array([[np.nan]]))
    with pytest.raises(InputError, match="cannot be written"):
        save_matrix(tmp_path / "no" / "b.U", np.eye(2))
