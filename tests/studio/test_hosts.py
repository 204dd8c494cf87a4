"""By which names and addresses a studio may be called: those of this machine alone, also at all of its addresses."""

from __future__ import annotations

import asyncio
import http.client
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.studio.process import Studio

from supple.studio.guard import COOKIE, Guard, own_hosts

TOKEN = "k" * 43
SCENE = """
import supple as sp

scene = sp.Scene(name="ball")
scene.add(sp.RigidBody.sphere(0.05, density=500), name="ball")
"""


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that knows its names and addresses."""
    monkeypatch.setattr(socket, "gethostname", lambda: "Lab.example.org")
    found = ("lab.example.org", ["lab"], ["192.0.2.7"])
    monkeypatch.setattr(socket, "gethostbyname_ex", lambda name: found)


@pytest.mark.usefixtures("named")
def test_at_all_addresses_the_names_and_addresses_of_the_machine_are_its_own() -> None:
    names = ("localhost", "127.0.0.1", "lab.example.org", "lab", "lab.local", "192.0.2.7")
    assert own_hosts("0.0.0.0", 8123) == {f"{name}:8123" for name in names}


def test_a_machine_that_does_not_know_itself_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(socket, "gethostname", lambda: "lab")
    monkeypatch.setattr(socket, "gethostbyname_ex", refuse)
    assert "lab:8123" in own_hosts("0.0.0.0", 8123)


def test_at_one_address_that_alone_is_its_own() -> None:
    assert own_hosts("192.0.2.7", 80) == {"192.0.2.7:80"}
    assert own_hosts("localhost", 80) == own_hosts("127.0.0.1", 80) == {"localhost:80", "127.0.0.1:80"}


def is_let_in(host: str, origin: str | None, reached: tuple[str, int]) -> bool:
    """Whether a socket with the right cookie is, at all addresses of a machine."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "let in"})

    given = {"host": host, "cookie": f"{COOKIE}={TOKEN}"} | ({} if origin is None else {"origin": origin})
    headers = [(key.encode(), value.encode()) for key, value in given.items()]
    scope = {"type": "websocket", "path": "/frames", "query_string": b"", "headers": headers, "server": reached}
    guard = Guard(answer, token=TOKEN, hosts=own_hosts("0.0.0.0", 8123))
    asyncio.run(guard(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["type"] == "let in"


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("host", "origin", "is_own"),
    [
        ("lab:8123", "http://lab:8123", True),
        ("192.0.2.7:8123", "http://192.0.2.7:8123", True),
        ("198.51.100.9:8123", "http://198.51.100.9:8123", True),  # where it has arrived, though nothing names it
        ("evil.example:8123", "http://evil.example:8123", False),
        ("evil.example:8123", None, False),
        ("lab:8123", "http://evil.example:8123", False),
        ("203.0.113.5:8123", None, False),
    ],
)
def test_names_of_others_that_lead_here_are_refused(host: str, origin: str | None, is_own: bool) -> None:
    assert is_let_in(host, origin, ("198.51.100.9", 8123)) is is_own


def test_a_studio_at_one_address_answers_to_its_own_names_alone(tmp_path: Path) -> None:
    path = tmp_path / "ball.py"
    path.write_text(SCENE)
    studio = Studio(path, "--host", "127.0.0.1")
    try:
        port = urlsplit(studio.address).port
        for host, status in ((f"127.0.0.1:{port}", 303), (f"localhost:{port}", 303), (f"evil.example:{port}", 403)):
            connection = http.client.HTTPConnection("127.0.0.1", port or 0, timeout=30)
            found = urlsplit(studio.address)
            connection.request("GET", f"/?{found.query}", headers={"Host": host})
            assert connection.getresponse().status == status
            connection.close()
    finally:
        studio.end()
