"""Recorded numbers of files that hold scenes: every kind written as text, read back and stepped; VoxCAD; VegaFEM."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.files.voxcad.samples import OBJECT, SCENE
from tests.recorded.making import BODIES, GRAVITY, RUBBER, TURN, moved, random, swing, voxels
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.errors import SuppleWarning
from supple.files import load, save
from supple.files.vega.reduced import load_cub, load_matrix, save_cub, save_matrix
from supple.files.voxcad.load import (
    load_voxcad,
    save_voxcad,
    voxcad_body,
    voxcad_scene,
    voxcad_settings,
)
from supple.modal import CubicForce
from supple.validation.tree.reference import mixed_domain_tree

recorded = Recorded(__name__)


def both(scene: sp.Scene) -> dict[str, Any]:
    """The text of a scene, and the steps of what is read of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.toml"
        save(scene, path)
        beside = sorted(p.name for p in Path(folder).rglob("*") if p.is_file())
        text = path.read_text()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)
            return {"text": text, "files": beside} | moved(load(path), steps=2)


KINDS = (
    "rigid",
    "rigid box",
    "particles",
    "fem",
    "fem, hexes",
    "floating",
    "floating, cubic",
    "layered",
    "voxel, plain",
)


@recorded.over({kind: kind for kind in KINDS}, rtol=1e-6)
def body(kind: str) -> Values:
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(
        BODIES[kind](), at=(0.1, 0.2, 0.3), rotation=TURN, velocity=(0.1, 0.3, 0.2), spin=(0.3, 0.1, 0.7), name="b"
    )
    if kind not in ("rigid", "rigid box"):
        scene.add(sp.Load(node.points([0, 2]), sp.SineInTime((0.4, -0.2, 0.9), 7.0, phase=0.3)))
        scene.add(sp.Springs(node.points([1]), sp.World.points([(0.3, 0.2, 0.4)]), 50.0, 0.3, rest_length=0.1))
    return both(scene)


@recorded.case
def lattice() -> Values:
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(voxels(actuation=swing()[:2]), at=(0.1, 0.2, 0.3), rotation=TURN, name="b")
    return both(scene)


@recorded.case
def tree() -> Values:
    scene = sp.Scene(gravity=GRAVITY)
    body = sp.TreeBody(
        mixed_domain_tree(free=False, chain=False), stiffness_damping=0.004, settings=sp.TreeSettings(theta=0.6)
    )
    node = scene.add(body, at=(0.1, 0.2, 0.3), rotation=TURN, name="b")
    scene.add(sp.Load(node.points([0, 2]), (0.1, 0.3, 0.2)))
    return both(scene)


@recorded.case(rtol=1e-6)
def machine() -> Values:
    """Joints, motors, obstacles, wind, fluid, contact, filters, events, solver."""
    scene = sp.Scene(gravity=GRAVITY, solver=sp.Partitioned(0.004, implicit=sp.ImplicitEuler(0.004, tolerance=1e-9)))
    arm = scene.add(BODIES["rigid box"](), at=(0.2, 0, 1), name="arm")
    cart = scene.add(BODIES["rigid"](), at=(0, 2, 1), name="cart")
    soft = scene.add(BODIES["fem"](), at=(0.4, 0.5, 1), name="soft")
    speed = sp.RampInTime(np.array(2.0), 0.1)
    scene.add(
        sp.HingeJoint(arm, axis=(0, 1, 0.3), at=(0.1, 0, 1), limits=(-1, 0.5), motor_speed=speed, motor_torque=0.3)
    )
    scene.add(sp.SliderJoint(cart, axis=(1, 0, 0.2), at=(0, 2, 1), limits=(-0.1, 1), motor_speed=0.5, motor_force=3.0))
    scene.add(sp.FixedAxes(soft, [0, 3], "yz"))
    scene.add(sp.SlidingPlane(soft, [5, 6], (0.3, 0.1, 0.7)))
    scene.add(sp.Wrench(arm, None, force=(0.3, 0.1, 0.2), torque=(0.01, 0.02, 0.03)))
    pad = scene.add(sp.FemBody(sp.box_tets((0.1, 0.07, 0.05), (2, 1, 1)), RUBBER), at=(1, 1, 1), name="pad")
    scene.add(sp.Pressure(pad, "x_min", sp.TableInTime([0.0, 0.1], [100.0, 300.0])))
    scene.add(sp.Wind([soft, cart], (0, 5, 1), seed=4, intensity=0.3, length=1.3, modes=9), name="breeze")
    scene.add(sp.Fluid(density=3.0, drag=0.8, flow=(0.1, 0.2, 0.3), level=1.1))
    scene.add(sp.Floor(-1.0, friction=0.3))
    scene.add(sp.Box((0, 0, -3), (0.5, 0.6, 0.7), (0.1, 0.2, 0.3), motion=sp.Motion((0.1, 0, 0.2), (0.1, 0.2, 0.3))))
    scene.add(sp.Contact(exclude=[("soft", "arm")], friction=0.37, static_friction=0.5))
    return both(scene)


def all_of(thing: Any) -> Any:
    """What a record of a file is made of."""
    if is_dataclass(thing):
        return [all_of(getattr(thing, f.name)) for f in fields(thing) if not f.name.startswith("_")]
    if isinstance(thing, tuple | list):
        return [all_of(part) for part in thing]
    if isinstance(thing, frozenset | set):
        return sorted(map(str, thing))
    return thing


@recorded.over({"scene": ("a.vxa", SCENE), "object": ("a.vxc", OBJECT)}, infinite=True)
def voxcad(given: tuple[str, str]) -> Values:
    name, text = given
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        path = Path(folder) / name
        path.write_text(text, encoding="iso-8859-1")
        file = load_voxcad(path)
        found = {"file": all_of(file), "body": voxcad_body(file).model.link_stiffness}
        found["swing"] = None if voxcad_body(file).swing is None else voxcad_body(file).swing.patterns
        save_voxcad(file, Path(folder) / "again.vxa")
        found["written"] = (Path(folder) / "again.vxa").read_text(encoding="iso-8859-1")
        if name.endswith("vxa"):
            found["settings"] = {k: v for k, v in voxcad_settings(file).items() if isinstance(v, int | float | str)}
            found |= {f"stepped: {k}": v for k, v in moved(voxcad_scene(file), steps=3, dt=2e-4).items()}
        return found


@recorded.case
def vega() -> Values:
    force = CubicForce(*(random(3, n, seed=n) for n in (3, 6, 10)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        save_cub(path / "a.cub", force)
        save_matrix(path / "a.U", random(6, 4))
        again = load_cub(path / "a.cub")
        return {
            "size": (path / "a.cub").stat().st_size,
            "force": again.evaluate(random(2, 3))[0],
            "matrix": load_matrix(path / "a.U"),
        }


test_recorded = recorded.test()
