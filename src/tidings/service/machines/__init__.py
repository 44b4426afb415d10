"""Pollers on other machines. The service offers each check on the bus and keeps budget, host
limits, comparison and all that is stored; a poller fetches and holds nothing that must last. Either
may end at any time: the check then counts as failed and is made again.
"""
