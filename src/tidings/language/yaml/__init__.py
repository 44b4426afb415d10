"""The same language in YAML: nodes are converted to clauses of the text form, so that meaning and
fault places are shared.
"""
