"""Isolation: jobs on content that nobody vouches for run where they can be killed (contracts §7)."""
