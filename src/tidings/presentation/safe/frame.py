"""A stored page as a document for a frame of opaque origin, under a policy that allows only inline
styles and pictures.

Each layer suffices alone: the markup has no active content (`markup`), the frame runs no scripts,
forms or windows (`sandbox=""`), the policy forbids fetching (a frame without an origin is sent no
cookies, so stored pictures are embedded as `data:`). Serve it with `HEADERS` from its own address
and never as `srcdoc`, which would inherit the policy of our pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tidings.document.document import Document
from tidings.document.select.trees import HtmlTree
from tidings.presentation.safe.markup import Mark, Written, escape, write_page
from tidings.presentation.writing import cut_text, one_line

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
"""The document's policy: inline styles, and embedded pictures."""

HEADERS: Final[dict[str, str]] = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": f"{POLICY}; frame-ancestors 'self'; sandbox",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
}
"""The headers of the answer with a page; without cookies."""

SHEET: Final = """
img{max-width:100%}img.tidings-image{display:inline-block;border:1px dashed #85888a;padding:.1em .4em;min-width:1em;min-height:1em;font-size:.85em}
.tidings-link{text-decoration:underline dotted;cursor:help}
ins.tidings.tidings,del.tidings.tidings{all:unset;display:inline!important;visibility:visible!important;opacity:1!important;border-radius:2px!important;
padding:0 .15em!important;position:static!important;font-weight:600!important}
ins.tidings.tidings{color:#0f5a35!important;background:#dcf1e2!important;text-decoration:underline!important}
del.tidings.tidings{color:#8f2219!important;background:#fae3df!important;text-decoration:line-through!important}
.tidings-moved.tidings-moved.tidings-moved{color:#0a666c!important;background:#e6f1f0!important;outline:1px dotted!important}
"""
"""Our marks, overriding the page's styles: underlined and struck, so that no colour is needed."""


def rewrite(document: Document, mark: Mark | None = None) -> Written | None:
    """Return the rewritten content of a page that was parsed with its tree; None for any other
    document. `mark` formats its texts.
    """
    if document.problem or not isinstance(document.tree, HtmlTree) or not document.extraction.is_whole:
        return None
    return write_page(document.tree.root, document, mark)


def page(made: Written) -> str:
    """Return a whole document around rewritten content."""
    said = {name: text for name, text in made.attributes.items() if name in {"lang", "dir"}}
    body = {
        name: text for name, text in made.attributes.items() if name in {"class", "id", "style", "bgcolor", "align"}
    }
    return (
        f'<!doctype html>\n<html{_attributes(said)}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        f'<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(cut_text(one_line(made.title), 200))}</title><style>{made.css}</style><style>{SHEET}</style></head>\n"
        f"<body{_attributes(body)}>{made.body}</body></html>\n"
    )


def frame(address: str, title: str) -> str:
    """Return the frame for a page served at `address`, with a `title`."""
    return (
        f'<iframe class="copy" sandbox="" src="{escape(address)}" title="{escape(cut_text(one_line(title), 200))}" '
        'referrerpolicy="no-referrer" loading="lazy" width="100%" height="800"></iframe>'
    )


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(text)}"' for name, text in attributes.items())
