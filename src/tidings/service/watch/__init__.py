"""The watched state, in memory: enabled sentinels, their pages, cursors, schedules, hints and
noise. Loaded at the start, then follows the database. Nothing here fetches a page or notifies
anybody.
"""
