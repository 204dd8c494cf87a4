"""VoxCAD files: what is read comes back equal, what is not read is named, what is wrong is one sentence."""

from __future__ import annotations

import base64
import re
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supple.bodies.protocols import LocalState
from supple.errors import FileFormatError, InputError, RecordError, SuppleError
from supple.files.voxcad import xml as voxcad_xml
from supple.files.voxcad.load import (
    BoundaryRegion,
    RegionShape,
    StopKind,
    UnreadTag,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
    load_voxcad,
    save_voxcad,
    voxcad_body,
    voxcad_held,
    voxcad_loads,
    voxcad_notes,
    voxcad_planes,
    voxcad_scene,
    voxcad_settings,
)
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "voxel-files"
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

OBJECT = """
<VXC Version="0.94">
  <Lattice><Lattice_Dim>0.01</Lattice_Dim><X_Dim_Adj>1</X_Dim_Adj></Lattice>
  <Voxel><Vox_Name>BOX</Vox_Name></Voxel>
  <Palette>
    <Material ID="1">
      <MatType>0</MatType><Name>soft &amp; blue</Name>
      <Display><Red>0</Red><Green>0.5</Green><Blue>1</Blue><Alpha>0.75</Alpha></Display>
      <Mechanical>
        <MatModel>0</MatModel><Elastic_Mod>5e+006</Elastic_Mod><Density>1e+006</Density>
        <Poissons_Ratio>0.35</Poissons_Ratio><CTE>0.01</CTE><uStatic>1</uStatic><uDynamic>0.5</uDynamic>
      </Mechanical>
    </Material>
    <Material ID="2">
      <Name>hard</Name>
      <Mechanical>
        <MatModel>2</MatModel><Elastic_Mod>5e7</Elastic_Mod><Density>1000</Density>
        <MaterialTempPhase>3.141592653589793</MaterialTempPhase><CTE>-0.01</CTE><Yield_Stress>10</Yield_Stress>
      </Mechanical>
    </Material>
  </Palette>
  <Structure Compression="ASCII_READABLE">
    <X_Voxels>3</X_Voxels><Y_Voxels>2</Y_Voxels><Z_Voxels>2</Z_Voxels>
    <Data>
      <Layer><![CDATA[112001]]></Layer>
      <Layer><![CDATA[000120]]></Layer>
    </Data>
    <PhaseOffset>
      <Layer><![CDATA[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, ]]></Layer>
      <Layer><![CDATA[1.1,1.2,1.3,1.4,1.5,1.6]]></Layer>
    </PhaseOffset>
  </Structure>
</VXC>
"""
SCENE = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<VXA Version="1.0">
  <Simulator>
    <Integration><Integrator>0</Integrator><DtFrac>0.8</DtFrac></Integration>
    <Damping><BondDampingZ>0.9</BondDampingZ><ColDampingZ>0.7</ColDampingZ><SlowDampingZ>0.02</SlowDampingZ></Damping>
    <Collisions><SelfColEnabled>1</SelfColEnabled></Collisions>
    <StopCondition>
      <StopConditionType>3</StopConditionType><StopConditionValue>5</StopConditionValue><InitCmTime>0.2</InitCmTime>
    </StopCondition>
    <GA><!-- a comment --><FitnessFileName>a &lt; b.xml</FitnessFileName></GA>
  </Simulator>
  <Environment>
    <Fixed_Regions>
      <NumFixed>1</NumFixed>
      <FRegion>
        <PrimType>0</PrimType><X>0</X><Y>0</Y><Z>0</Z><dX>0.01</dX><dY>1</dY><dZ>1</dZ><Fixed>1</Fixed>
      </FRegion>
    </Fixed_Regions>
    <Forced_Regions>
      <NumForced>1</NumForced>
      <FRegion>
        <PrimType>0</PrimType><X>0.9</X><dX>0.1</dX><dY>1</dY><dZ>1</dZ><Fixed>0</Fixed><ForceZ>6</ForceZ>
        <TorqueX>3</TorqueX><Note>shared</Note>
      </FRegion>
    </Forced_Regions>
    <Gravity>
      <GravEnabled>1</GravEnabled><GravAcc>-3.7</GravAcc><FloorEnabled>1</FloorEnabled><FloorSlope>0</FloorSlope>
    </Gravity>
    <Thermal>
      <TempEnabled>1</TempEnabled><TempAmp>39</TempAmp><TempBase>25</TempBase>
      <VaryTempEnabled>1</VaryTempEnabled><TempPeriod>0.25</TempPeriod>
    </Thermal>
  </Environment>
  {OBJECT}
</VXA>
"""


def put(folder: Path, text: str | bytes, name: str = "scene.vxa") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
    return path


def read(folder: Path, text: str | bytes, name: str = "scene.vxa") -> VoxcadFile:
    return load_voxcad(put(folder, text, name))


def again(folder: Path, file: VoxcadFile, compression="ascii") -> VoxcadFile:
    save_voxcad(file, folder / "again.vxa", compression=compression)
    return load_voxcad(folder / "again.vxa")


@pytest.fixture
def scene(tmp_path: Path) -> VoxcadFile:
    return read(tmp_path, SCENE)


# What is read


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
    assert (hard.young, hard.static_friction, hard.colour) == (5e7, 0, (0.5, 0.5, 0.5, 1))
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


# Changes of voxcraft


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


# Round trips


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


finite = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.tuples(finite, finite, finite)
names = st.text(min_size=1, max_size=20).map(lambda s: " ".join(s.split())).filter(bool)
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
    with pytest.raises(InputError, match="an unknown compression"):
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


# The body


def test_the_body_swings_with_the_phases_of_voxels_and_materials(scene):
    body = voxcad_body(scene)
    assert body.model.voxel_count == 6
    soft = scene.grid.materials[tuple(scene.grid.voxels.T)] == 1
    assert body.total_mass == pytest.approx((soft * 1e6 + ~soft * 1e3).sum() * 0.01**3)
    offset = scene.phase_offset[tuple(scene.grid.voxels.T)]
    t = 0.07
    angle = 2 * np.pi * (t / 0.25 + offset) + np.where(soft, 0, np.pi)
    size = 0.01 * (1 + np.where(soft, 0.01, -0.01) * 14 * np.sin(angle))
    np.testing.assert_allclose(body.swing.sizes(t), size, rtol=1e-12)


def test_a_temperature_that_does_not_vary_is_constant(scene):
    body = voxcad_body(replace(scene, environment=replace(scene.environment, temperature_varies=False)))
    for t in (0.0, 0.1):
        size = 0.01 * (1 + body.model.values("expansion") * 14)
        np.testing.assert_allclose(body.swing.sizes(t), size, rtol=1e-12)


@pytest.mark.parametrize(
    "still", [{"temperature_enabled": False}, {"temperature_amplitude": 0.0}, {"temperature_period": 0.0}]
)
def test_no_temperature_no_actuation(scene, still):
    assert voxcad_body(replace(scene, environment=replace(scene.environment, **still))).actuation is None


def test_regions_hold_and_load_the_voxels_they_touch(scene):
    voxels = scene.grid.voxels
    assert voxels[voxcad_held(scene)].tolist() == [[0, 0, 0], [0, 1, 1]]
    loads = voxcad_loads(scene)
    on = np.flatnonzero(loads.any(axis=1))
    assert voxels[on].tolist() == [[2, 0, 0], [2, 1, 0]]
    np.testing.assert_allclose(loads[on], [[0, 0, 3, 1.5, 0, 0]] * 2)
    (floor,) = voxcad_planes(scene)
    assert floor.normal.tolist() == [0, 0, 1]
    assert voxcad_planes(replace(scene, environment=replace(scene.environment, floor_enabled=False))) == ()


def block_with(region: BoundaryRegion) -> VoxcadFile:
    grid = VoxelGrid(np.ones((8, 4, 4), dtype=int), 0.5)
    return VoxcadFile(grid, (VoxelMaterial(1.0, 1.0),), environment=VoxcadEnvironment((region,)))


def test_a_region_ends_at_the_faces_of_voxels():
    """A box up to x = 1/8 of eight voxels touches the first layer alone, so does a flat one; just beyond, two."""
    held = (True,) * 6
    for size, count in ((1 / 8, 16), (1 / 8 + 1e-9, 32), (1.0, 128), (0.0, 16)):
        file = block_with(BoundaryRegion((0, 0, 0), (size, 1, 1), held=held))
        assert len(voxcad_held(file)) == count


def test_round_regions():
    """Radii are fractions of the longest side; voxels count whose centres are inside."""
    held = (True,) * 6
    ball = block_with(BoundaryRegion((0.5, 0.5, 0.5), (0, 0, 0), RegionShape.SPHERE, 1.01 * np.sqrt(0.75) / 8, held))
    assert len(voxcad_held(ball)) == 8  # around the middle, half a voxel away along each axis
    rod = block_with(BoundaryRegion((0, 0.5, 0.5), (0.5, 0, 0), RegionShape.CYLINDER, 1.01 * np.sqrt(0.5) / 8, held))
    assert len(voxcad_held(rod)) == 4 * 4
    none = block_with(BoundaryRegion((0, 0.5, 0.5), (0, 0, 0), RegionShape.CYLINDER, 1.0, held))
    assert len(voxcad_held(none)) == 0


def test_a_scene_runs(scene):
    body = voxcad_body(scene)
    held = voxcad_held(scene)
    state = LocalState(0.0, body.model.rest_frames, np.zeros((body.model.voxel_count, 6)))
    dt = body.stable_step(held=held, contact=True)
    after = body.advance(
        state,
        dt,
        200,
        gravity=scene.environment.gravity,
        held=held,
        loads=voxcad_loads(scene),
        planes=voxcad_planes(scene),
    )
    assert np.isfinite(after.x).all()
    assert (after.x[held] == state.x[held]).all()
    assert np.abs(after.x - state.x).max() > 1e-5


def test_numbers_out_of_reach_are_refused(scene):
    for size in (1e-30, 1e200):
        with pytest.raises(InputError, match="Lattice_Dim: voxels of this size cannot be simulated"):
            voxcad_body(replace(scene, grid=VoxelGrid(scene.grid.materials, size)))
    hard = tuple(replace(material, young=1e308) for material in scene.palette)
    with pytest.raises(InputError, match="masses, stiffnesses or damping of the voxels are not finite"):
        voxcad_body(replace(scene, palette=hard))


def test_voxels_that_vanish_are_refused(scene):
    hot = replace(scene, environment=replace(scene.environment, temperature_amplitude=100.0))
    with pytest.raises(InputError, match="the control makes a voxel vanish"):
        voxcad_body(hot)


# Wrong files


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("112001", "113001", r"scene\.vxa, VXC/Structure: a voxel has a material that is not in the palette \(got 3"),
        ("112001", "11200", r"Data/Layer\[1\]: the cells of the layer are not X_Voxels times Y_Voxels \(got 5"),
        ("112001", "1120011", r"Layer\[1\]: the cells of the layer .* \(got 7; allowed: 6\)"),
        ("112001", "112/01", r"Layer\[1\]: a character stands for no material"),
        ("112001", "11200é", r"Layer\[1\]: a character stands for no material"),
        ("<X_Voxels>3", "<X_Voxels>0", "X_Voxels, Y_Voxels, Z_Voxels: the number of cells is out of range"),
        ("<X_Voxels>3", "<X_Voxels>3.5", r"VXC/Structure/X_Voxels: not a whole number \(got '3.5'\)"),
        ("<X_Voxels>3", "<X_Voxels>3000000000", "the number of cells is out of range"),
        ("<X_Voxels>3</X_Voxels>", "", r"VXC/Structure: the tag <X_Voxels> is missing"),
        ("<Z_Voxels>2", "<Z_Voxels>3", "VXC/Structure/Data: the number of layers differs from Z_Voxels"),
        ("0.2, 0.3", "nan, 0.3", r"PhaseOffset/Layer\[1\]: a number of the layer is not finite"),
        ("0.2, 0.3", "a, 0.3", r"PhaseOffset/Layer\[1\]: the layer holds more than numbers"),
        ("0.2, 0.3", "0.3", r"PhaseOffset/Layer\[1\]: the numbers of the layer do not fit the voxels"),
        ("0.2, 0.3", "0" * 200 + ", 0.3", r"a number of the layer is too long"),
        ("ASCII_READABLE", "QT_ZLIB", r"attribute Compression: this form of the layers is not read \(got 'QT_ZLIB'"),
        (' Compression="ASCII_READABLE"', "", "this form of the layers is not read"),
        ("ASCII_READABLE", "ZLIB", r"Layer\[1\]: the layer is not ZLIB"),
        ("ASCII_READABLE", "BASE64", r"Layer\[1\]: the layer is not BASE64"),
        ("<Lattice_Dim>0.01", "<Lattice_Dim>0", r"Lattice/Lattice_Dim: the voxel size is not positive"),
        ("<Lattice_Dim>0.01", "<Lattice_Dim>1_0", r"Lattice/Lattice_Dim: not a finite number"),
        ("<X_Dim_Adj>1", "<X_Dim_Adj>2", "VXC/Lattice.*: the lattice is not cubic"),
        ("</Lattice>", "<X_Line_Offset>0.5</X_Line_Offset></Lattice>", "the lattice is not cubic"),
        ("5e+006", "nan", r"Material\[1\]/Mechanical/Elastic_Mod: not a finite number \(got 'nan'\)"),
        ("5e+006", "1e999", r"Elastic_Mod: not a finite number"),
        ("5e+006", "-5", r"Material\[1\]/Mechanical: Young's modulus is not positive"),
        ("5e+006", "9" * 1000, r"Elastic_Mod: not a finite number"),
        ("<Density>1000</Density>", "", r"Material\[2\]/Mechanical: the tag <Density> is missing"),
        ("<MatType>0", "<MatType>3", r"Material\[1\]/MatType: materials made of others are not read"),
        ("<Alpha>0.75", "<Alpha>7", "the colour is not four numbers from 0 to 1"),
        ("uDynamic>0.5", "uDynamic>2", "kinetic friction is larger than static friction"),
        ("<PrimType>0", "<PrimType>3", "Fixed_Regions/FRegion/PrimType: this shape of a region is not read"),
        ("<NumFixed>1", "<NumFixed>2000000000", "Fixed_Regions/NumFixed: the number of regions"),
        ("<Fixed>1", "<DofFixed>64</DofFixed><Fixed>1", "FRegion/DofFixed: not a set of six bits"),
        ("<Fixed>1", "<Fixed>yes", r"FRegion/Fixed: not a flag \(got 'yes'; allowed: 0, 1\)"),
        ("<StopConditionType>3", "<StopConditionType>9", "StopConditionType: an unknown stop condition"),
        ("<DtFrac>0.8", "<DtFrac>0", "Simulator: the fraction of the time step is not positive"),
        ("<TempPeriod>0.25", "<TempPeriod>-1", "Thermal: the period is negative"),
        ("<VXA Version", "<VXB Version", "damaged, cut short or not XML"),
        ("</VXA>", "", r"scene\.vxa: damaged, cut short or not XML"),
        ("ISO-8859-1", "made-up", "damaged|encoding is not read"),
        ("<VXA Version", '<VXA xmlns="a" Version', "XML namespaces are not read"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, old, new, says):
    assert old in SCENE
    with pytest.raises(FileFormatError, match=says) as caught:
        read(tmp_path, SCENE.replace(old, new, 1))
    assert "\n" not in str(caught.value)


def test_zero_voxels(tmp_path):
    with pytest.raises(FileFormatError, match="VXC/Structure: the grid holds no voxel"):
        read(tmp_path, SCENE.replace("112001", "000000").replace("000120", "000000"))


@pytest.mark.parametrize("tag", ["Lattice", "Palette", "Structure", "Data", "Mechanical"])
def test_parts_that_must_be_there(tmp_path, tag):
    text = re.sub(f"<(/?){tag}([ >])", r"<\1Else\2", SCENE)
    with pytest.raises(FileFormatError, match=f"the tag <{tag}> is missing"):
        read(tmp_path, text)


def test_the_root_must_fit_the_suffix(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"scene\.vxa: the file begins with another tag \(got 'VXC'; allowed: <VXA>"
    ):
        read(tmp_path, OBJECT)
    with pytest.raises(FileFormatError, match="the tag <VXC> is missing"):
        read(tmp_path, "<VXA/>")
    with pytest.raises(InputError, match=r"a\.xml: this is not a VoxCAD file"):
        read(tmp_path, SCENE, "a.xml")
    with pytest.raises(FileFormatError, match="the file is empty"):
        read(tmp_path, " \n")
    with pytest.raises(FileFormatError, match="the file cannot be read"):
        load_voxcad(tmp_path / "missing.vxa")
    with pytest.raises(FileFormatError, match="the file cannot be read"):
        load_voxcad(tmp_path / "missing.vxd")


BOMB = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    "head",
    [
        f'<!DOCTYPE VXA [<!ENTITY e0 "boom">{BOMB}]>',
        '<!DOCTYPE VXA [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE VXA SYSTEM "http://localhost/a.dtd">',
        "<!DOCTYPE VXA>",
    ],
)
def test_entities_and_document_types_are_refused(tmp_path, head):
    text = SCENE.replace("<VXA", head + "<VXA", 1).replace("hard", "&e11;" if "e11" in head else "hard")
    with pytest.raises(FileFormatError, match=r"scene\.vxa: the file defines XML document types or entities"):
        read(tmp_path, text)


def test_deep_and_many_tags_are_refused(tmp_path, monkeypatch):
    for depth in (100, 100_000):
        deep = "<a>" * depth + "</a>" * depth
        with pytest.raises(FileFormatError, match="the tags are nested too deeply"):
            read(tmp_path, SCENE.replace("</VXA>", deep + "</VXA>"))
    monkeypatch.setattr(voxcad_xml, "MAX_TAGS", 200)
    with pytest.raises(FileFormatError, match="the file has too many tags"):
        read(tmp_path, SCENE.replace("</VXA>", "<a/>" * 200 + "</VXA>"))
    monkeypatch.setattr(voxcad_xml, "MAX_BYTES", 100)
    with pytest.raises(FileFormatError, match="the file is too large"):
        read(tmp_path, SCENE)


def peak_of(folder: Path, text: str) -> int:
    """Bytes allocated while a file is refused."""
    path = put(folder, text)
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError):
            load_voxcad(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_nothing_is_allocated_from_a_claim(tmp_path):
    read(tmp_path, SCENE)  # whatever is imported late
    few = 2**20
    for x, y, z in ((10**9, 10**9, 2), (4000, 4000, 1), (2**23, 1, 2), (1, 1, 2**24)):
        text = SCENE.replace("<X_Voxels>3", f"<X_Voxels>{x}").replace("<Y_Voxels>2", f"<Y_Voxels>{y}")
        assert peak_of(tmp_path, text.replace("<Z_Voxels>2", f"<Z_Voxels>{z}")) < few
    large = base64.b64encode(zlib.compress(bytes(2**26), 9)).decode()
    text = SCENE.replace("ASCII_READABLE", "ZLIB").replace("112001", large)
    assert peak_of(tmp_path, text) < few + 4 * len(large)


def test_compressed_layers_must_end(tmp_path):
    cut = base64.b64encode(zlib.compress(bytes([1] * 6))[:-4]).decode()
    with pytest.raises(FileFormatError, match="the compressed layer is cut short"):
        read(tmp_path, SCENE.replace("ASCII_READABLE", "ZLIB").replace("112001", cut))


# Damage


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


# Files of other programs


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
