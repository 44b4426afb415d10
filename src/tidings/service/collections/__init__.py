"""Collections: what pages name is found, the best of it watched, and the list of pages published.

Only the one poller discovers. Reading pages is done where pages are read; nothing here asks a host.
"""
