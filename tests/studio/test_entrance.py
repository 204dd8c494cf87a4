"""Who is let into a studio that runs: over real sockets, on every path, nicegui's own socket among them."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studio.process import Studio

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
BALL = """
import supple as sp

scene = sp.Scene(name="ball")
scene.add(sp.RigidBody.sphere(0.05, density=500), name="ball")
"""
NICEGUI = "/_nicegui_ws/socket.io/?EIO=4&transport="
SOCKETS = ["/frames", "/looks", "/plots", NICEGUI + "websocket"]
WRONG = {
    "no cookie": {"cookie": None},
    "a guess": {"cookie": "guess"},
    "another origin": {"origin": "http://evil.example"},
    "no origin at all": {"origin": "null"},
    "another port": {"origin": "http://127.0.0.1:1"},
    "another host": {"host": "evil.example"},
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    path = tmp_path_factory.mktemp("studio") / "ball.py"
    path.write_text(BALL)
    found = Studio(path)
    yield found
    found.end()


@pytest.fixture(scope="module")
def cookie(studio: Studio) -> str:
    return studio.wait_until_ready()


@pytest.fixture(scope="module")
def paths(studio: Studio, cookie: str) -> list[str]:
    """The page, all that it fetches, and what it asks for by itself."""
    status, _, text = studio.get("/", cookie=cookie)
    assert status == 200
    fetched = sorted(set(re.findall(r'"(/_nicegui/[^"]+\.\w+)"', text)))
    assert len(fetched) > 10
    return [
        "/",
        "/header",
        "/thumbnails/oak",
        "/upload?name=a.toml",
        "/runs/99999",  # there is no such run, which takes no time to find
        NICEGUI + "polling",
        "/nothing",
        *fetched,
    ]


def headers_of(wrong: dict[str, str | None], cookie: str) -> dict[str, str]:
    name = cookie.split("=")[0]
    given = {"cookie": cookie, **wrong}
    if given["cookie"] == "guess":
        given["cookie"] = f"{name}=guess"
    return {key: value for key, value in given.items() if value is not None}


@pytest.mark.parametrize("wrong", WRONG)
def test_requests_of_others_are_refused(studio: Studio, cookie: str, paths: list[str], wrong: str) -> None:
    headers = headers_of(WRONG[wrong], cookie)
    for path in paths:
        for method in ("GET", "POST", "OPTIONS"):
            assert studio.get(path, method, **headers)[0] == 403, path


def test_its_own_page_is_let_in(studio: Studio, cookie: str, paths: list[str]) -> None:
    own = {"cookie": cookie, "origin": f"http://{studio.host}"}
    found = {path: studio.get(path, **own)[0] for path in paths}
    assert 403 not in found.values()
    assert found["/"] == found["/header"] == 200


@pytest.mark.parametrize("path", SOCKETS)
@pytest.mark.parametrize("wrong", WRONG)
def test_sockets_of_others_are_refused(studio: Studio, cookie: str, path: str, wrong: str) -> None:
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus, match="403"):
        open_socket(studio, path, headers_of(WRONG[wrong], cookie))


@pytest.mark.parametrize("path", SOCKETS)
def test_its_own_sockets_are_let_in(studio: Studio, cookie: str, path: str) -> None:
    open_socket(studio, path, {"cookie": cookie, "origin": f"http://{studio.host}"}).close()


def test_a_socket_for_another_scene_is_closed(studio: Studio, cookie: str) -> None:
    """Its header is that of a scene that is gone."""
    from websockets.exceptions import ConnectionClosed

    own = {"cookie": cookie, "origin": f"http://{studio.host}"}
    with open_socket(studio, "/frames?scene=0", own) as socket:
        socket.send("next")
        with pytest.raises(ConnectionClosed) as closed:
            list(socket)  # words of what is kept
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4001


def open_socket(studio: Studio, path: str, headers: dict[str, str]) -> Any:
    """A socket that says these headers and no others of their names."""
    from websockets.sync.client import connect

    host = headers.pop("host", studio.host)
    address, port = studio.host.split(":")
    plain = socket.create_connection((address, int(port)))
    return connect(f"ws://{host}{path}", sock=plain, additional_headers=headers)


@pytest.mark.parametrize("path", ["/?token=guess", "/?token=", "/", "/header"])
def test_without_the_token_nobody_is_let_in(studio: Studio, path: str) -> None:
    assert studio.get(path)[0] == 403


def test_a_cookie_is_kept_from_scripts_and_other_sites(studio: Studio) -> None:
    status, headers, _ = studio.get(studio.path)
    assert status == 303
    kept = [part.strip() for part in headers["set-cookie"].split(";")]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert len(kept[0].split("=", 1)[1]) >= 256 / 6


def test_two_studios_keep_apart(studio: Studio, tmp_path: Path) -> None:
    """Browsers send cookies to all ports of a host: each studio has a name of its own for its cookie."""
    (tmp_path / "ball.py").write_text(BALL)
    other = Studio(tmp_path / "ball.py")
    try:
        both = f"{studio.cookie()}; {other.cookie()}"
        assert studio.get("/", cookie=both)[0] == other.get("/", cookie=both)[0] == 200
        assert other.get("/", cookie=studio.cookie())[0] == 403
    finally:
        other.end()


def test_a_port_that_is_taken_is_refused(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "ball.py").write_text(BALL)
    port = studio.host.split(":")[1]
    command = [sys.executable, "-m", "supple", "view", str(tmp_path / "ball.py"), "--no-browser", "--port", port]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode != 0
    assert "cannot listen there" in found.stderr + found.stdout
    assert "Leave out --port for a free one." in found.stderr + found.stdout
