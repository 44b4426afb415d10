"""Which pages to poll now: policies publish a bid for every page, one allocator chooses (DESIGN §4, contracts.md §5)."""
