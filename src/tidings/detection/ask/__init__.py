"""What a sentinel asks for, evaluated on a pair of versions: expressions, conditions, several pages, and the summary of what was found. Noise is
left out here. Nothing here knows how a pair came about.
"""
