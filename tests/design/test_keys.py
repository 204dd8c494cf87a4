"""Keys: an evaluation is named by all that its scores depend on, and a store by the Supple that its results are of."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.algebra.compiling.compiled import PACKAGE
from supple.design import Arena, Design, Store, evaluate, evaluation_key, try_design
from supple.design import origin as origins
from supple.design.conditions import Conditions
from supple.design.origin import Origin, origin, sources_hash
from supple.design.tasks import tasks
from supple.errors import InputError, RecordError
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0)
ARENA = Arena({1: SOFT}, 0.01, duration=0.02)
BLOCK = Design(np.ones((2, 1, 1)))


@pytest.mark.parametrize("change", ["version", "sources", "device", "dtype", "design", "arena", "measures", "seed"])
def test_a_key_has_all_that_a_score_depends_on(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = evaluation_key(BLOCK, ARENA, ("travel",))
    assert evaluation_key(BLOCK, ARENA.with_(), ("travel",)) == before
    design, arena, measures = BLOCK, ARENA, ("travel",)
    options: dict[str, Any] = {"device": {"device": "cuda"}, "dtype": {"dtype": "float32"}, "seed": {"seed": 1}}
    if change == "version":
        monkeypatch.setattr(supple, "__version__", "0.1.1")
    elif change == "sources":
        monkeypatch.setattr(origins, "sources_hash", lambda package: "another")
    elif change == "design":
        design = Design(np.ones((2, 1, 1)), {"phase": np.full((2, 1, 1), 0.5)})
    elif change == "arena":
        arena = ARENA.with_(gravity=(0, 0, -9.80))
    elif change == "measures":
        measures = ("forward",)
    assert evaluation_key(design, arena, measures, **options.get(change, {})) != before


def test_a_change_of_what_computes_scores_changes_the_hash(tmp_path: Path) -> None:
    """Of kernels, of scores and of scenes; not of what only shows, searches or keeps them."""
    package = tmp_path / "supple"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.json", "*.js", "__pycache__"))

    def changed(name: str) -> bool:
        path, before = package / name, sources_hash(package)
        sources_hash.cache_clear()
        text = path.read_text()
        path.write_text(f"{text}\n# more\n")
        after = sources_hash(package)
        sources_hash.cache_clear()
        path.write_text(text)
        return after != before

    assert sources_hash(package) == sources_hash(PACKAGE) == origin().sources
    made_of = ("bodies/voxel/sweep/step_kernels.py", "design/tasks/scores.py", "files/scenes/scene_files.py")
    assert all(changed(name) for name in (*made_of, "algebra/dense/function_kernels.py", "design/measures.py"))
    assert not any(changed(name) for name in ("studio/page.py", "design/search/cma_es.py", "cli/design.py"))


def test_another_device_has_other_keys_and_is_not_played_here() -> None:
    there = Conditions(ARENA, ("travel",), device="cuda", dtype="float32")
    assert there.key != Conditions(ARENA, ("travel",)).key
    with pytest.raises(InputError, match=r"another device.*cuda, float32.*executor"):
        there.evaluate(BLOCK)
    with pytest.raises(InputError, match=r"device: unknown choice .*got 'tpu'; allowed: cpu, cuda"):
        Conditions(ARENA, ("travel",), device="tpu")


def test_a_store_of_another_supple_is_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    (known,) = evaluate([BLOCK], ARENA, store=path, workers=0)
    here = origin()
    monkeypatch.setattr(origins, "sources_hash", lambda package: "f" * 64)
    for write in (lambda: Store(path), lambda: evaluate([BLOCK], ARENA, store=path, workers=0)):
        with pytest.raises(RecordError, match=rf"another Supple.*{here.sources[:12]}.*allowed.*ffffffffffff.*new file"):
            write()
    with Store(path, write=False) as store:
        assert (store.origin, store.get(known.key)) == (here, known)
        assert store.export_csv(tmp_path / "table.csv") == 1
    assert Store.recover(path, tmp_path / "copy.db") == 1
    with Store(tmp_path / "copy.db", write=False) as store:
        assert store.origin == here
    assert evaluate([BLOCK], ARENA, store=tmp_path / "new.db", workers=0)[0].key != known.key
    monkeypatch.undo()
    assert evaluate([BLOCK], ARENA, store=path, workers=0) == [known] == [try_design(BLOCK, ARENA)]


def test_an_origin_is_told_in_words() -> None:
    assert str(Origin("0.1.0", "ab" * 32)) == "Supple 0.1.0, sources abababababab"


KEYS = {
    "walk-v1": "b9e34911fe75af0c",
    "rough-v1": "189f6809d628f7b5",
    "stairs-v1": "81c9719f055599f5",
    "slope-v1": "95c2a98abbc45263",
    "gap-v1": "7b448498372f255c",
    "swim-v1": "79986b35d851900d",
    "jump-v1": "14c55517252423a0",
    "stand-v1": "d3187a07189d9f5f",
    "reach-v1": "6aab60d9cb89a298",
    "carry-v1": "72112d93fb64fafa",
    "throw-v1": "70a37ebf68cda50f",
    "push-v1": "40948a2c2537795b",
}
"""Of the tasks as they were published: a task that changes has a new version, and another name."""


@pytest.mark.parametrize("name", tasks())
def test_tasks_are_what_their_versions_say(name: str) -> None:
    assert tasks()[name].key()[:16] == KEYS[name]
