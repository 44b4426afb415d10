"""Evaluate what a sentinel asks for on a pair of versions: expressions, conditions, several pages,
and the summary of findings. Noise is excluded here. Where the pair comes from does not matter here.
"""
