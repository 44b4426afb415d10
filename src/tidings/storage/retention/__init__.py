"""Retention: which old versions are still needed, deleting the others, and the files that no row
names any more. When this happens is the service's matter (`service/upkeep/collector`).
"""
