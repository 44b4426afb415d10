"""The database: the only truth. Every table belongs to this room (contracts.md §1, §4)."""
