"""Records: trajectories, checkpoints and measures of a run."""

from supple.record.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from supple.record.frame import Frame
from supple.record.measures import BodyMeasures, Measures, measure, measure_bodies
from supple.record.reader import Record, Trajectory, open_record
from supple.record.record import RecordWriter
from supple.record.run_result import Energies, Run

__all__ = [
    "BodyMeasures",
    "Checkpoint",
    "Energies",
    "Frame",
    "Measures",
    "Record",
    "RecordWriter",
    "Run",
    "Trajectory",
    "load_checkpoint",
    "measure",
    "measure_bodies",
    "open_record",
    "save_checkpoint",
]
