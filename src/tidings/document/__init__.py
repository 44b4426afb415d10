"""Documents: from bytes to words, links and images; shared by all sciences, which do not depend on
each other.
"""
