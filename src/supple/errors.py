"""Errors that say what is wrong, where, with which value, what is allowed, and what to do.

Every error Supple raises on purpose is a `SuppleError`. Its message is one sentence a person can act on, made from
the fields, so that programs can read the fields and people the sentence.
"""

from __future__ import annotations

import re
from math import isfinite, isnan
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

LONGEST = 1500
"""Characters of a message."""
SHORTEST_PART = 100


def printable(text: str) -> str:
    """Text as a terminal may show it: what cannot be printed, escape sequences above all, is written as its code.

    >>> printable("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class SuppleError(Exception):
    """Base of all errors raised on purpose.

    what: what is wrong, as the start of a sentence ("the density is not positive").
    where: the place ("material 'rubber'", "beam.veg, line 12", "bodies[0].mesh").
    value: the offending value. allowed: what would have been accepted. fix: what to do next.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        value: Any = None,
        allowed: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.what, self.where, self.value, self.allowed, self.fix = what, where, value, allowed, fix
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """The message: where: what (got value; allowed). Fix.

        It can be printed, and has at most `LONGEST` characters: of longer ones the longest parts are cut. The fields
        stay whole.
        """
        where, what, value, allowed, fix = _cut(
            [
                _one_line(self.where or ""),
                _one_line(self.what),
                "" if self.value is None else _one_line(f"got {self.value!r}"),
                "" if self.allowed is None else _one_line(f"allowed: {self.allowed}"),
                _one_line(self.fix or ""),
            ]
        )
        text = f"{where}: {what}" if where else what
        notes = [note for note in (value, allowed) if note]
        if notes:
            text += f" ({'; '.join(notes)})"
        if fix:
            text = f"{text.rstrip('.')}. {fix}"
        return text


def _one_line(text: str) -> str:
    return printable(re.sub(r"\s*\n\s*", " ", text))


def _cut(parts: list[str]) -> list[str]:
    """The parts of a message, the longest ones shortened until all fit."""
    room = LONGEST - 10  # for what joins them
    while (excess := sum(map(len, parts)) - room) > 0:
        longest = max(range(len(parts)), key=lambda k: len(parts[k]))
        size = max(SHORTEST_PART, len(parts[longest]) - excess)
        parts[longest] = parts[longest][: size - 1] + "…"
    return parts


class InputError(SuppleError, ValueError):
    """A value a person gave is not usable."""


class FileFormatError(SuppleError):
    """A file is damaged, cut short, hostile, or of a kind that is not read."""


class MissingExtraError(SuppleError, ImportError):
    """A library of an optional extra is not installed."""

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra = extra
        super().__init__(
            f"{needed_for} needs the extra '{extra}', which is not installed",
            fix=f"Install it with: pip install 'supple[{extra}]'",
        )


class DivergenceError(SuppleError):
    """A simulation left the finite or the plausible: where, when and what to try."""


class ConvergenceError(SuppleError):
    """An iteration ended without reaching its tolerance."""


class RecordError(SuppleError):
    """A record or checkpoint cannot be written or read."""


class SuppleWarning(UserWarning):
    """Something a person should know, that does not stop the work."""


class PoissonNotice(SuppleWarning):
    """Poisson's ratio of a voxel lattice acts through torsion alone."""


class BendWarning(SuppleWarning):
    """A link of a voxel lattice bends beyond what the theory of beams carries."""


class StabilityWarning(SuppleWarning):
    """An equilibrium that a small push would leave."""


class BasisWarning(SuppleWarning):
    """A reduced basis is too small for the loads that its domain meets, which is too stiff therefore."""


class ContactWarning(SuppleWarning):
    """Bodies overlap at the start, or a contact cannot be carried by the step."""


class ExportNotice(SuppleWarning):
    """What a file for another program does not hold, or how near it comes."""


class StepWarning(SuppleWarning):
    """A step is too long for what it has to carry; `dt` [s] is one that was found to be short enough, or None."""

    def __init__(self, sentence: str, dt: float | None = None) -> None:
        super().__init__(sentence)
        self.dt = dt


def check_instance(
    value: Any, kinds: type | tuple[type, ...], what: str, *, where: str, fix: str | None = None
) -> None:
    """Refuse a value that is of none of these kinds. what: what it should be, with its article: "a scene".

    >>> check_instance(3, str, "a name", where="node")
    Traceback (most recent call last):
    supple.errors.InputError: node: this is not a name (got 'int'; allowed: str)
    """
    if not isinstance(value, kinds):
        names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        raise InputError(
            f"this is not {what}", where=where, value=type(value).__name__, allowed=", ".join(names), fix=fix
        )


def check_row(values: Any, kinds: type | tuple[type, ...], what: str, *, where: str) -> None:
    """Refuse what is no list or tuple of these kinds. what: what they should be: "nodes of the scene".

    >>> check_row([1.0, "a"], float, "numbers", where="table")
    Traceback (most recent call last):
    supple.errors.InputError: table: this is not a row of numbers (got 'a'; allowed: float)
    """
    is_row = isinstance(values, list | tuple)
    wrong = [value for value in values if not isinstance(value, kinds)] if is_row else [values]
    if wrong:
        names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        raise InputError(f"this is not a row of {what}", where=where, value=wrong[0], allowed=", ".join(names))


def check_choice(value: Any, allowed: tuple[str, ...], what: str, *, where: str | None = None) -> None:
    """Refuse what is not one of some words. what: of what kind they are: "pattern of tets".

    >>> check_choice("odd", ("mirrored", "uniform"), "pattern of tets")
    Traceback (most recent call last):
    supple.errors.InputError: unknown pattern of tets (got 'odd'; allowed: mirrored, uniform)
    """
    if not isinstance(value, str) or value not in allowed:  # an array beside a word would be neither true nor false
        raise InputError(f"unknown {what}", where=where, value=value, allowed=", ".join(allowed))


def check_flag(value: Any, *, name: str, where: str) -> None:
    """Refuse what is neither true nor false."""
    if type(value).__name__ not in ("bool", "bool_"):  # numpy's own too
        raise InputError(f"{name} is neither true nor false", where=where, value=value, allowed="True, False")


def check_path(value: Any, *, where: str) -> Path:
    """The path of a file or folder, or an InputError."""
    check_instance(value, (str, PathLike), "the path of a file or folder", where=where)
    return Path(value)


NOT_NUMBERS = TypeError, ValueError, OverflowError
"""What numpy raises where something cannot be an array of floats; the last for whole numbers of hundreds of digits."""
LARGEST_WHOLE = 2**63 - 1


def is_number(value: Any) -> bool:
    """Whether a value is one number of a type that kernels take: whole, of double or of single precision, of Python or
    numpy, and neither true nor false. Fractions, decimals and half precision are none.

    >>> is_number(1.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return (isinstance(value, Integral | float) and not isinstance(value, bool)) or type(value).__name__ == "float32"


def is_finite(value: Any) -> bool:
    """Whether a number is finite as a float, which whole numbers may be too large for."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


def check_real(where: str, **values: Any) -> None:
    """Refuse what is no number at all, by its name; ranges are checked by others. None stands for a default."""
    for name, value in values.items():
        if value is not None and not is_number(value):
            raise InputError(f"{name} is not a number", where=where, value=value)


def check_number(
    value: Any,
    *,
    name: str,
    where: str,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    whole: bool = False,
    infinite: bool = False,
) -> float:
    """The number itself, or an InputError with what is allowed: > above, >= least, <= most, whole, not infinite."""
    ranges = [
        *([f"> {above:g}"] if above is not None else []),
        *([f">= {least:g}"] if least is not None else []),
        *([f"<= {most:g}"] if most is not None else []),
    ]
    is_right = is_number(value) and (isinstance(value, Integral) or not whole)
    is_large = whole and is_right and abs(value) > LARGEST_WHOLE
    kinds = [f"a whole number of at most {LARGEST_WHOLE}"] if is_large else ["a whole number"] if whole else []
    allowed = ", ".join([*kinds, *ranges]) or "a finite number"
    if not is_right or not (is_finite(value) or (infinite and isinstance(value, float) and not isnan(value))):
        kind = "a whole number" if whole else "a number" if infinite else "a finite number"
        raise InputError(f"{name} is not {kind}", where=where, value=value, allowed=allowed)
    low = (above is not None and value <= above) or (least is not None and value < least)
    if low or (most is not None and value > most) or is_large:
        raise InputError(f"{name} is out of range", where=where, value=value, allowed=allowed)
    return value if whole else float(value)
