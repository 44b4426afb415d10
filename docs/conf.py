"""How Sphinx makes the site of these pages; `script/docs` runs it."""

project = "Tidings"
author = "The Tidings authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Tidings"
html_copy_source = False
html_show_copyright = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["messages/*.html", "decisions/README.md"]
suppress_warnings = ["misc.highlighting_failure"]
