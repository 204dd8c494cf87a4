"""The command line, called in this process."""

from __future__ import annotations

import pytest

from supple.cli import main


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err
