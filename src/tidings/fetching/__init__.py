"""Fetch pages: all requests for pages and webhooks, each connection guarded (contracts §6)."""
