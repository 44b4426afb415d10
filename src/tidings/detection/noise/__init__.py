"""Noise: what changes on a page without an edit by its publisher; found, learned and excluded from
reports (detection §4).
"""
