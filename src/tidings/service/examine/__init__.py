"""What an answer means: whether it brings anything new, what is examined of that, what
subscriptions find in it, and what of it goes into a unit. The order is: judge, look, detect,
findings, for a page with frames as for one without. Nothing here asks a host or writes.
"""
