"""The database as such: connections, dialects, the lock, the schema and how an older one becomes
the present one. One transaction a call. Nothing here knows what the rows mean.
"""
