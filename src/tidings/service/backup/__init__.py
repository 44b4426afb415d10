"""Backups: one file with all stored data, written while the service runs, and restored completely
or not at all.

`package` is the file format, `locked` the part under a passphrase. `backup` writes one, `verify`
checks whether one can be restored, `restore` replaces a data directory by one.
"""
