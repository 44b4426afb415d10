"""Asking the web for pages: one outbound room, guarded at every door (contracts §6, R-01…R-06)."""
