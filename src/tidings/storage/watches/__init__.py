"""Rows of what people asked for and were told: sentinels, subscriptions, events, changes,
deliveries. One module a noun. Nothing here commits by itself.
"""
