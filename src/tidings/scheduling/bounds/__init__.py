"""Upper bounds that no schedule can beat, to measure how near a schedule comes (bid §6; scheduling
§9).
"""
