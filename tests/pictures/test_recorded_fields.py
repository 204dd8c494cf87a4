"""Fields in the record of a run: velocity, strain and stress at the points of surfaces, as ParaView reads them."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, RecordError
from supple.exports import export
from supple.geometry import box_hexes, box_tets
from supple.modal import ElasticSolid
from supple.record.reader import open_record
from supple.record.surfaces import make_surface
from supple.validation.tree.coupling import beam_domain_tree

RUBBER = sp.Material(young=1e6, poisson=0.0, density=1000.0)
ALL = ["velocity", "strain", "stress"]


def pulled() -> sp.Scene:
    """A bar held at one end and pulled at the other until it rests: stress F / A, strain s + s²/2 of the stretch s."""
    scene = sp.Scene(solver=sp.ImplicitEuler(0.05, newton=True))
    stuff = sp.Material(young=1e6, poisson=0.0, density=1000.0, mass_damping=40.0)
    bar = scene.add(sp.FemBody(box_hexes((0.4, 0.1, 0.1), (8, 2, 2)), stuff, law="linear"), fix="x_min", name="bar")
    scene.add(sp.Load(bar.points("x_max"), (200.0, 0, 0)))
    return scene


def test_a_pulled_bar_has_the_stress_and_strain_of_its_load(tmp_path: Path) -> None:
    sp.run(pulled(), until=3.0, out=tmp_path, fields=ALL, record_every=0.5)
    record = open_record(tmp_path)
    assert record.fields == ("velocity", "strain", "stress")
    assert np.abs(record.field("bar", "velocity", -1)).max() < 1e-4
    s = 200.0 / 0.1**2 / 1e6
    middle = np.abs(record.points("bar", -1)[:, 0] - 0.2) < 0.06  # a load on nodes is uneven at the end itself
    assert np.allclose(record.field("bar", "stress", -1)[middle], s * 1e6, rtol=1e-2)
    assert np.allclose(record.field("bar", "strain", -1)[middle], s + s**2 / 2, rtol=2e-2)
    assert record.field("bar", "stress", 0).max() < 1e-6


def test_a_bar_has_its_fields_wherever_it_is_put() -> None:
    """Each point those of the elements around it: the same numbers as where the mesh lies."""
    mesh = box_tets((0.4, 0.1, 0.1), (4, 2, 1))
    bend = 1e-3 * np.random.default_rng(2).normal(size=mesh.nodes.shape)
    found = []
    for placed in ({}, {"at": (3.0, -1.0, 2.0), "rotation": (0.4, -1.1, 0.7)}):
        scene = sp.Scene()
        node = scene.add(sp.FemBody(mesh, RUBBER), name="bar", **placed)
        system = scene.compile()
        state = system.initial_state()
        state.x += (bend @ node.placement.axes.T).ravel()
        surface = make_surface(system.body("bar"), fields=ALL)
        found.append([measure(state) for measure in surface.fields.values()])
    for one, two in zip(*found):
        np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-12)
    assert np.ptp(found[0][2]) > 100.0


def test_velocities_are_those_of_the_points(tmp_path: Path) -> None:
    """Of kinds that are carried in different ways, each flying and spinning: they differ by w x (p - p0)."""
    mesh, v, w = box_tets((0.4, 0.1, 0.1), (4, 1, 1)), np.array([1.0, 2.0, -0.5]), np.array([0.5, -1.0, 2.0])
    bodies = {
        "elements": sp.FemBody(mesh, RUBBER),
        "rigid": sp.RigidBody.box((0.1, 0.2, 0.1), density=500),
        "floating": sp.FloatingBody.from_solid(ElasticSolid(mesh, RUBBER), modes=3),
        "voxels": sp.VoxelBody(sp.VoxelGrid(np.ones((3, 2, 2), dtype=int), 0.02), sp.VoxelMaterial(1e5, 1000)),
    }
    for name, body in bodies.items():
        scene = sp.Scene()
        scene.add(body, velocity=v, spin=w, name=name)
        run = sp.run(scene, until=0.0, out=tmp_path / name, fields=["velocity"])
        record = open_record(tmp_path / name)
        found, p = record.field(name, "velocity", 0), record.points(name, 0)
        assert np.allclose(found - found[0], np.cross(w, p - p[0]), atol=2e-6), name
        mean = run.system.momentum(run.state)[:3] / body.total_mass
        at = run.system.centre_of_mass(run.state)
        assert np.allclose(found[0] + np.cross(w, at - p[0]), mean, atol=2e-6), name


def test_bodies_without_elements_have_no_stress(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.TreeBody(beam_domain_tree(2, 6)), name="branch")
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 5, 0), name="ball")
    sp.run(scene, until=0.1, out=tmp_path, fields=ALL, surface_points=40)
    record = open_record(tmp_path)
    assert record.field("branch", "stress", -1) is None
    assert record.field("ball", "stress", -1) is None
    assert record.field("ball", "velocity", -1)[:, 2] == pytest.approx(-0.981, rel=1e-2)
    with h5py.File(tmp_path / "record.vtkhdf") as file:
        block = file["VTKHDF/branch"]
        assert block["PointData/velocity"].shape == block["Points"].shape
        assert np.array_equal(block["Steps/PointDataOffsets/velocity"][:], block["Steps/PointOffsets"][:])


def test_a_resumed_run_has_the_fields_of_a_whole_one(tmp_path: Path) -> None:
    sp.run(pulled(), until=1.0, out=tmp_path / "whole", fields=ALL)
    sp.run(pulled(), until=0.4, out=tmp_path / "two", fields=ALL)
    sp.run(pulled(), until=1.0, out=tmp_path / "two", resume=True)
    whole, two = open_record(tmp_path / "whole"), open_record(tmp_path / "two")
    assert len(two) == len(whole)
    for frame in range(len(whole)):
        for name in ALL:
            assert np.array_equal(whole.field("bar", name, frame), two.field("bar", name, frame))


def test_a_part_that_broke_off_has_no_field_before_it_did(tmp_path: Path) -> None:
    scene, broken = sp.Scene(gravity=(0, 0, -9.81)), []
    scene.add(sp.TreeBody(beam_domain_tree(4, 6)), name="branch")

    def cut(frame) -> None:
        if frame.state.t > 0.09 and not broken:
            broken.append(frame.system.break_off(frame.state, "branch", 2, name="twig"))

    sp.run(scene, until=0.3, out=tmp_path, fields=["velocity"], dt=1 / 60, observers=[cut])
    record = open_record(tmp_path)
    assert np.isnan(record.field("twig", "velocity", 0)).all()
    assert np.linalg.norm(record.field("twig", "velocity", -1), axis=1).min() > 0.1


def test_stress_as_colour_asks_for_a_run_that_recorded_it(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with_it, without = tmp_path / "with", tmp_path / "without"
    sp.run(pulled(), until=0.3, out=with_it, fields=["stress"])
    sp.run(pulled(), until=0.3, out=without)
    export(with_it, tmp_path / "stress.png", colour="stress")
    assert (tmp_path / "stress.png").stat().st_size > 5000
    with pytest.raises(InputError, match="holds no stress"):
        export(without, tmp_path / "none.png", colour="stress")
    with pytest.raises(InputError, match="no such field"):
        open_record(without).field("bar", "stress", 0)


def test_fields_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no field of that name"):
        sp.run(pulled(), until=0.1, out=tmp_path, fields=["colour"])
    with pytest.raises(InputError, match="fields are kept in the record"):
        sp.run(pulled(), until=0.1, fields=["stress"])


def test_a_record_whose_fields_are_damaged_is_refused(tmp_path: Path) -> None:
    sp.run(pulled(), until=0.1, out=tmp_path, fields=["stress"])
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        file["supple"].attrs["fields"] = '["hidden"]'
    with pytest.raises(RecordError):
        open_record(tmp_path)
