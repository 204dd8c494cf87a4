"""VoxCAD files with random damage, and real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.voxcad.samples import OBJECT, QUICK, SCENE, again, finite, put, read

from supple.errors import FileFormatError, SuppleError
from supple.files.voxcad.load import (
    load_voxcad,
    voxcad_body,
    voxcad_held,
    voxcad_loads,
    voxcad_notes,
    voxcad_scene,
    voxcad_settings,
)

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "voxel-files"


def survives(folder: Path, data: bytes, name: str) -> None:
    """Reading damaged data gives a record that can be written again, or an error raised on purpose."""
    try:
        file = load_voxcad(put(folder, data, name))
        assert again(folder, file, "zlib") == file
        voxcad_body(file)
        voxcad_held(file)
        voxcad_loads(file)
        voxcad_scene(file).compile()
        assert all("\n" not in note for note in voxcad_notes(file))
        assert voxcad_settings(file)["record_every"] > 0
    except SuppleError as error:
        assert "\n" not in str(error)  # noqa: PT017


TOKENS = [
    "nan",
    "-1",
    "1e400",
    "0",
    "",
    "999999999999",
    "<a/>",
    "<",
    "]]>",
    "<![CDATA[",
    "&amp;",
    "&#0;",
    "\x00",
    "é",
    "1",
]


@QUICK
@given(data=st.data())
def test_only_errors_on_purpose_come_out_of_damaged_files(tmp_path, data):
    name, text = data.draw(st.sampled_from([("a.vxa", SCENE), ("a.vxc", OBJECT.strip())]))
    raw = text.encode("latin-1")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 12))
        token = data.draw(st.one_of(st.sampled_from(TOKENS).map(lambda s: s.encode("utf-8")), st.binary(max_size=8)))
        raw = raw[:start] + token + raw[start + length :]
    survives(tmp_path, raw, name)


@QUICK
@given(data=st.data())
def test_only_errors_on_purpose_come_out_of_wrong_values(tmp_path, data):
    """Whole texts of tags, exchanged: the file stays XML."""
    parts = SCENE.split(">")
    full = [i for i, part in enumerate(parts) if part.split("<")[0].strip() and "</" in part]
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.sampled_from(full))
        value = data.draw(
            st.one_of(finite.map(repr), st.integers().map(str), st.sampled_from(["nan", "", "1e400", "<b/>"]))
        )
        parts[i] = value + parts[i][parts[i].index("</") :]
    survives(tmp_path, ">".join(parts).encode("latin-1"), "a.vxa")


@QUICK
@given(cut=st.integers(0, len(SCENE) - 10))
def test_cut_files_are_refused(tmp_path, cut):
    with pytest.raises(FileFormatError):
        read(tmp_path, SCENE[:cut])


@QUICK
@given(raw=st.binary(max_size=200), name=st.sampled_from(["a.vxa", "a.vxc", "a.vxd"]))
def test_noise_is_refused(tmp_path, raw, name):
    with pytest.raises(FileFormatError):
        read(tmp_path, raw, name)


@QUICK
@given(
    place=st.from_regex(r"VXA(\.(VXC|Simulator|Palette|Structure|Data|Material|Environment|a)){0,4}", fullmatch=True)
)
def test_any_replacement_is_survived(tmp_path, place):
    put(tmp_path, SCENE, "base.vxa")
    survives(tmp_path, f'<VXD><A replace="{place}"><Layer>1</Layer></A></VXD>'.encode(), "a.vxd")


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="needs the reference files")
@pytest.mark.parametrize(
    ("name", "shape", "voxels", "materials"),
    [
        ("evosoro_example1.vxa", (10, 10, 10), 98, 4),
        ("evosoro_phaseoffset.vxa", (5, 5, 5), 79, 5),
        ("jns_example1.vxc", (5, 5, 5), 12, 5),
        ("voxcad_SampleSimulation.vxa", (10, 5, 5), 250, 1),
        ("voxcraft_basic_base.vxa", (1, 1, 2), 1, 1),
        ("voxcraft_basic_robot.vxd", (1, 1, 2), 1, 1),
    ],
)
def test_real_files(tmp_path, name, shape, voxels, materials):
    base = REFERENCE / "voxcraft_basic_base.vxa" if name.endswith(".vxd") else None
    file = load_voxcad(REFERENCE / name, base=base)
    assert (file.grid.shape, file.grid.voxel_count, len(file.palette)) == (shape, voxels, materials)
    for compression in ("ascii", "base64", "zlib"):
        assert again(tmp_path, file, compression) == file
    assert voxcad_body(file).model.voxel_count == voxels


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="needs the reference files")
def test_values_of_real_files():
    walker = load_voxcad(REFERENCE / "evosoro_phaseoffset.vxa")
    body = voxcad_body(walker)
    assert body.actuation.amplitude == 14
    assert body.actuation.frequency == 1 / 0.147004731751
    assert walker.phase_offset[4, 4, 0] == -0.674438139113
    assert walker.damping == (1, 0.8, 0.01)
    assert (walker.environment.floor_slope, walker.simulator.measured_from) == (0.0, 0.3)
    pulled = load_voxcad(REFERENCE / "voxcad_SampleSimulation.vxa")
    ends = np.flatnonzero(np.isin(pulled.grid.voxels[:, 0], (0, 9)))
    assert voxcad_held(pulled).tolist() == ends.tolist()
    assert pulled.environment.regions[1].displacement == (2e-5, 0, 0)
    (bilinear,) = pulled.palette
    law = (bilinear.yield_stress, bilinear.plastic_modulus, bilinear.fail_stress)
    assert law == (0.001, 0.5, 1.5)
    assert load_voxcad(REFERENCE / "voxcraft_basic_base.vxa").stop_time == 1
