"""Isolation: run jobs on untrusted content where they can be killed (contracts §7)."""
