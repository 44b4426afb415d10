"""The Gardener's problem: each page to be polled at least once per window, under a daily capacity
(Gao et al., CIKM 2009).
"""
