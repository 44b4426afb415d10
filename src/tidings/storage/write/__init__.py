"""The writers: units committed whole, charges paid before a request leaves, what is collected, kept secret, or checked. The service writes through
`store` alone. Nothing else writes what polls bring.
"""
