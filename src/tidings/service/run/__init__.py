"""The running service: assembly builds everything, the monitor takes its steps, and check is one round of it. Upkeep says what must be so before a
step, and what stops the whole service and lets it go on: a full disk, a wrong clock, a database that is away, a poller that hangs. Only this room
builds things, and only assembly says who hears of what.
"""
