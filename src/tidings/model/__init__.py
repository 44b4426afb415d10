"""Frozen values that all packages share, without behaviour beyond validation."""
