"""Jobs of a day, each as a newcomer writes it from the documents: how many are right.

    PYTHONPATH=. python bench/first_hour.py [--only TITLE] [--verbose]

Each job has its page before and after on loopback, one `tidings add`, and a `tidings check` of each
version. It is right if `add` shows what the job is about and warns of nothing, and the check
reports the change in the words expected. Nothing is mocked but the web.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import Page, Seen, WebServer, Wire, response
from tests.pdfs import pdf
from tidings.cli.main import main

HTML = "text/html; charset=utf-8"
Body = str | bytes | Page | Callable[[Seen, Wire], None]


@dataclass(frozen=True)
class Job:
    """What somebody wants, the words after `tidings add`, the page before and after, the report."""

    title: str
    words: str
    before: Body
    after: Body
    expected: str
    """a pattern in what `tidings check` prints of the second version"""
    type: str = HTML
    sees: str = ""
    """a pattern in what `tidings add` prints"""
    more: Mapping[str, tuple[Body, Body]] = field(default_factory=dict)
    """other pages"""
    stdin: str = ""
    quiet: str = ""
    """a pattern that must not be in what is reported"""
    first: tuple[str, ...] = ()
    """a command before"""


def offer(price: str, availability: str) -> str:
    """Return a shop's page with its offer for machines."""
    found = {"price": price, "priceCurrency": "EUR", "availability": f"https://schema.org/{availability}"}
    data = json.dumps({"@type": "Product", "offers": found})
    return f'<title>Kettle - Shop</title><h1>Kettle</h1><script type="application/ld+json">{data}</script><p>Buy now'


def feed(*titles: str) -> str:
    """Return a feed."""
    items = "".join(f"<item><guid>{t}</guid><title>{t}</title><link>http://x.example/{t}</link></item>" for t in titles)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Blog</title>{items}</channel></rss>'


def sitemap(*names: str) -> str:
    """Return a sitemap."""
    urls = "".join(f"<url><loc>http://x.example/{name}</loc></url>" for name in names)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


def calendar(*summaries: str) -> str:
    """Return a calendar."""
    events = "".join(f"BEGIN:VEVENT\r\nUID:{s}\r\nDTSTART:20270101\r\nSUMMARY:{s}\r\nEND:VEVENT\r\n" for s in summaries)
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n"


def behind_basic(text: str) -> Callable[[Seen, Wire], None]:
    """Return a page that answers only anna with the password kettle."""

    def answer(seen: Seen, wire: Wire) -> None:
        wanted = "Basic " + base64.b64encode(b"anna:kettle").decode()
        is_known = seen.headers.get("authorization") == wanted
        refusal = Page(b"no", {"WWW-Authenticate": 'Basic realm="x"', "Content-Type": HTML}, status=401)
        wire.send(response(Page(text.encode(), {"Content-Type": HTML}) if is_known else refusal, seen))

    return answer


def login(seen: Seen, wire: Wire) -> None:
    """Answer a login form: its page, and who sends it."""
    form = "<form method=post><input name=user><input type=password name=pw><button>In</button></form>"
    page = Page(form.encode(), {"Content-Type": HTML})
    if seen.method == "POST":
        is_known = b"pw=kettle" in seen.body
        page = Page(b"in", {"Content-Type": HTML, "Set-Cookie": "sid=1; Path=/"} if is_known else {}, status=200)
    wire.send(response(page, seen))


def behind_form(text: str) -> Callable[[Seen, Wire], None]:
    """Return a page that shows a text to those who have logged in, and a form to others."""

    def answer(seen: Seen, wire: Wire) -> None:
        is_in = "sid=1" in seen.headers.get("cookie", "")
        shown = text if is_in else "<form method=post><input name=user><input type=password name=pw></form>"
        wire.send(response(Page(shown.encode(), {"Content-Type": HTML}), seen))

    return answer


def move(path: str) -> Page:
    """Return a redirect for good."""
    return Page(b"", {"Location": path}, status=301)


LIST = "<title>Jobs</title><h1>Jobs</h1><ul class=jobs>{}</ul><footer>Seen by {} people</footer>"
JOB = '<li><a href="/jobs/{0}">{0}</a>'
ROWS = "<title>Rates</title><table><tr><th>Land<th>Rate<tr><td>NO<td>4.1<tr><td>SE<td>{}</table>"
NAV = "<nav>Home {}</nav><main><h1>News</h1><p>{}</p></main><footer>Page built in {} ms</footer>"
EXPECTED_WARNING = "finds nothing on the page now; you are notified when it does"
WALL = "<title>Just a moment...</title><p>Checking your browser before accessing the site. cf-ray 12"

JOBS = [
    Job(
        "price of an article",
        "{url} --monitor price",
        offer("129.00", "InStock"),
        offer("99.00", "InStock"),
        "129.*99",
        sees="129.00 EUR",
    ),
    Job(
        "price below a limit",
        "{url} --monitor 'price where becomes < 100'",
        offer("129", "InStock"),
        offer("99", "InStock"),
        "129.*99",
    ),
    Job(
        "price drops by a tenth",
        "{url} --monitor 'price where drops by 10%'",
        offer("100", "InStock"),
        offer("89", "InStock"),
        "100.*89",
    ),
    Job(
        "a price written in the page",
        "{url} --monitor 'number in css \".price\"'",
        "<p class=price>1.234,50 €",
        "<p class=price>999,00 €",
        "1.234,50.*999",
    ),
    Job(
        "back in stock",
        "{url} --monitor availability",
        offer("129", "OutOfStock"),
        offer("129", "InStock"),
        "OutOfStock.*InStock",
        sees="OutOfStock",
    ),
    Job(
        "sold out, by its words",
        "{url} --monitor 'keyword \"sold out\"'",
        "<h1>Tickets</h1><p>Only a few left",
        "<h1>Tickets</h1><p>Sold out",
        "(?i)sold out",
    ),
    Job(
        "new jobs on a page",
        "{url} --monitor 'links inserted in css \".jobs\"'",
        LIST.format(JOB.format("welder"), 3),
        LIST.format(JOB.format("welder") + JOB.format("baker"), 4),
        "baker",
        quiet="Seen",
    ),
    Job(
        "only jobs with a word",
        "{url} --monitor 'items inserted where contains \"oil\"'",
        feed("a"),
        feed("oil rig", "tea", "a"),
        "oil rig",
        type="application/rss+xml",
        quiet="tea",
    ),
    Job(
        "entries of a feed", "{url} --monitor items", feed("one"), feed("two", "one"), "two", type="application/rss+xml"
    ),
    Job("a JSON API", "{url}", '{"status": "ok"}', '{"status": "degraded"}', "ok.*degraded", type="application/json"),
    Job(
        "a threshold in a JSON API",
        "{url} --monitor 'number in jsonpath \"$.load\" where becomes > 5'",
        '{"load": 2}',
        '{"load": 7}',
        "2.*7",
        type="application/json",
    ),
    Job(
        "a part of a JSON API",
        "{url} --monitor 'any change in jsonpath \"$.components[*].status\"'",
        '{"at": 1, "components": [{"name": "db", "status": "up"}]}',
        '{"at": 2, "components": [{"name": "db", "status": "down"}]}',
        "up.*down",
        type="application/json",
    ),
    Job("a table", "{url} --monitor table", ROWS.format("3.0"), ROWS.format("3.5"), "SE.*3.0.*3.5"),
    Job(
        "a CSV",
        "{url} --monitor table",
        "land,rate\nNO,4.1\nSE,3.0\n",
        "land,rate\nNO,4.1\nSE,3.5\n",
        "SE.*3.0.*3.5",
        type="text/csv",
    ),
    Job(
        "a PDF", "{url}", pdf([["Fees 2027: 30 euro"]]), pdf([["Fees 2027: 35 euro"]]), "30.*35", type="application/pdf"
    ),
    Job(
        "a text file",
        "{url}",
        "VERSION 1.4.2\nreleased\n",
        "VERSION 1.5.0\nreleased\n",
        "1.5.0.*1.4.2",
        type="text/plain",
    ),
    Job(
        "a version by a pattern",
        "{url} --monitor 'regex \"v(\\d+\\.\\d+)\"'",
        "<p>Download v1.4 now, 812 times",
        "<p>Download v1.5 now, 900 times",
        "1.5",
    ),
    Job("a calendar", "{url}", calendar("Lantern"), calendar("Lantern", "Harvest"), "Harvest", type="text/calendar"),
    Job(
        "a page with basic auth",
        "{url} --user anna",
        behind_basic("<p>Balance 30 euro"),
        behind_basic("<p>Balance 25 euro"),
        "25.*30",
        stdin="kettle\n",
        sees="4 words|3 words",
    ),
    Job(
        "an API with a token",
        "{url} --header 'Authorization: secret api-token'",
        '{"orders": 3}',
        '{"orders": 4}',
        "3.*4",
        type="application/json",
        first=("secret", "set", "api-token"),
    ),
    Job(
        "a page that moves for good",
        "{url}",
        "<title>Fees</title><p>Fee 30",
        move("/new"),
        "35.*30",
        more={"/new": ("<title>Fees</title><p>Fee 30", "<title>Fees</title><p>Fee 35")},
    ),
    Job(
        "a page that goes",
        "{url} --monitor status",
        "<p>here",
        Page(b"gone", {"Content-Type": HTML}, status=410),
        "410",
    ),
    Job(
        "a wall is no news",
        "{url}",
        "<h1>Concert</h1><p>Doors at eight in the old harbour hall",
        WALL,
        "quarantined|error",
    ),
    Job("Japanese", "{url}", "<p>会議は月曜日に開かれます", "<p>会議は火曜日に開かれます", "火.*月"),
    Job(
        "windows-1252",
        "{url}",
        "<p>Gebühr 5 €".encode("cp1252"),
        "<p>Gebühr 7 €".encode("cp1252"),
        "Gebühr.*5.*7",
        type="text/html; charset=windows-1252",
    ),
    Job(
        "a charset that nobody names",
        "{url}",
        "<p>Die Gebühr für Bücher beträgt fünf Euro".encode("cp1252"),
        "<p>Die Gebühr für Bücher beträgt sechs Euro".encode("cp1252"),
        "sechs.*fünf",
        type="text/html",
    ),
    Job("a sitemap", "{url}", sitemap("a"), sitemap("a", "b"), "x.example/b", type="application/xml"),
    Job(
        "several pages together",
        "- ",
        "<p>one",
        "<p>two",
        "one.*two",
        more={"/second": ("<p>red", "<p>blue")},
        stdin="Create Sentinel both Using {url} As A, {second} As B"
        " Monitor any change of A AND any change of B within 1 hour Fetch every 1 min",
    ),
    Job(
        "only part of a page",
        "{url} --select main",
        NAV.format("a", "Rain on Monday", 12),
        NAV.format("b", "Sun on Monday", 17),
        "Rain.*Sun",
        quiet="built",
    ),
    Job(
        "all but a part",
        "{url} --exclude nav --exclude footer",
        NAV.format("a", "Rain on Monday", 12),
        NAV.format("b", "Sun on Monday", 17),
        "Rain.*Sun",
        quiet="Home|built",
    ),
    Job(
        "only what is added",
        "{url} --only-added",
        "<p>Old words stay. Other words go.",
        "<p>Old words stay. Fresh words come.",
        "Fresh|come",
        quiet="Other",
    ),
    Job("images", "{url} --monitor images", "<img src=/a.png>", "<img src=/a.png><img src=/b.png>", "b.png"),
    Job(
        "a phrase in the small print",
        "{url} --monitor 'phrase \"we may share your data\"'",
        "<p>Dear reader, as a rule we may share your data with nobody at all",
        "<p>Dear reader, as a rule we may sell your data with nobody at all",
        "share.*sell",
    ),
    Job(
        "a header",
        "{url} --monitor 'header \"X-Version\"'",
        Page(b"<p>x", {"Content-Type": HTML, "X-Version": "1.4"}),
        Page(b"<p>x", {"Content-Type": HTML, "X-Version": "2.0"}),
        "1.4.*2.0",
    ),
    Job(
        "JSON in the text of a page",
        "{url} --monitor 'regex \"stock\\W+(\\d+)\"'",
        '<pre>{"stock": 12}</pre>',
        '<pre>{"stock": 3}</pre>',
        "12|3",
    ),
    Job(
        "data in a script of a page",
        "{url} --monitor 'number in jsonpath \"$.product.stock\"'",
        '<h1>Kettle</h1><p>Our best one yet</p><script>window.STATE = {"product": {"stock": 12}};</script>',
        '<h1>Kettle</h1><p>Our best one yet</p><script>window.STATE = {"product": {"stock": 3}};</script>',
        "12.*3",
        sees="12",
    ),
    Job(
        "a page behind a form",
        "{url} --login-form {login} --user anna",
        behind_form("<p>Orders: none yet"),
        behind_form("<p>Orders: one kettle"),
        "none yet.*one kettle",
        stdin="kettle\n",
        more={"/login": (login, login)},
    ),
    Job(
        "a page that scripts build, after a click",
        "{url} --step 'click text \"Show\"'",
        "<button onclick='out.textContent = String(6 * 5) + \" euro\"'>Show the fee</button><p id=out>",
        "<button onclick='out.textContent = String(7 * 5) + \" euro\"'>Show the fee</button><p id=out>",
        "30.*35",
    ),
    Job(
        "a list",
        "{url} --monitor list",
        "<ul><li>apples<li>pears</ul>",
        "<ul><li>apples<li>plums<li>pears</ul>",
        "plums",
    ),
    Job("daily at eight", "{url} --every 'at 8:00'", "<p>Menu: soup", "<p>Menu: stew", "soup.*stew", sees="08:00|at 8"),
    Job(
        "a page with frames",
        "{url}",
        '<frameset><frame src="/second"></frameset>',
        '<frameset><frame src="/second"></frameset>',
        "red.*blue",
        more={"/second": ("<p>red paint", "<p>blue paint")},
    ),
    Job(
        "what a command writes",
        "- ",
        "",
        "",
        "full.*free",
        stdin='Create Sentinel disk Using command "cat" "{file}" Monitor all words Fetch every 10 min',
    ),
    Job(
        "a news page with counters",
        "{url}",
        "<h1>News</h1><p>Rain</p><p>12,345 views, updated 08:15",
        "<h1>News</h1><p>Sun</p><p>12,399 views, updated 09:45",
        "Rain.*Sun",
        quiet="12,345",
    ),
]


def run(words: list[str], stdin: str = "") -> str:
    """Run a command in this process; return what it printed."""
    out = io.StringIO()
    was = sys.stdin
    sys.stdin = io.StringIO(stdin)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
            main(words)
    finally:
        sys.stdin = was
    return out.getvalue()


def serve_body(body: Body, type_: str) -> Page | Callable[[Seen, Wire], None]:
    """Return what the server answers with."""
    if isinstance(body, str | bytes):
        return Page(body if isinstance(body, bytes) else body.encode(), {"Content-Type": type_})
    return body


def play(job: Job, server: WebServer, folder: Path) -> tuple[str, str]:
    """Do one job; return what `add` and the second check printed."""
    path = "/" + re.sub(r"\W+", "-", job.title)
    output = folder / "output.txt"
    output.write_text("disk free")
    places = {
        "url": server.url(path),
        "second": server.url("/second"),
        "login": server.url("/login"),
        "file": str(output),
    }
    serve = {path: (job.before, job.after), **job.more}
    for name, (before, _) in serve.items():
        server.pages[name] = serve_body(before, job.type if name == path else HTML)
    common = ["--data", str(folder / "data")]
    if job.first:
        run([*common, *job.first], "s3cret\n")
    words = [re.sub(r"\{(url|login)\}", lambda m: places[m[1]], word) for word in shlex.split(job.words)]
    stdin = re.sub(r"\{(\w+)\}", lambda m: places[m[1]], job.stdin) if words[:1] == ["-"] else job.stdin
    added = run([*common, "add", *words], stdin)
    for name, (_, after) in serve.items():
        server.pages[name] = serve_body(after, job.type if name == path else HTML)
    output.write_text("disk full")
    names = run([*common, "completion", "names"]).split()
    return added, run([*common, "check", *names]) if names else ""


def is_right(job: Job, added: str, checked: str) -> bool:
    """Return whether what was printed is what the job asks for."""
    said = re.search(job.expected, checked, re.DOTALL) is not None and re.search(job.sees, added) is not None
    warnings = [line for line in added.splitlines() if "warning " in line and not line.endswith(EXPECTED_WARNING)]
    return said and not (job.quiet and re.search(job.quiet, checked)) and not warnings


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Let loopback be asked without pauses."""
    os.environ |= {
        "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
        "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0",
        "TIDINGS_FETCH_ALLOW_COMMANDS": "true",
        "TIDINGS_DETECT_ISOLATION": "in_process",
    }
    yield


def bench() -> None:
    """Print a line a job, and how many were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only jobs with this in their title")
    parser.add_argument("--verbose", action="store_true", help="print what the commands printed")
    arguments = parser.parse_args()
    right = 0
    jobs = [job for job in JOBS if arguments.only in job.title]
    begun = time.process_time()
    with settings(), WebServer() as server:
        for job in jobs:
            with tempfile.TemporaryDirectory() as folder:
                added, checked = play(job, server, Path(folder))
            is_well = is_right(job, added, checked)
            right += is_well
            print(f"{'right' if is_well else 'WRONG'}  {job.title:<32} tidings add {job.words}")
            if arguments.verbose or not is_well:
                print("".join(f"       | {line}\n" for line in (added + checked).splitlines()))
    print(f"{right} of {len(jobs)} right, {time.process_time() - begun:.1f} s CPU")


if __name__ == "__main__":
    bench()
