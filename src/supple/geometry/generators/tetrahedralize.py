"""A surface filled with tets by fTetWild, which takes messy input but gives another mesh every time.

So results are kept under a hash of the surface and the options: where the cache is kept, the same input gives
the same mesh. It runs in a process and a folder of its own, as it leaves files behind and may abort.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import numpy as np

from supple.algebra.compiling.compiled import cache_root
from supple.errors import InputError, MissingExtraError
from supple.geometry.meshes.mesh import SurfaceMesh, TetMesh
from supple.geometry.meshes.mesh_checks import check_choice
from supple.geometry.surfaces.surface_edges import check_closed

_PROGRAM = """
import sys
import numpy, pytetwild
given = numpy.load("in.npz")
nodes, tets = pytetwild.tetrahedralize(
    given["nodes"], given["triangles"], edge_length_abs=float(sys.argv[1]), epsilon=float(sys.argv[2]),
    num_threads=1, quiet=True,
)
numpy.savez("out.npz", nodes=numpy.asarray(nodes, float), tets=numpy.asarray(tets, numpy.int64))
"""


def tetrahedralize(
    surface: SurfaceMesh,
    *,
    edge_length: float | None = None,
    envelope: float = 1e-3,
    holes: Literal["refuse", "fill"] = "refuse",
) -> TetMesh:
    """Fill a surface with tets.

    edge_length: wanted length of the edges [m]; None takes a twentieth of the bounding diagonal.
    envelope: how far the result may leave the surface, as a fraction of the bounding diagonal [-].
    holes: open surfaces are refused, or closed as the winding number suggests ("fill").
    """
    check_choice("holes", holes, ("refuse", "fill"))
    length = surface.diagonal / 20 if edge_length is None else float(edge_length)
    for name, value in (("edge_length", length), ("envelope", envelope)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{name} is not positive", value=value)
    if holes == "refuse":
        check_closed(surface.edges, "tetrahedralize", 'Close its holes, or pass holes="fill".')
    path = _cache_path(surface, length, envelope)
    kept = _kept(path)
    if kept is not None:
        return kept
    arrays = _run(surface, length, envelope)
    _save(path, *arrays)
    return TetMesh(*arrays, isolated="drop")


def _run(surface: SurfaceMesh, length: float, envelope: float) -> tuple[np.ndarray, np.ndarray]:
    if importlib.util.find_spec("pytetwild") is None:
        raise MissingExtraError("mesh", needed_for="tetrahedralize")
    with tempfile.TemporaryDirectory(prefix="supple-tets-") as folder:
        np.savez(Path(folder, "in.npz"), nodes=surface.nodes, triangles=surface.triangles.astype(np.int32))
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, repr(length), repr(envelope)],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
        written = Path(folder, "out.npz")
        arrays = _load(written) if done.returncode == 0 and written.is_file() else None
    if arrays is None:
        reason = (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
        raise InputError(f"fTetWild cannot fill the surface: {reason[:200]}")
    if not len(arrays[1]):
        raise InputError("the surface encloses nothing", fix="Check that its triangles point outward.")
    return arrays


def _cache_path(surface: SurfaceMesh, length: float, envelope: float) -> Path:
    text = f"{surface.content_hash} {length!r} {envelope!r}"
    return cache_root() / "tets" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"


def _kept(path: Path) -> TetMesh | None:
    """The mesh kept in a file; None where there is none, or it is damaged or no mesh."""
    try:
        return TetMesh(*_load(path), isolated="drop")
    except Exception:  # what zipfile, NumPy and the checks of meshes raise depends on the damage
        return None


def _load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return file["nodes"], file["tets"]


def _save(path: Path, nodes: np.ndarray, tets: np.ndarray) -> None:
    """Write aside, then rename: two processes may do this at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        np.savez_compressed(file, nodes=nodes, tets=tets)
    os.replace(aside, path)
