"""Settings of every kind: what is offered, with which values and ranges, and that each of them changes the motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.studio import test_live_run as scenes

import supple as sp
from supple.bodies.voxel import Actuation, Commands, Drive, Samples
from supple.errors import InputError
from supple.scene.scene import Scene
from supple.studio.live.live_run import LiveRun
from supple.studio.live.settings import Setting, find_setting

G = (0.0, 0.0, -9.81)
STEPS = 16
GRAVITY = "Gravity"


def robot(*drivers: Actuation | Drive | Commands) -> Scene:
    """A lattice of two materials that walks on a floor, and is damped against the world."""
    scene, numbers = sp.Scene(gravity=G), np.ones((4, 2, 2), dtype=int)
    numbers[:2] = 2
    muscle = sp.VoxelMaterial(1e5, 1000, expansion=0.01, bond_damping=0.3, ground_damping=1e-3)
    body = sp.VoxelBody(sp.VoxelGrid(numbers, 0.02), [muscle, muscle], actuation=list(drivers))
    scene.add(body, at=(0, 0, 0.0), name="robot", velocity=(0.2, 0, 0))
    scene.add(sp.Floor())
    return scene


def controlled() -> Scene:
    """Control variables of all kinds."""
    samples = Samples([0.0, 4.0, 1.0, -3.0], rate=60.0, repeats=True)
    return robot(
        Actuation(5.0, 8.0, {1: 0.1, 2: 0.4}),
        Actuation(3.0, 6.0, np.linspace(0, 1, 16), np.linspace(0.5, 1, 16)),
        Drive(samples),
        Drive(lambda t: 20 * t),
        Commands(lambda t, state: [3.0, 30 * t], rate=100.0, count=2, gain=(1.0, 0.5)),
        Commands(lambda t, state: [20 * t], rate=100.0),
    )


def machine() -> Scene:
    scene = sp.Scene(gravity=G)
    wheel = scene.add(sp.RigidBody.box((0.1, 0.1, 0.02), density=500), name="wheel")
    sledge = scene.add(sp.RigidBody.box((0.1, 0.1, 0.02), density=500), at=(1, 0, 0), name="sledge")
    free = scene.add(sp.RigidBody.box((0.1, 0.1, 0.02), density=500), at=(2, 0, 0), name="fan")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=2.0, motor_torque=0.002), name="hub")
    rail = sp.SliderJoint(sledge, axis=(1, 0, 0), at=(1, 0, 0), motor_speed=0.3, motor_force=0.1)
    scene.add(rail, name="rail")
    scene.add(sp.HingeJoint(free, at=(2, 0, 0), axis=(1, 0, 0)), name="pivot")
    return scene


WALKER = [
    "Amplitude of walker",
    "Frequency of walker",
    "Phase of walker",
    "Gain of walker",
    "Young's modulus of walker",
    "Damping of links of walker",
    "Damping against the world of walker",
    "Static friction of walker",
    "Kinetic friction of walker",
]
RAYLEIGH = ("Young's modulus of {}", "Mass damping of {}", "Stiffness damping of {}")
OFFERED: dict[str, tuple[Callable[[], Scene], list[str]]] = {
    "fem": (scenes.fem, [title.format("beam") for title in RAYLEIGH]),
    "lattice": (scenes.lattice, WALKER),
    "tree": (
        scenes.tree,
        ["Wind 'breeze'", "Frequency factor of branch", "Mass damping of branch", "Stiffness damping of branch"],
    ),
    "rigid": (scenes.rigid, ["Friction of contact"]),
    "rough": (scenes.rough, ["Friction of floor"]),
    "pair": (scenes.icy, ["Friction of crate and floor"]),
    "floating": (
        scenes.floating,
        ["Stiffness, times of rod", "Mass damping of rod", "Stiffness damping of rod", "Damping ratio of rod"],
    ),
    "layered": (scenes.layered, [*(title.format("fruit") for title in RAYLEIGH), "Friction of contact"]),
    "particles": (scenes.string, ["Stiffness of string", "Damping of string"]),
    "together": (scenes.together, [*WALKER, "Friction of contact"]),
    "machine": (
        machine,
        [
            "Motor's speed of hub",
            "Motor's largest torque of hub",
            "Motor's speed of rail",
            "Motor's largest force of rail",
        ],
    ),
    "controlled": (
        controlled,
        [
            *(f"{what} of robot, control 0" for what in ("Amplitude", "Frequency")),
            *(f"Phase of robot, control 0, number {number}" for number in (1, 2)),
            "Gain of robot, control 0",
            *(f"{what} of robot, control 1" for what in ("Amplitude", "Frequency", "Phase shift")),
            *(f"{what} of robot, control 2" for what in ("Amplitude", "Phase", "Gain")),
            *(f"{what} of robot, control {number}" for number in (3, 4, 5) for what in ("Amplitude", "Gain")),
            *(title.replace("walker", f"robot, number {number}") for number in (1, 2) for title in WALKER[4:]),
        ],
    ),
}
UNSEEN = {
    "lattice": {"Kinetic friction of walker"},  # it sticks
    "particles": {"Stiffness of string", "Damping of string"},  # which falls at rest
    "rigid": {"Friction of contact"},  # nothing slides, see test_changing_friction
    "together": {"Friction of contact"},  # the crate falls onto the walker later
    "machine": {"Motor's speed of rail", "Motor's speed of hub"},  # at their largest effort all the while
}


def other(setting: Setting) -> float:
    """A value that may be."""
    value = float(np.max(setting.value))
    if setting.is_log:
        return 2 * value
    if setting.key == "motor_speed":
        return -value
    return 0.6 * value if value else 0.3 * setting.high


def ended(live: LiveRun, number: int | None = None, part: int | None = None) -> bytes:
    """The bits at the end of some steps, after a change of a setting."""
    live.reset()
    live.take(1)
    if number is not None:
        live.change(number, part, other(live.settings[number]))
    while live.step < STEPS:
        live.take(STEPS - live.step)
    return live.state.x.tobytes()


@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")  # contacts of voxels that cost time
@pytest.mark.parametrize("name", OFFERED)
def test_what_is_offered_changes_the_motion(name: str) -> None:
    make, titles = OFFERED[name]
    live = LiveRun(make())
    assert [setting.title for setting in live.settings] == [GRAVITY, *titles]
    plain = ended(live)
    assert plain == ended(live)
    for number, setting in enumerate(live.settings):
        for part in [None] if setting.title == GRAVITY else [None, *range(len(setting.parts))]:
            is_seen = ended(live, number, part) != plain
            now = np.atleast_1d(live.settings[number].value)[-1 if part is None else part]
            assert now == (1.0 if setting.key == "stiffness_factor" else other(setting))  # which multiplies what is
            assert is_seen or setting.title in UNSEEN.get(name, ()) or setting.key == "static_friction", setting


def test_ranges_hold_the_values_of_now() -> None:
    for make, _ in OFFERED.values():
        for setting in LiveRun(make()).settings:
            values = np.atleast_1d(setting.value)
            if setting.is_log:
                assert (values > 0).all()
                values = np.log10(values)
            assert setting.low < setting.high
            assert ((values >= setting.low) & (values <= setting.high)).all()


def test_what_a_page_may_not_ask_for_is_refused() -> None:
    settings = LiveRun(scenes.tree()).settings
    assert find_setting(settings, 0, 2) == (settings[0], 2)
    for number, part in ((-1, None), (len(settings), None), ("0", None), (0, 3), (0, "x"), (3, 0)):
        with pytest.raises(InputError, match="no such"):
            find_setting(settings, number, part)


def test_what_a_control_cannot_change_is_refused() -> None:
    system = controlled().compile()
    state = system.initial_state()
    for values, word in (
        ({"control": 2, "frequency": 3.0}, "cannot be changed in Drive"),
        ({"control": 4, "phase": 0.3}, "cannot be changed in Commands"),
        ({"control": 6, "gain": 1.0}, "no control of that number"),
        ({"gain": 1.0}, "no control of that number"),
        ({"control": 0, "phase": 0.1, "number": 3}, "not given for a material"),
        ({"control": 1, "phase": 0.1, "number": 1}, "not given for a material"),
        ({"control": 0, "phase": [0.1, 0.2]}, "phase is not one number"),
        ({"control": 2, "amplitude": [1.0]}, "not a number"),
    ):
        with pytest.raises(InputError, match=word):
            system.change(state, "robot", **values)
    assert not state.memory


def test_a_young_modulus_that_each_voxel_has_of_its_own_is_not_offered() -> None:
    scene = sp.Scene()
    grid = sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
    scene.add(sp.VoxelBody(grid, sp.VoxelMaterial(1e5, 1000), young=[1e5, 2e5]), name="bar")
    assert not [s for s in LiveRun(scene).settings if "Young" in s.title]


def test_materials_of_voxels_are_called_by_their_names() -> None:
    scene, numbers = sp.Scene(gravity=G), np.ones((4, 2, 2), dtype=int)
    numbers[:2] = 2
    palette = [sp.VoxelMaterial(1e5, 1000, name="muscle"), sp.VoxelMaterial(1e5, 1000)]
    scene.add(sp.VoxelBody(sp.VoxelGrid(numbers, 0.02), palette), name="robot")
    titles = [setting.title for setting in LiveRun(scene).settings if setting.key == "young"]
    assert titles == ["Young's modulus of robot, muscle (number 1)", "Young's modulus of robot, number 2"]
