"""Who is let into the studio: the person with the token, by this host and from this origin; nobody else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from supple.studio.guard import COOKIE, Guard

TOKEN, HOST = "k" * 43, "127.0.0.1:8123"


async def answer_all(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "let in"})


def ask(
    kind: str = "http", path: str = "/", query: str = "", method: str = "GET", everywhere: bool = False, **headers: str
) -> dict[str, Any]:
    """The first thing that comes back."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    given = {"host": HOST, **headers}
    scope = {
        "type": kind, "path": path, "query_string": query.encode(), "method": method,
        "headers": [(k.encode(), v.encode()) for k, v in given.items()],
    }  # fmt: skip
    guard = Guard(answer_all, token=TOKEN, hosts={"lab.example:8123"} if everywhere else {HOST, "localhost:8123"})
    asyncio.run(guard(scope, None, send))  # type: ignore[arg-type]
    return sent[0]


def is_let_in(**request: str) -> bool:
    return ask(**request)["type"] == "let in"


def test_a_token_is_exchanged_for_a_cookie() -> None:
    answer = ask(query=f"token={TOKEN}")
    headers = dict(answer["headers"])
    assert answer["status"] == 303
    assert headers[b"location"] == b"/"
    cookie = headers[b"set-cookie"].decode()
    assert cookie.startswith(f"{COOKIE}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert is_let_in(cookie=f"{COOKIE}={TOKEN}")


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("path", ["/", "/frames", "/header", "/_nicegui_ws/socket.io/"])
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"cookie": f"{COOKIE}=guess"},
        {"cookie": f"other={TOKEN}"},
        {"cookie": f"{COOKIE}={TOKEN}", "host": "evil.example:8123"},
        {"cookie": f"{COOKIE}={TOKEN}", "host": "127.0.0.1:9999"},
        {"cookie": f"{COOKIE}={TOKEN}", "origin": "http://evil.example"},
        {"cookie": f"{COOKIE}={TOKEN}", "origin": "null"},
        {"cookie": f"{COOKIE}={TOKEN}", "origin": "https://127.0.0.1:8123"},
    ],
)
def test_others_are_refused(kind: str, path: str, wrong: dict[str, str]) -> None:
    answer = ask(kind, path, **wrong)
    assert answer["type"] == "websocket.close" if kind == "websocket" else answer["status"] == 403


@pytest.mark.parametrize("origin", [f"http://{HOST}", "http://localhost:8123"])
def test_its_own_origin_is_let_in(origin: str) -> None:
    assert is_let_in(kind="websocket", path="/frames", cookie=f"{COOKIE}={TOKEN}", origin=origin)


@pytest.mark.parametrize("request_", [{"path": "/header"}, {"method": "POST"}, {"kind": "websocket"}])
def test_a_token_opens_the_page_alone(request_: dict[str, str]) -> None:
    assert not is_let_in(query=f"token={TOKEN}", **request_)
    assert not is_let_in(query="token=" + "x" * 43)


def test_at_all_addresses_a_page_is_its_own_origin_alone() -> None:
    given = {"everywhere": True, "cookie": f"{COOKIE}={TOKEN}", "host": "lab.example:8123"}
    assert ask(**given, origin="http://lab.example:8123")["type"] == "let in"  # type: ignore[arg-type]
    assert ask(**given)["type"] == "let in"  # type: ignore[arg-type]
    assert ask(**given, origin="http://evil.example:8123")["status"] == 403  # type: ignore[arg-type]
    assert ask(everywhere=True, host="lab.example:8123")["status"] == 403


def test_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both, the token and the cookie, are judged by `hmac.compare_digest` alone."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(given: bytes, own: bytes) -> bool:
        compared.append((given, own))
        return True

    monkeypatch.setattr("supple.studio.guard.hmac.compare_digest", compare)
    assert ask(query="token=any")["status"] == 303
    assert is_let_in(cookie=f"{COOKIE}=some")
    assert compared[0] == (b"any", TOKEN.encode())
    assert compared[-1] == (b"some", TOKEN.encode())
