"""The ledger of bits sees a change of one bit, says how large it is, and misses no example."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import supple as sp
from supple.examples import Example


def falling(name: str, speed: float = 1.0) -> Example:
    def make() -> sp.Scene:
        scene = sp.Scene(gravity=(0, 0, -10))
        scene.add(sp.RigidBody.sphere(0.1, density=500), velocity=(speed, 0, 0), name="ball")
        return scene

    return Example(name, "a ball falls", make, 10.0, lambda run: [])


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("ledger", Path(__file__).parents[1] / "ledger.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.STEPS = 5
    monkeypatch.chdir(tmp_path)
    return module


def examples(module: ModuleType, *made: Example) -> None:
    module.registry = lambda: {example.name: example for example in made}


def test_the_same_examples_have_the_same_bits(ledger: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    examples(ledger, falling("one"), falling("two", 2.0))
    assert ledger.main(["--write", "kept/ledger.json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(Path("kept/ledger.json").read_text())
    assert printed["one"] != printed["two"]
    assert ledger.main(["--against", "kept/ledger.json"]) == 0
    assert ledger.main(["--against", "kept/ledger.json", "two"]) == 0
    assert np.load("kept/ledger.npz")["one/t"][0] == pytest.approx(5 * 0.01)


def test_one_bit_is_seen_and_measured(ledger: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    examples(ledger, falling("one"), falling("two"))
    ledger.main(["--write", "ledger.json"])
    examples(ledger, falling("one"), falling("two", float(np.nextafter(1.0, 2.0))))
    assert ledger.main(["--against", "ledger.json"]) == 1
    told = capsys.readouterr().err
    assert "two DIFFERS: largest relative difference" in told
    assert "one DIFFERS" not in told
    assert "1 of 2 have the same bits" in told
    Path("ledger.npz").unlink()
    assert ledger.main(["--against", "ledger.json", "two"]) == 1
    assert "arrays were not kept" in capsys.readouterr().err


def test_examples_of_one_side_are_named(ledger: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    examples(ledger, falling("one"), falling("former"))
    ledger.main(["--write", "ledger.json"])
    examples(ledger, falling("one"), falling("new"))
    assert ledger.main(["--against", "ledger.json"]) == 1
    told = capsys.readouterr().err
    assert "former IS MISSING here" in told
    assert "new is not in ledger.json: not compared" in told
    for wrong in (["none"], ["--against", "none.json", "one"]):
        with pytest.raises(SystemExit, match="ledger: "):
            ledger.main(wrong)
