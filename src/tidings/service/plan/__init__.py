"""Which page is polled next, and when: schedules and bids become due times, and the allocator
chooses among the due pages. The order is rows, due times, proposals, price, choice. Nothing here
sends requests or writes rows.
"""
