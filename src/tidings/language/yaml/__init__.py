"""The same language in YAML: nodes become the clauses of the text form, so that there is one meaning and one place for each fault."""
