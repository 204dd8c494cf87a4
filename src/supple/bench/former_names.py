"""What cases and quantities were called before, so that revisions on both sides of a renaming can be compared."""

FORMER_CASES = {"tree/": "substructure/"}
FORMER_QUANTITIES = {"real_time_factor": "simulated over real time"}
"""How names begin now, and how they began before."""
