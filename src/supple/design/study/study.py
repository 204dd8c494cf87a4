"""Study: a search as a file says it, ready to be run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from supple.design.arena import ArenaLike
from supple.design.conditions import TIME_LIMIT
from supple.design.search.driver import Search
from supple.design.search.method_protocol import Method
from supple.design.study.beside import let_import_beside
from supple.design.study.building import build_arena, build_encoding, build_method
from supple.design.study.fitting import check_bodies
from supple.design.study.schema import Document, named_functions
from supple.errors import check_number, check_path
from supple.files.scenes.complaints import as_format_error
from supple.files.scenes.places import Place
from supple.files.scenes.syntax import read_data


@dataclass(frozen=True, eq=False)
class Study:
    """What a study's file says. data: its plain values. store: where its results are kept, None: where the caller says.
    workers: None: one a core. time_limit: wall time of one design [s]."""

    name: str
    summary: str
    data: dict[str, Any]
    arena: ArenaLike
    method: Method
    measures: tuple[str, ...]
    generations: int
    seed: int
    workers: int | None
    time_limit: float
    store: Path | None

    def search(self, **options: Any) -> Search:
        """The search, from its beginning. options: as of `Search`."""
        return Search(
            self.method, self.arena, self.measures, **{"workers": self.workers, "time_limit": self.time_limit} | options
        )


def load_study(path: str | Path, *, changes: dict[str, Any] | None = None) -> Study:
    """The study of a .toml or .json file. Modules beside the file can be imported for measures and controllers that
    it names as "module:function". changes: values that count in place of the file's: seed, workers,
    generations, population."""
    path = check_path(path, where="load_study")
    data = changed(read_data(path), changes or {})
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        raise as_format_error(error, path.name) from error
    place = Place(path)
    let_import_beside(path, named_functions(document))
    arena = build_arena(document, place)
    encoding = build_encoding(document, arena, place)
    check_bodies(encoding, arena, place)
    method = build_method(document, arena, encoding, place)
    section: Any = document.search
    if section.generations < 1:
        raise place.at("search.generations").error("is not positive", value=section.generations, allowed=">= 1")
    if document.time_limit is not None:
        with place.at("time_limit").guarded():
            check_number(document.time_limit, name="time_limit", where="", above=0.0, infinite=True)
    return Study(
        name=path.stem,
        summary=document.summary or "",
        data=data,
        arena=arena,
        method=method,
        measures=tuple(document.measures or ()),
        generations=section.generations,
        seed=document.seed,
        workers=document.workers,
        time_limit=TIME_LIMIT if document.time_limit is None else document.time_limit,
        store=None if document.store is None else place.at("store").named_file(document.store),
    )


def changed(data: Any, changes: dict[str, Any]) -> Any:
    """The data of a study with other values; generations and population are the search's."""
    if not isinstance(data, dict):
        return data
    search = dict(data.get("search", {})) if isinstance(data.get("search", {}), dict) else data.get("search")
    data = dict(data)
    for name, value in changes.items():
        if name in ("generations", "population") and isinstance(search, dict):
            search[name] = value
            data["search"] = search
        elif name not in ("generations", "population"):
            data[name] = value
    return data
