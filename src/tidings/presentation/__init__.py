"""Changes as people read them: views drawn from change records (contracts §12), nothing of a page acting in them (004 §3.7, §5.5)."""
