"""Estimate how often pages change, from polls that only say whether they did (scheduling §7; bid
§5).
"""
