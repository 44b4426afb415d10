"""Noise: what changes on a page though its publisher changed nothing, found, learned and left out of what is told (detection §4)."""
