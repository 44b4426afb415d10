"""Polls at set times: fixed intervals, hours, predicted updates, and whether all can be made in
time. Policies use the rest of the budget.
"""
