"""Pages of strangers, rendered and unable to act (R-11).

`markup` writes a parsed page anew with what is allowed alone, `css` lets through styles that ask for nothing, `frame` puts both into a document under a
policy that allows nothing else; `merged` does so with the marks of a change.
"""
