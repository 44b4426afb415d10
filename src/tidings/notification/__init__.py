"""Telling people: one sender for each kind of channel, signed, tried again, never lost (F-28, F-29)."""
