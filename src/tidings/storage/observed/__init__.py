"""Rows of what was observed on the web: pages, hosts, polls, versions, estimates, hints. One module
per noun. Callers commit.
"""
