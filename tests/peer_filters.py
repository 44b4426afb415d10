"""What other watchers of pages filter and select, and the sentence that says the same here.

A row is one filter or option that belongs to detection or selection. Its pages are ours; what it `leaves` or is `told` is what the tool's documentation says
of such a page (urlwatch after 2.29, docs/source/filters.rst; webchanges 3.36, docs/filters.rst; changedetection.io of August 2026, its form and wiki), compared by words: tags, indents and quotes around
what is left are no content here. Where nothing says it, the row says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.pdfs import pdf
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies, parse_body
from tidings.document.extract import extract
from tidings.document.select.extraction import extraction_of
from tidings.document.text.words import tokens_of
from tidings.language.parser import parse
from tidings.model.watch.sentinel import Sentinel

HTML, TEXT, JSON = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json"
XML, RSS, CSV, ICAL, PDF = "application/xml", "application/rss+xml", "text/csv", "text/calendar", "application/pdf"

Page = str | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A filter of a tool. With `leaves` the page has these lines after it; with `told` a second page brings these: `+` came, `-` went, `>` became.

    `why` says what it is that cannot be said.
    """

    tool: str
    name: str
    says: str = ""
    page: Page = ""
    media: str = HTML
    leaves: tuple[str, ...] | None = None
    later: Page = ""
    told: tuple[str, ...] | None = None
    why: str = ""


def sentence(row: Row) -> Sentinel:
    """Return what a row says, as a sentinel."""
    done = parse(f"Create Sentinel s Using https://shop.example/p {row.says}")
    assert not done.problems, (row.name, done.problems)
    (found,) = done.statements
    assert isinstance(found, Sentinel)
    return found


def list_left(row: Row) -> list[list[str]]:
    """Return the words of each line that a page has after a row's sentence."""
    document = extract(parse_body(_body(row.page, row.media), keep_tree=True), extraction_of(sentence(row)))
    assert not document.problem, (row.name, document.problem)
    return [words for line in document.lines if (words := [*tokens_of(line)])]


def list_reported(row: Row) -> Counter[str]:
    """Return what a row's sentence tells of the later page."""
    one = sentence(row)
    change, problem = compare_bodies(
        _body(row.page, row.media), _body(row.later, row.media), one.monitor, extraction_of(one)
    )
    assert not problem, (row.name, problem)
    return Counter(
        [
            *(f"+{text}" for text in change.inserted),
            *(f"-{text}" for text in change.deleted),
            *(["another body"] if "body" in change.kinds else (f"{old} > {new}" for old, new in change.updated)),
            *(f"moved {text}" for text in change.moved),
        ]
    )


def is_equal(row: Row) -> bool:
    """Return whether a row's sentence does what the tool does."""
    if row.leaves is not None:
        return list_left(row) == [[*tokens_of(line)] for line in row.leaves]
    return row.told is not None and list_reported(row) == Counter(row.told)


def _body(page: Page, media: str) -> Body:
    return Body(
        data=page if isinstance(page, bytes) else page.encode(), content_type=media, url="https://shop.example/p"
    )


# -- pages -------------------------------------------------------------------------------------------------------------------------

SHOP = """<html><head><title>Tea</title></head><body><h1>Teas</h1>
<ul id=black><li class=new>Assam</li><li>Ceylon</li></ul>
<ul id=green class=teas><li class=new>Sencha <a href=/s>more</a></li><li>Lung Ching</li><li class="new hot">Gyokuro</li></ul>
<p style="color:red">Only this week</p><p>Shut on <i>Sunday</i></p></body></html>"""
RACKS = "<body><p class=rack>one</p><p class=rack>two</p><p class=rack>three</p><p class=rack>four</p></body>"
MIXED = "<body>Here <b class=item>pear</b><br>then <b class=item>apple</b><br><b class=item>fig</b> at last</body>"
NEWS = """<rss version="2.0" xmlns:m="http://m.example/"><channel><title>News</title>
<item><title>First</title><pubDate>2026-01-02</pubDate><m:tag>rivers</m:tag></item>
<item><title>Second</title><pubDate>2026-01-03</pubDate><m:tag>hills</m:tag></item></channel></rss>"""
LINES = "warm today\nRAIN at noon\nrain, then sun\nwarm today\ncold at night\n"
PLAIN = "pear\napple\nfig\n"
JOBS = '[{"title": "Baker", "firm": "Ovens"}, {"title": "Miller", "firm": "Stones"}]'
FLAT = '{"b": {"c": "x"}, "a": 1}'
PRETTY = '{\n    "b": {\n        "c": "x"\n    },\n    "a": 1\n}'
DATA = "name,town\nSmith,York\nDoe,Leeds\n"
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Choir\r\n"
    "DTSTART:20260302T183000\r\nDTEND:20260302T200000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\x00\x01" * 9
PLAN = "<table><tr><th>Day</th><th>Sold</th></tr><tr><td>Monday</td><td>10,000</td></tr></table>"
OFFER = """<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Product", "name": "Lamp", "offers": {{"@type": "Offer",
"price": "{}", "priceCurrency": "EUR", "availability": "https://schema.org/{}"}}}}</script><h1>Lamp</h1>"""


def offer(price: str, state: str = "InStock") -> str:
    """Return a page with an offer in it."""
    return OFFER.format(price, state)


ALL = "Monitor all words "
NO_PROGRAM = (
    "runs a program of the user's on what a stranger sends; a command of one's own is `Create Event … Using command`"
)
NO_PICTURES = "nothing reads or compares the pixels of a picture; `images` tells when its address becomes another"
LINES_ONLY = "a page is lines here; nothing parts a text at another sign"
PARTS_OF_PATTERN = "what a pattern found is compared as it stands; nothing makes another text of its groups"
NO_JQ = "JSONPath (RFC 9535) takes parts; nothing computes new values of them"
NO_STATE = "conditions ask of what changed, not of what else stands on the page; nothing waits until a text has gone"


def _elements(tool: str) -> Iterator[Row]:
    """Yield the rows of filters that take elements, which urlwatch and webchanges have alike."""
    yield Row(
        tool=tool,
        name="css",
        says=f'{ALL} Select css "ul#green > li.new"',
        page=SHOP,
        leaves=("Sencha more", "Gyokuro"),
    )
    yield Row(
        tool=tool,
        name="css: exclude",
        says=f'{ALL} Select css "ul.teas" Exclude css "a"',
        page=SHOP,
        leaves=("Sencha", "Lung Ching", "Gyokuro"),
    )
    yield Row(
        tool=tool,
        name="css: skip, maxitems",
        says=f"{ALL} Select xpath \"(//*[contains(@class, 'rack')])[position() > 1 and position() <= 3]\"",
        page=RACKS,
        leaves=("two", "three"),
    )
    yield Row(
        tool=tool,
        name="css: sort",
        says=f'{ALL} Select css "b.item" Transform sort lines',
        page=MIXED,
        leaves=("apple", "fig", "pear"),
    )
    yield Row(
        tool=tool,
        name="css: method xml",
        says=f'{ALL} Select xpath "//item/*[self::title or self::pubDate]"',
        page=NEWS,
        media=XML,
        leaves=("First", "2026-01-02", "Second", "2026-01-03"),
    )
    yield Row(
        tool=tool,
        name="css: namespaces",
        says=f'{ALL} Select xpath "//item/m:tag"',
        page=NEWS,
        media=XML,
        leaves=("rivers", "hills"),
    )
    yield Row(
        tool=tool,
        name="xpath",
        says=f'{ALL} Select xpath "/html/body/ul/li[@class]"',
        page=SHOP,
        leaves=("Assam", "Sencha more", "Gyokuro"),
    )
    yield Row(
        tool=tool,
        name="xpath: text(), @attribute",
        says=f"""{ALL} Select xpath "//ul[1]/li[1]/text() | //ul[2]/@id" """,
        page=SHOP,
        leaves=("Assam", "green"),
    )
    yield Row(
        tool=tool,
        name="xpath: exclude",
        says=f"{ALL} Select xpath \"//ul[@id='green']\" Exclude xpath \"//a | //li[@class='new hot']\"",
        page=SHOP,
        leaves=("Sencha", "Lung Ching"),
    )
    yield Row(
        tool=tool,
        name="xpath: skip, maxitems",
        says=f'{ALL} Select xpath "(//p)[position() > 1 and position() <= 3]"',
        page=RACKS,
        leaves=("two", "three"),
    )
    yield Row(
        tool=tool,
        name="xpath: method xml",
        says=f'{ALL} Select xpath "//item/title/text() | //item/pubDate/text()"',
        page=NEWS,
        media=XML,
        leaves=("First", "2026-01-02", "Second", "2026-01-03"),
    )
    yield Row(
        tool=tool,
        name="xpath: namespaces",
        says=f'{ALL} Select xpath "//item/m:tag/text()"',
        page=NEWS,
        media=XML,
        leaves=("rivers", "hills"),
    )
    yield Row(tool=tool, name="element-by-id", says=f'{ALL} Select css "#black"', page=SHOP, leaves=("Assam", "Ceylon"))
    yield Row(
        tool=tool,
        name="element-by-class",
        says=f"""{ALL} Select css "[class='new']" """,
        page=SHOP,
        leaves=("Assam", "Sencha more"),
    )
    yield Row(
        tool=tool,
        name="element-by-style",
        says=f"""{ALL} Select css "[style='color:red']" """,
        page=SHOP,
        leaves=("Only this week",),
    )
    yield Row(tool=tool, name="element-by-tag", says=f'{ALL} Select css "i"', page=SHOP, leaves=("Sunday",))


def _texts(tool: str) -> Iterator[Row]:
    """Yield the rows of filters that make and mend text, which urlwatch and webchanges have alike."""
    yield Row(
        tool=tool,
        name="html2text",
        says=f"{ALL} OR all links",
        page='<p>A <b>page</b> of <a href="/one">ours</a></p><script>x()</script>',
        later='<p>A <i>page</i> of <a href="/two">ours</a></p><script>y()</script>',
        told=("-https://shop.example/one", "+https://shop.example/two"),
    )
    yield Row(tool=tool, name="html2text: bs4", says=ALL, page=PLAN, leaves=("Day", "Sold", "Monday", "10,000"))
    yield Row(
        tool=tool,
        name="re.sub",
        says=rf'{ALL} Transform replace regex "(?i)rain" with "wet"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "wet at noon", "wet, then sun", "warm today", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="re.sub: groups in repl",
        says=rf'{ALL} Transform replace regex "(\w+) today" with "today \1"',
        page="warm today\nnot now\n",
        media=TEXT,
        leaves=("today warm", "not now"),
    )
    yield Row(
        tool=tool,
        name="re.findall",
        says=r'Monitor regex "-[a-z]{3}-"',
        page="one-abc-two-def-three\nno-jkl-more\n",
        later="two-abc-one-deg-four\nso-jkl-less\n",
        media=TEXT,
        told=("--def-", "+-deg-"),
    )
    yield Row(tool=tool, name="re.findall: repl", why=PARTS_OF_PATTERN)
    yield Row(
        tool=tool,
        name="sort",
        says=f"{ALL} Transform sort lines",
        page=PLAIN,
        media=TEXT,
        leaves=("apple", "fig", "pear"),
    )
    yield Row(tool=tool, name="sort: separator", why=LINES_ONLY)
    yield Row(
        tool=tool,
        name="sort: reverse",
        says=f"{ALL} Transform sort lines",
        page=PLAIN,
        later="fig\npear\napple\n",
        media=TEXT,
        told=(),
    )
    yield Row(
        tool=tool, name="reverse", says=ALL, page=PLAIN, later="pear\nplum\nfig\n", media=TEXT, told=("apple > plum",)
    )
    yield Row(tool=tool, name="reverse: separator", why=LINES_ONLY)
    yield Row(
        tool=tool,
        name="strip",
        says=ALL,
        page="  The line   \n\nand one more  ",
        media=TEXT,
        leaves=("The line", "and one more"),
    )
    yield Row(
        tool=tool,
        name="beautify",
        says="Monitor any change",
        page="<body><p>a<p><a href=/l>b</a></body>",
        later="<body>\n <p>\n  a\n </p>\n <p>\n  <a href='/l'>b</a>\n </p>\n</body>",
        told=(),
    )
    yield Row(tool=tool, name="format-json", says="Monitor any change", page=FLAT, later=PRETTY, media=JSON, told=())
    yield Row(
        tool=tool,
        name="pretty-xml",
        says="Monitor any change",
        page="<a><b>1</b><c>tea</c></a>",
        later="<a>\n  <b>1</b>\n  <c>tea</c>\n</a>\n",
        media=XML,
        told=(),
    )
    yield Row(
        tool=tool, name="pdf2text", says=ALL, page=pdf([["A leaf of print"]]), media=PDF, leaves=("A leaf of print",)
    )
    yield Row(tool=tool, name="pdf2text: password", why="a PDF under a password is refused; there is no clause for one")
    yield Row(
        tool=tool,
        name="ical2text",
        says=ALL,
        page=CALENDAR,
        later=CALENDAR.replace("T183000", "T190000"),
        media=ICAL,
        told=("20260302T183000 > 20260302T190000",),
    )
    yield Row(
        tool=tool,
        name="csv2text",
        says="Monitor table",
        page=DATA,
        later=DATA.replace("Leeds", "Hull"),
        media=CSV,
        told=("Doe, town: Leeds > Doe, town: Hull",),
    )
    yield Row(
        tool=tool,
        name="csv2text: has_header, ignore_header",
        says="Monitor table",
        page="Smith,York\nDoe,Leeds\n",
        later="Smith,York\nDoe,Hull\n",
        media=CSV,
        told=("Doe, York: Leeds > Doe, York: Hull",),
    )
    yield Row(
        tool=tool,
        name="jq: a path",
        says=f'{ALL} Select jsonpath "$[*].title"',
        page=JOBS,
        media=JSON,
        leaves=("Baker", "Miller"),
    )
    yield Row(tool=tool, name="jq: a computation", why=NO_JQ)
    yield Row(tool=tool, name="ocr", why=NO_PICTURES)
    yield Row(tool=tool, name="shellpipe", why=NO_PROGRAM)
    yield Row(
        tool=tool,
        name="sha1sum",
        says="Monitor any change",
        page=PLAIN,
        later="pear\napple\nfog\n",
        media=TEXT,
        told=("fig > fog",),
    )
    yield Row(
        tool=tool,
        name="hexdump",
        says="Monitor any change",
        page=PICTURE,
        later=PICTURE + b"\x02",
        media="image/png",
        told=("another body",),
    )


def _urlwatch() -> Iterator[Row]:
    tool = "urlwatch"
    yield from _elements(tool)
    yield from _texts(tool)
    yield Row(
        tool=tool,
        name="grep",
        says=f'{ALL} Transform keep lines regex "rain"',
        page=LINES,
        media=TEXT,
        leaves=("rain, then sun",),
    )
    yield Row(
        tool=tool,
        name="grepi",
        says=f'{ALL} Transform drop lines regex "rain"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "RAIN at noon", "warm today", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="remove-duplicate-lines",
        says=f"{ALL} Transform unique lines",
        page=LINES,
        media=TEXT,
        leaves=("warm today", "RAIN at noon", "rain, then sun", "cold at night"),
    )
    yield Row(tool=tool, name="striplines", says=ALL, page="  a b \n\tc  \n", media=TEXT, leaves=("a b", "c"))
    yield Row(
        tool=tool,
        name="diff_filter: grep ^[+]",
        says=f"{ALL} inserted",
        page=PLAIN,
        later="apple\nfig\nplum\n",
        media=TEXT,
        told=("+plum",),
    )
    yield Row(
        tool=tool,
        name="diff_filter: grep ^[-]",
        says=f"{ALL} deleted",
        page=PLAIN,
        later="apple\nfig\nplum\n",
        media=TEXT,
        told=("-pear",),
    )


def _webchanges() -> Iterator[Row]:
    tool = "webchanges"
    yield from _elements(tool)
    yield from _texts(tool)
    yield Row(
        tool=tool,
        name="keep_lines_containing: text",
        says=f'{ALL} Transform keep lines "warm"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "warm today"),
    )
    yield Row(
        tool=tool,
        name="keep_lines_containing: re",
        says=f'{ALL} Transform keep lines regex "(?i)^rain"',
        page=LINES,
        media=TEXT,
        leaves=("RAIN at noon", "rain, then sun"),
    )
    yield Row(
        tool=tool,
        name="delete_lines_containing: text",
        says=f'{ALL} Transform drop lines "warm"',
        page=LINES,
        media=TEXT,
        leaves=("RAIN at noon", "rain, then sun", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="delete_lines_containing: re",
        says=f'{ALL} Transform drop lines regex "(?i)^rain"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "warm today", "cold at night"),
    )
    yield Row(tool=tool, name="strip: splitlines", says=ALL, page="  a b \n\tc  \n", media=TEXT, leaves=("a b", "c"))
    yield Row(
        tool=tool,
        name="strip: chars, side",
        says=f'{ALL} Transform replace regex "[x,]+$" with ""',
        page="tea,x\nx, milk,\n",
        media=TEXT,
        leaves=("tea", "x milk"),
    )
    yield Row(
        tool=tool,
        name="absolute_links",
        says="Monitor all links",
        page='<a href="/one">a</a>',
        later='<a href="https://shop.example/one">a</a><a href="two">b</a>',
        told=("+https://shop.example/two",),
    )
    yield Row(
        tool=tool,
        name="format-xml",
        says="Monitor any change",
        page="<a><b>1</b></a>",
        later="<a>\n <b>1</b>\n</a>\n",
        media=XML,
        told=(),
    )
    yield Row(
        tool=tool,
        name="jsontoyaml",
        says="Monitor any change",
        page=FLAT,
        later=FLAT.replace("x", "y"),
        media=JSON,
        told=("b.c: x > b.c: y",),
    )
    yield Row(
        tool=tool,
        name="remove_repeated",
        says=f"{ALL} Transform unique lines",
        page="dog\ndog\ncat\nmouse\n",
        media=TEXT,
        leaves=("dog", "cat", "mouse"),
    )
    yield Row(
        tool=tool,
        name="remove_repeated: adjacent",
        why="unique leaves the first of equal lines wherever they stand; one that comes again after others is left out too",
    )
    yield Row(
        tool=tool,
        name="remove_repeated: ignore_case",
        why="unique takes lines as they are written; a replace that makes them alike would change what is told",
    )
    yield Row(tool=tool, name="html2text: strip_tags", says=ALL, page=PLAN, leaves=("Day", "Sold", "Monday", "10,000"))
    yield Row(
        tool=tool, name="pypdf", says=ALL, page=pdf([["A leaf of print"]]), media=PDF, leaves=("A leaf of print",)
    )
    yield Row(tool=tool, name="pypdf: password", why="a PDF under a password is refused; there is no clause for one")
    yield Row(tool=tool, name="execute", why=NO_PROGRAM)
    for name in ("sha256sum", "ascii85", "base64"):
        yield Row(
            tool=tool,
            name=name,
            says="Monitor any change",
            page=PICTURE,
            later=PICTURE + b"\x02",
            media="image/png",
            told=("another body",),
        )
    yield Row(
        tool=tool,
        name="additions_only",
        says=f"{ALL} inserted",
        page=PLAIN,
        later="apple\nfig\nplum\n",
        media=TEXT,
        told=("+plum",),
    )
    yield Row(
        tool=tool,
        name="deletions_only",
        says=f"{ALL} deleted",
        page=PLAIN,
        later="apple\nfig\nplum\n",
        media=TEXT,
        told=("-pear",),
    )
    yield Row(
        tool=tool,
        name="differ: deepdiff",
        says="Monitor any change",
        page='{"a": {"b": 1}, "c": [1, 2]}',
        later='{"c": [1, 2, 3], "a": {"b": 2}}',
        media=JSON,
        told=("a.b: 1 > a.b: 2", "+c[2]: 3"),
    )
    yield Row(tool=tool, name="differ: image", why=NO_PICTURES)
    yield Row(tool=tool, name="differ: command", why=NO_PROGRAM)


def _changedetection() -> Iterator[Row]:
    tool = "changedetection.io"
    yield Row(
        tool=tool,
        name="include_filters: css",
        says=f'{ALL} Select css ".new, p"',
        page=SHOP,
        leaves=("Assam", "Sencha more", "Gyokuro", "Only this week", "Shut on Sunday"),
    )
    yield Row(
        tool=tool,
        name="include_filters: xpath1",
        says=f"{ALL} Select xpath \"//ul[@id='black']/li\"",
        page=SHOP,
        leaves=("Assam", "Ceylon"),
    )
    yield Row(
        tool=tool,
        name="include_filters: xpath 2 and 3",
        why="XPath is 1.0 here; most of it that selects can be said, functions of later versions cannot",
    )
    yield Row(
        tool=tool,
        name="include_filters: json",
        says=f'{ALL} Select jsonpath "$[*].title"',
        page=JOBS,
        media=JSON,
        leaves=("Baker", "Miller"),
    )
    yield Row(
        tool=tool,
        name="include_filters: jq, a path",
        says=f'{ALL} Select jsonpath "$[0].firm"',
        page=JOBS,
        media=JSON,
        leaves=("Ovens",),
    )
    yield Row(tool=tool, name="include_filters: jq, a computation", why=NO_JQ)
    yield Row(
        tool=tool,
        name="include_filters: css and xpath",
        says='Monitor all words in css "h1" OR all words in xpath "//i"',
        page=SHOP,
        later=SHOP.replace("Sunday", "Monday").replace("Ceylon", "Java"),
        told=("Sunday > Monday",),
    )
    yield Row(
        tool=tool,
        name="subtractive_selectors: css",
        says=f'{ALL} Exclude css "ul" Exclude css "p"',
        page=SHOP,
        leaves=("Teas",),
    )
    yield Row(
        tool=tool,
        name="subtractive_selectors: xpath",
        says=f'{ALL} Exclude xpath "//ul" Exclude xpath "//p"',
        page=SHOP,
        leaves=("Teas",),
    )
    yield Row(
        tool=tool,
        name="ignore_text",
        says=f'{ALL} Transform drop lines regex "(?i)rain"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "warm today", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="ignore_text: /re/flags",
        says=f'{ALL} Transform drop lines regex "(?i)^rain .*"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "rain, then sun", "warm today", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="extract_lines_containing",
        says=f'{ALL} Transform keep lines regex "(?i)RAIN|cold"',
        page=LINES,
        media=TEXT,
        leaves=("RAIN at noon", "rain, then sun", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="extract_text: /re/",
        says=r'Monitor regex "(\d+) left"',
        page="<p>Blue: 5 left</p><p>Red: 7 left</p>",
        later="<p>New! Blue: 5 left</p><p>Red: 6 left</p>",
        told=("-7", "+6"),
    )
    yield Row(
        tool=tool,
        name="extract_text: a text",
        says=r'Monitor regex "(?i)sold out"',
        page="<p>Blue: sold out</p>",
        later="<p>Blue, for you: Sold out</p><p>Red: sold out</p>",
        told=("+Sold out",),
    )
    yield Row(
        tool=tool,
        name="trigger_text",
        says=f'{ALL} where matches "(?i)on sale"',
        page="<p>Lamp, new</p><p>Price 5</p>",
        later="<p>Lamp, on sale</p><p>Price 5</p>",
        told=("new > on sale",),
    )
    yield Row(
        tool=tool,
        name="trigger_text: that stands elsewhere on the page",
        why="`where` asks what came, so that a page that has the text already is not told of again",
    )
    yield Row(tool=tool, name="text_should_not_be_present", why=NO_STATE)
    yield Row(
        tool=tool,
        name="trim_text_whitespace, ignore_whitespace",
        says="Monitor any change",
        page="a  b\n c\n",
        later=" a b \n\nc",
        media=TEXT,
        told=(),
    )
    yield Row(
        tool=tool,
        name="remove_duplicate_lines",
        says=f"{ALL} Transform unique lines",
        page=LINES,
        media=TEXT,
        leaves=("warm today", "RAIN at noon", "rain, then sun", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="sort_text_alphabetically",
        says=f"{ALL} Transform sort lines",
        page=PLAIN,
        media=TEXT,
        leaves=("apple", "fig", "pear"),
    )
    yield Row(
        tool=tool,
        name="strip_ignored_lines",
        says=f'{ALL} Transform drop lines "rain"',
        page=LINES,
        media=TEXT,
        leaves=("warm today", "RAIN at noon", "warm today", "cold at night"),
    )
    yield Row(
        tool=tool,
        name="check_unique_lines",
        why="versions are compared two by two; a line that was there once, went and came again is told again (noise is learned)",
    )
    yield Row(
        tool=tool,
        name="filter_text_added",
        says=f"{ALL} inserted",
        page=PLAIN,
        later="apple\nfig\nplum\n",
        media=TEXT,
        told=("+plum",),
    )
    yield Row(
        tool=tool,
        name="filter_text_removed",
        says=f"{ALL} deleted",
        page=PLAIN,
        later="apple\nfig\nplum\n",
        media=TEXT,
        told=("-pear",),
    )
    yield Row(
        tool=tool,
        name="filter_text_replaced",
        says=f"{ALL} updated",
        page="pear one\napple\n",
        later="pear two\napple\nfig\n",
        media=TEXT,
        told=("one > two",),
    )
    for name, says in (("> <", "where value > 8"), (">= <=", "where value >= 9")):
        yield Row(
            tool=tool,
            name=f"conditions: extracted_number {name}",
            says=f"Monitor number {says}",
            page="<p>Left: 7</p>",
            later="<p>Left: 9</p>",
            told=("7 > 9",),
        )
    yield Row(tool=tool, name="conditions: extracted_number == !=", why="a number is compared with < <= > >= only")
    yield Row(
        tool=tool,
        name="conditions: page_filtered_text contains",
        says=f'{ALL} where contains "sale"',
        page="<p>Lamp, new</p>",
        later="<p>Lamp, sale</p>",
        told=("new > sale",),
    )
    yield Row(
        tool=tool,
        name="conditions: page_filtered_text contains_regex",
        says=f'{ALL} where matches "(?i)SALE|bargain"',
        page="<p>Lamp, new</p>",
        later="<p>Lamp, sale</p>",
        told=("new > sale",),
    )
    for name in ("not contains", "starts_with, ends_with", "length_min, length_max", "=="):
        yield Row(tool=tool, name=f"conditions: page_filtered_text {name}", why=NO_STATE)
    yield Row(
        tool=tool,
        name="conditions: levenshtein_ratio",
        says=f"{ALL} where share > 30%",
        page="<p>one two three four</p>",
        later="<p>one 2 3 four</p>",
        told=("two three > 2 3",),
    )
    yield Row(tool=tool, name="conditions: levenshtein_distance", why="changed words are counted, not signs")
    yield Row(tool=tool, name="conditions: word_count", why=NO_STATE)
    yield Row(
        tool=tool,
        name="conditions_match_logic: ALL",
        says="Monitor number where value > 8 but value < 10",
        page="<p>Left: 7</p>",
        later="<p>Left: 9</p>",
        told=("7 > 9",),
    )
    yield Row(
        tool=tool,
        name="conditions_match_logic: ANY",
        says="Monitor number where value > 100 OR number where value < 10",
        page="<p>Left: 70</p>",
        later="<p>Left: 9</p>",
        told=("70 > 9",),
    )
    yield Row(
        tool=tool,
        name="restock: in_stock_only",
        says='Monitor availability where matches "InStock"',
        page=offer("9.50", "OutOfStock"),
        later=offer("9.50"),
        told=("OutOfStock > InStock",),
    )
    yield Row(
        tool=tool,
        name="restock: all_changes",
        says="Monitor availability",
        page=offer("9.50"),
        later=offer("9.90", "OutOfStock"),
        told=("InStock > OutOfStock",),
    )
    yield Row(
        tool=tool,
        name="restock: follow_price_changes",
        says="Monitor availability OR price",
        page=offer("9.50"),
        later=offer("9.90"),
        told=("9.50 EUR > 9.90 EUR",),
    )
    yield Row(
        tool=tool,
        name="restock: price_change_min, price_change_max",
        says="Monitor price where value < 8 OR price where value > 12",
        page=offer("9.50"),
        later=offer("7.90"),
        told=("9.50 EUR > 7.90 EUR",),
    )
    yield Row(
        tool=tool,
        name="restock: price_change_threshold_percent",
        says="Monitor price where changes by 5%",
        page=offer("9.50"),
        later=offer("9.60"),
        told=(),
    )
    yield Row(
        tool=tool,
        name="track_ldjson_price_data",
        says="Monitor price",
        page=offer("9.50"),
        later=offer("8.50"),
        told=("9.50 EUR > 8.50 EUR",),
    )
    yield Row(
        tool=tool,
        name="render_anchor_tag_content",
        says=f"{ALL} OR all links",
        page='<a href="/one">a</a>',
        later='<a href="/two">a</a>',
        told=("-https://shop.example/one", "+https://shop.example/two"),
    )
    yield Row(tool=tool, name="processor: image_ssim_diff", why=NO_PICTURES)
    yield Row(tool=tool, name="llm_intent, llm_change_summary", why="no model reads pages; `where` says what is meant")


ROWS = (*_urlwatch(), *_webchanges(), *_changedetection())
TOOLS = tuple(dict.fromkeys(row.tool for row in ROWS))
