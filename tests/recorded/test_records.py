"""Recorded numbers of what is kept of a run and made of it: records, measures, exports, the canvas, the studio."""

from __future__ import annotations

import struct
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.files.formats.glb_reader import GlbFile
from tests.recorded.making import BODIES, GRAVITY, random, surface, tree, voxels
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.canvas import encode_frame, make_header
from supple.errors import SuppleWarning
from supple.exports.camera import Camera
from supple.exports.canvas import Canvas, Solid, Window, darken, lay, reduced
from supple.exports.fields import Colouring, speed, strain, stress
from supple.exports.obstacles import drawn_obstacles
from supple.exports.plot.motion import spectrum
from supple.exports.solids import balls, tubes
from supple.exports.staging import Staging, seen_box
from supple.record import measure, measure_bodies, open_record
from supple.record.fields import fields_of
from supple.record.surfaces import make_surfaces
from supple.studio.history import History
from supple.studio.live.settings import settings_of
from supple.studio.looks.colour_scale import ColourScale
from supple.studio.picking import pick
from supple.studio.pulling import Pointer, Pulls

recorded = Recorded(__name__)
FIELDS = ("velocity", "strain", "stress")
COLUMNS = ("step", "time", "kinetic", "potential", "momentum", "centre_of_mass", "contacts")


def scene(*, light: bool = False) -> sp.Scene:
    """Bodies of all kinds, joints, contact, wind, obstacles that move, a motor."""
    scene = sp.Scene(gravity=GRAVITY, name="parts")
    box = scene.add(BODIES["rigid box"](), at=(0.1, 0.2, 0.5), rotation=(0.2, 0.1, 0.4), spin=(1, 2, 3), name="box")
    twin = scene.add(BODIES["rigid box"](), at=(0.1, 0.2, 0.7), rotation=(0.1, 0.3, 0.4), name="twin", colour="#3070a0")
    scene.add(
        sp.HingeJoint(box, twin, at=(0.1, 0.2, 0.6), axis=(0.1, 1, 0), motor_speed=3.0, motor_torque=0.02), name="pin"
    )
    soft = scene.add(BODIES["fem"](), at=(0.4, 0.1, 0.4), rotation=(0.3, 0.1, 0.2), name="soft")
    scene.add(sp.BallJoint(soft, at=soft.rest[3]), name="peg")
    dots = scene.add(BODIES["particles"](), at=(0.7, 0.1, 0.3), velocity=(0.3, 0.1, 0), name="dots")
    scene.add(sp.Load(dots.points([1, 3]), (0.1, 0.2, 0.4)))
    scene.add(BODIES["rigid"](), at=(0.9, 0.3, 0.0915), velocity=(0.3, 0.1, -0.3), spin=(0.3, 0.4, 1.0), name="stone")
    scene.add(sp.Floor(0.0, friction=0.4), name="floor")
    scene.add(sp.Sphere((0.5, 0.8, 0.1), 0.1, motion=sp.Motion((0.5, 0.1, 0), (0, 0, 1))), name="pusher")
    scene.add(sp.Wind(soft, (2.0, 1.0, 0.3), modes=6, seed=1), name="breeze")
    if not light:
        scene.add(tree(False), at=(-0.4, 0.1, 0.5), rotation=(0.2, 0.1, 0.3), name="tree")
        scene.add(voxels(), at=(-0.9, 0.1, 0.5), rotation=(0.2, 0.1, 0.3), spin=(1, 0.4, 0.2), name="lattice")
        scene.add(BODIES["floating"](), at=(-1.3, 0.1, 0.5), rotation=(0.2, 0.1, 0.3), spin=(1, 0.4, 0.2), name="rod")
    return scene


KEPT = tempfile.TemporaryDirectory()
"""Of the run, as long as the tests."""


@cache
def run() -> sp.Run:
    out = Path(KEPT.name) / "run"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        return sp.run(scene(), until=0.02, dt=0.005, record_every=0.01, fields=FIELDS, out=out, progress=False)


def arrays(thing: Any) -> list[np.ndarray]:
    """All arrays of numbers that a tuple or an object holds."""
    parts = thing if isinstance(thing, tuple) else vars(thing).values()
    return [a for a in parts if isinstance(a, np.ndarray) and a.dtype.kind in "fiub"]


def readings(joints: dict[str, Any]) -> list[np.ndarray]:
    said = [v for r in joints.values() for v in vars(r).values() if v is not None and not isinstance(v, str)]
    return [np.nan_to_num(v) for v in said]


@recorded.case(rtol=1e-6)
def kept() -> Values:
    """What a run keeps in memory."""
    found, last = run(), len(run().frames.times) - 1
    frames = found.frames
    names = frames.body_names
    contacts, joints = frames.contacts(last), frames.joints(last)
    return {
        "columns": {name: frames.columns[name] for name in COLUMNS},
        "points": {name: frames.points(name, last) for name in names},
        "cells": {name: [frames.triangles(name), frames.lines(name)] for name in names},
        "colours": {name: frames.colours(name) for name in names},
        "fields": {name: [frames.field(name, f, last) for f in frames.fields] for name in names},
        "joints": readings(joints),
        "contacts": arrays(contacts),
        "poses": frames.poses(last),
        "carriage": {name: frames.carriage(name, last) for name in names if frames.carriers(name) is not None},
        "state": found.state.v,
    }  # fmt: skip


@recorded.case(rtol=1e-6)
def measures() -> Values:
    system, state = run().system, run().state
    return {
        "measures": vars(measure(system, state)),
        "bodies": [vars(b) for b in measure_bodies(system, state)],
        "energies": arrays(run().energies),
    }


@recorded.case(rtol=1e-6)
def in_a_folder() -> Values:
    """Written, read back, gone on with."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        sp.run(
            scene(light=True),
            until=0.02,
            dt=0.005,
            record_every=0.01,
            out=out,
            fields=("velocity", "volume"),
            progress=False,
        )
        record = open_record(out)
        last = len(record.times) - 1
        found = {
            "points": {name: record.points(name, last) for name in record.body_names},
            "velocity": {name: record.field(name, "velocity", last) for name in record.body_names},
            "inner": {name: [record.tets(name), record.inner_points(name, last)] for name in record.solids},
            "energies": [record.kinetic, record.potential, record.momentum, record.times],
            "contacts": arrays(record.contacts(last)),
            "obstacles": record.poses(last),
        }
        again = sp.run(scene(light=True), until=0.03, dt=0.005, record_every=0.01, out=out, resume=True, progress=False)
        return found | {"resumed": [again.state.x, again.state.v]}


def exported(name: str, read: Callable[[Path], Any], **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return read(sp.export(run(), Path(folder) / name, **options))


def glb(path: Path) -> Any:
    file = GlbFile(path)
    arrays = [file.array(k) for k in range(len(file.json["accessors"]))]
    return {
        "arrays": arrays,
        "nodes": [[n.get(key, []) for key in ("translation", "rotation", "scale")] for n in file.nodes],
    }


def vtus(path: Path) -> Any:
    import meshio

    read = [meshio.read(p) for p in sorted(path.with_suffix("").rglob("*.vtu"))]
    return {"points": [m.points for m in read], "data": [v for m in read for v in m.point_data.values()]}


def pixels(path: Path) -> Any:
    from matplotlib.image import imread

    return np.asarray(imread(path), dtype=float)[::3, ::3].mean(axis=2)


FORMATS: dict[str, tuple[str, Callable[[Path], Any], dict[str, Any]]] = {
    "csv": ("a.csv", lambda p: np.genfromtxt(p, delimiter=",", skip_header=1), {}),
    "md": ("a.md", lambda p: p.read_text().replace("nan", "0"), {}),
    "gltf": ("a.glb", glb, {}),
    "skeleton": ("a.glb", glb, {"to": "skeleton"}),
    "vtk": ("a.pvd", vtus, {"colour": "strain"}),
    "usd": ("a.usda", lambda p: p.read_text(), {}),
}


@recorded.over({name: name for name in FORMATS}, rtol=1e-4, atol=1e-6, infinite=True)
def export(name: str) -> Values:
    file, read, options = FORMATS[name]
    found = exported(file, read, **options)
    return found if isinstance(found, dict) else {"content": found}


@recorded.over({"plain": {}, "speed": {"colour": "speed", "contacts": True}}, rtol=2e-3)
def picture(options: dict[str, Any]) -> Values:
    return {"grey": exported("a.png", pixels, **options)}


@recorded.case(rtol=1e-6, atol=1e-6)  # strains of rigid bodies are roundings, some 1e-8
def fields() -> Values:
    frames, system = run().frames, run().system
    last = len(frames.times) - 1
    found = {
        "speed": {name: speed(frames, name, last) for name in frames.body_names},
        "strain": {name: strain(frames, name, last) for name in frames.body_names},
        "stress": {name: stress(frames, name, last) for name in ("soft",)},
        "colours": [Colouring.of(frames, "speed", [0, last])("soft", last)],
    }
    for s in make_surfaces(system):
        for field, value in fields_of(s.slot, s.shown, ("velocity", "strain", "stress")).items():
            found[f"{field} of {s.name}"] = value(run().state)
    return found


@recorded.case(rtol=1e-4)
def canvas() -> Values:
    """Header and frames for browsers; bytes as numbers."""
    frames = run().frames
    last = len(frames.times) - 1
    staging = Staging(frames, [0, last])
    points = np.concatenate([frames.points(name, last) for name in frames.body_names])
    shapes = list(staging.shapes)
    header = make_header("parts", shapes, seen_box(points), frames.ground)
    frame = encode_frame(shapes, staging.rows(last), 3, 4, 0.5)
    odd = np.frombuffer(frame[: len(frame) // 2 * 2], dtype=np.uint16).astype(float)
    return {
        "box": header.about["box"],
        "names": [shape["name"] for shape in header.about["shapes"]],
        "rows": staging.rows(last),
        "data": np.frombuffer(header.data[: len(header.data) // 4 * 4], dtype=np.uint8).astype(float),
        "frame": np.minimum(odd, 65535 - odd),
    }


@recorded.case(rtol=1e-3)
def drawn() -> Values:
    """Solids, balls and tubes on a canvas."""
    camera = Camera()
    window = Window(camera, (90, 70), np.array([-0.3, -0.2]), np.array([0.4, 0.3]), (np.array([0.1, 0, 1.0]), -0.1))
    points = 0.15 * random(6, 3, seed=1)
    colours = np.abs(random(6, 3, seed=2)) % 1.0
    board = Canvas(window)
    board.draw(Solid.plain(surface(3).nodes, surface(3).triangles, np.array([0.7, 0.3, 0.2])))
    board.draw(balls(points, colours, 0.03))
    board.draw(tubes(points, np.array([(0, 1), (2, 5), (3, 4)]), colours[:3], 0.012))
    under = np.full(board.colours.shape, 0.9)
    lay(under, board, 0.7)
    darken(under, board.seen, 0.3, 3)
    return {
        "colours": board.colours,
        "seen": board.seen,
        "laid": reduced(under),
        "projected": camera.project(points),
        "depth": camera.depth(points),
        "pixels": window.pixels_of(points),
    }


@recorded.case
def obstacles_drawn() -> Values:
    made = sp.Scene()
    made.add(BODIES["rigid"](), name="stone", at=(0, 0, 2.0))
    things = [sp.Capsule((0.1, 0.2, 0.3), (0.4, 0.1, 0.2), 0.07), sp.Plane((0.1, 0.2, 0.9), -3.0)]
    things += [sp.Box((1, 0.2, 0.3), (0.2, 0.3, 0.4), (0.1, 0.2, 0.3)), sp.Sphere((2, 0.1, 0.3), 0.2)]
    things += [sp.HeightField(np.sin(np.arange(12.0)).reshape(3, 4), origin=(1, 2), spacing=(0.5, 0.7))]
    for thing in things:
        made.add(thing)
    frames = sp.run(made, until=0.005, dt=0.005, progress=False).frames
    return dict(drawn_obstacles(frames, 0, np.array([0.1, 0.2, 0.3]), 1.3))


@recorded.case
def spectra() -> Values:
    t = np.linspace(0, 1.3, 57)
    frequencies, values = spectrum(t, np.sin(21 * t) + 0.3 * np.cos(50 * t) * t)
    return {"frequencies": frequencies, "values": values}


@recorded.case(rtol=1e-6)
def pulled() -> Values:
    """What a pointer meets, and a spring to it."""
    made = scene(light=True)
    system = made.compile()
    start, state = system.initial_state(), system.initial_state()
    surfaces = make_surfaces(system)
    found: dict[str, Any] = {}
    pulls = Pulls(system, surfaces, start, 0.005, strength=1.3)
    for k, name in enumerate(("box", "soft", "dots")):
        place = next(s for s in surfaces if s.name == name).points(state)[:3].mean(axis=0)
        origin = np.array([3.0, -2.0, 1.5])
        met = pick(surfaces, state, start, origin, place - origin)
        found[name] = list(met) if met is not None else -1.0
        pointer = Pointer.of(np.concatenate([origin, place - origin, [-1.0, 0.6, -0.3]]))
        pulls.grab(k, pointer, state, state)
        found[f"depth, {name}"] = pointer.at_depth(1.3)
    found["lines"] = pulls.lines(state)
    found["stiffness"] = [pulls.stiffness(m) for m in (0.13, 2.7)]
    solver = sp.ImplicitEuler(0.005)
    solver.prepare(system)
    for _ in range(2):
        solver.step(system, state)
    pulls.drag(0, Pointer.of(np.array([3.0, -2.0, 1.5, -2.8, 2.1, -0.9, -1.0, 0.6, -0.3])), state)
    solver.step(system, state)
    return found | {"x": state.x, "v": state.v, "lines then": pulls.lines(state)}


@recorded.case
def studio() -> Values:
    """Settings, scales and clocks of the page."""
    system = scene(light=True).compile()
    settings = settings_of(system, sp.ImplicitEuler(0.005))
    scale, history = ColourScale(0.1), History(frames=3)
    for k in range(5):
        history.add(struct.pack("<IId", k, 2 * k, 0.1 * k) + bytes(20 + k))
    return {
        "settings": [[v for v in vars(s).values() if isinstance(v, str | int | float | tuple)] for s in settings],
        "scale": [scale.follow(v, t) for v, t in ((0.3, 0.0), (2.7, 0.1), (0.5, 0.4), (0.2, 9.0), (0.2, 30.0))],
        "history": [history.at(t) for t in (0.0, 0.25, 0.31, 2.0)],
    }  # fmt: skip


@recorded.case(rtol=1e-5)
def modes_exported() -> Values:
    from supple.exports.modes import SwingingBodies, point_motions

    made = sp.Scene()
    made.add(BODIES["fem"](), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), name="bar", fix=[0, 1, 2, 3])
    found = sp.vibration_modes(made.compile(), 3)
    swinging = SwingingBodies(found, 1, (-1.0, 0.3, 1.0))
    return {"swing": [np.abs(swinging.points("bar", k) - swinging.points("bar", 1)) for k in (0, 2)],
            "motions": np.abs(point_motions(found, 2)["bar"])}  # fmt: skip


test_recorded = recorded.test()
