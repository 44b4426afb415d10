"""The Gardener's problem: pages to be polled at least once in a window each, under a daily capacity (Gao et al., CIKM 2009)."""
