"""Record numbers anew, or say which have changed. When that is right: see README.md.

python tests/recorded/record.py                      # which cases differ, and how
python tests/recorded/record.py --write CASE ...     # "geometry", "geometry/boxes" or "geometry/bo*"
python tests/recorded/record.py --new                # record those alone that were never recorded
"""

from __future__ import annotations

import argparse
import importlib
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from time import process_time

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))


def main() -> int:
    """The exit code: 1 where a case differs that was not written."""
    parser = argparse.ArgumentParser(description="Recorded numbers.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="MODULE, or MODULE/PATTERN; default: all")
    parser.add_argument("--write", action="store_true", help="record the named cases anew")
    parser.add_argument("--new", action="store_true", help="record cases that have no numbers yet")
    given = parser.parse_args()
    if given.write and not given.cases:
        parser.error("--write needs the names of cases")
    patterns = [name if "/" in name else f"{name}/*" for name in given.cases]
    differ = 0
    for path in sorted(HERE.glob("test_*.py")):
        name = path.stem.removeprefix("test_")
        if patterns and not any(p.partition("/")[0] == name for p in patterns):
            continue
        start = process_time()
        recorded = getattr(importlib.import_module(f"tests.recorded.{path.stem}"), "recorded", None)
        if recorded is None:
            continue
        chosen = [c for c in recorded.cases if not patterns or any(fnmatchcase(f"{name}/{c}", p) for p in patterns)]
        writes = [c for c in chosen if given.write or (given.new and c not in recorded.known())]
        for case in chosen:
            begun = process_time()
            if case in writes:
                try:
                    recorded.write([case])
                except Exception as error:  # the others are recorded all the same
                    differ += 1
                    print(f"{name}/{case}: {type(error).__name__}: {error}")
            elif not given.new and (unlike := recorded.differences(case)):
                differ += 1
                print(f"{name}/{case}", *unlike, sep="\n    ")
            if process_time() - begun > 1.0:
                print(f"{name}/{case}: {process_time() - begun:.1f} s", file=sys.stderr)
        print(f"{name}: {len(chosen)} cases, {len(writes)} written, {process_time() - start:.1f} s", file=sys.stderr)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
