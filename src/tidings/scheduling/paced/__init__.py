"""Policies by pace: a page is due some time after its last poll, and bids how late it is. Peers and crawlers choose like this."""
