"""The writers: units committed whole, charges paid before a request leaves, instants of a wrong
clock put right, invariants checked. The service writes through `store` alone. Nothing else writes
what polls bring.
"""
