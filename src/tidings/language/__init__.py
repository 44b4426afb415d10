"""The language of sentinels (004 §3.1): text to nouns and back.

`parser.parse` reads a text (`grammar/`, then `clauses/`), `verify` looks at what clauses say
together, `write.printer.to_text` writes one, `yaml/` is the same in YAML; `dates` says when a life
begins and ends. The grammar is `grammar/sentinel.lark`. Only `parser` needs lark; listing sentinels
does not.
"""
