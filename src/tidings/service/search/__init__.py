"""Search over what is stored: the index follows the versions, and answers those who ask with what
they may see.
"""
