"""What drives a robot at a task: its network, where the design has a controller, or waves with its phases.

    waves     action = gain sin(2 pi (2 Hz t + phase)), phase [periods] and gain [-] fields of the design, else 0 and 1
    network   action of a cell = network(what the cell observes, goal)

Both are asked 20 times a second. A cell's clock, which its network observes, runs at the cell's phase.
"""

from __future__ import annotations

from supple.bodies.protocols import LocalState
from supple.design.controllers import Network, Waves
from supple.design.tasks.bodies import Fitted
from supple.design.tasks.palette import CLOCK
from supple.design.tasks.placing import Act
from supple.design.tasks.senses import Array, Senses, inputs_of


def action_of(fitted: Fitted, senses: Senses) -> Act:
    """The function that is asked for a robot's actions."""
    if fitted.network is not None:
        return _by_network(fitted.network, senses)
    waves, gain = Waves(CLOCK, fitted.phase), fitted.gain
    return lambda t, *states: gain * waves.act(t)


def _by_network(network: Network, senses: Senses) -> Act:
    def act(t: float, robot: LocalState, *things: LocalState) -> Array:
        seen = senses.observe(t, robot.x, robot.v, *(thing.x for thing in things))
        return network.act(t, inputs_of(seen))

    return act
