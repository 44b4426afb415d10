"""The database, the only source of truth. Every table belongs to this room (contracts §1, §4)."""
