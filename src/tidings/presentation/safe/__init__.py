"""Untrusted pages, rendered without active content (R-11).

`markup` rewrites a parsed page from an allow list, `css` keeps styles that fetch nothing, `frame`
serves both as a document under a strict policy; `merged` adds the marks of a change.
"""
