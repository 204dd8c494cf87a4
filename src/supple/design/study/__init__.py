"""Studies: searches as files, what they write, and how their designs go to other programs."""
