"""Detection: what changed between two versions of a page, for what somebody asked (004 ch. 5)."""
