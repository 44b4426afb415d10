"""From a grant to a committed unit: the request, its frames, what the answer brings, the state of
its host. A poll is paid for before it leaves, its findings become one unit, and that is written
whole. Nothing here decides when a page is polled.
"""
