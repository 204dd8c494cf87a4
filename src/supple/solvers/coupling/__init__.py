"""Parts of a scene that are advanced by different methods, coupled within a step."""
