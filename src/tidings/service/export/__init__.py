"""Exports of sentinels and findings for other programs, read and written in batches.

`statements` are sentinels as text, YAML and OPML; `rows` are changes, checks and values as CSV,
JSON Lines and Parquet; `warc` are the stored versions. None contains a secret: a sentinel refers to
its secrets by name.
"""
