"""Sentinels are added (`register`), synchronized with files (`apply`), altered, and started and
ended when due (`lifecycle`): from text to rows, all statements or none. Nothing here polls or
notifies by itself.
"""
