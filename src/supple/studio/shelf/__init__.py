"""The shelf: what can be opened from the page: built-in scenes, files that are uploaded, recent runs."""
