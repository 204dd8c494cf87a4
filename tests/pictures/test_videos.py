"""Videos: size, number and times of frames, what moves in them, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.errors import InputError, MissingExtraError
from supple.exports.video import common_palette, pace

pytest.importorskip("matplotlib")
SMALL = {"size": (160, 120)}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A red ball that flies along x for a second, recorded 26 times."""
    scene = sp.Scene(gravity=(0, 0, 0), name="ball", solver=sp.ImplicitEuler(0.02))
    scene.add(sp.RigidBody.sphere(0.2, density=1), velocity=(2, 0, 0), name="ball", colour="#e01010")
    return sp.run(scene, until=1.0, out=tmp_path_factory.mktemp("video"), record_every=0.04)


def frames_of(path: Path) -> tuple[list[np.ndarray], list[int]]:
    """Pictures (height, width, 3) of a GIF, and how long each is shown [ms]."""
    from PIL import Image

    with Image.open(path) as image:
        pictures, delays = [], []
        for k in range(image.n_frames):
            image.seek(k)
            pictures.append(np.asarray(image.convert("RGB")).astype(int))
            delays.append(image.info["duration"])
    return pictures, delays


def red_place(picture: np.ndarray) -> float:
    """The mean column of what is red."""
    red = (picture[..., 0] > picture[..., 1] + 80) & (picture[..., 0] > picture[..., 2] + 80)
    assert red.any()
    return float(np.nonzero(red)[1].mean())


def test_a_gif_has_its_size_frames_and_length(run, tmp_path: Path) -> None:
    pictures, delays = frames_of(sp.export(run, tmp_path / "a.gif", fps=10, length=2, **SMALL))
    assert {p.shape for p in pictures} == {(120, 160, 3)}
    assert len(pictures) == 20
    assert sum(delays) == pytest.approx(2000, abs=20)
    places = [red_place(p) for p in pictures]
    assert (np.diff(places) > 0).all()  # it flies to the right
    assert places[-1] - places[0] > 60
    assert (pictures[0][[0, 0, -1, -1], [0, -1, 0, -1]] == 255).all()


def test_a_video_has_no_more_frames_than_the_record(run, tmp_path: Path) -> None:
    pictures, delays = frames_of(sp.export(run, tmp_path / "a.gif", **SMALL))
    assert len(pictures) == len(run.frames.times) == 26
    assert sum(delays) == pytest.approx(2000, abs=30)  # a second is slowed to two
    places = [red_place(p) for p in pictures]
    assert np.diff(places) == pytest.approx(np.diff(places).mean(), abs=0.6)  # it flies evenly
    pictures, _ = frames_of(sp.export(run, tmp_path / "b.gif", frames=[0, 5, -1], **SMALL))
    assert len(pictures) == 3


def test_a_still_run_is_a_video_of_one_frame(tmp_path: Path) -> None:
    scene = sp.Scene()
    scene.add(sp.RigidBody.sphere(0.2, density=1))
    pictures, _ = frames_of(sp.export(sp.run(scene, until=0.0), tmp_path / "a.gif", **SMALL))
    assert len(pictures) == 1


def test_an_mp4_has_its_size_and_frames(run, tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = sp.export(run, tmp_path / "a.mp4", fps=10, length=2, **SMALL)
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert frames == 20
    assert seconds == pytest.approx(2.0, abs=0.05)
    reader = ffmpeg.read_frames(str(path))
    assert next(reader)["size"] == (160, 120)
    pictures = [np.frombuffer(p, dtype=np.uint8).reshape(120, 160, 3).astype(int) for p in reader]
    assert red_place(pictures[-1]) > red_place(pictures[0]) + 60


def test_an_mp4_without_the_extra_names_it(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"supple\[video\]"):
        sp.export(run, tmp_path / "a.mp4")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"fps": 0}, "fps"),
        ({"fps": float("nan")}, "fps"),
        ({"fps": 500}, "1 to 60"),
        ({"length": -1}, "length"),
        ({"length": 1e9}, "length"),
        ({"size": (10, 10)}, "size"),
        ({"size": (641, 480)}, "even"),
        ({"size": (640, 480, 3)}, "size"),
        ({"contacts": True}, "no option 'contacts'"),
        ({"frames": [99]}, "no such frame"),
    ],
)
def test_bad_options_are_refused(run, tmp_path: Path, given: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        sp.export(run, tmp_path / "a.gif", **given)


@pytest.mark.parametrize("option", [{"fps": 10}, {"size": (640, 480)}, {"length": 2}])
def test_options_of_videos_are_refused_elsewhere(run, tmp_path: Path, option: dict) -> None:
    with pytest.raises(InputError, match="gif, mp4"):
        sp.export(run, tmp_path / "a.png", **option)


def test_the_pace_is_told() -> None:
    assert [pace(f) for f in (0.25, 0.99, 2.5)] == ["4 times slower", "", "2.5 times faster"]


def test_the_palette_keeps_white_and_small_things() -> None:
    """One red pixel among a thousand shades of grey keeps its colour."""
    shades = np.repeat(np.arange(64), 1000)
    key = shades * (4096 + 64 + 1)
    key[500] = 63 << 12
    palette, number = common_palette([key])
    assert palette[number[key[-1]]].tolist() == [255, 255, 255]
    red = palette[number[63 << 12]].astype(int)
    assert red[0] > red[1] + 200
    assert red[0] > red[2] + 200
    assert len(palette) <= 256


def call(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_exports_videos(run, tmp_path: Path, capsys) -> None:
    code, out, _ = call(
        capsys, "export", run.folder, "--to", "gif", "--size", "160x120", "--fps", "5", "--out", tmp_path
    )
    assert code == 0
    assert "ball.gif" in out
    assert len(frames_of(tmp_path / "ball.gif")[0]) == 10
    for size in ("640", "axb", "1x2x3", "-4x4"):
        code, _, err = call(capsys, "export", run.folder, "--to", "gif", f"--size={size}", "--out", tmp_path)
        assert code == 2
        assert "640x480" in err


def test_a_run_leaves_a_video(tmp_path: Path, capsys) -> None:
    code, _, _ = call(capsys, "run", "bouncing-ball", "--until", "0.1", "--out", tmp_path, "--video", "gif")
    assert code == 0
    pictures, _ = frames_of(tmp_path / "video.gif")
    assert pictures[0].shape == (480, 640, 3)
    assert len(pictures) >= 3
    assert call(capsys, "run", "bouncing-ball", "--until", "0.1", "--out", tmp_path, "--video", "avi")[0] == 2


def test_modes_swing_once_to_and_fro(tmp_path: Path) -> None:
    scene = sp.Scene(name="bar")
    steel = sp.Material(young=2e9, poisson=0.3, density=1000, colour="#e01010")
    scene.add(sp.FemBody(sp.box_tets((1.0, 0.1, 0.05), (8, 1, 1)), steel), fix="x_min", name="bar")
    modes = sp.vibration_modes(scene.compile(), 2)
    pictures, delays = frames_of(sp.export(modes, tmp_path / "a.gif", fps=10, length=2, **SMALL))
    assert len(pictures) == 20
    assert sum(delays) == 2000
    tips = [float(np.nonzero((p[..., 0] > p[..., 1] + 80)[:, 120:])[0].mean()) for p in pictures]
    assert abs(tips[5] - tips[15]) > 5  # the turning points
    assert tips[0] == pytest.approx((tips[5] + tips[15]) / 2, abs=2)
    assert np.array_equal(pictures[2], pictures[8])  # the way back is the way there
    with pytest.raises(InputError, match="one mode"):
        sp.export(modes, tmp_path / "b.gif", frames=[0, 1])


def test_the_command_lists_and_animates_modes(tmp_path: Path, capsys) -> None:
    code, out, _ = call(capsys, "modes", "hanging-beam", "--count", "2", "--to", "png", "--out", tmp_path)
    assert code == 0
    assert "frequency" in out
    assert {p.name for p in tmp_path.iterdir()} == {"mode-1.png", "mode-2.png"}
    code, out, _ = call(capsys, "modes", "hanging-beam", "--count", "2", "--to", "csv", "--json", "--out", tmp_path)
    assert code == 0
    assert '"frequency [Hz]"' in out
    assert (tmp_path / "modes.csv").is_file()
    for wrong in (["--mode", "3", "--to", "gif"], ["--mode", "1"], ["--count", "0"], ["--to", "avi"]):
        assert call(capsys, "modes", "hanging-beam", "--count", "2", "--out", tmp_path, *wrong)[0] == 2
