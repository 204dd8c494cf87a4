"""The command line. One file a verb; errors are one sentence on stderr and exit code 2."""

from __future__ import annotations

import os
import sys

from supple.cli.app import make_app
from supple.errors import SuppleError, printable

INTERRUPTED = 130  # 128 + SIGINT, as shells count


def main(arguments: list[str] | None = None) -> None:
    """Run `supple` with the given arguments, sys.argv's by default, and exit."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    sys.exit(_run([a for a in given if a != "--debug"] or ["--help"], debug=debug))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        code = make_app()(args=arguments, prog_name="supple", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        print(f"supple: {_sentence(error)}", file=sys.stderr)
        return 2
    return code if isinstance(code, int) else 0


def _sentence(error: Exception) -> str:
    """What a person reads of an error."""
    if isinstance(error, SuppleError):
        text = error.sentence()
    elif isinstance(error, OSError):
        text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    elif hasattr(error, "format_message"):  # the command line's own complaints
        text = error.format_message()
    else:
        text = f"{type(error).__name__}: {error}. This is a defect of supple; --debug shows where."
    return printable(" ".join(text.split()))
