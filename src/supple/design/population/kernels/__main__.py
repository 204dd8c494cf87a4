"""`python -m supple.design.population.kernels [KIND ...]`: try robots in arenas and list the kernels that they call."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np

from supple.algebra.compiling.ahead import WantedKernel, called_kernels
from supple.algebra.compiling.kernel_list import kernel_list_text
from supple.design.arena import Arena, ArenaLike
from supple.design.conditions import try_design
from supple.design.designs import Design
from supple.design.measures import MEASURES
from supple.design.population.kernels import KINDS, listing
from supple.design.tasks.suite import find_task
from supple.errors import SuppleError, SuppleWarning
from supple.interaction.fluid import Fluid
from supple.material.voxel import VoxelMaterial

MUSCLE = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, bond_damping=0.1)
ARENA = Arena({1: MUSCLE}, 0.01, duration=1.5, settle=0.5, amplitude=15.0, frequency=4.0)
ARENAS: dict[str, ArenaLike] = {
    "plain": ARENA,
    "touching": ARENA.with_(self_contact=True),
    "swimming": ARENA.with_(gravity=(0, 0, 0), obstacles=(), fluid=Fluid(1000.0)),
    "task": find_task("walk-v1"),
}
HOOK = np.array([[[1, 1, 1, 1]], [[1, 0, 0, 1]], [[1, 1, 0, 1]], [[0, 1, 0, 1]]])
"""A body that touches itself while it swings."""


def find_kernels(kind: str) -> list[WantedKernel]:
    """Try a robot, and list the kernels; in a process that has called no others."""
    phase = np.linspace(0.0, 1.0, HOOK.size).reshape(HOOK.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        design = Design(HOOK * (3 if kind == "task" else 1), {"phase": phase})
        result = try_design(design, ARENAS[kind], [name for name in MEASURES if kind == "task" or name != "score"])
    if not result.ok:
        raise SuppleError(f"the robot failed: {result.message}", where=kind)
    return called_kernels()


def main(kinds: list[str]) -> None:
    """Each list in a process of its own."""
    if kinds[:1] == ["--print"]:
        print(kernel_list_text(find_kernels(kinds[1])), end="")
        return
    for kind in kinds or KINDS:
        command = [sys.executable, "-m", "supple.design.population.kernels", "--print", kind]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True)
        listing(kind).write_text(done.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
