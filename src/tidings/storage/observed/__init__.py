"""Rows of what was observed on the web: pages, hosts, polls, versions, estimates, hints. One module
a noun. Nothing here commits by itself.
"""
