"""Search over stored versions: the index follows the versions and answers queries with what the
user may see.
"""
