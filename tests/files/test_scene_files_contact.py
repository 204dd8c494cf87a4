"""Contact in scene files: read, saved, the same motion, and errors that name the key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, SuppleError

TEXT = """
supple = 1
gravity = [0, 0, -9.81]

[[bodies]]
name = "low"
kind = "rigid"
box = { size = [0.1, 0.1, 0.1] }
density = 500
at = [0, 0, 0.051]

[[bodies]]
name = "ball"
kind = "rigid"
sphere = { radius = 0.03 }
density = 500
at = [0.01, 0, 0.14]

[[obstacles]]
kind = "floor"

[[obstacles]]
kind = "capsule"
start = [1, 0, 0]
end = [1, 0, 1]
radius = 0.1
name = "post"
friction = 0.2
static_friction = 0.3
restitution = 0.25

[[contact]]
bodies = ["low", "ball"]
friction = 0.4
static_friction = 0.6
frictions = [{ between = ["ball", "floor"], friction = 0.1 }]
stiffness = 1e7
restitution = 0.5
overlap = "refuse"

[solver]
kind = "SOLVER"
dt = 0.01
"""


def written(tmp_path: Path, *changes: tuple[str, str], solver: str = "implicit_euler") -> Path:
    text = TEXT.replace("SOLVER", solver)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "scene.toml"
    path.write_text(text)
    return path


def test_contact_is_read(tmp_path: Path) -> None:
    scene = sp.load(written(tmp_path, solver="partitioned"))
    assert isinstance(scene.solver, sp.Partitioned)
    contact = scene.contacts[0]
    assert [node.name for node in contact.bodies] == ["low", "ball"]
    assert contact.friction_of("low", "floor") == 0.4
    assert contact.friction_of("floor", "ball") == 0.1
    assert (contact.stiffness, contact.overlap) == (1e7, "refuse")
    assert {name: type(o).__name__ for name, o in scene.obstacles.items()} == {"floor": "Floor", "post": "Capsule"}
    assert scene.obstacles["post"].friction == 0.2


def test_static_friction_is_read_and_saved(tmp_path: Path) -> None:
    scene = sp.load(written(tmp_path))
    sp.save(scene, tmp_path / "again.toml")
    for each in (scene, sp.load(tmp_path / "again.toml")):
        assert each.contacts[0].static_friction == 0.6
        assert each.obstacles["post"].static_friction == 0.3
        assert each.obstacles["floor"].static_friction is None


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_saved_contact_moves_alike(tmp_path: Path, suffix: str) -> None:
    scene = sp.load(written(tmp_path))
    sp.save(scene, tmp_path / f"again{suffix}")
    one, two = sp.run(scene, until=0.2), sp.run(sp.load(tmp_path / f"again{suffix}"), until=0.2)
    assert one.state.x.tobytes() == two.state.x.tobytes()
    assert np.linalg.norm(one.system.contacts[0].touching(one.state.memory).force) > 0.1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('bodies = ["low", "ball"]', 'bodies = ["low", "bell"]', ("contact[0]", "'bell'", "ball")),
        ("friction = 0.4", "friction = -1", ("contact[0]", "friction")),
        ("friction = 0.4", "fricton = 0.4", ("contact[0]", "friction")),
        ("static_friction = 0.6", "static_friction = 0.3", ("contact[0]", "static friction")),
        ("static_friction = 0.3", "static_friction = 0.1", ("obstacles[1]", "static friction")),
        ("stiffness = 1e7", "stiffness = -1", ("contact[0]", "stiffness")),
        ('kind = "floor"', 'kind = "flor"', ("obstacles[0]", "floor")),
        ('overlap = "refuse"', 'overlap = "ignore"', ("contact[0]", "overlap")),
    ],
)
def test_errors_name_the_key(tmp_path: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    with pytest.raises(SuppleError) as caught:
        sp.load(written(tmp_path, (old, new)))
    assert all(word in str(caught.value) for word in words), caught.value


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    scene = sp.load(written(tmp_path))
    scene.contacts[0] = sp.Contact(parts={"low": lambda x: x[:, 2] > 0})
    with pytest.raises(InputError, match="regions"):
        sp.save(scene, tmp_path / "other.toml")


def test_options_of_parts_are_held(tmp_path: Path) -> None:
    scene = sp.load(written(tmp_path))
    scene.solver = sp.Partitioned(0.01, lattice=sp.LatticeSolver(safety=0.5))
    sp.save(scene, tmp_path / "other.toml")
    solver = sp.load(tmp_path / "other.toml").solver
    assert solver.dt == 0.01
    assert solver.lattice.safety == 0.5
