"""Make src/supple/design/tasks/baselines.json: `python tools/design/make_baselines.py STORE GENERATIONS [task ...]`.

Evaluations are kept in the store, so that the tool can be stopped and resumed. Tasks that are done are written at once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from supple.design.tasks import tasks
from supple.design.tasks.baselines import SEEDS, make_baselines

PATH = Path(__file__).parents[2] / "src" / "supple" / "design" / "tasks" / "baselines.json"


def main(store: str, generations: int, names: list[str]) -> None:
    """Make the baselines of some tasks, or of all."""
    known = tasks()
    for name in names or known:
        made = make_baselines(known[name], generations, store)
        rows = json.loads(PATH.read_text())["tasks"] if PATH.exists() else {}
        rows[name] = made
        ordered = {one: rows[one] for one in known if one in rows}
        PATH.write_text(json.dumps({"version": 1, "seeds": list(SEEDS), "tasks": ordered}, indent=1) + "\n")
        print(name, [f"{score:.4f}" for score in [*made["random"], *made["searched"]]], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
