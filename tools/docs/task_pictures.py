"""Make docs/images/tasks.png: searched robots of three tasks at the start, in the middle and at the end."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

import supple as sp
from supple.design import Design
from supple.design.tasks import find_task
from supple.design.tasks.baselines import load_baselines
from supple.design.trial import make_trial

NAMES = ("walk-v1", "throw-v1", "push-v1")
SIZE = (320, 240)
PATH = Path(__file__).parents[2] / "docs" / "images" / "tasks.png"


def main() -> None:
    """Write the picture."""
    sheet = Image.new("RGB", (3 * SIZE[0], len(NAMES) * SIZE[1]), "white")
    with TemporaryDirectory() as folder:
        for row, name in enumerate(NAMES):
            stored = load_baselines()[name]
            best = max(range(3), key=lambda k, scores=stored["searched"]: scores[k])  # type: ignore[misc]
            run = make_trial(Design.from_json(stored["designs"][best]), find_task(name)).run
            assert run.frames is not None
            last = len(run.frames.times) - 1
            moments = [0, last // 2, last]
            shown = Image.open(sp.export(run, Path(folder) / f"{name}.gif", frames=moments, size=SIZE))
            for column in range(3):
                shown.seek(min(column, getattr(shown, "n_frames", 1) - 1))
                sheet.paste(shown.convert("RGB"), (column * SIZE[0], row * SIZE[1]))
    sheet.quantize(128).save(PATH, optimize=True)
    print(PATH, PATH.stat().st_size)


if __name__ == "__main__":
    main()
