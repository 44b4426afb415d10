"""From a grant to a committed unit: the request, its frames, the answer's results, the state of its
host. A poll is paid for before its request leaves; its findings become one unit, written
atomically. Polls are not scheduled here.
"""
