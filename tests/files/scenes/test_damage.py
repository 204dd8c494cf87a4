"""A scene file with everything in it, and with random damage."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files.damaging import load_or_refuse, load_with_damaged_values
from tests.files.scenes.texts import SMALL, assert_round_trip, written

from supple.files import load

EVERYTHING = (
    """
force_order = ["springs[0]", "loads[0]", "loads[1]"]
"""
    + SMALL
    + """
[[bodies]]
name = "block"
kind = "fem"
mesh.box = { size = [1, 1, 1], cells = [1, 1, 1] }
mesh.elements = "hex"
mesh.regions = { a = { nodes = [0, 1] }, all = { elements = [0] } }
material = { all = "rubber" }
law = "stvk"
mass = "consistent"
fix = ["x_min", "a"]
velocity = [0, 0, 1]
spin = [1, 0, 0]

[[bodies]]
name = "wheel"
kind = "rigid"
mass = 2
inertia = [1, 1, 1]
surface = { nodes = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles = [[0, 1, 2]] }

[[loads]]
on = { body = "block", region = "x_max" }
pressure = { table = { times = [0, 1], values = [0, 10] } }

[[joints]]
kind = "hinge"
a = "wheel"
axis = [0, 1, 0]
limits = [-1, 1]
motor_speed = 2
motor_torque = 3

[[filters]]
kind = "motion"
body = "block"
numbers = [4, 6]
displacement = { sine = { amplitude = [0, 0, 0.1], frequency = 1 } }
"""
)


SAFE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def test_everything_loads(tmp_path: Path) -> None:
    scene = load(written(tmp_path, EVERYTHING))
    assert_round_trip(scene, tmp_path)


@SAFE
@given(data=st.data())
def test_random_damage_to_the_text(data: st.DataObject, tmp_path: Path) -> None:
    start = data.draw(st.integers(0, len(EVERYTHING)))
    stop = data.draw(st.integers(start, min(start + 20, len(EVERYTHING))))
    text = EVERYTHING[:start] + data.draw(st.text(max_size=4)) + EVERYTHING[stop:]
    path = tmp_path / "scene.toml"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    load_or_refuse(path)


@SAFE
@given(data=st.data())
def test_random_damage_to_the_values(data: st.DataObject, tmp_path: Path) -> None:
    load_with_damaged_values(EVERYTHING, data, tmp_path)
