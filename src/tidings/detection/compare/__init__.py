"""Comparators: of multisets of objects and of sequences of tokens."""
