"""Frozen values that all rooms share, without behaviour beyond validation."""
