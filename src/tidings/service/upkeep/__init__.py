"""Maintenance of a running service: old versions are deleted, what was learned is stored, and a
full disk, a wrong clock or an unreachable database pauses all steps until it is over. Nothing here
requests a page.
"""
