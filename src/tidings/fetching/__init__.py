"""Asking the web for pages: one outbound room, guarded at every door (contracts.md §6, trust.md R-01…R-06)."""
