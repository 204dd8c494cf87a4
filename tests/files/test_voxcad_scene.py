"""VoxCAD files as scenes: laws, regions, floors and stop conditions do what physics says they do."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isclose, tan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import FileFormatError, InputError
from supple.files.voxcad.load import (
    BoundaryRegion,
    StopKind,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
    load_voxcad,
    save_voxcad,
    voxcad_body,
    voxcad_notes,
    voxcad_scene,
    voxcad_settings,
)
from supple.files.voxcad.scene import BODY, collapsed, frame_interval, stride
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.record.measures import measure_bodies
from supple.running import count_steps

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "voxel-files"
SIZE, YOUNG, DENSITY = 0.01, 1e6, 1000.0
SOFT = VoxelMaterial(young=YOUNG, density=DENSITY, bond_damping=1.0, ground_damping=0.02, name="soft")
FIRST, LAST = ((0.0, 0.0, 0.0), (0.01, 1.0, 1.0)), ((0.99, 0.0, 0.0), (0.01, 1.0, 1.0))
HELD = (True,) * 6


def bar(count: int, *regions: BoundaryRegion, material: VoxelMaterial = SOFT, **around: object) -> VoxcadFile:
    """A row of voxels along x."""
    environment = VoxcadEnvironment(tuple(regions), **around)  # type: ignore[arg-type]
    return VoxcadFile(VoxelGrid(np.ones((count, 1, 1), dtype=int), SIZE), (material,), environment=environment)


def end_of(file: VoxcadFile, until: float, **more: object) -> np.ndarray:
    """Frames (n, 7) after a run."""
    run = sp.run(voxcad_scene(file), until=until, **more)  # type: ignore[arg-type]
    return run.state.x.reshape(-1, 7)


# Regions


def test_a_force_stretches_a_bar():
    """F (n - 1) / (E l), the links being l long and l² wide."""
    force = 0.5
    file = bar(6, BoundaryRegion(*FIRST, held=HELD), BoundaryRegion(*LAST, force=(force, 0, 0)))
    x = end_of(file, 1.0)
    assert x[-1, 0] - (5.5 * SIZE) == pytest.approx(force * 5 / (YOUNG * SIZE), rel=1e-3)
    assert x[0, 0] == 0.5 * SIZE


def test_a_torque_twists_a_bar():
    """T (n - 1) / (G l³/6)."""
    torque = 2e-4
    file = bar(4, BoundaryRegion(*FIRST, held=HELD), BoundaryRegion(*LAST, torque=(torque, 0, 0)))
    x = end_of(file, 1.0)
    assert 2 * np.arcsin(x[-1, 4]) == pytest.approx(torque * 3 / (YOUNG / 2 * SIZE**3 / 6), rel=1e-3)


def test_forces_are_shared_by_all_voxels_touched():
    grid = VoxelGrid(np.ones((2, 2, 3), dtype=int), SIZE)
    region = BoundaryRegion(*LAST, force=(0, 0, 6.0))
    scene = voxcad_scene(VoxcadFile(grid, (SOFT,), environment=VoxcadEnvironment((region,))))
    (acting,) = scene.forces
    assert acting.force.indices.tolist() == [6, 7, 8, 9, 10, 11]
    system = scene.compile()
    state = system.initial_state()
    f = np.zeros((12, 6))
    acting.force.add_force(system.propagate(0.0, state.x, state.v).local(system.bodies[0]), f)
    assert f[6:, 2].tolist() == [1.0] * 6
    assert not f[:6].any()


def test_a_displaced_region_pulls_the_rest_along():
    """At rest the row between the ends is stretched evenly; on the way the end follows s² (3 - 2 s)."""
    moved = BoundaryRegion(*LAST, held=HELD, displacement=(0.004, 0, 0))
    file = bar(6, BoundaryRegion(*FIRST, held=HELD), moved)
    x = end_of(file, 1.0)
    np.testing.assert_allclose(x[:, 0] - (np.arange(6) + 0.5) * SIZE, 0.004 * np.arange(6) / 5, atol=1e-7)
    half = end_of(file, 0.05)
    assert half[-1, 0] - 5.5 * SIZE == pytest.approx(0.002, abs=1e-9)
    assert any("within 0.1 s" in note for note in voxcad_notes(file))


def test_a_turned_region_turns_each_voxel():
    file = bar(3, BoundaryRegion(*FIRST, held=HELD), BoundaryRegion(*LAST, held=HELD, rotation=(0.3, 0, 0)))
    x = end_of(file, 1.0)
    np.testing.assert_allclose(2 * np.arcsin(x[:, 4]), [0.0, 0.15, 0.3], atol=1e-6)
    assert x[-1, 0] == 2.5 * SIZE


@pytest.mark.parametrize(
    ("held", "moves", "turns"),
    [
        ((True, False, True, False, False, False), (False, True, False), True),
        ((True, True, True, False, False, False), (False, False, False), True),
        ((True, False, True, True, True, True), (False, True, False), False),
        ((False, False, False, True, True, True), (True, True, True), True),
    ],
)
def test_some_coordinates_may_be_held(held, moves, turns):
    """Pushed and twisted along all axes, a voxel alone moves where it is free to."""
    region = BoundaryRegion((0, 0, 0), (1, 1, 1), held=held, force=(1, 1, 1), torque=(1e-3, 0, 0))
    file = bar(1, region)
    x = end_of(file, 0.01)[0]
    assert (np.abs(x[:3] - SIZE / 2) > 1e-6).tolist() == list(moves)
    assert (abs(x[4]) > 1e-6) == turns
    assert (f"{region.unsupported}" == "['DofFixed']") == (held == (False, False, False, True, True, True))


def test_regions_may_overlap():
    """A voxel held by two regions belongs to the first that holds it altogether."""
    moved = BoundaryRegion(*LAST, held=HELD, displacement=(0.001, 0, 0))
    still = BoundaryRegion((0, 0, 0), (1, 1, 1), held=HELD)
    partly = BoundaryRegion((0, 0, 0), (1, 1, 1), held=(False, False, True, False, False, False))
    x = end_of(bar(4, partly, moved, still), 0.2)
    np.testing.assert_allclose(x[:, 0] - (np.arange(4) + 0.5) * SIZE, [0, 0, 0, 0.001], atol=1e-12)


def test_a_region_that_touches_nothing_is_named():
    file = bar(3, BoundaryRegion((2, 2, 2), (0.1, 0.1, 0.1), held=HELD, force=(1, 0, 0)))
    assert not voxcad_scene(file).filters
    assert any("touch no voxel: Environment/Boundary_Conditions/FRegion." in note for note in voxcad_notes(file))


# Surroundings


def test_a_slope_holds_or_lets_slide():
    """Static friction holds up to tan(slope) = mu_s; beyond, a block slides with g (sin - mu_k cos)."""
    rough = VoxelMaterial(young=YOUNG, density=DENSITY, static_friction=0.5, kinetic_friction=0.4, contact_damping=1.0)

    def slid(slope: float, until: float) -> float:
        file = bar(1, material=rough, gravity_enabled=True, floor_enabled=True, floor_slope=slope)
        low, high = (end_of(file, t)[0, :3] for t in (0.3, until))
        return float(np.linalg.norm(high - low))

    assert slid(-20.0, 0.5) < 1e-6
    assert tan(np.radians(20)) < 0.5 < tan(np.radians(35))
    angle = np.radians(35)
    rate = 9.81 * (np.sin(angle) - 0.4 * np.cos(angle))
    times = (0.3, 0.4, 0.5)
    file = bar(1, material=rough, gravity_enabled=True, floor_enabled=True, floor_slope=-35.0)
    a, b, c = (end_of(file, t)[0, :3] for t in times)
    along = np.array([np.cos(angle), 0, -np.sin(angle)])
    assert (c - 2 * b + a) @ along / 0.1**2 == pytest.approx(rate, rel=1e-3)


def test_voxels_below_a_rising_floor_are_told():
    """Of four voxels along x the floor at 10 degrees rises above half a voxel below the centres of all."""
    for slope, count in ((0.0, None), (-10.0, None), (10.0, 4)):
        notes = " ".join(voxcad_notes(bar(4, floor_enabled=True, floor_slope=slope)))
        assert ("below the floor" in notes) == (count is not None)
        assert count is None or f"{count} voxels start" in notes


def test_odd_times_leave_the_steps_alone():
    for start, end in ((1e-300, 1.0), (0.0, 1e300), (1e300, 0.0), (0.0, 0.0)):
        file = replace(bar(2), simulator=VoxcadSimulator(0.9, False, StopKind.TIME, end, start))
        assert 1 / 60 <= voxcad_settings(file)["record_every"] <= 1 / 30


def test_collisions_follow_the_flag():
    file = bar(2)
    assert not voxcad_scene(file).contacts
    scene = voxcad_scene(replace(file, simulator=VoxcadSimulator(self_collision=True)))
    assert scene.contacts[0].self_touching(scene) == scene.nodes


def test_a_table_of_stiffness_goes_before_the_materials():
    table = np.array([2e6, 0.0, 3e6]).reshape(3, 1, 1)
    file = replace(bar(3), voxel_fields={"Stiffness": table})
    assert voxcad_body(file).model.values("young").tolist() == [2e6, YOUNG, 3e6]
    assert "VXC/Structure/Stiffness" not in file.unsupported


def test_the_orientation_is_that_of_all_voxels():
    """Turned as a whole, with single voxels turned and moved otherwise, the body's turn is the best fit."""
    grid = VoxelGrid(np.ones((4, 3, 2), dtype=int), SIZE)
    scene = sp.Scene(solver=sp.LatticeSolver())
    scene.add(sp.VoxelBody(grid, SOFT), rotation=(0, 0, 0.5))
    system = scene.compile()
    state = system.initial_state()
    (before,) = measure_bodies(system, state)
    np.testing.assert_allclose(before.orientation, [np.cos(0.25), 0, 0, np.sin(0.25)], atol=1e-12)
    x = state.x.reshape(-1, 7)
    q = rotations.exp(np.array([0.3, -0.2, 0.4]))
    x[:, :3] = rotations.rotate(q, x[:, :3]) + np.array([1, 2, 3])
    x[0, 3:] = (0, 1, 0, 0)
    (after,) = measure_bodies(system, state)
    np.testing.assert_allclose(after.orientation, rotations.multiply(q, before.orientation), atol=1e-12)


# Stop conditions


def test_steps_are_those_of_voxelyze():
    """DtFrac / (2 pi sqrt(k/m)), k = E l / ((1 + nu)(1 - 2 nu))."""
    file = replace(bar(2), simulator=VoxcadSimulator(0.5, stop_kind=StopKind.STEPS, stop_value=1000))
    step = 0.5 / (2 * np.pi * np.sqrt(YOUNG * SIZE / (DENSITY * SIZE**3)))
    assert file.stop_time == pytest.approx(1000 * step)
    squeezed = replace(file, palette=(replace(SOFT, poisson=0.25),))
    assert squeezed.own_step == pytest.approx(step * np.sqrt(1.25 * 0.5))


@pytest.mark.parametrize(("kind", "value"), [(StopKind.KINETIC_ENERGY_BELOW, 1e-6), (StopKind.MOTION_BELOW, 1e-6)])
def test_a_run_stops_where_motion_ends(kind, value):
    """A bar pulled along swings, damped, and stops before the bound; below the threshold and not long before."""
    pulled = bar(4, BoundaryRegion(*FIRST, held=HELD), BoundaryRegion(*LAST, force=(0.2, 0, 0)))
    file = replace(pulled, simulator=VoxcadSimulator(stop_kind=kind, stop_value=value))
    settings = voxcad_settings(file)
    assert "until" not in settings
    run = sp.run(voxcad_scene(file), until=5.0, **settings)
    assert run.outcome == "stopped"
    assert 0 < run.time < 4.0
    v = run.state.v.reshape(-1, 6)
    energy = 0.5 * DENSITY * SIZE**3 * (v[:, :3] ** 2).sum() / 4
    speed = np.linalg.norm(v[:, :3], axis=1).max()
    assert energy < 1e-3 * value if kind is StopKind.KINETIC_ENERGY_BELOW else speed * file.own_step < 1e-3 * value
    assert not file.unsupported


def test_frames_fall_on_the_time_to_measure_from():
    file = replace(bar(2), simulator=VoxcadSimulator(stop_kind=StopKind.TIME, stop_value=1.0, measured_from=0.37))
    run = sp.run(voxcad_scene(file), **voxcad_settings(file))
    assert np.abs(run.frames.times - 0.37).min() < 1e-9
    assert isclose(run.time, 1.0, abs_tol=1e-12)


@given(st.floats(1 / 300, 20.0), st.floats(0.01, 40.0))
def test_runs_end_when_the_file_says(start, end):
    """Whole steps reach the end; a frame is near the time to measure from."""
    simulator = VoxcadSimulator(stop_kind=StopKind.TIME, stop_value=end, measured_from=start)
    file = replace(bar(1), simulator=simulator)
    dt, frame = stride(file), frame_interval(file)
    assert isclose(count_steps(end, dt) * dt, end, rel_tol=1e-9)
    assert isclose(frame / dt, round(frame / dt), rel_tol=1e-9)
    assert 0 < dt <= frame / 10 * (1 + 1e-9)
    assert 0 < frame <= 1 / 30 + dt / 2
    if start < end:
        off = abs(start - round(start / frame) * frame)
        assert off <= max(1.1e-5, start / end * dt / 2)  # half a stride at the end is less at the start


def test_a_long_run_ends_on_time():
    """The steps of Voxelyze's own and a time to measure from, which have no common measure."""
    file = replace(bar(1), simulator=VoxcadSimulator(stop_kind=StopKind.TIME, stop_value=15.7248, measured_from=1.0))
    run = sp.run(voxcad_scene(file), **voxcad_settings(file))
    assert run.time == pytest.approx(15.7248, abs=1e-12)


def test_other_stop_conditions_are_named():
    for kind in (StopKind.ENERGY_CONSTANT, StopKind.MOTION_BELOW_OR_TIME, StopKind.POINTING_ERROR):
        file = replace(bar(2), simulator=VoxcadSimulator(stop_kind=kind, stop_value=1.0))
        assert file.unsupported == ("Simulator/StopCondition/StopConditionType",)
        assert set(voxcad_settings(file)) == {"record_every"}


# Laws


def material_xml(law: str) -> str:
    return f"""<VXA><VXC><Lattice><Lattice_Dim>0.01</Lattice_Dim></Lattice><Palette><Material><Name>m</Name><Mechanical>
    {law}<Density>1000</Density></Mechanical></Material></Palette>
    <Structure Compression="ASCII_READABLE"><X_Voxels>2</X_Voxels><Y_Voxels>1</Y_Voxels><Z_Voxels>1</Z_Voxels>
    <Data><Layer><![CDATA[11]]></Layer></Data></Structure></VXC></VXA>"""


def read_law(folder: Path, law: str) -> VoxcadFile:
    path = folder / "a.vxa"
    path.write_text(material_xml(law))
    return load_voxcad(path)


POINTS = "<Strain>0</Strain><Strain>0.1</Strain><Strain>0.3</Strain>"
STRESSES = "<Stress>0</Stress><Stress>1e5</Stress><Stress>1.2e5</Stress>"
SSDATA = (
    f"<SSData><NumDataPts>3</NumDataPts><StrainData>{POINTS}</StrainData><StressData>{STRESSES}</StressData></SSData>"
)
MODULUS = "<Elastic_Mod>1e6</Elastic_Mod>"
LAWS = {
    "linear": ("<MatModel>0</MatModel><Fail_Stress>5</Fail_Stress>", {}),
    "failing by stress": ("<MatModel>1</MatModel><Fail_Stress>5e4</Fail_Stress>", {"fail_stress": 5e4}),
    "by strain": (
        "<MatModel>1</MatModel><FailModel>1</FailModel><Fail_Stress>5</Fail_Stress><Fail_Strain>0.2</Fail_Strain>",
        {"fail_strain": 0.2},
    ),
    "guessed": (
        "<MatModel>1</MatModel><Fail_Stress>0</Fail_Stress><Fail_Strain>0.2</Fail_Strain>",
        {"fail_strain": 0.2},
    ),
    "never": ("<MatModel>1</MatModel><FailModel>0</FailModel><Fail_Stress>0</Fail_Stress>", {}),
    "bilinear": (
        "<MatModel>2</MatModel><Plastic_Mod>1e5</Plastic_Mod><Yield_Stress>2e4</Yield_Stress>",
        {"yield_stress": 2e4, "plastic_modulus": 1e5},
    ),
    "bilinear, failing": (
        "<MatModel>2</MatModel><Plastic_Mod>1e5</Plastic_Mod><Yield_Stress>2e4</Yield_Stress><FailModel>0</FailModel>"
        "<Fail_Stress>4e4</Fail_Stress>",
        {"yield_stress": 2e4, "plastic_modulus": 1e5, "fail_stress": 4e4},
    ),
    "table": (
        f"<MatModel>3</MatModel>{SSDATA}",
        {"curve": ((0.0, 0.0), (0.1, 1e5), (0.3, 1.2e5)), "fail_strain": 0.3},
    ),
}


UNDAMPED = dict.fromkeys(("static_friction", "kinetic_friction"), 0.0)
UNDAMPED |= dict.fromkeys(("contact_damping", "ground_damping"), 1.0)


@pytest.mark.parametrize("name", LAWS)
def test_laws_are_read_and_written_back(tmp_path, name):
    law, expected = LAWS[name]
    file = read_law(tmp_path, law + MODULUS)
    (material,) = file.palette
    assert material == VoxelMaterial(young=1e6, density=1000, name="m", **UNDAMPED, **expected)
    save_voxcad(file, tmp_path / "b.vxa")
    assert load_voxcad(tmp_path / "b.vxa") == file
    assert ("VXC/Palette/Material/Mechanical/Fail_Stress" in file.unsupported) == (name in ("linear", "by strain"))


def test_a_table_has_its_own_modulus(tmp_path):
    file = read_law(tmp_path, f"<MatModel>3</MatModel>{SSDATA}<Elastic_Mod>7</Elastic_Mod>")
    assert file.palette[0].young == 1e6
    own = replace(file.palette[0], fail_strain=0.2)
    with pytest.raises(InputError, match=r"written only where the material fails at its end .*fail_strain=0\.3"):
        save_voxcad(replace(file, palette=(own,)), tmp_path / "b.vxa")


@pytest.mark.parametrize(("strain", "holds"), [(0.049, True), (0.051, False)])
def test_a_link_breaks_at_its_failing_strain(strain, holds):
    moved = BoundaryRegion(*LAST, held=HELD, displacement=(strain * SIZE, 0, 0))
    file = bar(2, BoundaryRegion(*FIRST, held=HELD), moved, material=replace(SOFT, fail_strain=0.05))
    run = sp.run(voxcad_scene(file), until=0.15)
    plastic, accumulated, alive = run.state.memory[f"{BODY}/links"][0]
    assert (plastic, accumulated, alive) == (0.0, 0.0, float(holds))


@pytest.mark.parametrize(
    ("law", "says"),
    [
        ("<MatModel>4</MatModel>", r"Mechanical/MatModel: an unknown law of a material \(got 4; allowed: 0 to 3\)"),
        ("<MatModel>2</MatModel>", "Mechanical: yield_stress is not positive"),
        ("<MatModel>1</MatModel><FailModel>2</FailModel>", "FailModel: an unknown way to fail"),
        ("<MatModel>2</MatModel><Yield_Stress>nan</Yield_Stress>", "Yield_Stress: not a finite number"),
        (
            "<MatModel>2</MatModel><Yield_Stress>1</Yield_Stress><Plastic_Mod>2e6</Plastic_Mod>",
            "the plastic modulus is out of range",
        ),
        ("<MatModel>3</MatModel>", "the tag <SSData> is missing"),
        (f"<MatModel>3</MatModel>{SSDATA.replace('>3<', '>1000000000<', 1)}", "NumDataPts: the points of the"),
        (f"<MatModel>3</MatModel>{SSDATA.replace('>3<', '>2<', 1)}", "NumDataPts: the points of the"),
        (f"<MatModel>3</MatModel>{SSDATA.replace('1.2e5', 'inf')}", r"Stress\[3\]: not a finite number"),
        (f"<MatModel>3</MatModel>{SSDATA.replace('0.3', '0.05')}", "do not ascend"),
        (f"<MatModel>3</MatModel>{SSDATA.replace('1.2e5', '1e4')}", "the stress-strain curve decreases"),
        (f"<MatModel>3</MatModel>{SSDATA.replace('0.1', '0')}", "ascend"),
    ],
)
def test_wrong_laws_are_one_sentence(tmp_path, law, says):
    with pytest.raises(FileFormatError, match=says) as caught:
        read_law(tmp_path, law + MODULUS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tag", ["BondDampingZ", "ColDampingZ", "SlowDampingZ"])
@pytest.mark.parametrize("ratio", ["1.5", "-0.1", "nan"])
def test_damping_ratios_out_of_range_are_refused(tmp_path, tag, ratio):
    simulator = f"<Simulator><Damping><{tag}>{ratio}</{tag}></Damping></Simulator>"
    path = tmp_path / "a.vxa"
    path.write_text(material_xml(MODULUS).replace("<VXA>", f"<VXA>{simulator}"))
    with pytest.raises(
        FileFormatError, match=f"Simulator/Damping/{tag}: (a damping ratio is out of range|not a finite)"
    ):
        load_voxcad(path)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("<Environment><Gravity><FloorSlope>90</FloorSlope></Gravity></Environment>", "the floor is too steep"),
        ("<Environment><Gravity><FloorSlope>nan</FloorSlope></Gravity></Environment>", "FloorSlope: not a finite"),
        ("<Simulator><StopCondition><InitCmTime>-1</InitCmTime></StopCondition></Simulator>", "not a time"),
        ("<Simulator><StopCondition><InitCmTime>1e999</InitCmTime></StopCondition></Simulator>", "InitCmTime: not a"),
    ],
)
def test_other_new_tags_are_checked(tmp_path, part, says):
    path = tmp_path / "a.vxa"
    path.write_text(material_xml(MODULUS).replace("<VXA>", f"<VXA>{part}"))
    with pytest.raises(FileFormatError, match=says):
        load_voxcad(path)


# What a person is told


def test_paths_that_differ_in_numbers_are_one():
    paths = ("A/B", "C/M[1]/X", "C/M[2]/X", "C/M[1]/Y")
    assert collapsed(paths) == ["A/B", "C/M[*]/X (2)", "C/M[1]/Y"]


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="needs the reference files")
@pytest.mark.parametrize("name", sorted(p.name for p in REFERENCE.glob("*.vx[ac]")))
def test_real_files_run(name):
    file = load_voxcad(REFERENCE / name)
    notes = " ".join(voxcad_notes(file))
    for tag in ("VXC/Voxel", "Simulator/Integration/Integrator", "Simulator/RecordHistory"):
        assert (tag in notes) == any(path.startswith(tag) for path in file.unsupported)
    run = sp.run(voxcad_scene(file), **voxcad_settings(file) | {"until": 0.02})
    assert run.outcome == "finished"
    assert run.state.is_finite
    assert not re.search(r"\n", notes)
