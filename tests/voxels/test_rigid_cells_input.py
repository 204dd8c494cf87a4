"""Rigid cells: which belong together, what is refused, what files say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.model import VoxelModel
from supple.design import Arena, Design
from supple.design.study.voxcad_design import lost_in_voxcad
from supple.errors import InputError
from supple.files import load, save

SOFT = sp.VoxelMaterial(young=1e5, density=1000.0)
BONE = sp.VoxelMaterial(young=1e6, density=2000.0, rigid=True)


def row(*numbers: int, **options: Any) -> VoxelBody:
    cells = np.array(numbers).reshape(-1, 1, 1)
    return VoxelBody(sp.VoxelGrid(cells, 0.01), {1: SOFT, 2: BONE, 3: BONE}, **options)


def test_cells_of_one_material_that_share_faces_belong_together() -> None:
    model = row(2, 2, 1, 2, 3, 3).model
    assert model.group.tolist() == [0, 0, -1, 1, 2, 2]
    assert (model.link_stiffness[:, 0] > 0).tolist() == [False, True, True, False, False]
    assert (model.link_damping[:, 0] > 0).tolist() == [False, True, True, False, False]
    both = VoxelModel.joined([model, row(1, 1).model, model])
    assert both.group.tolist() == [0, 0, -1, 1, 2, 2, -1, -1, 3, 3, -1, 4, 5, 5]
    assert row(1, 1).model.group_count == 0


@pytest.mark.parametrize(
    "more", [{"expansion": 0.01}, {"yield_stress": 1e4}, {"fail_strain": 0.1}, {"curve": [(0.1, 1e5), (0.2, 1.1e5)]}]
)
def test_rigid_cells_neither_swell_nor_yield_nor_fail(more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="rigid cells"):
        sp.VoxelMaterial(young=1e6, density=1000.0, rigid=True, **more)


def test_coupled_strains_are_refused() -> None:
    with pytest.raises(InputError, match="coupled strains"):
        row(1, 2, transverse=True)


def test_cells_that_are_held_or_guided_are_refused() -> None:
    with pytest.raises(InputError, match=r"is held.*join the rigid ones"):
        sp.run(fixed(row(1, 2)), until=0.01, progress=False)
    scene = sp.Scene(solver=sp.LatticeSolver())
    node = scene.add(row(1, 2), name="row")
    scene.add(sp.SlidingPlane(node, [1]))
    with pytest.raises(InputError, match=r"is guided.*join the rigid ones"):
        sp.run(scene, until=0.01, progress=False)


def fixed(body: VoxelBody) -> sp.Scene:
    scene = sp.Scene(solver=sp.LatticeSolver())
    scene.add(body, name="row", fix="x_max")
    return scene


@pytest.mark.parametrize(
    "solver", [sp.ImplicitEuler(), sp.SymplecticEuler(), sp.RungeKutta4(1e-5), sp.Midpoint(), sp.GeneralizedAlpha()]
)
def test_other_solvers_refuse_rigid_cells(solver: Any) -> None:
    scene = sp.Scene(solver=solver)
    scene.add(row(1, 2))
    with pytest.raises(InputError, match="rigid cells are held together by the sweep"):
        sp.run(scene, until=0.01, progress=False)


@pytest.mark.parametrize("find", [sp.solve_statics, sp.vibration_modes])
def test_statics_and_modes_refuse_rigid_cells(find: Any) -> None:
    scene = sp.Scene()
    scene.add(row(1, 1, 2), fix="x_min")
    with pytest.raises(InputError, match="rigid cells are held together by the sweep"):
        find(scene.compile())


def test_scene_files_say_what_is_rigid(tmp_path: Path) -> None:
    scene = sp.Scene()
    scene.add(row(1, 2), name="row")
    save(scene, tmp_path / "scene.toml")
    assert "rigid = true" in (tmp_path / "scene.toml").read_text()
    again = load(tmp_path / "scene.toml")
    assert again.nodes[0].body.model.group.tolist() == [-1, 0]


def test_voxcad_files_lose_what_is_rigid() -> None:
    arena = Arena({1: SOFT, 2: BONE}, 0.01, duration=0.1)
    cells = np.array([1, 2]).reshape(-1, 1, 1)
    assert "rigid cells" in lost_in_voxcad(Design(cells), arena)
    assert "rigid cells" not in lost_in_voxcad(Design(np.ones((2, 1, 1))), arena)
