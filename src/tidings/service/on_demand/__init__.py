"""What users request directly: comparing two stored versions (`diff`), trying sentinels on pages
and stored versions (`test`), the present view of a new sentinel. Nothing is stored, and nobody is
notified.
"""
