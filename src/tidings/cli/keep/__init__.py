"""Commands for all data at once: backups, and imports from other programs."""
