"""Trees of domains as a part of a scene: their steps, halved where they must be, springs, momentum, touching points."""
