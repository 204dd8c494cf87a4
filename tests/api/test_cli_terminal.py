"""What a person sees on a terminal while a scene is prepared and run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

SLOW = """
import sys
import supple as sp
until = 0.02


def make_scene():
    print("MADE", file=sys.stderr)
    scene = sp.Scene(gravity=(0, 0, -10))
    scene.add(sp.RigidBody.box((1, 1, 1), density=1), name="ball")
    return scene
"""


def seen(*arguments: str, folder: Path) -> str:
    """All that comes on a terminal as standard error."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "supple", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 4096):
            parts.append(part)
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return b"".join(parts).decode()


def test_a_word_comes_before_the_scene_is_made_and_goes_for_the_bar(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    text = seen("run", "slow.py", folder=tmp_path)
    word, made, bar = (text.index(part) for part in ("supple: preparing slow.py", "MADE", "of 0.02 s"))
    assert word < made < bar
    assert "\r\x1b[K" in text[made:bar]
    assert text.endswith("\r\x1b[K")
