"""`python -m supple.examples.kernels NAME ...`: run scenes and list the kernels that they call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from supple.algebra.compiling.ahead import WantedKernel, called_kernels
from supple.algebra.compiling.kernel_list import kernel_list_text
from supple.examples import registry
from supple.examples.kernels import listing
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
    """Each scene in a process of its own, after another one has reduced its domains: lists do not depend on whether
    these were known before."""
    if names[0] == "--make":
        registry()[names[1]].make().compile()
    elif names[0] == "--print":
        subprocess.run(command("--make", names[1]), check=True)
        print(kernel_list_text(find_kernels(names[1])), end="")
    else:
        for name in names:
            done = subprocess.run(command("--print", name), text=True, stdout=subprocess.PIPE, check=True)
            listing(name).write_text(done.stdout)


def command(*arguments: str) -> list[str]:
    """This program with other arguments."""
    return [sys.executable, "-m", "supple.examples.kernels", *arguments]


if __name__ == "__main__":
    main(sys.argv[1:])
