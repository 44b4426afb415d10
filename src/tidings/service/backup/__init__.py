"""Backups: one file with all stored data, written while the service runs, and restored completely
or not at all.

`package` is the file format, with the part under a passphrase. `backup` writes one, `restore`
checks whether one can be restored and replaces a data directory by it.
"""
