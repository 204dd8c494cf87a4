"""Numbers of reduced domains and trees of them."""
