"""Records of VoxCAD files: what was read is written back equal; what makes no sense is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.voxcad.samples import QUICK, again, finite, names

from supple.errors import InputError, RecordError
from supple.files.voxcad.load import (
    BoundaryRegion,
    RegionShape,
    StopKind,
    UnreadTag,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
    save_voxcad,
)
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial


@pytest.mark.parametrize("compression", ["ascii", "base64", "zlib"])
def test_what_was_read_is_written_back_equal(tmp_path, scene, compression):
    back = again(tmp_path, scene, compression)
    assert back == scene
    assert hash(back) == hash(scene)
    assert back.unsupported == scene.unsupported


def test_numbers_of_numpy_are_written_as_numbers(tmp_path, scene):
    soft = replace(scene.palette[0], young=np.float64(2e6), density=1000)
    file = replace(scene, palette=(soft, scene.palette[1]))
    assert again(tmp_path, file) == file


def test_records_that_differ_are_not_equal(scene):
    others = [
        replace(scene, simulator=VoxcadSimulator()),
        replace(scene, environment=VoxcadEnvironment()),
        replace(scene, unread=()),
        replace(scene, voxel_fields={}),
        replace(scene, voxel_fields={"PhaseOffset": scene.phase_offset + 1}),
        replace(scene, material_phase=(0, 0)),
        replace(scene, grid=VoxelGrid(scene.grid.materials, 0.02)),
        "a text",
    ]
    assert all(scene != other for other in others)


vectors = st.tuples(finite, finite, finite)


regions = st.builds(
    BoundaryRegion,
    corner=vectors,
    size=vectors,
    shape=st.sampled_from(RegionShape),
    radius=finite,
    held=st.tuples(*[st.booleans()] * 6),
    force=vectors,
    torque=vectors,
    displacement=vectors,
    rotation=vectors,
    colour=st.tuples(finite, finite, finite, finite),
)


@st.composite
def records(draw) -> VoxcadFile:
    shape = draw(st.tuples(*[st.integers(1, 4)] * 3))
    count = draw(st.integers(1, 44))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    numbers = random.integers(0, count + 1, shape)
    numbers[0, 0, 0] = count
    damping = [draw(st.floats(0, 1)) for _ in range(3)]
    materials = [
        VoxelMaterial(
            young=draw(st.floats(1e-300, 1e300)),
            density=draw(st.floats(1e-9, 1e9)),
            poisson=draw(st.floats(-0.9, 0.5)),
            expansion=draw(finite),
            bond_damping=damping[0],
            contact_damping=damping[1],
            ground_damping=damping[2],
            colour=tuple(random.random(4)),
            name=draw(names) if i == 0 else f"m{i}",
        )
        for i in range(min(count, 2))
    ] + [VoxelMaterial(1.0, 1.0, 0.0, 0.0, 1.0, 0.5, damping[0], damping[2], damping[1])] * max(0, count - 2)
    fields = {
        "PhaseOffset": random.normal(size=shape),
        "Stiffness": random.normal(size=shape),
        "BaseCiliaForce": random.normal(size=(*shape, 3)),
    }
    kept = draw(st.sets(st.sampled_from(sorted(fields))))
    return VoxcadFile(
        VoxelGrid(numbers, draw(st.floats(1e-6, 1e3))),
        tuple(materials),
        tuple(random.normal(size=count)),
        {name: fields[name] for name in kept},
        VoxcadSimulator(draw(st.floats(1e-9, 10)), draw(st.booleans()), draw(st.sampled_from(StopKind)), draw(finite)),
        VoxcadEnvironment(
            tuple(draw(st.lists(regions, max_size=3))),
            draw(st.booleans()),
            draw(finite),
            draw(st.booleans()),
            draw(st.booleans()),
            draw(finite),
            draw(finite),
            draw(st.booleans()),
            draw(st.floats(0, 1e9)),
        ),
        (UnreadTag("VXC/Extra", '<Extra a="&lt;&#10;">é&#13;&amp;<B/>tail</Extra>'),) if draw(st.booleans()) else (),
    )


@QUICK
@given(file=records(), compression=st.sampled_from(["ascii", "base64", "zlib"]))
def test_any_record_survives(tmp_path, file, compression):
    try:
        back = again(tmp_path, file, compression)
    except InputError as error:
        assert "name of a material" in str(error)  # noqa: PT017
        return
    back_again = again(tmp_path, back, "zlib")
    assert back_again == back
    assert replace(back, unread=()) == replace(file, unread=())
    assert back.unsupported == file.unsupported


def test_what_cannot_be_written_is_said(tmp_path, scene):
    with pytest.raises(InputError, match=r"a\.vxc: VoxCAD scenes are written as \.vxa"):
        save_voxcad(scene, tmp_path / "a.vxc")
    with pytest.raises(RecordError, match="the file cannot be written"):
        save_voxcad(scene, tmp_path / "missing" / "a.vxa")
    with pytest.raises(InputError, match="unknown compression"):
        save_voxcad(scene, tmp_path / "a.vxa", compression="lzma")
    many = VoxcadFile(VoxelGrid(np.full((1, 1, 1), 45), 1.0), (scene.palette[0],) * 45)
    with pytest.raises(InputError, match=r"too large for readable layers .* Save with compression='zlib'"):
        save_voxcad(many, tmp_path / "a.vxa")
    assert again(tmp_path, many, "zlib") == many
    with pytest.raises(InputError, match="an unread tag has no place"):
        save_voxcad(replace(scene, unread=(UnreadTag("A/B", "<B/>"),)), tmp_path / "a.vxa")
    for name in ("a\x00", "", " a", "a\ud800"):
        odd = replace(scene, palette=(replace(scene.palette[0], name=name), scene.palette[1]))
        with pytest.raises(InputError, match="the name of a material cannot be written"):
            save_voxcad(odd, tmp_path / "a.vxa")
    assert not (tmp_path / "a.vxa").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"palette": ()}, "the palette is empty"),
        ({"material_phase": (1.0,)}, "not one finite phase a material"),
        ({"voxel_fields": {"Other": np.zeros((3, 2, 2))}}, "an unknown per-voxel table"),
        ({"voxel_fields": {"PhaseOffset": np.zeros((2, 2, 2))}}, "PhaseOffset is not finite numbers"),
        ({"voxel_fields": {"Stiffness": np.full((3, 2, 2), np.nan)}}, "Stiffness is not finite numbers"),
        ({"grid": VoxelGrid(np.ones((3, 2, 2), dtype=int), 0.01, (0, 0, 1))}, "the grid is not at the origin"),
        ({"grid": VoxelGrid(np.full((3, 2, 2), 3), 0.01)}, r"not in the palette \(got 3; allowed: 0 to 2\)"),
    ],
)
def test_records_are_checked(scene, change, says):
    with pytest.raises(InputError, match=says):
        replace(scene, **change)


def test_materials_share_their_damping(scene):
    with pytest.raises(InputError, match="materials differ in damping"):
        replace(scene, palette=(scene.palette[0], replace(scene.palette[1], bond_damping=0.1)))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (VoxcadSimulator, {"time_step_fraction": 0.0}),
        (VoxcadSimulator, {"stop_value": float("nan")}),
        (VoxcadEnvironment, {"gravity_acceleration": float("inf")}),
        (VoxcadEnvironment, {"temperature_period": -1.0}),
        (BoundaryRegion, {"corner": (0, 0), "size": (1, 1, 1)}),
        (BoundaryRegion, {"corner": (0, 0, 0), "size": (1, 1, float("nan"))}),
        (BoundaryRegion, {"corner": (0, 0, 0), "size": (1, 1, 1), "held": (True,)}),
    ],
)
def test_parts_of_records_are_checked(kind, values):
    with pytest.raises(InputError):
        kind(**values)
