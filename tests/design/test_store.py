"""A store keeps one row a key, survives its writer, and refuses what is damaged, foreign, locked or full."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supple.design import Design, Result, Store
from supple.errors import InputError, RecordError


def walker(number: int) -> Design:
    phase = np.full((2, 2, 1), 0.1) * number
    return Design(np.ones((2, 2, 1)), {"phase": phase}, {"weights": np.arange(3.0) + number})


def result_of(design: Design, travel: float = 1 / 3) -> Result:
    return Result(f"key of {design.key()}", design.key(), "finished", {"travel": travel, "height": 0.1}, 0.25, "")


def filled(path: Path, count: int) -> list[Result]:
    with Store(path) as store:
        for design in map(walker, range(count)):
            store.add(result_of(design), design)
        return list(store.results())


def test_results_and_designs_come_back_bit_for_bit(tmp_path: Path) -> None:
    design = walker(1)
    crashed = Result("c", design.key(), "crashed", {"travel": -1e9}, 1.5, "its process died\ntwice")
    with Store(tmp_path / "s.db") as store:
        store.add(result_of(design), design)
        store.add(crashed, design)
    with Store(tmp_path / "s.db") as store:
        assert list(store.results()) == [result_of(design), crashed]
        found = store.get("c")
        assert found is not None
        assert (found.seconds, found.message) == (1.5, crashed.message)
        assert store.get("other") is None
        assert store.design(design.key()) == design
        with pytest.raises(InputError, match="no such design"):
            store.design("other")


def test_a_key_has_one_row(tmp_path: Path) -> None:
    design = walker(1)
    with Store(tmp_path / "s.db") as store:
        for travel in (1.0, 2.0):
            store.add(result_of(design, travel), design)
        assert len(store) == 1
        assert [r.scores["travel"] for r in store.results()] == [2.0]
        with pytest.raises(InputError, match="another design"):
            store.add(result_of(design), walker(2))


def test_what_was_added_survives_the_death_of_the_writer(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from supple.design import Design, Result, Store\n"
        "store = Store(sys.argv[1]); design = Design([[[1]]])\n"
        "[store.add(Result(str(k), design.key(), 'finished', {'travel': k / 7}), design) for k in range(5)]\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = tmp_path / "s.db"
    ended = subprocess.run([sys.executable, "-c", code, str(path)], env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
    assert ended.returncode == -signal.SIGKILL
    with Store(path) as store:
        assert [r.scores["travel"] for r in store.results()] == [k / 7 for k in range(5)]


def test_one_writes_and_others_read(tmp_path: Path) -> None:
    path, design = tmp_path / "s.db", walker(1)
    with Store(path) as store:
        with pytest.raises(RecordError, match=r"another run is writing.*wait"):
            Store(path)
        with Store(path, write=False) as reader:
            assert len(reader) == 0
            store.add(result_of(design), design)
            assert len(reader) == 1
            with pytest.raises(InputError, match="write=True"):
                reader.add(result_of(design), design)
    with Store(path):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.db"]


def test_other_versions_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path, 1)
    file = sqlite3.connect(path)
    file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(RecordError, match=r"another version.*99.*export_csv"):
        Store(path)
    other = tmp_path / "other.db"
    file = sqlite3.connect(other)
    file.execute("CREATE TABLE things (a)")
    file.close()
    with pytest.raises(RecordError, match="not a store"):
        Store(other)
    text = tmp_path / "text.db"
    text.write_text("a file of some other kind, long enough to be looked at\n" * 100)
    with pytest.raises(RecordError, match=r"damaged.*recover"):
        Store(text)
    assert text.read_text().startswith("a file of some other kind")
    with pytest.raises(RecordError, match="Make its folder"):
        Store(tmp_path / "nowhere" / "s.db")


def test_damaged_pages_are_refused_and_the_rest_is_recovered(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    before = filled(path, 200)
    page = sqlite3.connect(path).execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    hurt = next(
        k for k in range(len(data) // page // 2, len(data) // page) if data[k * page] == 13
    )  # a leaf of a table
    data[hurt * page : (hurt + 1) * page] = b"\xff" * page
    path.write_bytes(data)
    with pytest.raises(RecordError, match=r"damaged.*recover"):
        Store(path)
    count = Store.recover(path, tmp_path / "new.db")
    assert 150 < count < 200
    with Store(tmp_path / "new.db") as store:
        after = list(store.results())
        assert len(after) == count
        assert set(after) < set(before)
        for result in after:
            assert store.design(result.design).key() == result.design
    with pytest.raises(RecordError, match="Name a new file"):
        Store.recover(path, tmp_path / "new.db")


def test_changed_values_are_noticed(tmp_path: Path) -> None:
    """Damage within a value leaves a file that SQLite finds whole."""
    path = tmp_path / "s.db"
    results = filled(path, 3)
    with sqlite3.connect(path) as file:
        file.execute("UPDATE results SET scores = replace(scores, '0.1', '0.2') WHERE key = ?", (results[1].key,))
        file.execute(
            "UPDATE designs SET data = replace(data, 'weights', 'weighty') WHERE key = ?", (results[2].design,)
        )
    file.close()
    with Store(path) as store:
        assert store.get(results[0].key) == results[0]
        with pytest.raises(RecordError, match=r"damaged.*recover"):
            store.get(results[1].key)
        with pytest.raises(RecordError, match=r"damaged.*recover"):
            store.design(results[2].design)
    assert Store.recover(path, tmp_path / "new.db") == 1


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "s.db"

    def add_many(store: Store) -> None:
        for number in range(1000):
            store.add(result_of(walker(number)), walker(number))

    with Store(path) as store:
        store._pragma(f"max_page_count = {store._pragma('page_count') + 3}")  # what a full disk is to SQLite
        with pytest.raises(RecordError, match=r"disk is full.*Free some space"):
            add_many(store)
        added = len(store)
        assert added > 0
    with Store(path) as store:
        assert len(store) == added
        store.add(result_of(walker(added)), walker(added))
        assert len(store) == added + 1


def test_tables_hold_every_score_unrounded(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    results = filled(path, 3)
    with Store(path) as store:
        extra = Result("x", walker(0).key(), "refused", {"speed": 2 / 3}, 0.0, "it does not fit, alas")
        store.add(extra, walker(0))
        assert store.export_csv(tmp_path / "table.csv") == 4
    rows = list(csv.DictReader((tmp_path / "table.csv").open(newline="")))
    assert [row["key"] for row in rows] == [r.key for r in [*results, extra]]
    assert [float(row["travel"]) for row in rows[:3]] == [1 / 3] * 3
    assert (rows[3]["travel"], float(rows[3]["speed"]), rows[3]["message"]) == ("", 2 / 3, extra.message)
