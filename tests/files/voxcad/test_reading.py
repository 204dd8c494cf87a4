"""VoxCAD files: what each tag becomes, and files that change others."""

from __future__ import annotations

import base64
import re
import zlib

import numpy as np
import pytest
from tests.files.voxcad.samples import OBJECT, SCENE, again, put, read

from supple.errors import FileFormatError, InputError
from supple.files.voxcad.load import (
    BoundaryRegion,
    RegionShape,
    StopKind,
    VoxcadEnvironment,
    VoxcadSimulator,
    load_voxcad,
    voxcad_body,
)
from supple.material.voxel import VoxelMaterial


def test_the_structure_has_x_fastest(scene):
    assert scene.grid.shape == (3, 2, 2)
    assert scene.grid.voxel_size == 0.01
    assert scene.grid.materials[:, :, 0].T.tolist() == [[1, 1, 2], [0, 0, 1]]
    assert scene.grid.materials[:, :, 1].T.tolist() == [[0, 0, 0], [1, 2, 0]]
    assert scene.phase_offset[:, :, 1].T.tolist() == [[1.1, 1.2, 1.3], [1.4, 1.5, 1.6]]


def test_materials_carry_the_damping_of_the_scene(scene):
    soft, hard = scene.palette
    assert soft == VoxelMaterial(
        young=5e6,
        density=1e6,
        poisson=0.35,
        expansion=0.01,
        static_friction=1,
        kinetic_friction=0.5,
        bond_damping=0.9,
        ground_damping=0.02,
        contact_damping=0.7,
        colour=(0, 0.5, 1, 0.75),
        name="soft & blue",
    )
    assert (hard.young, hard.static_friction, hard.colour) == (5e7, 0, None)
    assert scene.damping == (0.9, 0.7, 0.02)
    assert scene.material_phase == (0, np.pi)


def test_simulator_and_environment(scene):
    assert scene.simulator == VoxcadSimulator(0.8, True, StopKind.TEMPERATURE_CYCLES, 5, 0.2)
    assert scene.stop_time == 5 * 0.25
    environment = scene.environment
    assert environment.gravity == (0, 0, -3.7)
    assert environment.floor_enabled
    assert environment.temperature_amplitude == 39 - 25  # older files give the highest temperature
    assert (environment.temperature_varies, environment.temperature_period) == (True, 0.25)
    held, forced = environment.regions
    assert held == BoundaryRegion((0, 0, 0), (0.01, 1, 1), held=(True,) * 6)
    assert (forced.force, forced.torque, forced.held) == ((0, 0, 6), (3, 0, 0), (False,) * 6)


def test_gravity_that_is_not_told_is_that_of_the_earth(tmp_path):
    assert read(tmp_path, SCENE.replace("<GravAcc>-3.7</GravAcc>", "")).environment.gravity == (0, 0, -9.81)


def test_tags_that_are_not_used_are_named(scene):
    assert set(scene.unsupported) == {
        "Simulator/Integration/Integrator",
        "Simulator/GA",
        "Environment/Boundary_Conditions/FRegion[2]/Note",
        "VXC/Voxel",
    }


def test_every_tag_is_read_or_named(tmp_path):
    """A stranger put into any tag, and any attribute, shows up in the list."""
    plain = len(read(tmp_path, SCENE).unread)
    names = {"VXA", "Simulator", "Thermal", "VXC", "Lattice", "Mechanical", "Data", "Display", "DtFrac", "FRegion"}
    for name in names:
        inside = SCENE.replace(f"</{name}>", f"<Stranger/></{name}>", 1)
        beside = re.sub(f"<{name}([ >])", rf"<{name} stranger='1'\1", SCENE, count=1)
        for text in (inside, beside):
            file = read(tmp_path, text)
            assert len(file.unread) == plain + 1
            assert any("tranger" in path for path in file.unsupported)
            assert again(tmp_path, file) == file


def test_an_object_alone_has_no_environment(tmp_path):
    file = read(tmp_path, OBJECT, "a.vxc")
    assert file.simulator == VoxcadSimulator()
    assert file.environment == VoxcadEnvironment()
    assert file.environment.gravity == (0, 0, 0)
    assert file.damping == (0.1, 0.5, 0.0)  # of VoxelMaterial
    assert again(tmp_path, file) == file


def test_defaults_where_a_scene_says_nothing(tmp_path):
    file = read(tmp_path, f"<VXA>{OBJECT}</VXA>")
    assert file.damping == (0.1, 1, 1)
    assert file.environment.gravity == (0, 0, -9.81)
    assert file.environment.floor_enabled
    assert voxcad_body(file).actuation is None


@pytest.mark.parametrize("form", ["BASE64", "ZLIB"])
def test_compressed_layers(tmp_path, scene, form):
    text = SCENE.replace("ASCII_READABLE", form)
    for layer in ("112001", "000120"):
        data = bytes(int(c) for c in layer)
        code = base64.b64encode(zlib.compress(data) if form == "ZLIB" else data).decode()
        text = text.replace(f"[{layer}]", f"[\n{code[:5]}\n {code[5:]}]")
    assert read(tmp_path, text) == scene


def test_materials_beyond_nine_are_the_next_characters(tmp_path):
    start, end = OBJECT.index("<Material ID"), OBJECT.index("</Palette>")
    one = OBJECT[start : OBJECT.index("</Material>") + len("</Material>")]
    text = OBJECT[:start] + one * 12 + OBJECT[end:]
    file = read(tmp_path, text.replace("112001", "1:<001"), "a.vxc")
    assert file.grid.materials[:, 0, 0].tolist() == [1, 10, 12]
    assert again(tmp_path, file) == file


def test_the_usual_formula_of_voxcraft_is_a_time(tmp_path):
    formula = "<mtSUB><mtVAR>t</mtVAR><mtCONST>1.5</mtCONST></mtSUB>"
    stop = f"<StopCondition><StopConditionFormula>{formula}</StopConditionFormula></StopCondition>"
    start, end = SCENE.index("<StopCondition>"), SCENE.index("<GA>")
    file = read(tmp_path, SCENE[:start] + stop + SCENE[end:])
    assert file.stop_time == 1.5
    other = read(tmp_path, SCENE[:start] + stop.replace(">t<", ">x<") + SCENE[end:])
    assert other.stop_time is None
    assert "Simulator/StopCondition/StopConditionFormula" in other.unsupported
    for each in (file, other):
        assert again(tmp_path, each) == each


def test_a_condition_of_another_voxcraft_is_a_time(tmp_path):
    formula = "<mtSUB><mtVAR>t</mtVAR><mtCONST>2.5</mtCONST></mtSUB>"
    condition = f"<Condition><StopCondition>{formula}</StopCondition><ResultStartCondition/></Condition>"
    start, end = SCENE.index("<StopCondition>"), SCENE.index("<GA>")
    file = read(tmp_path, SCENE[:start] + condition + SCENE[end:])
    assert file.stop_time == 2.5
    assert "Simulator/Condition/ResultStartCondition" in file.unsupported
    assert "Simulator/Condition/StopCondition" not in file.unsupported
    other = read(tmp_path, SCENE[:start] + condition.replace(">t<", ">x<") + SCENE[end:])
    assert other.stop_time is None
    assert "Simulator/Condition/StopCondition" in other.unsupported
    both = read(tmp_path, SCENE[:start] + condition + SCENE[start:])
    assert both.stop_time == read(tmp_path, SCENE).stop_time  # VoxCAD's own goes before
    assert "Simulator/Condition/StopCondition" in both.unsupported
    for each in (file, other, both):
        assert again(tmp_path, each) == each


def test_new_boundary_conditions_go_before_old_ones(tmp_path):
    region = "<FRegion><PrimType>2</PrimType><Radius>0.5</Radius><DofFixed>5</DofFixed></FRegion>"
    new = f"<Boundary_Conditions><NumBCs>1</NumBCs>{region}</Boundary_Conditions>"
    file = read(tmp_path, SCENE.replace("<Fixed_Regions>", new + "<Fixed_Regions>"))
    (found,) = file.environment.regions
    assert found.shape is RegionShape.SPHERE
    assert found.held == (True, False, True, False, False, False)
    assert "Environment/Fixed_Regions" in file.unsupported
    assert again(tmp_path, file) == file


def test_a_vxd_file_replaces_tags_of_its_base(tmp_path, scene):
    put(tmp_path, SCENE, "base.vxa")
    assert read(tmp_path, "<VXD/>", "a.vxd") == scene
    structure = OBJECT[OBJECT.index("<Structure") : OBJECT.index("</VXC>")].replace("112001", "222222")
    changes = structure.replace("<Structure", '<Structure replace="VXA.VXC.Structure"')
    changes += '<Other replace="VXA.Simulator.Integration.DtFrac">0.5</Other>'
    changes += '<New replace="VXA.Simulator.AttachDetach.EnableCollision">1</New><Ignored>1</Ignored>'
    file = read(tmp_path, f"<VXD>{changes}</VXD>", "b.vxd")
    assert file.grid.materials[:, :, 0].tolist() == [[2, 2]] * 3
    assert file.simulator.time_step_fraction == 0.5
    assert {"Simulator/AttachDetach", "VXD/Ignored"} <= set(file.unsupported)
    assert again(tmp_path, file) == file


def test_the_base_may_be_named(tmp_path, scene):
    put(tmp_path, SCENE, "other.vxa")
    changes = put(tmp_path, "<VXD></VXD>", "a.vxd")
    assert load_voxcad(changes, base=tmp_path / "other.vxa") == scene
    with pytest.raises(FileFormatError, match=r"base\.vxa: the file cannot be read.*--base FILE"):
        load_voxcad(changes)
    with pytest.raises(InputError, match=r"only \.vxd files have a base"):
        load_voxcad(tmp_path / "other.vxa", base=changes)


@pytest.mark.parametrize("place", ["VXA", "VXC.Structure", "VXA.", "VXA." + "a." * 13 + "a", "VXA.../x", "VXA.[1]"])
def test_a_wrong_place_is_refused(tmp_path, place):
    put(tmp_path, SCENE, "base.vxa")
    with pytest.raises(FileFormatError, match=r"a\.vxd, VXD/A, attribute replace: the place to replace is not read"):
        read(tmp_path, f'<VXD><A replace="{place}"/></VXD>', "a.vxd")
