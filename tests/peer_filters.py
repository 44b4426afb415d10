"""Filters and selections of similar tools, and the equivalent sentence for Tidings.

A row is one filter or option that belongs to detection or selection. Its pages are ours; what it `leaves` or is `reported` is what the tool's documentation says
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
    """A filter of a tool. With `leaves` the page has these lines after it; with `reported` a second page brings these: `+` came, `-` went, `>` became.

    `why` says what it is that cannot be said.
    """

    tool: str
    name: str
    says: str = ""
    page: Page = ""
    media: str = HTML
    leaves: tuple[str, ...] | None = None
    later: Page = ""
    reported: tuple[str, ...] | None = None
    why: str = ""


def leave(tool: str, name: str, clauses: str, page: Page, lines: str, media: str = HTML) -> Row:
    """Return a filter after which a page has these lines, which ` | ` parts; `clauses` come after `Monitor all words`."""
    return Row(
        tool=tool,
        name=name,
        says=ALL + clauses,
        page=page,
        media=media,
        leaves=tuple(lines.split(" | ") if lines else ()),
    )


def report(tool: str, name: str, says: str, page: Page, later: Page, reported: str, media: str = HTML) -> Row:
    """Return a filter by which this is reported of a second page, which ` | ` parts."""
    return Row(
        tool=tool,
        name=name,
        says=says,
        page=page,
        media=media,
        later=later,
        reported=tuple(reported.split(" | ") if reported else ()),
    )


def refuse(tool: str, name: str, why: str) -> Row:
    """Return a filter that no sentence says."""
    return Row(tool=tool, name=name, why=why)


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
    """Return what a row's sentence reports of the later page."""
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
    return row.reported is not None and list_reported(row) == Counter(row.reported)


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
NO_PICTURES = "nothing reads or compares the pixels of a picture; `images` reports when its address becomes another"
LINES_ONLY = "a page is lines here; nothing parts a text at another sign"
PARTS_OF_PATTERN = "what a pattern found is compared as it stands; nothing makes another text of its groups"
NO_JQ = "JSONPath (RFC 9535) takes parts; nothing computes new values of them"
NO_STATE = "conditions ask of what changed, not of what else stands on the page; nothing waits until a text has gone"


def _elements(tool: str) -> Iterator[Row]:
    """Yield the rows of filters that take elements, which urlwatch and webchanges have alike."""
    yield leave(tool, "css", 'Select css "ul#green > li.new"', SHOP, "Sencha more | Gyokuro")
    yield leave(tool, "css: exclude", 'Select css "ul.teas" Exclude css "a"', SHOP, "Sencha | Lung Ching | Gyokuro")
    yield leave(
        tool,
        "css: skip, maxitems",
        "Select xpath \"(//*[contains(@class, 'rack')])[position() > 1 and position() <= 3]\"",
        RACKS,
        "two | three",
    )
    yield leave(tool, "css: sort", 'Select css "b.item" Transform sort lines', MIXED, "apple | fig | pear")
    yield leave(
        tool,
        "css: method xml",
        'Select xpath "//item/*[self::title or self::pubDate]"',
        NEWS,
        "First | 2026-01-02 | Second | 2026-01-03",
        media=XML,
    )
    yield leave(tool, "css: namespaces", 'Select xpath "//item/m:tag"', NEWS, "rivers | hills", media=XML)
    yield leave(tool, "xpath", 'Select xpath "/html/body/ul/li[@class]"', SHOP, "Assam | Sencha more | Gyokuro")
    yield leave(
        tool,
        "xpath: text(), @attribute",
        """Select xpath "//ul[1]/li[1]/text() | //ul[2]/@id" """,
        SHOP,
        "Assam | green",
    )
    yield leave(
        tool,
        "xpath: exclude",
        "Select xpath \"//ul[@id='green']\" Exclude xpath \"//a | //li[@class='new hot']\"",
        SHOP,
        "Sencha | Lung Ching",
    )
    yield leave(
        tool, "xpath: skip, maxitems", 'Select xpath "(//p)[position() > 1 and position() <= 3]"', RACKS, "two | three"
    )
    yield leave(
        tool,
        "xpath: method xml",
        'Select xpath "//item/title/text() | //item/pubDate/text()"',
        NEWS,
        "First | 2026-01-02 | Second | 2026-01-03",
        media=XML,
    )
    yield leave(tool, "xpath: namespaces", 'Select xpath "//item/m:tag/text()"', NEWS, "rivers | hills", media=XML)
    yield leave(tool, "element-by-id", 'Select css "#black"', SHOP, "Assam | Ceylon")
    yield leave(tool, "element-by-class", """Select css "[class='new']" """, SHOP, "Assam | Sencha more")
    yield leave(tool, "element-by-style", """Select css "[style='color:red']" """, SHOP, "Only this week")
    yield leave(tool, "element-by-tag", 'Select css "i"', SHOP, "Sunday")


def _texts(tool: str) -> Iterator[Row]:
    """Yield the rows of filters that make and mend text, which urlwatch and webchanges have alike."""
    yield report(
        tool,
        "html2text",
        f"{ALL} OR all links",
        '<p>A <b>page</b> of <a href="/one">ours</a></p><script>x()</script>',
        '<p>A <i>page</i> of <a href="/two">ours</a></p><script>y()</script>',
        "-https://shop.example/one | +https://shop.example/two",
    )
    yield leave(tool, "html2text: bs4", "", PLAN, "Day | Sold | Monday | 10,000")
    yield leave(
        tool,
        "re.sub",
        r'Transform replace regex "(?i)rain" with "wet"',
        LINES,
        "warm today | wet at noon | wet, then sun | warm today | cold at night",
        media=TEXT,
    )
    yield leave(
        tool,
        "re.sub: groups in repl",
        r'Transform replace regex "(\w+) today" with "today \1"',
        "warm today\nnot now\n",
        "today warm | not now",
        media=TEXT,
    )
    yield report(
        tool,
        "re.findall",
        r'Monitor regex "-[a-z]{3}-"',
        "one-abc-two-def-three\nno-jkl-more\n",
        "two-abc-one-deg-four\nso-jkl-less\n",
        "--def- | +-deg-",
        media=TEXT,
    )
    yield refuse(tool, "re.findall: repl", PARTS_OF_PATTERN)
    yield leave(tool, "sort", "Transform sort lines", PLAIN, "apple | fig | pear", media=TEXT)
    yield refuse(tool, "sort: separator", LINES_ONLY)
    yield report(tool, "sort: reverse", f"{ALL} Transform sort lines", PLAIN, "fig\npear\napple\n", "", media=TEXT)
    yield report(tool, "reverse", ALL, PLAIN, "pear\nplum\nfig\n", "apple > plum", media=TEXT)
    yield refuse(tool, "reverse: separator", LINES_ONLY)
    yield leave(tool, "strip", "", "  The line   \n\nand one more  ", "The line | and one more", media=TEXT)
    yield report(
        tool,
        "beautify",
        "Monitor any change",
        "<body><p>a<p><a href=/l>b</a></body>",
        "<body>\n <p>\n  a\n </p>\n <p>\n  <a href='/l'>b</a>\n </p>\n</body>",
        "",
    )
    yield report(tool, "format-json", "Monitor any change", FLAT, PRETTY, "", media=JSON)
    yield report(
        tool,
        "pretty-xml",
        "Monitor any change",
        "<a><b>1</b><c>tea</c></a>",
        "<a>\n  <b>1</b>\n  <c>tea</c>\n</a>\n",
        "",
        media=XML,
    )
    yield leave(tool, "pdf2text", "", pdf([["A leaf of print"]]), "A leaf of print", media=PDF)
    yield refuse(tool, "pdf2text: password", "a PDF under a password is refused; there is no clause for one")
    yield report(
        tool,
        "ical2text",
        ALL,
        CALENDAR,
        CALENDAR.replace("T183000", "T190000"),
        "20260302T183000 > 20260302T190000",
        media=ICAL,
    )
    yield report(
        tool,
        "csv2text",
        "Monitor table",
        DATA,
        DATA.replace("Leeds", "Hull"),
        "Doe, town: Leeds > Doe, town: Hull",
        media=CSV,
    )
    yield report(
        tool,
        "csv2text: has_header, ignore_header",
        "Monitor table",
        "Smith,York\nDoe,Leeds\n",
        "Smith,York\nDoe,Hull\n",
        "Doe, York: Leeds > Doe, York: Hull",
        media=CSV,
    )
    yield leave(tool, "jq: a path", 'Select jsonpath "$[*].title"', JOBS, "Baker | Miller", media=JSON)
    yield refuse(tool, "jq: a computation", NO_JQ)
    yield refuse(tool, "ocr", NO_PICTURES)
    yield refuse(tool, "shellpipe", NO_PROGRAM)
    yield report(tool, "sha1sum", "Monitor any change", PLAIN, "pear\napple\nfog\n", "fig > fog", media=TEXT)
    yield report(tool, "hexdump", "Monitor any change", PICTURE, PICTURE + b"\x02", "another body", media="image/png")


def _urlwatch() -> Iterator[Row]:
    tool = "urlwatch"
    yield from _elements(tool)
    yield from _texts(tool)
    yield leave(tool, "grep", 'Transform keep lines regex "rain"', LINES, "rain, then sun", media=TEXT)
    yield leave(
        tool,
        "grepi",
        'Transform drop lines regex "rain"',
        LINES,
        "warm today | RAIN at noon | warm today | cold at night",
        media=TEXT,
    )
    yield leave(
        tool,
        "remove-duplicate-lines",
        "Transform unique lines",
        LINES,
        "warm today | RAIN at noon | rain, then sun | cold at night",
        media=TEXT,
    )
    yield leave(tool, "striplines", "", "  a b \n\tc  \n", "a b | c", media=TEXT)
    yield report(tool, "diff_filter: grep ^[+]", f"{ALL} inserted", PLAIN, "apple\nfig\nplum\n", "+plum", media=TEXT)
    yield report(tool, "diff_filter: grep ^[-]", f"{ALL} deleted", PLAIN, "apple\nfig\nplum\n", "-pear", media=TEXT)


def _webchanges() -> Iterator[Row]:
    tool = "webchanges"
    yield from _elements(tool)
    yield from _texts(tool)
    yield leave(
        tool, "keep_lines_containing: text", 'Transform keep lines "warm"', LINES, "warm today | warm today", media=TEXT
    )
    yield leave(
        tool,
        "keep_lines_containing: re",
        'Transform keep lines regex "(?i)^rain"',
        LINES,
        "RAIN at noon | rain, then sun",
        media=TEXT,
    )
    yield leave(
        tool,
        "delete_lines_containing: text",
        'Transform drop lines "warm"',
        LINES,
        "RAIN at noon | rain, then sun | cold at night",
        media=TEXT,
    )
    yield leave(
        tool,
        "delete_lines_containing: re",
        'Transform drop lines regex "(?i)^rain"',
        LINES,
        "warm today | warm today | cold at night",
        media=TEXT,
    )
    yield leave(tool, "strip: splitlines", "", "  a b \n\tc  \n", "a b | c", media=TEXT)
    yield leave(
        tool,
        "strip: chars, side",
        'Transform replace regex "[x,]+$" with ""',
        "tea,x\nx, milk,\n",
        "tea | x milk",
        media=TEXT,
    )
    yield report(
        tool,
        "absolute_links",
        "Monitor all links",
        '<a href="/one">a</a>',
        '<a href="https://shop.example/one">a</a><a href="two">b</a>',
        "+https://shop.example/two",
    )
    yield report(tool, "format-xml", "Monitor any change", "<a><b>1</b></a>", "<a>\n <b>1</b>\n</a>\n", "", media=XML)
    yield report(tool, "jsontoyaml", "Monitor any change", FLAT, FLAT.replace("x", "y"), "b.c: x > b.c: y", media=JSON)
    yield leave(
        tool, "remove_repeated", "Transform unique lines", "dog\ndog\ncat\nmouse\n", "dog | cat | mouse", media=TEXT
    )
    yield refuse(
        tool,
        "remove_repeated: adjacent",
        "unique leaves the first of equal lines wherever they stand; one that comes again after others is left out too",
    )
    yield refuse(
        tool,
        "remove_repeated: ignore_case",
        "unique takes lines as they are written; a replace that makes them alike would change what is reported",
    )
    yield leave(tool, "html2text: strip_tags", "", PLAN, "Day | Sold | Monday | 10,000")
    yield leave(tool, "pypdf", "", pdf([["A leaf of print"]]), "A leaf of print", media=PDF)
    yield refuse(tool, "pypdf: password", "a PDF under a password is refused; there is no clause for one")
    yield refuse(tool, "execute", NO_PROGRAM)
    for name in ("sha256sum", "ascii85", "base64"):
        yield report(tool, name, "Monitor any change", PICTURE, PICTURE + b"\x02", "another body", media="image/png")
    yield report(tool, "additions_only", f"{ALL} inserted", PLAIN, "apple\nfig\nplum\n", "+plum", media=TEXT)
    yield report(tool, "deletions_only", f"{ALL} deleted", PLAIN, "apple\nfig\nplum\n", "-pear", media=TEXT)
    yield report(
        tool,
        "differ: deepdiff",
        "Monitor any change",
        '{"a": {"b": 1}, "c": [1, 2]}',
        '{"c": [1, 2, 3], "a": {"b": 2}}',
        "a.b: 1 > a.b: 2 | +c[2]: 3",
        media=JSON,
    )
    yield refuse(tool, "differ: image", NO_PICTURES)
    yield refuse(tool, "differ: command", NO_PROGRAM)


def _changedetection() -> Iterator[Row]:
    tool = "changedetection.io"
    yield leave(
        tool,
        "include_filters: css",
        'Select css ".new, p"',
        SHOP,
        "Assam | Sencha more | Gyokuro | Only this week | Shut on Sunday",
    )
    yield leave(tool, "include_filters: xpath1", "Select xpath \"//ul[@id='black']/li\"", SHOP, "Assam | Ceylon")
    yield refuse(
        tool,
        "include_filters: xpath 2 and 3",
        "XPath is 1.0 here; most of it that selects can be said, functions of later versions cannot",
    )
    yield leave(tool, "include_filters: json", 'Select jsonpath "$[*].title"', JOBS, "Baker | Miller", media=JSON)
    yield leave(tool, "include_filters: jq, a path", 'Select jsonpath "$[0].firm"', JOBS, "Ovens", media=JSON)
    yield refuse(tool, "include_filters: jq, a computation", NO_JQ)
    yield report(
        tool,
        "include_filters: css and xpath",
        'Monitor all words in css "h1" OR all words in xpath "//i"',
        SHOP,
        SHOP.replace("Sunday", "Monday").replace("Ceylon", "Java"),
        "Sunday > Monday",
    )
    yield leave(tool, "subtractive_selectors: css", 'Exclude css "ul" Exclude css "p"', SHOP, "Teas")
    yield leave(tool, "subtractive_selectors: xpath", 'Exclude xpath "//ul" Exclude xpath "//p"', SHOP, "Teas")
    yield leave(
        tool,
        "ignore_text",
        'Transform drop lines regex "(?i)rain"',
        LINES,
        "warm today | warm today | cold at night",
        media=TEXT,
    )
    yield leave(
        tool,
        "ignore_text: /re/flags",
        'Transform drop lines regex "(?i)^rain .*"',
        LINES,
        "warm today | rain, then sun | warm today | cold at night",
        media=TEXT,
    )
    yield leave(
        tool,
        "extract_lines_containing",
        'Transform keep lines regex "(?i)RAIN|cold"',
        LINES,
        "RAIN at noon | rain, then sun | cold at night",
        media=TEXT,
    )
    yield report(
        tool,
        "extract_text: /re/",
        r'Monitor regex "(\d+) left"',
        "<p>Blue: 5 left</p><p>Red: 7 left</p>",
        "<p>New! Blue: 5 left</p><p>Red: 6 left</p>",
        "-7 | +6",
    )
    yield report(
        tool,
        "extract_text: a text",
        r'Monitor regex "(?i)sold out"',
        "<p>Blue: sold out</p>",
        "<p>Blue, for you: Sold out</p><p>Red: sold out</p>",
        "+Sold out",
    )
    yield report(
        tool,
        "trigger_text",
        f'{ALL} where matches "(?i)on sale"',
        "<p>Lamp, new</p><p>Price 5</p>",
        "<p>Lamp, on sale</p><p>Price 5</p>",
        "new > on sale",
    )
    yield refuse(
        tool,
        "trigger_text: that stands elsewhere on the page",
        "`where` asks what came, so that a page that has the text already is not reported again",
    )
    yield refuse(tool, "text_should_not_be_present", NO_STATE)
    yield report(
        tool,
        "trim_text_whitespace, ignore_whitespace",
        "Monitor any change",
        "a  b\n c\n",
        " a b \n\nc",
        "",
        media=TEXT,
    )
    yield leave(
        tool,
        "remove_duplicate_lines",
        "Transform unique lines",
        LINES,
        "warm today | RAIN at noon | rain, then sun | cold at night",
        media=TEXT,
    )
    yield leave(tool, "sort_text_alphabetically", "Transform sort lines", PLAIN, "apple | fig | pear", media=TEXT)
    yield leave(
        tool,
        "strip_ignored_lines",
        'Transform drop lines "rain"',
        LINES,
        "warm today | RAIN at noon | warm today | cold at night",
        media=TEXT,
    )
    yield refuse(
        tool,
        "check_unique_lines",
        "versions are compared two by two; a line that was there once, went and came again is reported again (noise is learned)",
    )
    yield report(tool, "filter_text_added", f"{ALL} inserted", PLAIN, "apple\nfig\nplum\n", "+plum", media=TEXT)
    yield report(tool, "filter_text_removed", f"{ALL} deleted", PLAIN, "apple\nfig\nplum\n", "-pear", media=TEXT)
    yield report(
        tool,
        "filter_text_replaced",
        f"{ALL} updated",
        "pear one\napple\n",
        "pear two\napple\nfig\n",
        "one > two",
        media=TEXT,
    )
    for name, says in (("> <", "where value > 8"), (">= <=", "where value >= 9")):
        yield report(
            tool,
            f"conditions: extracted_number {name}",
            f"Monitor number {says}",
            "<p>Left: 7</p>",
            "<p>Left: 9</p>",
            "7 > 9",
        )
    yield refuse(tool, "conditions: extracted_number == !=", "a number is compared with < <= > >= only")
    yield report(
        tool,
        "conditions: page_filtered_text contains",
        f'{ALL} where contains "sale"',
        "<p>Lamp, new</p>",
        "<p>Lamp, sale</p>",
        "new > sale",
    )
    yield report(
        tool,
        "conditions: page_filtered_text contains_regex",
        f'{ALL} where matches "(?i)SALE|bargain"',
        "<p>Lamp, new</p>",
        "<p>Lamp, sale</p>",
        "new > sale",
    )
    for name in ("not contains", "starts_with, ends_with", "length_min, length_max", "=="):
        yield refuse(tool, f"conditions: page_filtered_text {name}", NO_STATE)
    yield report(
        tool,
        "conditions: levenshtein_ratio",
        f"{ALL} where share > 30%",
        "<p>one two three four</p>",
        "<p>one 2 3 four</p>",
        "two three > 2 3",
    )
    yield refuse(tool, "conditions: levenshtein_distance", "changed words are counted, not signs")
    yield refuse(tool, "conditions: word_count", NO_STATE)
    yield report(
        tool,
        "conditions_match_logic: ALL",
        "Monitor number where value > 8 but value < 10",
        "<p>Left: 7</p>",
        "<p>Left: 9</p>",
        "7 > 9",
    )
    yield report(
        tool,
        "conditions_match_logic: ANY",
        "Monitor number where value > 100 OR number where value < 10",
        "<p>Left: 70</p>",
        "<p>Left: 9</p>",
        "70 > 9",
    )
    yield report(
        tool,
        "restock: in_stock_only",
        'Monitor availability where matches "InStock"',
        offer("9.50", "OutOfStock"),
        offer("9.50"),
        "OutOfStock > InStock",
    )
    yield report(
        tool,
        "restock: all_changes",
        "Monitor availability",
        offer("9.50"),
        offer("9.90", "OutOfStock"),
        "InStock > OutOfStock",
    )
    yield report(
        tool,
        "restock: follow_price_changes",
        "Monitor availability OR price",
        offer("9.50"),
        offer("9.90"),
        "9.50 EUR > 9.90 EUR",
    )
    yield report(
        tool,
        "restock: price_change_min, price_change_max",
        "Monitor price where value < 8 OR price where value > 12",
        offer("9.50"),
        offer("7.90"),
        "9.50 EUR > 7.90 EUR",
    )
    yield report(
        tool,
        "restock: price_change_threshold_percent",
        "Monitor price where changes by 5%",
        offer("9.50"),
        offer("9.60"),
        "",
    )
    yield report(tool, "track_ldjson_price_data", "Monitor price", offer("9.50"), offer("8.50"), "9.50 EUR > 8.50 EUR")
    yield report(
        tool,
        "render_anchor_tag_content",
        f"{ALL} OR all links",
        '<a href="/one">a</a>',
        '<a href="/two">a</a>',
        "-https://shop.example/one | +https://shop.example/two",
    )
    yield refuse(tool, "processor: image_ssim_diff", NO_PICTURES)
    yield refuse(tool, "llm_intent, llm_change_summary", "no model reads pages; `where` says what is meant")


ROWS = (*_urlwatch(), *_webchanges(), *_changedetection())
TOOLS = tuple(dict.fromkeys(row.tool for row in ROWS))
