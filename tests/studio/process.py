"""`supple view` as a process, as tests see it from outside."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

WAIT = 120_000
"""How long pages may take [ms]: kernels are compiled meanwhile."""
READY = 120.0
SECONDS = 2.0
"""In which nothing of a studio may be left [s]."""


class Studio:
    """A process, and the address that it prints."""

    def __init__(self, scene: Path | None, *options: str) -> None:
        given = [] if scene is None else [str(scene)]
        command = [sys.executable, "-m", "supple", "view", *given, "--no-browser", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if found := re.search(r"http\S+", line):
                self.address = found[0]
                return
        pytest.fail("".join(lines))

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
        connection = http.client.HTTPConnection(self.host)
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
