"""What was observed: pages, outcomes, versions, changes, and the unit in which one outcome is
committed.
"""
