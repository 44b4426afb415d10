"""Changes for people: views drawn from change records (contracts §12), with no active content of
pages (004 §3.7, §5.5).
"""
