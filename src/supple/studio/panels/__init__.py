"""Panels of the page. A panel is a function that is called inside the page's layout with the canvas and the running
scene: it lays out its controls there, tells the canvas or the simulation what a person does with them, and looks at
`running.status` by a timer of its own. One idea a file.
"""
