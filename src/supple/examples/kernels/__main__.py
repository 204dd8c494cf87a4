"""`python -m supple.examples.kernels NAME ...`: run scenes and list the kernels that they call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from supple.algebra.compiling.ahead import WantedKernel, called_kernels
from supple.examples import registry
from supple.examples.kernels import as_json, listing
from supple.exports import export
from supple.running import run


def find_kernels(name: str) -> list[WantedKernel]:
    """Run a scene to its end, check it, draw it, and list the kernels; in a process that has called no others."""
    example = registry()[name]
    with TemporaryDirectory() as folder:
        result = run(example.make(), until=example.until, record_every=example.record_every, out=Path(folder) / "out")
        example.check(result)
        for file in ("picture.png", "video.gif"):
            export(result, Path(folder) / file)
    return called_kernels()


def main(names: list[str]) -> None:
    """Each scene in a process of its own."""
    if names[0] == "--print":
        print(as_json(find_kernels(names[1])), end="")
        return
    for name in names:
        command = [sys.executable, "-m", "supple.examples.kernels", "--print", name]
        listing(name).write_text(subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
