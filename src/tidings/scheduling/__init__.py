"""Which pages to poll now: policies publish a bid for every page, one allocator chooses (contracts §5)."""
