"""A checkpoint holds all that a state remembers, bit for bit: contacts with their slips, forces and sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import supple as sp
from supple.record import load_checkpoint
from supple.record.record import CHECKPOINT_NAME


def test_the_memory_of_contacts_comes_back_whole(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.005))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.0501), velocity=(0.3, 0, 0), name="below")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0.02, 0.01, 0.1503), name="above")
    scene.add(sp.Floor())
    scene.add(sp.Contact(friction=0.4))
    run = sp.run(scene, until=0.1, out=tmp_path / "run")
    saved = load_checkpoint(tmp_path / "run" / CHECKPOINT_NAME, run.system, run.solver).state.memory
    ends = {key.rsplit("/", 1)[-1] for key in run.state.memory}
    assert {"key", "slip", "push", "offset", "sides", "body", "place", "normal", "force"} <= ends
    assert saved.keys() == run.state.memory.keys()
    for key, value in run.state.memory.items():
        there = np.asarray(value)
        assert (saved[key].dtype, saved[key].shape, saved[key].tobytes()) == (there.dtype, there.shape, there.tobytes())
    pushes = [value for key, value in saved.items() if key.endswith("push")]
    assert np.abs(pushes[0]).max() > 0.1  # there is something to lose
