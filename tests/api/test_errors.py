"""Messages: one line that a terminal can show, bounded in length, whatever strangers named their things."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supple as sp
from supple.errors import LONGEST, InputError, printable
from supple.record.progress import progress_bar

RED = "\x1b[31mred\x9b0m\u202e[bold]"


def test_short_messages_are_whole() -> None:
    error = InputError("it is wrong", where="body 'a'", value=[1, 2], allowed="> 0", fix="Try 3.")
    assert str(error) == "body 'a': it is wrong (got [1, 2]; allowed: > 0). Try 3."


@given(st.lists(st.text(max_size=20), min_size=5, max_size=5), st.lists(st.integers(0, 400), min_size=5, max_size=5))
def test_messages_are_one_bounded_line(texts: list[str], repeats: list[int]) -> None:
    where, what, value, allowed, fix = (text * count for text, count in zip(texts, repeats))
    error = InputError(what, where=where, value=value, allowed=allowed, fix=fix)
    assert len(str(error)) <= LONGEST
    assert str(error).isprintable()
    assert (error.what, error.where, error.value, error.allowed, error.fix) == (what, where, value, allowed, fix)


def test_of_a_long_message_the_longest_part_is_cut() -> None:
    names = ", ".join(f"body-{k}" for k in range(1000))
    text = str(InputError("no node of that name", where="scene", value="arm", allowed=names, fix="Choose one."))
    assert text.startswith("scene: no node of that name (got 'arm'; allowed: body-0, body-1, ")
    assert text.endswith("…). Choose one.")
    assert LONGEST - 20 < len(text) <= LONGEST


def test_names_print_no_escape_sequences() -> None:
    scene = sp.Scene(name=RED)
    scene.add(sp.RigidBody.sphere(0.1, density=500), name=RED)
    report = sp.run(scene, until=0.01).report()
    assert all(line.isprintable() for line in report.splitlines())
    assert printable(RED) in report
    with pytest.raises(InputError) as caught:
        scene.node(RED + "2")
    assert str(caught.value).isprintable()


def test_progress_shows_a_name_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("COLUMNS", "200")
    with progress_bar(True, name=RED, start=0.0, until=1.0):
        pass
    assert printable(RED) in shown.getvalue()
    assert RED not in shown.getvalue()
