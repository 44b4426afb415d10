"""The running service: assembly builds everything, the monitor takes its steps, and check is one
round of it. One process polls a data directory. Only this room builds things, and only assembly
says who hears of what.
"""
