"""What an answer means: the versions that are needed, the job that compares them, and what of it is a change. The order is: stored versions,
detect, compare, the changes of headers and states, one result for the unit. Nothing here asks a host.
"""
