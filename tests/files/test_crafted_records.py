"""Records that damage or a stranger made: each is refused in a sentence that says what to do."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supple as sp
from supple.errors import RecordError
from supple.record import open_record


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="drop")
    scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=500), at=(0, 0, 1), name="box")
    scene.add(sp.Particles(np.eye(3), 0.1, springs=[(0, 1), (1, 2)], stiffness=50), name="chain")
    return scene


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return sp.run(make_scene(), until=0.1, out=tmp_path_factory.mktemp("whole"), record_every=0.05).folder


def read_everything(path: Path) -> None:
    record = open_record(path)
    assert record.ground is None or len(record.ground) == 4
    for body in record.body_names:
        record.triangles(body)
        record.lines(body)
        for frame in range(len(record)):
            assert record.points(body, frame).shape[1] == 3
    for step in record.state_steps:
        record.state(step)


def replace(file: h5py.File, name: str, **made: object) -> None:
    del file[name]
    file.create_dataset(name, **made)


def set_attribute(group: str, name: str, value: object) -> Callable[[h5py.File, Path], None]:
    def craft(file: h5py.File, folder: Path) -> None:
        file[group].attrs[name] = value

    return craft


def set_data(name: str, value: object) -> Callable[[h5py.File, Path], None]:
    return lambda file, folder: replace(file, name, data=value)


def point_to_another_file(file: h5py.File, folder: Path) -> None:
    (folder / "secret").write_bytes(bytes(8 * 3))
    replace(file, "supple/frames/time", shape=(3,), dtype="f8", external=[(str(folder / "secret"), 0, 24)])


def link_to_another_file(file: h5py.File, folder: Path) -> None:
    del file["VTKHDF/chain/Points"]
    file["VTKHDF/chain/Points"] = h5py.ExternalLink(str(folder / "other.h5"), "/x")


def claim_virtually(file: h5py.File, folder: Path) -> None:
    layout = h5py.VirtualLayout(shape=(3,), dtype="f8")
    layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "x", shape=(3,))
    del file["supple/frames/time"]
    file["supple/frames"].create_virtual_dataset("time", layout)


def claim_frames(file: h5py.File, folder: Path) -> None:
    count = 20_000_000
    for table in (file["supple/frames"], file["VTKHDF/box/Steps"], file["VTKHDF/chain/Steps"]):
        for dataset in table.values():
            dataset.resize(count, axis=0)
    for block in (file["VTKHDF/box"], file["VTKHDF/chain"]):
        block["Steps"].attrs["NSteps"] = count
        block["Points"].resize(count * int(block["NumberOfPoints"][0]), axis=0)


def claim_a_state(file: h5py.File, folder: Path) -> None:
    replace(file, "supple/states/000000000010/x", shape=(10**12,), chunks=(1024,), dtype="f8")


CRAFTED = {
    "bodies is a number": set_attribute("supple", "bodies", 5),
    "bodies holds numbers": set_attribute("supple", "bodies", "[1, 2]"),
    "bodies is no JSON": set_attribute("supple", "bodies", "{"),
    "bodies is deep": set_attribute("supple", "bodies", "[" * 10_000),
    "bodies lacks a block": set_attribute("supple", "bodies", '[{"name": "box", "kind": "rigid"}]'),
    "bodies names no block": set_attribute(
        "supple", "bodies", json.dumps([{"name": "box", "kind": "rigid", "block": "Assembly/box"}])
    ),
    "ground is no JSON": set_attribute("supple", "ground", "{"),
    "ground is a word": set_attribute("supple", "ground", '["up", 0, 0, 1]'),
    "ground is a number": set_attribute("supple", "ground", 3),
    "ground is not finite": set_attribute("supple", "ground", "[0, 0, 1, NaN]"),
    "name is a number": set_attribute("supple", "name", 7.0),
    "attribute is an array": set_attribute("supple", "dt", np.ones(3)),
    "no points": set_data("VTKHDF/chain/NumberOfPoints", [0]),
    "fewer than no points": set_data("VTKHDF/chain/NumberOfPoints", [-3]),
    "points of nothing": set_data("VTKHDF/chain/NumberOfPoints", np.zeros(0, dtype=int)),
    "points of words": set_data("VTKHDF/chain/NumberOfPoints", [b"three"]),
    "steps of NaN": set_attribute("VTKHDF/chain/Steps", "NSteps", np.nan),
    "steps of words": set_attribute("VTKHDF/chain/Steps", "NSteps", "many"),
    "points are a plane": set_data("VTKHDF/chain/Points", np.zeros((9, 2), dtype="f4")),
    "points are elsewhere": set_data("VTKHDF/chain/Steps/PointOffsets", np.array([0, 3, 1 << 40])),
    "lines name no points": set_data("VTKHDF/chain/Lines/Connectivity", np.array([0, 1, 1, 99])),
    "times are words": set_data("supple/frames/time", np.array([b"a", b"b", b"c"])),
    "outcome is no text": set_data("supple/frames/outcome", np.array([b"\xff\xfe"] * 3, dtype="S20")),
    "state of no step": lambda file, folder: file["supple/states"].create_group("one"),
    "state of a negative step": lambda file, folder: file["supple/states"].create_group("-00000000005"),
    "state at no time": set_attribute("supple/states/000000000010", "t", np.nan),
    "state of pairs": set_data("supple/states/000000000010/x", np.zeros((2, 2))),
    "state too large": claim_a_state,
    "external workspace": point_to_another_file,
    "external link": link_to_another_file,
    "virtual dataset": claim_virtually,
    "frames that nobody wrote": claim_frames,
}


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED.keys())
def test_crafted_record_is_refused_in_a_sentence(whole: Path, tmp_path: Path, craft) -> None:
    shutil.copy(whole / "record.vtkhdf", tmp_path / "record.vtkhdf")
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.zeros(3)
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        craft(file, tmp_path)
    with pytest.raises(RecordError) as caught:
        read_everything(tmp_path)
    assert caught.value.fix
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["bodies is a number", "no points", "external workspace", "state of no step"])
def test_crafted_record_is_not_continued(whole: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    with h5py.File(folder / "record.vtkhdf", "r+") as file:
        CRAFTED[name](file, tmp_path)
    with pytest.raises(RecordError, match="cannot be continued") as caught:
        sp.run(make_scene(), until=0.2, out=folder, record_every=0.05, resume=True)
    assert caught.value.fix
    assert len(sp.run(make_scene(), until=0.1, out=folder, record_every=0.05).frames.times) == 3  # anew


def test_compressed_copy_is_read(whole: Path, tmp_path: Path) -> None:
    shutil.copy(whole / "record.vtkhdf", tmp_path / "record.vtkhdf")
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as file:
        for name in ("supple/frames/time", "VTKHDF/chain/Points"):
            replace(file, name, data=file[name][:], compression="gzip", maxshape=(None, *file[name].shape[1:]))
    record = open_record(tmp_path)
    assert np.array_equal(record.points("chain", -1), open_record(whole).points("chain", -1))


def heap_of(content: bytearray) -> int:
    """Where the first object of the heap of texts begins."""
    return content.index(b"GCOL\x01\x00\x00\x00") + 16


def spoil_zeros(content: bytearray) -> None:
    """The last text reaches into the zeros behind it, where HDF5 finds objects of no bytes for ever."""
    place = heap_of(content)
    while (after := place + 16 + -(-int.from_bytes(content[place + 8 : place + 16], "little") // 8) * 8) and content[
        after
    ]:
        place = after
    content[place + 9] ^= 4


def spoil_size(content: bytearray) -> None:
    place = heap_of(content)
    content[place + 8 : place + 16] = b"\xff" * 8


@pytest.mark.parametrize("spoil", [spoil_zeros, spoil_size])
@pytest.mark.parametrize(
    "way", ["open_record(sys.argv[1])", "sp.run(make_scene(), until=0.2, out=sys.argv[1], resume=True)"]
)
def test_damaged_heap_of_texts_is_refused(
    whole: Path, tmp_path: Path, spoil: Callable[[bytearray], None], way: str
) -> None:
    """In a process of its own: HDF5 hung there for ever, out of the reach of signals."""
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    content = bytearray((folder / "record.vtkhdf").read_bytes())
    spoil(content)
    (folder / "record.vtkhdf").write_bytes(content)
    program = (
        "import sys; import supple as sp; from supple.record import open_record;"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r}); from test_crafted_records import make_scene; {way}"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=120, check=False
    )
    assert "RecordError" in ended.stderr
    assert "a heap of texts is damaged" in ended.stderr


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_record_is_refused_or_read(whole: Path, tmp_path: Path, data) -> None:
    content = bytearray((whole / "record.vtkhdf").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (tmp_path / "record.vtkhdf").write_bytes(content)
    with contextlib.suppress(RecordError):
        read_everything(tmp_path)
