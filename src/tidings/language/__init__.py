"""The language of sentinels (004 §3.1): text to nouns and back.

`parser.parse` reads a text, `printer.to_text` writes one, `verify.Known` tells the reader of sentinels that exist, `dates` says when
a life begins and ends. The grammar is `sentinel.lark`. Only `parser` needs lark; listing sentinels does not.
"""
