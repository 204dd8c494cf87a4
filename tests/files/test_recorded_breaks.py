"""Trees that break or change the kinds of domains while they run: no point jumps, momentum stays, records show both
parts in all frames, and a resumed run has the same bits, whether it stopped before or after."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.record import open_record
from supple.scene.changes import changes_of
from supple.validation.tree.coupling import beam_domain_tree
from supple.validation.tree.reference import mixed_domain_tree

G = (0.0, 0.0, -9.81)


def wood(**more: object) -> sp.Scene:
    """A branch of four domains that holds a bob by a spring, with a ball beside it."""
    scene = sp.Scene(gravity=G)
    node = scene.add(sp.TreeBody(beam_domain_tree(4, 6), stiffness_damping=0.01, **more), name="branch")
    end = node.points([int(np.argmax(node.rest[:, 0]))])
    bob = scene.add(sp.Particles(end.rest - np.array([0, 0, 0.2]), 0.02), name="bob")
    scene.add(sp.Springs(end, bob.points([0]), stiffness=10.0, damping=0.1), name="string")
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, -1.0), name="ball")
    return scene


def run(out: Path | None, until: float = 0.2, *, resume: bool = False, **more: object) -> sp.Run:
    """A run whose branch gets fewer modes at 0.06 s and breaks at 0.1 s."""

    def observer(frame) -> None:
        count = len(frame.changes)
        if frame.time >= 0.0599 and count == 0:
            frame.system.change(frame.state, "branch", domain=1, modes=5)
        if frame.time >= 0.0999 and count == 1:
            frame.system.break_off(frame.state, "branch", 2, name="twig")

    return sp.run(wood(**more), until=until, dt=0.01, record_every=0.02, out=out, observers=[observer], resume=resume)


def test_both_parts_are_seen_in_all_frames(tmp_path: Path) -> None:
    on_disk, in_memory = run(tmp_path / "run").frames, run(None).frames
    whole = sp.run(wood(), until=0.04, dt=0.01, record_every=0.02).frames
    for frames in (on_disk, in_memory, open_record(tmp_path / "run")):
        assert frames.body_names == ["branch", "twig", "bob", "ball"]
        assert [len(frames.changes(k)) for k in range(11)] == [0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]
        parts = [np.concatenate([frames.points(name, k) for name in ("branch", "twig")]) for k in range(11)]
        assert {len(points) for points in parts} == {len(whole.points("branch", 0))}
        assert np.array_equal(np.sort(parts[2], axis=0), np.sort(whole.points("branch", 2), axis=0))
        assert frames.points("twig", 10)[:, 2].mean() < frames.points("twig", 5)[:, 2].mean() - 0.03
    for k in range(11):
        for name in on_disk.body_names:
            assert np.array_equal(on_disk.points(name, k), in_memory.points(name, k))
            assert np.array_equal(on_disk.triangles(name), in_memory.triangles(name))


@pytest.mark.parametrize("stop", [0.04, 0.08, 0.15])
def test_a_resumed_run_has_the_same_bits(stop: float, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole")
    run(tmp_path / "parts", stop)
    parts = run(tmp_path / "parts", resume=True)
    assert len(changes_of(parts.state)) == 2
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    for k in range(11):
        for name in whole.frames.body_names:
            assert np.array_equal(whole.frames.points(name, k), parts.frames.points(name, k))


def test_a_record_goes_back_before_a_break(tmp_path: Path) -> None:
    """A run that is killed after a break goes on from a checkpoint before it: the tree is whole again, then breaks."""
    run(tmp_path / "run", 0.08)
    kept = (tmp_path / "run" / "checkpoint.npz").read_bytes()
    run(tmp_path / "run", 0.15, resume=True)
    (tmp_path / "run" / "checkpoint.npz").write_bytes(kept)
    again, whole = run(tmp_path / "run", resume=True), run(tmp_path / "whole")
    assert again.state.x.tobytes() == whole.state.x.tobytes()
    for k in range(11):
        for name in whole.frames.body_names:
            assert np.array_equal(whole.frames.points(name, k), again.frames.points(name, k))


def flying() -> tuple[sp.System, sp.State]:
    scene = sp.Scene()
    scene.add(sp.TreeBody(mixed_domain_tree(free=True, chain=False)), name="tree", velocity=(1, 2, 3), spin=(3, -1, 2))
    system, solver = scene.compile(), sp.TreeSolver(1 / 120)
    state = system.initial_state()
    for _ in range(20):
        solver.step(system, state)
    return system, state


def momentum(system: sp.System, state: sp.State) -> np.ndarray:
    return system.momentum(system.propagate(state.t, state.x, state.v))


def test_a_break_changes_no_position_energy_or_momentum() -> None:
    system, state = flying()
    points, p = system.present(state, "tree").rest, momentum(system, state)
    kinetic = system.kinetic_energy(system.propagate(state.t, state.x, state.v))
    system.break_off(state, "tree", 1, name="twig")
    parts = np.concatenate([system.present(state, name).rest for name in ("tree", "twig")])
    assert np.sort(parts, axis=0) == pytest.approx(np.sort(points, axis=0), abs=1e-12)
    assert momentum(system, state) == pytest.approx(p, rel=1e-12)
    after = system.propagate(state.t, state.x, state.v)
    assert system.kinetic_energy(after) == pytest.approx(kinetic, rel=1e-12)
    solver = sp.TreeSolver(1 / 120)
    for _ in range(10):
        solver.step(system, state)
    assert momentum(system, state)[:3] == pytest.approx(p[:3], rel=1e-10)


@pytest.mark.parametrize("modes", [0, 2])
def test_another_kind_of_domain_keeps_the_momentum_of_a_tree_that_flies(modes: int) -> None:
    system, state = flying()
    p = momentum(system, state)
    system.change(state, "tree", domain=1, modes=modes)
    assert momentum(system, state) == pytest.approx(p, rel=1e-10)
    sp.TreeSolver(1 / 120).step(system, state)


def test_a_domain_that_is_rigid_is_the_one_that_was_made_so() -> None:
    """From rest: the basis of before comes back with its kind."""
    scene = sp.Scene(gravity=G)
    scene.add(sp.TreeBody(beam_domain_tree(3, 6)), name="branch")
    system, plain = scene.compile(), scene.compile()
    state, other, solver = system.initial_state(), plain.initial_state(), sp.TreeSolver(1 / 120)
    system.change(state, "branch", domain=1, modes=0)
    assert system.x_size == plain.x_size - 6
    solver.step(system, state)
    system.change(state, "branch", domain=1, kind="part")
    assert system.x_size == plain.x_size
    state = system.initial_state()
    sp.TreeSolver(1 / 120).step(system, state)
    sp.TreeSolver(1 / 120).step(plain, other)
    assert np.array_equal(state.x, other.x)


def test_a_wind_and_a_contact_follow_the_parts() -> None:
    scene = wood()
    node = scene.node("branch")
    scene.add(sp.Wind(node, velocity=(0, 5, 0), intensity=0.0), name="wind")
    scene.add(sp.Floor(height=-2.0), name="floor")
    scene.add(sp.Contact([node, scene.node("ball")], exclude=[("branch", "ball")]))
    system, solver = scene.compile(), sp.Partitioned(0.01)
    state = system.initial_state()
    solver.step(system, state)
    system.break_off(state, "branch", 2, name="twig")
    assert {"branch", "twig"} <= set(system.contacts[0].names)
    for _ in range(10):
        solver.step(system, state)
    assert system.present(state, "twig").rest[:, 1].mean() > 1e-4
    system.add(state, sp.FixedJoint(scene.node("ball"), system.present(state, "twig"), at=state.x[-7:-4]))
    solver.step(system, state)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda system, state: system.break_off(state, "branch", 0), "root"),
        (lambda system, state: system.break_off(state, "branch", 9), "0..3"),
        (lambda system, state: system.break_off(state, "branch", 2.5), "number or name"),
        (lambda system, state: system.break_off(state, "ball", 1), "tree of domains"),
        (lambda system, state: system.break_off(state, "moon", 1), "gravity, branch"),
        (lambda system, state: system.break_off(state, "branch", 2, name="ball"), "already used"),
        (lambda system, state: system.change(state, "branch", domain=1), "kind or its modes"),
        (lambda system, state: system.change(state, "branch", domain=1, kind="leaf"), "no kind of that name"),
        (lambda system, state: system.change(state, "branch", domain=1, modes=2.5), "whole number"),
        (lambda system, state: system.change(state, "branch", domain=1, modes=-1), "range"),
        (lambda system, state: system.change(state, "branch", domain=7, modes=1), "0..3"),
        (lambda system, state: system.change(state, "branch", broken_off=1), "system.break_off"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(act, said: str) -> None:
    system = wood().compile()
    state = system.initial_state()
    x = state.x.copy()
    with pytest.raises(InputError, match=said):
        act(system, state)
    assert not changes_of(state)
    assert system.revision == 0
    assert np.array_equal(state.x, x)


def test_vtk_reads_the_parts(tmp_path: Path) -> None:
    vtk = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    run(tmp_path / "run")
    record = open_record(tmp_path / "run")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(record.path))
    reader.UpdateInformation()
    for frame in (2, 10, 6):
        reader.UpdateTimeStep(float(record.times[frame]))
        output = reader.GetOutputDataObject(0)
        assert output.GetNumberOfPartitionedDataSets() == 4
        for index, body in enumerate(record.body_names):
            polydata = output.GetPartitionedDataSet(index).GetPartition(0)
            assert output.GetMetaData(index).Get(output.NAME()) == record.blocks[body]
            assert np.array_equal(vtk_to_numpy(polydata.GetPoints().GetData()), record.points(body, frame))
            assert polydata.GetNumberOfPolys() == len(record.triangles(body))


def test_a_given_surface_is_cut_with_the_tree() -> None:
    mesh = sp.box_tets((1.6, 0.1, 0.1), (24, 2, 2))
    used, triangles = np.unique(mesh.boundary.triangles, return_inverse=True)
    surface = sp.SurfaceMesh(mesh.nodes[used], triangles.reshape(-1, 3))
    frames = run(None, surface=surface).frames
    for k in (0, 10):
        assert len(frames.points("branch", k)) + len(frames.points("twig", k)) == len(surface.nodes)
    ends = [frames.points(name, 0)[np.unique(frames.triangles(name)), 0] for name in ("branch", "twig")]
    assert ends[0].max() <= 0.8 + 1e-6
    assert ends[1].min() >= 0.8 - 1e-6
