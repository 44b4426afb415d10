"""Which page is polled next, and when: claims and bids become due times, and the allocator chooses
among what is due. The order is: rows of pages, due times, proposals, price, choice. Nothing here
asks a host or writes a row.
"""
