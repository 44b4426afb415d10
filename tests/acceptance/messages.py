"""Thirty changes as people meet them, and the messages that they get: (what it is, media type, change type, the page, before, now)."""

from __future__ import annotations

HTML, JSON, TEXT, CSV, FEED = "text/html", "application/json", "text/plain", "text/csv", "application/rss+xml"

_STATUS = "<h1>Status page</h1><dl><dt>Website<dd>ok<dt>Database<dd>{0}<dt>Mail<dd>ok</dl>"
_BOXES = "<h1>Status</h1><div><div>Website</div><div>ok</div></div><div><div>Queue</div><div>{0}</div></div>"
_SHOP = "<h1>Steel kettle 1.7 l</h1><p>Price: {0}</p><p>Delivery within 3 days.</p><footer>© 2026 Kettle shop</footer>"
_STOCK = "<h1>Steel kettle 1.7 l</h1><p>{0}</p><button>Add to basket</button>"
_TIMES = (
    "<h2>Line 12 to Harbour</h2><table><tr><th>Stop<th>Weekdays<th>Sunday"
    "<tr><td>Market<td>07:15<td>09:00<tr><td>Old Town<td>{0}<td>09:12</table>"
)
_SEATS = "<h2>Shows in May</h2><table><tr><td>Hamlet<td>{0}<tr><td>Faust<td>40</table>"
_RATES = "<table><caption>Savings rates</caption><tr><th>Term<th>Rate<tr><td>6 months<td>2.1 %<tr><td>12 months<td>{0}</table>"
_FEES = "<h2>Fees</h2><p>Parking is open to all. The fee is {0} € per day, paid at the gate. Dogs are welcome.</p>"
_JOBS = "<h1>Open positions</h1><ul><li>Nurse, night shift</li>{0}<li>Cook, full time</li></ul>"
_RULES = "<h2>Visiting hours</h2><p>Visitors may come from 14:00 to {0}. Children need an adult.</p>"
_NEWS = "<h1>Town hall</h1><h2>Notices</h2>{0}<p>The library is open on Saturday.</p>"
_API = '{{"service": {{"name": "search", "state": "{0}"}}, "version": "4.2"}}'
_FORM = "<h1>Passport office</h1><p>Next free appointment: {0}</p><p>Bring a photo.</p>"
_TEAM = "<h2>Board</h2><dl><dt>Chair<dd>{0}<dt>Treasurer<dd>L. Okafor</dl>"
_LINK = '<h2>Downloads</h2><p>The form for 2026: <a href="/form.pdf">{0}</a></p>'
_COUNT = "<h2>Survey</h2><p>{0} people answered.</p><footer><p>Visits today: {1}</p></footer>"
_MENU = "<h1>Canteen</h1><h2>Monday</h2><p>Lentil soup</p><h2>Tuesday</h2><p>{0}</p>"
_RECALL = "<h1>Recalls</h1><p>There are no recalls of our products.</p>{0}"
_JAPANESE = "<h1>駅のお知らせ</h1><dl><dt>中央線<dd>{0}</dl>"
_LICENCE = "<h2>3. Liability</h2><p>The provider is liable for damage up to {0} EUR per case and year.</p>"
_CSV = "city,temperature\nOslo,{0}\nRome,21\n"
_CHANGELOG = "Version 2.1\n\nRequires Python {0} or newer.\n"
_RSS = (
    '<rss version="2.0"><channel><title>Harbour news</title>{0}<item><title>Ferry runs again</title>'
    "<link>https://a.example/1</link><guid>1</guid></item></channel></rss>"
)
_ITEM = (
    "<item><title>Pier closed until June</title><link>https://a.example/2</link><guid>2</guid>"
    "<description>The pier is closed for repairs.</description></item>"
)
_MANY = (
    "<h1>Shop</h1><p>Opening soon: {0}</p><h2>Kettle</h2><p>Now {1} EUR</p><footer><p>Page made in {2} ms</p></footer>"
)


def pages(frame: str, before: str, now: str) -> tuple[str, str]:
    """Return a page before and now."""
    return frame.format(*before.split("|")), frame.format(*now.split("|"))


ROWS = [
    ("a status in a list of definitions", HTML, "any", *pages(_STATUS, "ok", "degraded")),
    ("a status in boxes", HTML, "any", *pages(_BOXES, "idle", "full")),
    ("a price with a label", HTML, "any", *pages(_SHOP, "129.00 EUR", "99.00 EUR")),
    ("stock", HTML, "any", *pages(_STOCK, "Out of stock", "In stock")),
    ("a timetable", HTML, "any", *pages(_TIMES, "07:27", "07:35")),
    ("free seats, no heads", HTML, "any", *pages(_SEATS, "12", "3")),
    ("a rate under a caption", HTML, "any", *pages(_RATES, "2.4 %", "2.75 %")),
    ("a fee in prose", HTML, "any", *pages(_FEES, "5", "7")),
    ("a new job", HTML, "any", *pages(_JOBS, "", "<li>Electrician, part time</li>")),
    ("a job that is gone", HTML, "any", *pages(_JOBS, "<li>Driver, early shift</li>", "")),
    ("an hour in prose", HTML, "any", *pages(_RULES, "18:00", "17:30")),
    ("a new notice", HTML, "any", *pages(_NEWS, "", "<p>Water is off on Mill Lane on Friday.</p>")),
    ("JSON", JSON, "any", *pages(_API, "green", "red")),
    ("a date behind a colon", HTML, "any", *pages(_FORM, "14 May", "2 March")),
    ("a name in a list of definitions", HTML, "any", *pages(_TEAM, "M. Sato", "R. Lind")),
    ("the words of a link", HTML, "any", *pages(_LINK, "not yet", "ready")),
    ("a number beside one in the footer", HTML, "any", *pages(_COUNT, "310|7", "325|9")),
    ("a dish", HTML, "any", *pages(_MENU, "Fish and rice", "Pancakes")),
    ("a warning", HTML, "any", *pages(_RECALL, "", "<h2>Kettle 1.7 l</h2><p>Stop using it: the handle may break.</p>")),
    ("Japanese", HTML, "any", *pages(_JAPANESE, "平常運転", "運転見合わせ")),
    ("a limit in a contract", HTML, "any", *pages(_LICENCE, "10,000", "5,000")),
    ("CSV", CSV, "any", *pages(_CSV, "4", "-11")),
    ("plain text", TEXT, "any", *pages(_CHANGELOG, "3.11", "3.12")),
    ("a feed", FEED, "items", *pages(_RSS, "", _ITEM)),
    ("a cell of a table", HTML, "table", *pages(_TIMES, "07:27", "07:35")),
    ("an item of a list", HTML, "list", *pages(_JOBS, "", "<li>Electrician, part time</li>")),
    ("a price that is asked for", HTML, "words", *pages(_SHOP, "129.00 EUR", "sold out")),
    ("several at once, the price first", HTML, "any", *pages(_MANY, "May|49.00|31", "June|39.00|44")),
    ("a link that is another", HTML, "links", _LINK.format("form"), _LINK.format("form").replace("form.pdf", "form-2.pdf")),
    ("only the footer", HTML, "any", *pages(_COUNT, "310|7", "310|9")),
]  # fmt: skip

SAID = [
    [  # a status in a list of definitions
        'Status page: Database "ok" → "degraded"',
        "Status page › Database: [-ok-]{+degraded+}",
    ],
    [  # a status in boxes
        'Status: Queue / "idle" → "full"',
        'Status › below "Queue": [-idle-]{+full+}',
    ],
    [  # a price with a label
        'Steel kettle 1.7 l: Price "129.00" → "99.00" EUR',
        "Steel kettle 1.7 l: Price: [-129.00-]{+99.00+} EUR",
    ],
    [  # stock
        'Steel kettle 1.7 l: "Out of" → "In" stock',
        "Steel kettle 1.7 l: [-Out of-]{+In+} stock",
    ],
    [  # a timetable
        'Line 12 to Harbour: Old Town, Weekdays "07:27" → "07:35"',
        "Line 12 to Harbour › Old Town, Weekdays: [-07:27-]{+07:35+}",
    ],
    [  # free seats, no heads
        'Shows in May: Hamlet "12" → "3"',
        "Shows in May › Hamlet: [-12-]{+3+}",
    ],
    [  # a rate under a caption
        'Savings rates: 12 months, Rate "2.4" → "2.75" %',
        "Savings rates › 12 months, Rate: [-2.4-]{+2.75+} %",
    ],
    [  # a fee in prose
        'Fees: The fee is "5" → "7" € per day, paid at the gate.',
        "Fees: The fee is [-5-]{+7+} € per day, paid at the gate.",
    ],
    [  # a new job
        '1 text added: Open positions: +"Electrician, part time"',
        "Open positions: {+Electrician, part time+}",
    ],
    [  # a job that is gone
        '1 text removed: Open positions: -"Driver, early shift"',
        "Open positions: [-Driver, early shift-]",
    ],
    [  # an hour in prose
        'Visiting hours: …may come from 14:00 to "18:00" → "17:30".',
        "Visiting hours: Visitors may come from 14:00 to [-18:00-]{+17:30+}.",
    ],
    [  # a new notice
        '1 text added: Notices: +"Water is off on Mill Lane on Friday"',
        "Notices: {+Water is off on Mill Lane on Friday+}.",
    ],
    [  # JSON
        '1 text updated: "service.state: green" → "service.state: red"',
        "[-service.state: green-]{+service.state: red+}",
    ],
    [  # a date behind a colon
        'Passport office: Next free appointment "14 May" → "2 March"',
        "Passport office: Next free appointment: [-14 May-]{+2 March+}",
    ],
    [  # a name in a list of definitions
        'Board: Chair "M. Sato" → "R. Lind"',
        "Board › Chair: [-M. Sato-]{+R. Lind+}",
    ],
    [  # the words of a link
        'Downloads: The form for 2026 "not yet" → "ready"',
        "Downloads: The form for 2026: [-not yet-]{+ready+} (link https://a.example/form.pdf)",
    ],
    [  # a number beside one in the footer
        '2 texts updated: Survey: "310" → "325" people answered.; footer: Visits today "7" → "9"',
        "Survey: [-310-]{+325+} people answered.",
        "in the footer: Visits today: [-7-]{+9+}",
    ],
    [  # a dish
        'Tuesday: "Fish and rice" → "Pancakes"',
        "Tuesday: [-Fish and rice-]{+Pancakes+}",
    ],
    [  # a warning
        '1 text added: +"Kettle 1.7 l Stop using it: the handle may break"',
        "{+Kettle 1.7 l Stop using it: the handle may break+}.",
    ],
    [  # Japanese
        '1 text added, 1 text removed: 駅のお知らせ: 中央線 +"見合わせ"; 駅のお知らせ: 中央線 -"平常"運転',
        "駅のお知らせ › 中央線: [-平常-]運転",
        "駅のお知らせ › 中央線: 運転{+見合わせ+}",
    ],
    [  # a limit in a contract
        '3. Liability: …is liable for damage up to "10,000" → "5,000" EUR per case and year.',
        "3. Liability: The provider is liable for damage up to [-10,000-]{+5,000+} EUR per case and year.",
    ],
    [  # CSV
        '1 text updated: "Oslo, temperature: 4" → "Oslo, temperature: -11"',
        "[-Oslo, temperature: 4-]{+Oslo, temperature: -11+}",
    ],
    [  # plain text
        'Requires Python "3.11" → "3.12" or newer.',
        "Requires Python [-3.11-]{+3.12+} or newer.",
    ],
    [  # a feed
        '1 entry added: +"Pier closed until June https://a.example/2"',
        "entry added: Pier closed until June https://a.example/2",
    ],
    [  # a cell of a table
        '1 cell updated: "Old Town, Weekdays: 07:27" → "Old Town, Weekdays: 07:35"',
        "[-Old Town, Weekdays: 07:27-]{+Old Town, Weekdays: 07:35+}",
    ],
    [  # an item of a list
        '1 item added: +"Electrician, part time"',
        "item added: Electrician, part time",
    ],
    [  # a price that is asked for
        'Steel kettle 1.7 l: Price "129.00 EUR" → "sold out"',
        "Steel kettle 1.7 l: Price: [-129.00 EUR-]{+sold out+}",
    ],
    [  # several at once, the price first
        '3 texts updated: Shop: Opening soon "May" → "June"; Kettle: Now "49.00" → "39.00" EUR; footer: Page made in "31" → "44" ms',
        "Kettle: Now [-49.00-]{+39.00+} EUR",
        "Shop: Opening soon: [-May-]{+June+}",
        "in the footer: Page made in [-31-]{+44+} ms",
    ],
    [  # a link that is another
        '1 link added, 1 link removed: +"https://a.example/form-2.pdf"; -"https://a.example/form.pdf"',
        "link removed: https://a.example/form.pdf (Downloads The form for 2026 [form])",
        "link added: https://a.example/form-2.pdf (Downloads The form for 2026 [form])",
    ],
    [  # only the footer
        'footer: Visits today "7" → "9"',
        "in the footer: Visits today: [-7-]{+9+}",
    ],
]
"""What each of them says: the line by itself, and the text below it."""
