"""Polls at set times: fixed intervals, hours, predicted updates, and whether all can be made in time. What is left of the budget is the policies'."""
