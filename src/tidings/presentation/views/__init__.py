"""A change as a reader of the web page sees it: one stored edit script, laid on both versions once, feeds every view (004 §3.7, §5.5).

`script` lays the edits on the texts, `rows` cuts them at paragraphs, `pages` and `table` draw, `view` chooses and is what others call.
"""
