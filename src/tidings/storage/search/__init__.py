"""The text index: a file beside the database, derived from it and rebuilt whenever it is
damaged.
"""
