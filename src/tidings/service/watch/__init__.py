"""What is watched, in memory: the sentinels that are enabled, their pages, cursors, claims on
polls, hints and noise. It is loaded at the start and follows the database from then on. Nothing
here asks for a page or notifies anybody.
"""
