"""Database access: connections, dialects, locks, the schema and its migrations. One transaction per
call. Row contents are opaque here.
"""
