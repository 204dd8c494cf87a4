"""Scene files that are wrong or hostile are refused with what is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.files.scenes.texts import DESIGN, SMALL, particle_scene, written

import supple as sp
from supple.errors import FileFormatError, InputError, SuppleError
from supple.files import load, save

WRONG = {
    "unknown key": ("density = 500", "densty = 500", r"bodies\[0\]\.densty: unknown key\. Did you mean 'density'\?"),
    "unknown table": ("[[loads]]", "[[laods]]", "laods: unknown key. Did you mean 'loads'"),
    "deep key": ("frequency", "freqency", r"loads\[0\]\.force\.sine\.freqency: unknown key.*'frequency'"),
    "kind": ('"particles"', '"particle"', r"bodies\[1\]\.kind: unknown kind.*Did you mean 'particles'"),
    "liquid": (
        '"particles"',
        '"liquid"',
        r"got 'liquid'; allowed: fem, .*, floating, layered, group",
    ),
    "missing": ("density = 500", "", r"bodies\[0\]: a key is missing"),
    "missing key": (", frequency = 2", "", r"loads\[0\]\.force\.sine\.frequency: the key is missing"),
    "text": ("density = 500", 'density = "500"', r"bodies\[0\]\.density: is not a number"),
    "truth": ("density = 500", "density = true", "is not a number"),
    "short vector": ("[0.5, 0, 0.1]", "[0.5, 0]", r"bodies\[0\]\.at: is not a vector of 3 numbers"),
    "ragged": ("[0.1, 0, 0], [0.2", "[0.1, 0], [0.2", r"bodies\[1\]\.positions: is not a list of positions"),
    "not finite": ("amplitude = [0, 0, 1]", "amplitude = [0, 0, inf]", "not finite"),
    "syntax": ("dt = 0.01", "dt = 0.01 0.02", "line 4"),
    "version": ("supple = 1", "supple = 7", "supple: this version of scene files is not read"),
    "no version": ("supple = 1", "", "Begin the file with: supple = 1"),
    "poisson": ("0.45", "0.5", "materials.rubber.*Poisson's ratio is out of range"),
    "negative density": ("1100", "-1100", "materials.rubber.*density is not positive"),
    "masses": ("[0.1, 0.2, 0.1]", "[0.1, 0.2]", r"bodies\[1\]\.mass: there is not one mass a particle"),
    "number": ("numbers = [2]", "numbers = [9]", r"loads\[0\].*out of range"),
    "body": ('a = { body = "ball", local = [0', 'a = { body = "bal", local = [0', r"springs\[0\]: no body .*'ball'"),
    "two shapes": ("density = 500", "density = 500\nsphere = { radius = 1 }", "exclude each other"),
    "solver": ('"implicit_euler"', '"implicit"', r"solver\.kind: unknown kind.*implicit_euler"),
    "solver's key": ("dt = 0.01", "td = 0.01", r"solver\.td: unknown key\. Did you mean 'dt'"),
    "step": ("dt = 0.01", "dt = -1", "step is not positive"),
    "until": ("until = 0.1", "until = -1", "run.until: is not positive"),
    "obstacles": (
        "[run]",
        "[[obstacles]]\nkind = 'floor'\nheigth = 1\n[run]",
        r"obstacles\[0\]\.heigth: unknown key.*'height'",
    ),
    "control": ('name = "ball"', '"na\\nme" = 1', r"bodies\[0\]\.na\\nme: unknown key"),
    "the world": ('name = "ball"', 'name = "world"', "name of the world"),
    "twice": ('name = "ball"', 'name = "string"', "already used"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case: str, tmp_path: Path) -> None:
    old, new, message = WRONG[case]
    assert old in SMALL
    path = written(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(SuppleError, match=message) as caught:
        load(path)
    sentence = caught.value.sentence()
    assert sentence.startswith("scene.toml")
    assert "\n" not in sentence
    assert "pydantic" not in sentence


def test_materials_are_found(tmp_path: Path) -> None:
    text = DESIGN.replace("[40, 4, 4]", "[1, 1, 1]")
    with pytest.raises(SuppleError, match=r"bodies\[0\]\.material: no material is called 'ruber'\. .*'rubber'"):
        load(written(tmp_path, text.replace('"rubber"', '"ruber"')))
    with pytest.raises(SuppleError, match=r"bodies\[0\]: node 'beam': no region is called 'x_mn'.*'x_min'"):
        load(written(tmp_path, text.replace("x_min", "x_mn")))


HOSTILE = {
    "deep.json": "[" * 100_000,
    "deeper.toml": "a = " + "[" * 100_000,
    "nested.json": '{"supple": 1, "bodies": ' + '[{"kind": ' * 50 + "1" + "}]" * 50 + "}",
    "digits.json": '{"supple": 1' + "0" * 10_000 + ', "bodies": []}',
    "digits.toml": "supple = 1" + "0" * 10_000,
    "twice.json": '{"supple": 1, "supple": 1, "bodies": []}',
    "infinite.json": '{"supple": 1, "bodies": [], "gravity": [0, 0, Infinity]}',
    "huge.json": '{"supple": 1, "bodies": [], "gravity": [0, 0, 1' + "0" * 400 + "]}",
    "bytes.toml": "\x00\x01",
    "empty.toml": "",
    "list.json": "[]",
    "cells.toml": DESIGN.replace("[40, 4, 4]", "[400000, 4, 4]"),
    "text.xml": "<a/>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SuppleError) as caught:
        load(written(tmp_path, HOSTILE[name], name))
    assert len(caught.value.sentence()) < 500


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["scene.toml", "scene.json", "robot.vxa", "robot.vxc", "robot.vxd"])
def test_pipes_and_devices_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(FileFormatError, match="a pipe or a device"):
        load(tmp_path / name)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileFormatError, match="a pipe or a device"):
        load(tmp_path / name)


def test_groups_may_be_nested_deeply(tmp_path: Path) -> None:
    depth = 1500
    groups = [{"kind": "group", "name": f"g{k}", **({"under": f"g{k - 1}"} if k else {})} for k in range(depth)]
    ball = {"kind": "rigid", "name": "ball", "sphere": {"radius": 0.1}, "density": 1.0, "under": f"g{depth - 1}"}
    path = tmp_path / "deep.json"
    path.write_text(json.dumps({"supple": 1, "bodies": [*groups, ball]}))
    scene = load(path)
    assert scene.node("ball") is scene.nodes[0]
    assert scene.compile().v_size == 6
    save(scene, tmp_path / "again.json")


def test_other_files_are_refused_with_help(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="load_mesh"):
        load(written(tmp_path, "", "beam.veg"))
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_what_is_no_data_cannot_be_saved(tmp_path: Path) -> None:
    scene, string = particle_scene()
    scene.add(sp.Load(string.points(), lambda t: (0, 0, t)), name="wind")
    with pytest.raises(InputError, match=r"'wind' is a Python function.*TableInTime"):
        save(scene, tmp_path / "scene.toml")

    class Own:
        def add_force(self, state: object, f_out: object) -> None: ...

    scene, string = particle_scene()
    scene.add(Own(), on=string, name="magnet")
    with pytest.raises(InputError, match="force 'magnet': a force of your own"):
        save(scene, tmp_path / "scene.toml")
    assert list(tmp_path.iterdir()) == []
