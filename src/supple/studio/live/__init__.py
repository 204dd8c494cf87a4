"""What runs in the process of the simulation, without the process: stepped, changed, pulled at, remembered, saved."""
