"""How Sphinx makes the site of these pages; `script/docs --site` runs it."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

project = "Tidings"
author = "The Tidings authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Tidings"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_static_path = ["site"]
html_css_files = ["site.css"]
exclude_patterns = ["messages/*.html"]
smartquotes = False  # they would make of `--url` a dash, and of straight quotes what no shell reads
suppress_warnings = ["misc.highlighting_failure"]

INDEXED = ("begin/", "howto/", "reference/", "glossary")
"""Pages whose headings stand in the index, and the first cells of whose tables do if they are code or terms of the glossary."""
LISTS = {"decisions/README": "0*", "design/README": "*", "messages/README": "*"}
"""Pages that are the parents of others in the menu, which lists these below them."""
NAME = re.compile(r"[A-Za-z/][\w./ -]*")
NUMBERED = re.compile(r"^\d+\. ")


class IndexOfNames(SphinxTransform):
    """Gives the index an entry for each heading, and for each row whose first cell is a name."""

    default_priority = 400

    def apply(self) -> None:
        """Add the entries of one page."""
        page = self.env.docname
        if not page.startswith(INDEXED):
            return
        title = next(self.document.findall(nodes.title)).astext()
        for section in list(self.document.findall(nodes.section)):
            name = section.next_node(nodes.title).astext()
            if section.parent is not self.document:
                add(section, name if page.startswith("reference/commands") else f"{name} ({title})")
        for body in list(self.document.findall(nodes.tbody)):
            for row in body.children:
                cell = row.next_node(nodes.entry)
                literal = cell.next_node(nodes.literal)
                is_name = literal is not None and literal.astext() == cell.astext()
                if page == "glossary" or (is_name and NAME.fullmatch(cell.astext())):
                    owner = row
                    while not isinstance(owner, nodes.section):
                        owner = owner.parent
                    add(owner, cell.astext())


def add(section: nodes.Element, name: str) -> None:
    """Put an entry that leads to a section behind its title."""
    target = section["ids"][0]
    text = NUMBERED.sub("", name).replace(";", ",")
    section.insert(1, addnodes.index(entries=[("single", text, target, "", None)]))


def add_menu(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the pages of a folder into the menu, below the page that lists them."""
    del app
    if page in LISTS:
        source[0] += f"\n```{{toctree}}\n:glob:\n:hidden:\n{LISTS[page]}\n```\n"


def setup(app: Sphinx) -> None:
    """Register with Sphinx what is done here."""
    app.add_transform(IndexOfNames)
    app.connect("source-read", add_menu)
