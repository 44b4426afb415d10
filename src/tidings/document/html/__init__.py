"""The markup of a page, parsed once: the walk from nodes to text, its lines, links, images and
frames, and the check for slow input. Selectors build on this.
"""
