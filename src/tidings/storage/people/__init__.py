"""Rows of people: accounts with their roles, their sessions, tokens and shared tags."""
