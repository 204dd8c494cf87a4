"""Recorded numbers: cases that compute something, and what they computed when they were recorded.

A module of cases has one `Recorded`, and a file of the same name in `numbers/`. A case is a function that returns a
mapping from the name of a quantity to its value, or one for each item of a mapping:

    recorded = Recorded(__name__)

    @recorded.case
    def spring() -> Values: ...

    @recorded.over(BODIES)
    def mass(make) -> Values: ...

    test_recorded = recorded.test()
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.recorded.fingerprint import Fingerprint, difference, fingerprint

from supple.errors import BasisWarning, ExportNotice, PoissonNotice, SuppleWarning

Values = Mapping[str, Any]
NUMBERS = Path(__file__).with_name("numbers")
RTOL = 1e-7
"""Of a sum over the norm. Runs are short, so that roundings of another processor stay far below."""
ATOL = 1e-13
"""What is zero but for rounding."""
NOTICES = (PoissonNotice, BasisWarning, ExportNotice)
"""Said of small things that are meant so; every other warning is an error."""


@dataclass(frozen=True)
class Case:
    """compute: what is compared; rtol, atol: how closely; infinite: whether some numbers may be infinite."""

    compute: Callable[[], Values]
    rtol: float
    atol: float
    infinite: bool

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Of all its quantities; a number that is not finite is an error where none may be."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", SuppleWarning)
            for notice in NOTICES:
                warnings.simplefilter("ignore", notice)
            warnings.filterwarnings("ignore", message=".*overlap at the start")
            found = {name: fingerprint(value) for name, value in self.compute().items()}
        strange = [name for name, made in found.items() if "infinite" in made]
        if strange and not self.infinite:
            raise AssertionError(f"not finite: {', '.join(strange)}")
        return found


class Recorded:
    """The cases of a module, by their names."""

    def __init__(self, module: str) -> None:
        self.name = module.rpartition(".")[2].removeprefix("test_")
        self.cases: dict[str, Case] = {}

    @property
    def path(self) -> Path:
        """Where its numbers are."""
        return NUMBERS / f"{self.name}.json"

    def known(self) -> dict[str, dict[str, Fingerprint]]:
        """The recorded numbers."""
        return json.loads(self.path.read_text()) if self.path.is_file() else {}

    def case(self, compute: Any = None, *, rtol: float = RTOL, atol: float = ATOL, infinite: bool = False) -> Any:
        """Make a function without arguments a case of its name."""
        if compute is None:
            return partial(self.case, rtol=rtol, atol=atol, infinite=infinite)
        self._add(compute.__name__, Case(compute, rtol, atol, infinite))
        return compute

    def over(
        self, items: Mapping[str, Any], *, rtol: float = RTOL, atol: float = ATOL, infinite: bool = False
    ) -> Callable[[Any], Any]:
        """Make a function of one argument a case for each item."""

        def decorate(compute: Any) -> Any:
            for key, item in items.items():
                self._add(f"{compute.__name__}: {key}", Case(partial(compute, item), rtol, atol, infinite))
            return compute

        return decorate

    def _add(self, name: str, case: Case) -> None:
        assert name not in self.cases, name
        self.cases[name] = case

    def differences(self, name: str) -> list[str]:
        """What of a case is not as it was recorded."""
        case, known = self.cases[name], self.known().get(name)
        if known is None:
            return ["it was never recorded"]
        found = case.fingerprints()
        unlike = [f"{q}: {'gone' if q in known else 'new'}" for q in known.keys() ^ found.keys()]
        for quantity in known.keys() & found.keys():
            if said := difference(found[quantity], known[quantity], case.rtol, case.atol):
                unlike.append(f"{quantity}: {said}")
        return unlike

    def write(self, names: list[str]) -> None:
        """Record some cases anew; numbers of cases that are gone are dropped."""
        known = self.known()
        for name in names:
            known[name] = self.cases[name].fingerprints()
        kept = {name: known[name] for name in self.cases if name in known}
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(_text(kept))

    def test(self) -> Callable[[str], None]:
        """The test of all cases, for pytest."""

        @pytest.mark.parametrize("name", list(self.cases))
        def test_numbers_are_as_recorded(name: str) -> None:
            unlike = self.differences(name)
            assert not unlike, "\n".join([f"{name} of {self.name}", *unlike])

        return test_numbers_are_as_recorded


def _text(known: Mapping[str, Mapping[str, Fingerprint]]) -> str:
    """A file of numbers: one line a quantity."""
    cases = []
    for name, quantities in known.items():
        lines = [f"  {_json(q)}: {_json(found)}" for q, found in quantities.items()]
        cases.append(f" {_json(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(cases) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
