"""Policies by pace: a page is due some time after its last poll, and bids its lateness. Papers'
baselines and crawlers choose so.
"""
