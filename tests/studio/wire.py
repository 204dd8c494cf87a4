"""A wire between a browser and a studio that can be cut and mended."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Wire:
    """Passes on what comes at a port of its own, with the studio's name in place of its own."""

    def __init__(self, host: str) -> None:
        name, port = host.split(":")
        self.to = (name, int(port))
        self.listening = self._listen(len(port))
        self.host = f"{name}:{self.listening.getsockname()[1]}"
        self.names = self.host.encode(), host.encode()
        self.is_cut, self.open = False, list[socket.socket]()
        threading.Thread(target=self._accept, daemon=True).start()

    def _listen(self, digits: int) -> socket.socket:
        """At a port with as many digits, so that messages keep their lengths."""
        while True:
            found = socket.create_server((self.to[0], 0))
            if len(str(found.getsockname()[1])) == digits:
                return found
            found.close()

    def cut(self) -> None:
        """All that is open is lost, and nothing is opened."""
        self.is_cut = True
        for end in self.open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.open = []

    def mend(self) -> None:
        """Pass on again."""
        self.is_cut = False

    def _accept(self) -> None:
        while True:
            near, _ = self.listening.accept()
            if self.is_cut:
                near.close()
                continue
            far = socket.create_connection(self.to)
            self.open += [near, far]
            for start, end in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(start, end), daemon=True).start()

    def _pass(self, start: socket.socket, end: socket.socket) -> None:
        with suppress(OSError):
            while data := start.recv(1 << 16):
                end.sendall(data.replace(*self.names))
        for one in (start, end):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
