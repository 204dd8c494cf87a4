"""start/import: a new process until it has imported the package, and until it has run a first scene.

The first scene is a beam that hangs from one end, run for a tenth of a second by `sp.run`: with an empty cache of
kernels, so that each is compiled by the process that needs it, and once more with what the first process kept. A
kernel's time is its own, without that of the kernels that it calls.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from supple.bench.row import Row, best_of, measured
from supple.bench.start.process import run_python

IMPORT = "start/import"
LONGEST = 10
PACKAGE = "import supple"
SCENE = """
import supple as sp

rubber = sp.Material(young=1e6, poisson=0.4, density=1100)
scene = sp.Scene(gravity=(0, 0, -9.81))
scene.add(sp.FemBody(sp.box_hexes(size=(0.2, 0.02, 0.02), cells=(20, 2, 2)), rubber), fix="x_min")
sp.run(scene, until=0.1, progress=False)
"""
BY_KERNEL = (
    """
import json
from time import perf_counter
from numba.core import event

class OwnTimes(event.Listener):
    inner, own, begun = [], {}, []

    def on_start(self, found):
        self.begun.append(perf_counter())
        self.inner.append(0.0)

    def on_end(self, found):
        took = perf_counter() - self.begun.pop()
        function = found.data["dispatcher"].py_func
        name = f"{function.__module__}:{function.__name__}"
        self.own[name] = self.own.get(name, 0.0) + took - self.inner.pop()
        if self.inner:
            self.inner[-1] += took

event.register("numba:compile", OwnTimes())
"""
    + SCENE
    + "print(json.dumps(OwnTimes.own))"
)
"""The scene, with seconds by kernel printed."""


def import_package() -> list[Row]:
    """The package, then a first scene; the best of several processes where nothing is compiled."""
    with TemporaryDirectory() as folder:
        begin = perf_counter()
        run_python(IMPORT, folder, "-c", PACKAGE, byte_code=str(Path(folder) / "byte_code"))
        unread = perf_counter() - begin
        imported = best_of(3, partial(run_python, IMPORT, folder, "-c", PACKAGE))
        begin = perf_counter()
        kernels: dict[str, float] = json.loads(run_python(IMPORT, folder, "-c", BY_KERNEL))
        first = perf_counter() - begin
        again = best_of(3, partial(run_python, IMPORT, folder, "-c", SCENE))
    longest = sorted(kernels.items(), key=lambda kernel: -kernel[1])[:LONGEST]
    values = {
        "import supple, no byte code yet": unread,
        "import supple": imported,
        "first scene, no kernels yet": first,
        f"of which {len(kernels)} kernels": sum(kernels.values()),
        **{f"  {name.removeprefix('supple.')}": seconds for name, seconds in longest},
        "first scene, kernels kept": again,
    }
    return [measured(IMPORT, what, seconds, unit="s", threads=1) for what, seconds in values.items()]


CASES = {IMPORT: import_package}
