"""Is this body the page at all? `plausibility` judges an answer by its rules (`plausibility.toml`), `walls` knows logins, captchas and errors
that say 200.

A body is judged before anything of it is compared. Nothing here compares two versions, and no doubt is kept: who waits decides that.
"""
