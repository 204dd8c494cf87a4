"""Make src/supple/design/tasks/baselines.json: `python tools/design/make_baselines.py STORE 6,6,18 [task ...]`.

Evaluations are kept in the store, so that the tool can be stopped and resumed. Tasks that are done are written at once.
Without arguments it prints the tables of docs/tasks.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from supple.design.tasks import tasks
from supple.design.tasks.baselines import POPULATION, SEEDS, load_baselines, make_baselines
from supple.design.tasks.suite import ENOUGH

PATH = Path(__file__).parents[2] / "src" / "supple" / "design" / "tasks" / "baselines.json"


def main(store: str, generations: list[int], names: list[str]) -> None:
    """Make the baselines of some tasks, or of all."""
    known = tasks()
    for name in names or known:
        made = make_baselines(known[name], generations, store)
        rows = json.loads(PATH.read_text())["tasks"] if PATH.exists() else {}
        rows[name] = made
        ordered = {one: rows[one] for one in known if one in rows}
        PATH.write_text(json.dumps({"version": 1, "seeds": list(SEEDS), "tasks": ordered}, indent=1) + "\n")
        print(name, [f"{score:.4f}" for score in [*made["random"], *made["searched"]]], flush=True)


def tables() -> None:
    """Print the tables of docs/tasks.md: what is enough; scores, their spread over seeds and the bands of rounding."""
    for name, (enough, meaning) in ENOUGH.items():
        does = sum(score >= enough for score in load_baselines()[name]["searched"])
        print(f"| `{name}` | {enough:.3g} {tasks()[name].unit} | {meaning} | {does} of 3 |")
    print()
    for name, row in load_baselines().items():
        cells = [f"`{name}`", tasks()[name].unit]
        for kind in ("random", "searched"):
            scores = row[kind]
            cells.append(", ".join(f"{score:.3f}" for score in scores))
            cells.append(f"{np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f}")
        cells.append(", ".join(f"{least:.3f} to {greatest:.3f}" for least, greatest in row["bands"]["searched"]))
        cells.append(", ".join(str(POPULATION * count) for count in row["generations"]))
        print("|", " | ".join(cells), "|")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        tables()
    else:
        main(sys.argv[1], [int(count) for count in sys.argv[2].split(",")], sys.argv[3:])
