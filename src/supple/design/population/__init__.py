"""How many designs are evaluated by many processes: workers, batches of designs, what to do when a process dies."""
