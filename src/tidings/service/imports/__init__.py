"""Imports: another program's jobs become sentinels, and their history learned rates.

There is a module of readers per program, which produce `draft`s. A reader maps each field; the
language checks the result. `import_jobs` detects each program's files and stores everything in
one transaction. Nothing of a file is executed or fetched, and files are untrusted: `reading` opens
them.
"""
