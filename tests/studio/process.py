"""`supple view` as a process, as tests see it from outside."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.canvas.browser import WAIT

from supple.algebra.compiling.compiled import cache_root

READY = WAIT / 1000
"""The same in seconds."""
BEGUN = 900.0
"""How long it may take until the address is known [s]: all kernels of a scene may be compiled before."""
ANSWER = 60.0
"""How long an answer of the server may take [s]."""
SECONDS = 2.0
"""In which nothing of a studio may be left [s]."""


class Studio:
    """A process, the address that it prints, and all that it says. That is read as it comes: where nobody reads, a full
    pipe stops the process."""

    def __init__(self, scene: Path | None, *options: str, **environment: str) -> None:
        given = [] if scene is None else [str(scene)]
        command = [sys.executable, "-m", "supple", "view", *given, "--no-browser", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | environment
        )  # fmt: skip
        self.address, self.said, self._known = "", list[str](), threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        self._known.wait(BEGUN)
        if not self.address:
            self.end()
            pytest.fail("".join(self.said))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if not self.address and (found := re.search(r"http\S+", line)):
                self.address = found[0]
                self._known.set()
        self._known.set()

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    @property
    def host(self) -> str:
        """Name and port."""
        return urlsplit(self.address).netloc

    @property
    def path(self) -> str:
        """That lets in."""
        return "/?" + urlsplit(self.address).query

    def cookie(self) -> str:
        """What the token is exchanged for, as a browser sends it."""
        _, headers, _ = self.get(self.path)
        return headers["set-cookie"].split(";")[0]

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer."""
        connection = http.client.HTTPConnection(self.host, timeout=ANSWER)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode("latin-1")
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def wait_until_ready(self) -> str:
        """Until there are frames; returns the cookie."""
        cookie = self.cookie()
        wait_for(lambda: self.get("/header", cookie=cookie)[0] == 200, READY)
        return cookie

    def children(self) -> list[int]:
        """Processes that this one has started."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def end(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def own_cache(folder: Path) -> str:
    """A cache with all that is compiled, for `SUPPLE_CACHE`, whose list of recent runs is its own."""
    kept = cache_root()
    (kept / "kernels").mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    for path in kept.iterdir():
        if path.is_dir():
            (folder / path.name).symlink_to(path, target_is_directory=True)
    return str(folder)


def wait_for(is_so: Callable[[], bool], seconds: float) -> None:
    """Until something is so; a failure where it takes too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def shared_memory(pid: int) -> set[str]:
    """Files of shared memory that a process has open."""
    try:
        return set(re.findall(r"/dev/shm/psm_\w+", Path(f"/proc/{pid}/maps").read_text()))
    except OSError:
        return set()


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").is_dir() else True
    except (ProcessLookupError, FileNotFoundError):
        return False
