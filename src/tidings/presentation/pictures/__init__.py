"""Pictures of changes: two screenshots compared (`screenshots`), and one change as a picture to
share (`share`).
"""
