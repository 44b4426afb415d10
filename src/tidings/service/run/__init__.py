"""The running service: assembly builds all parts, the monitor runs the steps, `check` runs one
round of them. One process polls a data directory.
"""
