"""Decide which pages to poll now: policies bid for every page, one allocator chooses (contracts
§5).
"""
