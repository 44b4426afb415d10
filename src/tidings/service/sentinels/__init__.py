"""Sentinels are added (`register`), made equal to files (`apply`), altered, and begin and end as
their steps fall due (`lives`): from a text to rows, all statements or none. Nothing here polls or
notifies by itself.
"""
