"""Telling people: one sender for each kind of channel, signed, tried again, never lost (DESIGN §4, trust §1)."""
