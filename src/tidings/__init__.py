"""Tidings watches pages that can only be polled and tells people what changed."""

__version__ = "0.1.0.dev0"
