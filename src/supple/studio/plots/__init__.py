"""Live plots: what the simulation measures at frames, kept by the server, sent to the pages that draw it."""
