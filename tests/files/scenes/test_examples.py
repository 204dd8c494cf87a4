"""Scenes of the design, of the manual and of the package as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.files.scenes.texts import DESIGN, assert_round_trip, written

import supple as sp
from supple.errors import InputError
from supple.examples import registry
from supple.files import RunSettings, load, load_scene_file, save


def test_the_example_of_the_design(tmp_path: Path) -> None:
    read = load_scene_file(written(tmp_path, DESIGN, "garden.toml"))
    assert read.scene.name == "garden"
    assert read.run == RunSettings(until=2.0, record_every=0.0333)
    body = read.scene.nodes[0].body
    assert body.mesh.content_hash == sp.box_tets((0.2, 0.02, 0.02), (40, 4, 4)).content_hash
    assert (body.materials[0].young, body.law.label) == (1e6, "corotational")
    assert [f.selector for f in read.scene.filters] == ["x_min"]


TREES = {"flower", "letters", "dragon", "space-station", "oak"}


UNSAVED = {"flower": "a mapping of your own", "spin-up": "a filter of your own"}


LARGE = {"garden"}


@pytest.mark.parametrize("name", sorted(UNSAVED))
def test_scenes_with_mappings_and_filters_of_their_own_cannot_be_saved(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{UNSAVED[name]} cannot be saved"):
        save(registry()[name].make(), tmp_path / "first.toml")


@pytest.mark.parametrize("name", sorted(set(registry()) - set(UNSAVED) - TREES - LARGE))
def test_built_in_scenes_can_be_saved(name: str, tmp_path: Path) -> None:
    scene = registry()[name].make()
    save(scene, tmp_path / "first.toml")
    again = load(tmp_path / "first.toml")
    save(again, tmp_path / "second.toml")
    assert (tmp_path / "second.toml").read_text() == (tmp_path / "first.toml").read_text()
    one, two = scene.compile(), again.compile()
    assert str(two) == str(one)
    assert np.array_equal(two.x0, one.x0)


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    manual = (Path(__file__).parents[3] / "docs" / "scene-files.md").read_text(encoding="utf-8")
    text = manual.split("```toml\n")[1].split("```")[0]
    assert_round_trip(load(written(tmp_path, text)), tmp_path, count=1)
