"""Measures on the command line: a scene's robot is measured by the functions that populations are measured by."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.bodies.voxel import VoxelBody
from supple.cli.scenes import Chosen
from supple.design.designs import Design
from supple.design.measures import MEASURES, Measure, measures_of
from supple.design.study.beside import let_import_beside
from supple.design.trial import trial_of
from supple.design.witness import Witness
from supple.errors import InputError, check_number

ROBOT = "robot"


@dataclass(frozen=True)
class Measured:
    """Which body is measured, and when [s]."""

    body: str
    settle: float
    duration: float


class Measuring:
    """What sees a run, and its measures. names: of measures, "module:function" of a module beside the scene, or
    "file.py:function"; several may stand in one, with commas. body, settle: None: as the scene says. until: end of the
    run [s]."""

    def __init__(
        self, given: str, chosen: Chosen, names: list[str], body: str | None, settle: float | None, until: float,
        *, resume: bool,
    ) -> None:  # fmt: skip
        if not names:
            raise InputError("nothing is measured", fix="Name a measure: --measure travel.")
        if resume:
            raise InputError("a resumed run has not seen all frames to measure them", fix="Leave out --resume.")
        self.measures = find_measures(given, names)
        self.arena = setting = chosen.arena
        if setting is None or body is not None or settle is not None:
            settle = _settle(chosen) if settle is None else settle
            check_number(settle, name="settle", where="--settle", least=0.0)
            setting = Measured(_body(chosen, body), settle, until - settle)
        if until <= setting.settle:
            raise InputError("the run ends before measuring begins", value=until, allowed=f"> {setting.settle:g} s")
        node = next((node for node in chosen.scene.nodes if node.name == setting.body), None)
        if node is None:
            raise InputError("the scene has no body of this name", where="--body", value=setting.body)
        works = next((one.name for one in self.measures if one.works), None)
        if works is not None and not isinstance(node.body, VoxelBody):
            raise InputError(f"'{works}' needs the work of muscles, which bodies of voxels alone have",
                             where="--measure", value=f"body '{setting.body}' of {type(node.body).__name__}",
                             fix="Measure travel, forward, speed, height or contact_time, or name a body of voxels: "
                                 "--body NAME.")  # fmt: skip
        self.design = Design(node.body.grid.materials) if isinstance(node.body, VoxelBody) else None
        self.witness = Witness(setting, works=works is not None)
        if MEASURES["score"] in self.measures and self.witness.judge is None:
            raise InputError("the scene has no score of its own", where="--measure", value="score",
                             allowed="a Python file with `task`")  # fmt: skip

    def settings(self) -> dict[str, Any]:
        """What the run needs to be seen, and the step and the frames of its arena [s]."""
        arena = {name: getattr(self.arena, name, None) for name in ("dt", "record_every")}
        seen = {"observers": self.witness.observers, "on_step": self.witness.on_step}
        return {name: value for name, value in arena.items() if value is not None} | seen

    def rows(self, run: Any) -> list[dict[str, Any]]:
        """The measures of a run with their units; none of one that was interrupted."""
        if run.outcome == "interrupted":
            return []
        trial = trial_of(self.witness, self.design, run)
        return [{"measure": one.name, "value": one.of(trial), "unit": one.unit} for one in self.measures]


def find_measures(given: str, names: list[str]) -> tuple[Measure, ...]:
    """The measures of names; functions are looked for beside the scene, or in the file that is named."""
    found = []
    for name in (part.strip() for text in names for part in text.split(",")):
        file, _, function = name.rpartition(":")
        if file.endswith(".py"):
            path = Path(file)
            if not path.is_file():
                raise InputError("there is no such file", where="--measure", value=name)
            sys.path.insert(0, str(path.resolve().parent))
            name = f"{path.stem}:{function}"
        let_import_beside(Path(given), [name])
        found.append(name)
    return measures_of(found)


def _settle(chosen: Chosen) -> float:
    if chosen.arena is not None:
        return float(chosen.arena.settle)
    return 0.0 if chosen.voxcad is None else float(chosen.voxcad.simulator.measured_from)


def _body(chosen: Chosen, given: str | None) -> str:
    """The body that a person means: the one of that name, that of the arena, `robot`, the only one of voxels, or the
    only one."""
    names = [node.name for node in chosen.scene.nodes]
    wanted = given if given is not None else ROBOT if chosen.arena is None else chosen.arena.body
    if wanted in names:
        return str(wanted)
    voxels = [node.name for node in chosen.scene.nodes if isinstance(node.body, VoxelBody)]
    for only in (voxels, names) if given is None else ():
        if len(only) == 1:
            return only[0]
    raise InputError("which body is measured?" if given is None else "the scene has no body of this name", value=given,
                     allowed=", ".join(names) or "it has none", fix="Name one: --body NAME.")  # fmt: skip
