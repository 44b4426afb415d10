"""Backups: one file that holds all that is kept, made while the service runs, and put back whole
or not at all.

`package` is the file and what it may contain, `locked` the part under a passphrase. `backup`
writes one, `verify` reads one and says whether it can be restored, `restore` puts one in the place
of a data directory.
"""
