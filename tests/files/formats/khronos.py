"""Khronos' validator of glTF files: npm's gltf-validator, run by node. Tests are skipped where it is not installed.

npm install --prefix ~/.cache/supple-tools gltf-validator
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.canvas.browser import missing

TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple-tools"
SCRIPT = """
const {readFileSync} = require("node:fs");
const validator = require(process.argv[1] + "/node_modules/gltf-validator");
validator.validateBytes(new Uint8Array(readFileSync(process.argv[2])), {maxIssues: 50})
  .then((report) => console.log(JSON.stringify(report)));
"""


def validate(path: Path) -> dict[str, Any]:
    """The validator's account of a file that it finds nothing wrong with, not even a hint."""
    node = shutil.which("node")
    if node is None or not (TOOLS / "node_modules" / "gltf-validator").is_dir():
        missing(f"gltf-validator is not in {TOOLS}, or there is no node")
    command = [str(node), "-e", SCRIPT, str(TOOLS), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    issues = report["issues"]
    assert not issues["numErrors"] + issues["numWarnings"] + issues["numInfos"], issues["messages"]
    return dict(report["info"])
