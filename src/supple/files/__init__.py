"""Files that carry a whole scene: TOML and JSON, both ways. They are data and never executed."""

from supple.files.scenes.kinds import register_kind
from supple.files.scenes.scene_files import RunSettings, SceneFile, load, load_scene_file, save

__all__ = ["RunSettings", "SceneFile", "load", "load_scene_file", "register_kind", "save"]
