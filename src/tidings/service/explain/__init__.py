"""Explanations of the schedule for users: the next polls and their reasons, the pace of all pages,
the price, the state of the budget. Read-only.
"""
