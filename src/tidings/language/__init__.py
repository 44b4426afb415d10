"""The language of sentinels (004 §3.1): text to values and back.

`parser.parse` reads a text (`grammar/`, then `clauses/`), `verify` checks clauses in combination,
`write.printer.to_text` prints one, `yaml/` is the same in YAML; `times` computes when a life begins
and ends. The grammar is `grammar/sentinel.lark`. Only `parser` needs lark; listing sentinels does
not.
"""
