"""From a grant to a committed unit: the request, its frames, the state of the page and of its host. A poll is paid for before it leaves, and
its unit is written whole. Nothing here decides when a page is polled.
"""
