"""The guard of the studio: only the person who started it is let in, whatever other pages or machines try.

Every request and every socket, nicegui's own included, must name this host, must come from this origin where it says
where it comes from, and must bring the token: 256 bits, once as ?token= in the address that the studio opens, from then
on as a cookie that scripts cannot read and other sites cannot send.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

COOKIE = "supple_studio"
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def own_hosts(host: str, port: int) -> set[str]:
    """The names and addresses of this machine, with the port, by which a studio at a host may be called.

    At all addresses these are those that the machine knows of itself. A name that somebody else makes lead here is none
    of them, so that a page of theirs cannot speak to the studio as if it were its own.

    >>> sorted(own_hosts("127.0.0.1", 8123))
    ['127.0.0.1:8123', 'localhost:8123']
    """
    names = {host}
    if host in (LOOPBACK, "localhost", EVERYWHERE):
        names = {"localhost", LOOPBACK}
    if host == EVERYWHERE:
        own = socket.gethostname()
        names |= {own, own.partition(".")[0], f"{own.partition('.')[0]}.local"}
        with contextlib.suppress(OSError):  # a machine that does not know its own name
            name, others, addresses = socket.gethostbyname_ex(own)
            names |= {name, *others, *addresses}
    return {f"{name.lower()}:{port}" for name in names}


class Guard:
    """Middleware. hosts: names with the port, as browsers send them, such as "127.0.0.1:8123", see `own_hosts`; the
    address of this machine at which a request has arrived is one too. cookie: its name, another for each studio, since
    browsers send cookies to all ports of a host."""

    def __init__(self, app: App, *, token: str, hosts: set[str], cookie: str = COOKIE) -> None:
        self.app, self.token, self.hosts, self.cookie = app, token, hosts, cookie

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._is_own(headers.get("host", "").lower(), headers.get("origin"), scope.get("server")):
            await refuse(scope, send, "The studio answers to its own page alone.")
            return
        if self._has_cookie(headers.get("cookie", "")):
            await self.app(scope, receive, send)
            return
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/" and self._is_token(given):
            await self._exchange(send)
            return
        await refuse(scope, send, "Open the address that `supple view` has printed: it holds the key to this studio.")

    def _is_own(self, host: str, origin: str | None, reached: tuple[str, int | None] | None) -> bool:
        hosts = self.hosts if reached is None else self.hosts | {f"{reached[0]}:{reached[1]}"}
        if host not in hosts:
            return False
        if origin is None:
            return True
        parts = urlsplit(origin)
        return parts.scheme == "http" and parts.netloc.lower() in hosts

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _has_cookie(self, header: str) -> bool:
        try:
            found = SimpleCookie(header).get(self.cookie)
        except CookieError:
            return False
        return found is not None and self._is_token(found.value)

    async def _exchange(self, send: Send) -> None:
        """A token for a cookie, and on to the page without it in the address."""
        cookie = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def refuse(scope: dict[str, Any], send: Send, why: str) -> None:
    """Answer that it may not be."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4403, "reason": why})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": why.encode()})
