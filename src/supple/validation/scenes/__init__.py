"""Scenes of several bodies against closed forms: blows, linkages, one part or two, a kind of one's own."""
