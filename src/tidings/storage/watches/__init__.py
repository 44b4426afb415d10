"""Rows of what people asked for and were sent: sentinels, subscriptions, events, changes,
deliveries. One module per noun. Callers commit.
"""
