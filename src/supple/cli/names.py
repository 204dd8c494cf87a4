"""Names of examples and cases: found, or refused with the nearest known one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from supple.errors import InputError


def unknown(what: str, name: str, known: Iterable[str], *, fix: str) -> InputError:
    """The error for a name nobody gave; fix: what to do where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return InputError(f"no {what} is called '{name}'", fix=f"Did you mean '{near[0]}'?" if near else fix)


def chosen_cases(given: Sequence[str], known: Iterable[str]) -> list[str]:
    """The cases that names mean: `kind/name` one, a bare `kind` all of its cases, nothing all."""
    cases = list(known)
    if not given:
        return cases
    chosen: list[str] = []
    kinds = {case.split("/")[0] for case in cases}
    for name in given:
        found = [case for case in cases if case == name or case.startswith(f"{name.rstrip('/')}/")]
        if not found:
            raise unknown("case", name, [*kinds, *cases], fix=f"Cases: {', '.join(cases)}.")
        chosen += [case for case in found if case not in chosen]
    return chosen
