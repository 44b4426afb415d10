"""The markup of a page, read once: the walk from nodes to text, its lines, its links, images and frames, and the check for what makes parsers slow.
Selectors come above.
"""
