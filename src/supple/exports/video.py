"""Videos: the view of a run or of a swinging mode, frame by frame, as a GIF, or as an MP4 with the extra `video`.

A run is shown in real time, slowed or hurried so that it lasts two to ten seconds, unless a length is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import InputError, MissingExtraError
from supple.exports.camera import Camera
from supple.exports.canvas import reduced
from supple.exports.fields import Colouring
from supple.exports.layers import DPI, Place, Sheet
from supple.exports.view import FAINT_INK, INK, View
from supple.record.progress import count_bar
from supple.record.reader import Trajectory

Array = np.ndarray
FPS, SIZE = 20.0, (640, 480)
SHORTEST, LONGEST = 2.0, 10.0
"""Lengths between which a run is shown in real time [s]."""
MAX_FPS, MAX_SIZE, MAX_FRAMES = 60.0, 4096, 3000
VIEW, TEXT = (0.02, 0.02, 0.96, 0.85), 0.032
SCALE = (0.62, 0.915, 0.34, 0.022)
THREADS = 2
"""That draw."""
FRAMED = 12
"""Frames by which the picture is framed at most."""
Writer = Callable[[Iterator[Array], Path, float], None]
"""Writes pictures (height, width, 3) of bytes, so many a second, to a path."""


@dataclass(frozen=True)
class Film:
    """fps: frames a second, None: about `FPS`. size: width and height [pixels]. length: how long the video is [s],
    None: as the run."""

    fps: float | None = None
    size: tuple[int, int] = SIZE
    length: float | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("fps", 1.0, MAX_FPS), ("length", 0.1, MAX_FRAMES / FPS)):
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, int | float) or not isfinite(value) or not least <= value <= most:
                raise InputError(
                    f"{name} of a video is out of range", where="export", value=value, allowed=f"{least:g} to {most:g}"
                )
        size = self.size
        if (
            not isinstance(size, list | tuple)
            or len(size) != 2
            or not all(isinstance(n, int) and 64 <= n <= MAX_SIZE and n % 2 == 0 for n in size)
        ):
            allowed = f"width and height, even numbers from 64 to {MAX_SIZE}"
            raise InputError("size of a video is out of range", where="export", value=size, allowed=allowed)

    def seconds(self, span: float) -> float:
        """How long a video of a time span [s] is."""
        return min(max(span, SHORTEST), LONGEST) if self.length is None else self.length

    def choose(self, times: Array) -> Array:
        """Which of times (n,) are shown: evenly, or every so many where no number of frames a second is given."""
        seconds = self.seconds(float(times[-1] - times[0]))
        if self.fps is None:
            stride = max(1, round(len(times) / (seconds * FPS)))
            return np.arange(0, len(times), stride)
        wanted = np.linspace(times[0], times[-1], max(1, min(len(times), round(seconds * self.fps))))
        return np.abs(times[:, None] - wanted).argmin(axis=0)


def save_video(
    trajectory: Trajectory,
    path: Path,
    frames: Sequence[int] | None = None,
    *,
    fps: float | None = None,
    size: tuple[int, int] = SIZE,
    length: float | None = None,
    colour: str | None = None,
) -> None:
    """The given frames, or all of a run that there is time for, at `path`: .gif or .mp4. See `Film`."""
    film, write = Film(fps, size, length), writer_of(path)
    given = np.arange(len(trajectory.times)) if frames is None else np.array(sorted(set(frames)))
    times = trajectory.times[given]
    span = float(times[-1] - times[0])
    seconds = film.seconds(span)
    chosen = [int(k) for k in given[film.choose(times)]]
    tint = None if colour is None else Colouring.of(trajectory, colour, framed(chosen))
    view = View(trajectory, framed(chosen), Camera(), tint)
    note = "" if span == 0 else pace(span / seconds)
    captions = [", ".join(filter(None, [f"t = {trajectory.times[k]:.2f} s", note])) for k in chosen]
    pictures = draw_film(view, film.size, trajectory.name, list(zip(chosen, captions)))
    write(pictures, path, len(chosen) / seconds)


def framed(chosen: Sequence[int]) -> tuple[int, ...]:
    """Some of the frames, evenly, the last one last."""
    some = np.linspace(0, len(chosen) - 1, min(len(chosen), FRAMED)).round().astype(int)
    return tuple(chosen[k] for k in some)


def pace(factor: float) -> str:
    """Simulated over shown time, in words.

    >>> pace(0.25), pace(1.0), pace(2.5)
    ('4 times slower', '', '2.5 times faster')
    """
    if 0.95 <= factor <= 1.05:
        return ""
    return f"{factor:.2g} times faster" if factor > 1 else f"{1 / factor:.2g} times slower"


def draw_film(view: View, size: tuple[int, int], title: str, moments: Sequence[tuple[int, str]]) -> Iterator[Array]:
    """Pictures of moments, each a frame with its caption, with a bar on a terminal."""
    base, place = Sheet(size, background="white", dpi=DPI * size[1] / SIZE[1]), Place.of(size, VIEW)
    base.figure.text(0.03, 0.965, title, fontsize=12, color=INK, weight="bold", va="top")
    if isinstance(view.tint, Colouring):
        view.tint.draw_scale(base.figure, SCALE)
    axes = base.plane(place, view.window(place))
    view.draw_walls(axes)
    view.draw_ground(axes)
    empty = base.pixels()[..., :3].copy()

    def draw(moment: tuple[int, str]) -> Array:
        picture = empty.copy()
        view.lay_moment(place.of_picture(picture), moment[0])
        return captioned(reduced(picture), moment[1])

    with count_bar("video", len(moments)) as tell, ThreadPoolExecutor(THREADS) as pool:
        first = [draw(moments[0])]  # what the view keeps is there before threads ask for it
        for number, picture in enumerate(chain(first, pool.map(draw, moments[1:]))):
            yield picture
            tell(number + 1)


def captioned(pixels: Array, caption: str) -> Array:
    """A picture with a line of text under its title."""
    from PIL import Image, ImageDraw

    image, height = Image.fromarray(pixels), len(pixels)
    text = ImageDraw.Draw(image)
    text.text(
        (round(0.03 * pixels.shape[1]), round(0.09 * height)), caption, font=_font(round(TEXT * height)), fill=FAINT_INK
    )
    return np.asarray(image)


@cache
def _font(size: int) -> Any:
    """The letters that matplotlib brings."""
    from matplotlib import get_data_path
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")), size)


def writer_of(path: Path) -> Writer:
    """What writes a video, by the ending of its path; refused before anything is drawn where it cannot be written."""
    if path.suffix.lower() != ".mp4":
        return write_gif
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("video", needed_for="an MP4 (a GIF needs it not)") from error
    return write_mp4


def write_gif(pictures: Iterator[Array], path: Path, fps: float) -> None:
    """A GIF that goes round and round, all frames with one palette."""
    from PIL import Image

    pixels = list(pictures)
    keys = [(p >> 2).astype(np.int32) @ np.array([4096, 64, 1], dtype=np.int32) for p in pixels]
    palette, number = common_palette(keys)
    images = []
    for key in keys:
        image = Image.fromarray(number[key])
        image.putpalette(palette.tobytes())
        images.append(image)
    ends = np.round(100 / fps * np.arange(len(images) + 1))  # a GIF counts hundredths of seconds
    delays = [int(10 * d) for d in np.maximum(2, np.diff(ends))]
    images[0].save(path, format="GIF", save_all=True, append_images=images[1:], duration=delays, loop=0, optimize=False)


def common_palette(keys: list[Array]) -> tuple[Array, Array]:
    """At most 256 colours (n, 3) of bytes, white the first, and the nearest of them to each key.

    keys: of colours, six bits each of red, green, blue. A colour counts by the fourth root of its pixels, so that small
    things keep theirs.
    """
    from PIL import Image
    from scipy.spatial import KDTree

    found, counts = np.unique(np.concatenate([key.ravel() for key in keys]), return_counts=True)
    rows = np.stack([found >> 12, found >> 6 & 63, found & 63], axis=1) * 255 // 63
    spread = np.repeat(rows, np.ceil(counts**0.25).astype(int), axis=0).astype(np.uint8)
    chosen = Image.fromarray(spread[None]).quantize(255, method=Image.Quantize.MEDIANCUT, kmeans=1).getpalette()
    palette = np.array([255, 255, 255, *(chosen or [])], dtype=np.uint8).reshape(-1, 3)[:256]
    number = np.zeros(1 << 18, dtype=np.uint8)
    number[found] = KDTree(palette.astype(float)).query(rows)[1]
    return palette, number


def write_mp4(pictures: Iterator[Array], path: Path, fps: float) -> None:
    """An MP4 (H.264), one picture after another."""
    import imageio_ffmpeg

    first = next(pictures)
    size = first.shape[1], first.shape[0]
    stream = imageio_ffmpeg.write_frames(
        str(path), size, fps=fps, quality=8, macro_block_size=2, ffmpeg_log_level="error"
    )
    stream.send(None)
    try:
        stream.send(first.tobytes())
        for picture in pictures:
            stream.send(picture.tobytes())
    finally:
        stream.close()
