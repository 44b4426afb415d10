"""The database: the only truth. Every table belongs to this room (contracts §1, §4)."""
