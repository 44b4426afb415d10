"""What people ask to see at once: two stored versions compared (`diff`), sentinels tried on pages
and on stored versions (`test`), what a new sentinel sees now. Nothing here is stored, and nobody is
notified.
"""
