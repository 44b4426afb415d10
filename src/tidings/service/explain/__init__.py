"""What a person is told of the schedule: the next polls and their reasons, the pace of all pages,
what made the price, how the budget stands. It reads what others have decided. Nothing here changes
anything.
"""
