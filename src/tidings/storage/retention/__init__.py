"""Retention: which old versions are still needed, the deletion of the others, and of files that no
row names. The service decides when (`service/upkeep/collector`).
"""
