"""What is watched and was found, for other programs: read in pages, written as it is read.

`statements` are sentinels as text, YAML and OPML; `rows` are changes, checks and values as CSV,
JSON Lines and Parquet; `warc` are the stored versions. No secret is in any of them: a sentinel
refers to its secrets by name.
"""
