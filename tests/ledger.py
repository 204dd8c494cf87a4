"""A ledger of bits: whether the built-in examples still compute the same numbers, to the last bit.

    python tests/ledger.py [--write FILE] [--against FILE] [NAME ...]

Each example runs on one thread, STEPS steps or to its own end. The hash is the SHA-256 of t, x and v of its last
state. It prints a JSON object, name -> hash. `--write FILE` keeps that object in FILE, and the arrays in an .npz
file beside it. `--against FILE` compares with such a file and exits 1 where hashes differ; where the arrays are
there too, it says by how much: the largest difference over the largest magnitude in the array.

A change that only moves or renames code must leave the ledger as it is: write it before, compare after.

The bits depend on the processor (its SIMD width), on Numba, NumPy and SciPy. A ledger is true on the machine that
wrote it, so it is not part of the repository. Trees of domains load their modes from the user's cache, so modes
that are computed anew are compared only if the cache was empty.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

import supple as sp
from supple.errors import SuppleWarning
from supple.examples import Example, registry

Arrays = dict[str, np.ndarray]
STEPS = 200
OTHER_STEPS = {"chain": 60}  # 30 ms a step, all of them alike


def last_state(example: Example) -> Arrays:
    """t (1,) [s], x and v (flat) of the state after the ledger's number of steps."""
    most, done = OTHER_STEPS.get(example.name, STEPS), 0

    def is_enough(state: object, report: object) -> bool:
        nonlocal done
        done += 1
        return done >= most

    run = sp.run(example.make(), until=example.until, on_step=is_enough, threads=1, progress=False)
    return {"t": np.array([run.state.t]), "x": run.state.x.copy(), "v": run.state.v.copy()}


def digest(arrays: Arrays) -> str:
    """SHA-256 of the bytes of t, x, v."""
    found = hashlib.sha256()
    for name in ("t", "x", "v"):
        found.update(np.ascontiguousarray(arrays[name], dtype=np.float64).tobytes())
    return found.hexdigest()


def run_all(names: list[str]) -> dict[str, Arrays]:
    """The last states of the named examples; of all without a name."""
    known = registry()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"ledger: no example is called {', '.join(unknown)}. Examples: {', '.join(known)}.")
    states = {}
    for name in names or known:
        start = perf_counter()
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", SuppleWarning)
            states[name] = last_state(known[name])
        print(f"{name}: {perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return states


def write(path: Path, states: dict[str, Arrays]) -> None:
    """Hashes to `path`, arrays to the .npz file beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({name: digest(arrays) for name, arrays in states.items()}, indent=2) + "\n")
    flat = {f"{name}/{letter}": a for name, arrays in states.items() for letter, a in arrays.items()}
    np.savez_compressed(path.with_suffix(".npz"), **flat)


def largest_difference(here: Arrays, there: Mapping[str, np.ndarray], name: str) -> str:
    """How far two states are from each other, in words."""
    worst, where = 0.0, ""
    for letter, a in here.items():
        if f"{name}/{letter}" not in there:
            return "arrays were not kept"
        b = there[f"{name}/{letter}"]
        if a.shape != b.shape:
            return f"{letter} has shape {a.shape} here and {b.shape} there"
        scale = max(np.abs(b).max(initial=0.0), np.finfo(float).tiny)
        difference = float(np.abs(a - b).max(initial=0.0) / scale)
        if not difference <= worst:
            worst, where = difference, letter
    return f"largest relative difference {worst:.1e}, in {where}" if where else "only signs of zeros differ"


def compare(path: Path, states: dict[str, Arrays], *, chosen: bool) -> bool:
    """Say on standard error what differs from the ledger in `path`; True where nothing does.

    chosen: the states are of some examples only, so that others in the ledger are not missed.
    """
    if not path.is_file():
        raise SystemExit(f"ledger: there is no file {path}. Make one with --write {path}.")
    hashes, beside = json.loads(path.read_text()), path.with_suffix(".npz")
    there = np.load(beside) if beside.is_file() else {}
    differ = [name for name, arrays in states.items() if name in hashes and hashes[name] != digest(arrays)]
    missing = [] if chosen else [name for name in hashes if name not in states]
    for name in differ:
        print(f"{name} DIFFERS: {largest_difference(states[name], there, name)}", file=sys.stderr)
    for name in missing:
        print(f"{name} IS MISSING here", file=sys.stderr)
    for name in states:
        if name not in hashes:
            print(f"{name} is not in {path}: not compared", file=sys.stderr)
    same = sum(name in hashes for name in states) - len(differ)
    print(f"{same} of {len(states)} have the same bits as in {path}.", file=sys.stderr)
    return not differ and not missing


def main(arguments: list[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Hashes of the last states of the built-in examples.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples; default: all")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the hashes, and the arrays beside them")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with a ledger; exit 1 where bits differ")
    given = parser.parse_args(arguments)
    states = run_all(given.names)
    print(json.dumps({name: digest(arrays) for name, arrays in states.items()}, indent=2))
    is_same = given.against is None or compare(given.against, states, chosen=bool(given.names))
    if given.write is not None:
        write(given.write, states)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
