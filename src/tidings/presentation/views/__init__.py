"""A change on the web page: one stored edit script, applied to both versions once, feeds every view
(004 §3.7, §5.5).

`script` applies the edits to the texts, `rows` splits them at paragraphs, `pages` and `table` draw,
`view` selects and is the entry point.
"""
