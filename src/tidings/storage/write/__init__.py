"""The writers: units committed whole, charges paid before a request leaves, old versions deleted,
instants of a wrong clock corrected, invariants checked. The service writes through `store` only.
Nothing else writes results of polls.
"""
