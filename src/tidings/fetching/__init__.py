"""Fetch pages: the only outbound room, every connection guarded (contracts §6, R-01…R-06)."""
