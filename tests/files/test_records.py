"""Records and checkpoints: what VTK reads, what survives, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supple as sp
from supple.errors import InputError, RecordError
from supple.record import Checkpoint, load_checkpoint, open_record, save_checkpoint
from supple.record.batch import FEW
from supple.record.checkpoint import seal
from supple.record.files.lock import FolderLock
from supple.record.files.vtkhdf import block_names
from supple.record.measures import measure
from supple.record.record import RecordWriter
from supple.scene import State
from supple.solvers.report import Outcome

FULL = """
import resource, signal, sys
import numpy as np
import supple as sp
from supple.errors import RecordError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))  # writes beyond fail, as on a full disk
scene = sp.Scene(gravity=(0, 0, -9.81))
scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
try:
    sp.run(scene, until=10.0, out=sys.argv[1], record_every=0.01)
except RecordError as error:
    print(error.run.outcome, error.run.steps)
    print(error)
"""

KILLED = """
import os, sys
from unittest import mock
sys.path.insert(0, sys.argv[3])
from test_records import make_scene
import supple as sp
with mock.patch(sys.argv[2], side_effect=lambda *given, **named: os._exit(9)):
    sp.run(make_scene(), until=0.1, out=sys.argv[1])
"""


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="drop")
    scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=500), at=(0, 0, 1), spin=(1, 2, 3), name="my box/1")
    positions = np.c_[np.arange(4.0), np.zeros((4, 2))]
    scene.add(sp.Particles(positions, 0.1, springs=[(0, 1), (1, 2), (2, 3)], stiffness=50), name="chain")
    scene.add(sp.RigidBody(1.0, (1, 1, 1)), at=(0, 1, 0), name="1 bare")
    return scene


def assert_same_state(one: State, two: State) -> None:
    assert one.t == two.t
    assert one.x.tobytes() == two.x.tobytes()
    assert one.v.tobytes() == two.v.tobytes()
    assert {name: (a.shape, a.dtype, a.tobytes()) for name, a in one.memory.items()} == {
        name: (a.shape, a.dtype, a.tobytes()) for name, a in two.memory.items()
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return sp.run(make_scene(), until=0.3, out=tmp_path_factory.mktemp("record"), record_every=0.05)


def test_vtk_reads_bodies_and_times(run) -> None:
    vtk = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

    record = open_record(run.folder)
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(record.path))
    reader.UpdateInformation()
    information = reader.GetOutputInformation(0)
    key = Pipeline.TIME_STEPS()
    times = [information.Get(key, k) for k in range(information.Length(key))]
    assert times == record.times.tolist()
    assert len(times) == 7
    for frame in (0, 3, 6, 1):  # not in order: ParaView jumps
        reader.UpdateTimeStep(times[frame])
        output = reader.GetOutputDataObject(0)
        assert output.GetNumberOfPartitionedDataSets() == 3
        for index, body in enumerate(record.body_names):
            polydata = output.GetPartitionedDataSet(index).GetPartition(0)
            assert output.GetMetaData(index).Get(output.NAME()) == record.blocks[body]
            points = vtk_to_numpy(polydata.GetPoints().GetData())
            assert points.dtype == np.float32
            assert np.array_equal(points, record.points(body, frame))
            assert polydata.GetNumberOfPolys() == len(record.triangles(body))
            assert polydata.GetNumberOfLines() == len(record.lines(body))
    assert record.lines("chain").tolist() == [[0, 1], [1, 2], [2, 3]]


def test_finite_element_points_are_the_boundary_nodes(tmp_path: Path) -> None:
    mesh = sp.box_tets(size=(0.2, 0.1, 0.1), cells=(3, 3, 3))
    scene = sp.Scene()
    scene.add(sp.FemBody(mesh, sp.Material(young=1e5, poisson=0.3, density=1000)), at=(1, 2, 3), name="block")
    record = sp.run(scene, until=0.0, out=tmp_path).frames
    inner = len(mesh.nodes) - len(mesh.boundary.node_indices)
    assert inner == 8
    expected = mesh.nodes[mesh.boundary.node_indices] + [1, 2, 3]
    assert np.array_equal(record.points("block", 0), expected.astype(np.float32))
    surface = sp.SurfaceMesh(record.points("block", 0).astype(float), record.triangles("block"))
    assert surface.volume == pytest.approx(0.002, rel=1e-5)  # float32 points about 3 m from the origin


def test_record_holds_measures_states_and_description(run) -> None:
    record = open_record(run.folder)
    assert record.body_names == ["my box/1", "chain", "1 bare"]
    assert record.kinds == ["rigid", "particles", "rigid"]
    assert record.about["dt"] == 0.01
    assert record.about["solver"] == "ImplicitEuler"
    assert record.about["version"] == sp.__version__
    assert json.loads(record.about["gravity"]) == [0, 0, -9.81]
    mass = 500 * 0.006 + 0.4 + 1.0
    assert record.momentum[:, 2] == pytest.approx(-9.81 * mass * record.times, abs=1e-9)  # p = m g t, exact
    assert record.columns["outcome"].tolist() == ["SOLVED"] * 7
    state = record.state(30)
    assert state.t == run.state.t
    assert state.x.tobytes() == run.state.x.tobytes()
    assert state.v.tobytes() == run.state.v.tobytes()


def test_record_keeps_whatever_a_state_remembers(tmp_path: Path) -> None:
    system = make_scene().compile()
    memory = {
        "contact/key": np.arange(4),
        "contact/push": np.ones((4, 3)),
        "contact": np.zeros((0, 3)),
        "my box/1/links": np.array(2.5),
        "./..//": np.array([True, False]),
        "": np.float64(3.0),
    }
    state = State(0.25, system.x0, system.v0, memory)
    writer = RecordWriter.create(tmp_path, system, {})
    writer.append_state(state, 25)
    writer.close()
    assert_same_state(open_record(tmp_path).state(25), state)


def test_record_keeps_states_of_contacts(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    box = scene.add(sp.RigidBody.box((0.2, 0.2, 0.2), density=500), at=(0, 0, 0.1001), name="box")
    scene.add(sp.Floor())
    scene.add(sp.Contact([box]))
    run = sp.run(scene, until=0.05, out=tmp_path)
    assert any("/" in name for name in run.state.memory)
    assert_same_state(open_record(tmp_path).state(run.steps), run.state)


def test_reader_names_what_is_not_there(run, tmp_path: Path) -> None:
    record = open_record(run.folder)
    with pytest.raises(InputError, match=r"0\.\.6"):
        record.points("chain", 7)
    with pytest.raises(InputError, match="chain"):
        record.points("rope", 0)
    with pytest.raises(InputError, match="30"):
        record.state(29)
    with pytest.raises(RecordError, match="no record"):
        open_record(tmp_path)
    (tmp_path / "record.vtkhdf").write_bytes(b"not HDF5")
    with pytest.raises(RecordError, match="not a readable record"):
        open_record(tmp_path)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(RecordError, match="not a readable record"):
        open_record(tmp_path / "other.h5")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_cut_record_is_refused_in_a_sentence(run, tmp_path: Path, part: float) -> None:
    whole = (run.folder / "record.vtkhdf").read_bytes()
    path = tmp_path / "cut.vtkhdf"
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(RecordError):
        open_record(path)


def test_half_written_frame_does_not_count(run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / "half")
    with h5py.File(tmp_path / "half" / "record.vtkhdf", "r+") as file:
        block = file["VTKHDF/chain"]
        block["Points"].resize(len(block["Points"]) + 4, axis=0)
        block["Steps/Values"].resize(8, axis=0)
        file["supple/frames/time"].resize(8, axis=0)
    assert len(open_record(tmp_path / "half")) == 7
    resumed = sp.run(make_scene(), until=0.35, out=tmp_path / "half", record_every=0.05, resume=True)
    assert len(resumed.frames.times) == 8
    assert resumed.frames.times[-1] == pytest.approx(0.35)


def test_full_disk_is_told_before_a_frame(tmp_path: Path, monkeypatch) -> None:
    usage = namedtuple("usage", "total used free")
    workspace = [1 << 40]

    def stop(frame) -> None:
        workspace[0] = 1000 if frame.step >= 5 else 1 << 40

    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1 << 40, 0, workspace[0]))
    monkeypatch.setattr("supple.record.record.UNWRITTEN", 60.0)  # a slow machine writes no smaller batches
    with pytest.raises(RecordError, match=r"1\.6 MiB are needed, 0\.0 MiB are free") as caught:
        sp.run(make_scene(), until=3.0, out=tmp_path, record_every=0.05, observers=[stop])
    assert caught.value.run.outcome == "failed"
    frames = caught.value.run.steps // 5
    assert FEW <= frames <= 2 * FEW  # room was taken ahead for the first of them
    assert open_record(tmp_path).times.tolist() == pytest.approx([0.05 * k for k in range(frames)])


def test_write_that_fails_leaves_a_readable_record(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True)
    outcome, *_ = done.stdout.split()
    assert outcome == "failed", done.stdout + done.stderr
    assert "no room" in done.stdout
    record = open_record(tmp_path)
    assert len(record) > 3
    assert np.isfinite(record.points("ball", -1)).all()


def test_folder_that_cannot_be_written_is_a_record_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RecordError, match="file"):
            sp.run(make_scene(), until=0.1, out=folder)


def test_two_writers_do_not_share_a_record(tmp_path: Path) -> None:
    system = make_scene().compile()
    writer = RecordWriter.create(tmp_path, system, {})
    try:
        before = (tmp_path / "record.vtkhdf").read_bytes()
        with pytest.raises(RecordError, match="another run"):
            RecordWriter.create(tmp_path, system, {})
        with pytest.raises(RecordError, match="another run"):
            FolderLock(tmp_path)
        assert (tmp_path / "record.vtkhdf").read_bytes() == before
    finally:
        writer.close()
    RecordWriter.create(tmp_path, system, {}).close()
    assert [p.name for p in tmp_path.iterdir()] == ["record.vtkhdf"]


def test_a_second_run_leaves_the_first_one_alone(tmp_path: Path) -> None:
    def interfere(frame) -> None:
        if frame.step == 10:
            for resume in (False, True):
                with pytest.raises(RecordError, match="another run"):
                    sp.run(make_scene(), until=0.1, out=tmp_path / "shared", resume=resume)

    alone = sp.run(make_scene(), until=0.3, out=tmp_path / "alone", record_every=0.05)
    often = {"record_every": 0.05, "checkpoint_every": 0.0, "observers": [interfere]}
    run = sp.run(make_scene(), until=0.3, out=tmp_path / "shared", **often)
    record = open_record(tmp_path / "shared")
    assert record.times.tolist() == open_record(alone.folder).times.tolist()
    assert np.array_equal(record.points("chain", -1), alone.frames.points("chain", -1))
    assert load_checkpoint(tmp_path / "shared" / "checkpoint.npz", run.system, run.solver).step == 30


@pytest.mark.parametrize("at", ["supple.record.files.vtkhdf.make_collection", "h5py.File.flush", "os.replace"])
def test_a_kill_while_a_record_is_made_leaves_the_old_one(tmp_path: Path, at: str) -> None:
    sp.run(make_scene(), until=0.1, out=tmp_path, record_every=0.05)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), at, str(Path(__file__).parent)], check=False)
    assert done.returncode == 9
    assert open_record(tmp_path).times.tolist() == pytest.approx([0, 0.05, 0.1])
    sp.run(make_scene(), until=0.05, out=tmp_path, record_every=0.05)
    assert len(open_record(tmp_path)) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint.npz", "record.vtkhdf"]


def test_block_names_are_plain_and_differ() -> None:
    names = block_names(["a b", "a_b", "Steps", "9", "", "α"])
    assert names == ["a_b", "a_b_1", "Steps_1", "_9", "_", "__1"]


def test_checkpoint_returns_the_exact_doubles(tmp_path: Path) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    rng = np.random.default_rng(1)
    memory = {"multipliers": rng.normal(size=3), "flags": np.array([True, False])}
    state = State(0.1 + 0.2, rng.normal(size=system.x_size), rng.normal(size=system.v_size), memory)
    path = tmp_path / "checkpoint.npz"
    for step in (7, 8):  # the second replaces the first
        saved = Checkpoint(state, step, 3, 1e-7, 2, Outcome.UNDER_CONVERGED, 1e-8)
        save_checkpoint(path, saved, system, solver)
    back = load_checkpoint(path, system, solver)
    assert (back.step, back.frames, back.worst_residual, back.under_converged) == (8, 3, 1e-7, 2)
    assert (back.outcome, back.residual) == (Outcome.UNDER_CONVERGED, 1e-8)
    assert back.state.t == state.t
    assert back.state.x.tobytes() == state.x.tobytes()
    assert back.state.v.tobytes() == state.v.tobytes()
    assert {k: a.tobytes() for k, a in back.state.memory.items()} == {k: a.tobytes() for k, a in memory.items()}
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint.npz"]


def test_failed_checkpoint_keeps_the_old_one(tmp_path: Path, monkeypatch) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(path, Checkpoint(system.initial_state(), 1, 1), system, solver)

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(RecordError, match="no space left"):
        save_checkpoint(path, Checkpoint(system.initial_state(), 2, 1), system, solver)
    assert load_checkpoint(path, system, solver).step == 1
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint.npz"]


def test_checkpoint_with_pickled_objects_is_refused(tmp_path: Path) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    path = tmp_path / "checkpoint.npz"
    np.savez(path, x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(RecordError, match="cannot be read"):
        load_checkpoint(path, system, solver)
    state = system.initial_state()
    state.memory["thing"] = np.array([object()])
    with pytest.raises(RecordError, match="thing"):
        save_checkpoint(path, Checkpoint(state, 0, 0), system, solver)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_checkpoint_is_refused_or_whole(tmp_path: Path, data) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    good, path = tmp_path / "good.npz", tmp_path / "bad.npz"
    if not good.exists():
        save_checkpoint(good, Checkpoint(system.initial_state(), 1, 1), system, solver)
    content = bytearray(good.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:at]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        state = load_checkpoint(path, system, solver).state
    except RecordError:
        return
    assert np.array_equal(state.x, system.x0)  # a byte that carries nothing


def test_bloated_checkpoint_is_refused_unread(tmp_path: Path, monkeypatch) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    path = tmp_path / "checkpoint.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(1 << 22))
    monkeypatch.setattr("supple.record.checkpoint.MAX_BYTES", 1 << 20)
    with pytest.raises(RecordError, match="declares"):
        load_checkpoint(path, system, solver)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", np.nan),
        ("step", -5),
        ("step", [1, 2]),
        ("step", "one"),
        ("frames", -1),
        ("frames", 10**9),
        ("t", np.inf),
        ("t", "now"),
        ("worst_residual", np.nan),
        ("residual", [1.0]),
        ("under_converged", 0.5),
        ("outcome", "WON"),
        ("format", np.nan),
        ("identity", "5"),
        ("identity", "{"),
        ("x", np.zeros(2)),
        ("v", np.zeros(3, dtype=complex)),
        ("memory/words", np.array(["a"])),
    ],
)
@pytest.mark.parametrize("is_sealed", [True, False])
def test_crafted_checkpoint_is_refused_in_a_sentence(tmp_path: Path, name: str, value, is_sealed: bool) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(path, Checkpoint(system.initial_state(), 1, 1), system, solver)
    with np.load(path) as archive:
        arrays = dict(archive) | {name: np.array(value)}
    np.savez(path, **(arrays | {"seal": np.array(seal(arrays))} if is_sealed else arrays))
    with pytest.raises(RecordError, match=r"cannot be read|another scene") as caught:
        load_checkpoint(path, system, solver)
    assert caught.value.fix


def test_checkpoint_of_positions_that_are_not_finite_is_refused(tmp_path: Path) -> None:
    system, solver = make_scene().compile(), sp.ImplicitEuler(0.01)
    state = system.initial_state()
    state.x[0] = np.nan
    save_checkpoint(tmp_path / "checkpoint.npz", Checkpoint(state, 1, 1), system, solver)
    with pytest.raises(RecordError, match="not finite"):
        load_checkpoint(tmp_path / "checkpoint.npz", system, solver)


def test_the_recorded_energy_of_a_fall_is_its_closed_form() -> None:
    """Kinetic m v²/2 and the fall in potential m g h of a ball after a free fall of 0.2 s, the sum unchanged."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    ball = sp.RigidBody.sphere(0.1, density=500)
    scene.add(ball, at=(0, 0, 3.0), name="ball")
    system = scene.compile()
    state = system.initial_state()
    seen = [measure(system, state)]
    state.x[2], state.v[2] = 3.0 - 0.5 * 9.81 * 0.2**2, -9.81 * 0.2
    seen.append(measure(system, state))
    gained = 0.5 * ball.mass * (9.81 * 0.2) ** 2
    assert seen[1].kinetic == pytest.approx(gained, rel=1e-12)
    assert seen[1].potential - seen[0].potential == pytest.approx(-gained, rel=1e-12)
    assert seen[1].total == pytest.approx(seen[0].total, rel=1e-12, abs=1e-12)
