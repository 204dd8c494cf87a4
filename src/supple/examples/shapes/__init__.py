"""Objects made of domains, after the examples of [BZ11, table 1]: generated here, returned as Domain trees."""

from supple.examples.shapes.dragon import dragon, dragon_mesh
from supple.examples.shapes.flower import flower, flower_mesh
from supple.examples.shapes.letters import letters, letters_mesh
from supple.examples.shapes.oak import oak
from supple.examples.shapes.space_station import space_station

__all__ = [
    "dragon",
    "dragon_mesh",
    "flower",
    "flower_mesh",
    "letters",
    "letters_mesh",
    "oak",
    "space_station",
]
