"""What tests need beside the package: libraries of extras, a browser, tools. Tests are skipped where one is missing,
unless SUPPLE_BROWSER=required says that none may be: they fail then. Blender alone stays optional."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import NoReturn

import pytest

REQUIRED = os.environ.get("SUPPLE_BROWSER") == "required"


def missing(what: str) -> NoReturn:
    """Skip a test, or the module that is imported; fail it where nothing may be missing."""
    if REQUIRED:
        pytest.fail(what, pytrace=False)
    pytest.skip(what, allow_module_level=True)


def needed(module: str) -> ModuleType:
    """A module of a library that an extra brings."""
    try:
        return import_module(module)
    except ImportError as error:
        missing(f"'{module}' cannot be imported: {error}")
