"""Pollers on other machines. The service offers each check on the bus and does budget, host limits,
comparison and storage; a poller fetches and stores nothing lasting. Either may end at any time: the
check then counts as failed and is repeated.
"""
