"""A draft: another program's job on its way to a sentinel, with a note for each field.

The language checks which clauses of a draft are valid, and why others are not.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from email.utils import getaddresses
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import AddressError, TidingsError
from tidings.fetching import address
from tidings.language import parser
from tidings.language.words import is_reserved
from tidings.model.interval import Duration, Instant
from tidings.model.url import split_url
from tidings.model.watch.sentinel import Sentinel
from tidings.notification.addresses import mask_address, redact
from tidings.record import dataclass
from tidings.service.sentinels.receivers import check_addressees

Grade = Literal["translated", "approximated", "refused", "state"]
GRADES: Final[tuple[Grade, ...]] = ("translated", "approximated", "refused", "state")
SHOWN: Final = 120
LONGEST_INTERVAL: Final = 10 * 365 * DAY
UNREADABLE: Final = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
"""What reading a value of another shape raises."""
SECRET_HEADERS: Final = re.compile(r"(?i)cookie|authorization|token|secret|api[-_]?key|password|session")
SECRET_FIELDS: Final = re.compile(
    r"(?i)(?:pass(?:word|wd|code)?|pwd|token|secret|api[-_]?key)[\w-]*[\"'\]]?\s*(?:=|:|%3D)"
)
"""What a body has before a value that may be secret."""


@dataclass(frozen=True, slots=True)
class Note:
    """The result for a field: `text` says how it differs, or why it has no equivalent."""

    grade: Grade
    field: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class DraftClause:
    """A clause to be checked by the language, and its source field; `many`: how many clauses its
    text is.
    """

    text: str
    field: str
    difference: str = ""
    many: int = 1


@dataclass(slots=True)
class Draft:
    """One job, filled by a reader; unmentioned fields are listed by `leave`."""

    title: str
    url: str
    peer: str
    key: str = ""
    """its id in its program"""
    parts: list[DraftClause] = field(default_factory=list)
    """change types of Monitor, joined by OR"""
    conditions: list[DraftClause] = field(default_factory=list)
    """added to each part: a direction or `where …`"""
    selects: dict[str, list[DraftClause]] = field(default_factory=dict)
    """parts of the page by kind: css, xpath, jsonpath"""
    clauses: list[DraftClause] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    renders: str = ""
    """`browser` or `browser screenshot` if a browser renders the page"""
    steps: list[DraftClause] = field(default_factory=list)
    every: Duration | None = None
    disabled: bool = False
    notes: list[Note] = field(default_factory=list)
    changed_at: list[Instant] = field(default_factory=list)
    """when it changed, according to its program"""
    polled_until: Instant | None = None
    comments: list[str] = field(default_factory=list)
    fault: str = ""
    """why the whole job cannot be imported"""

    def note(self, grade: Grade, name: str, text: str = "") -> None:
        """Note the result for a field."""
        self.notes.append(Note(grade, name, text))

    def translate(self, name: str, difference: str = "") -> None:
        """Note that a field has an equivalent here, or how it differs."""
        self.note("approximated" if difference else "translated", name, difference)

    def refuse(self, name: str, why: str) -> None:
        """Note that a field has no equivalent."""
        self.note("refused", name, why)

    def monitor(self, text: str, name: str, difference: str = "") -> None:
        """Add a change type."""
        self.parts.append(DraftClause(text, name, difference))

    def where(self, text: str, name: str, difference: str = "") -> None:
        """Add a condition or direction to every change type."""
        self.conditions.append(DraftClause(text, name, difference))

    def add(self, text: str, name: str, difference: str = "", *, many: int = 1) -> None:
        """Add any other clause, or several that are kept or refused together.

        Args:
            text: The clause.
            name: The field.
            difference: How it differs; empty if it does not.
            many: How many clauses the text is.
        """
        self.clauses.append(DraftClause(text, name, difference, many))

    def step(self, text: str, name: str, difference: str = "") -> None:
        """Add a step for a browser before the page is read."""
        self.renders = self.renders or "browser"
        self.steps.append(DraftClause(text, name, difference))

    def select(self, kind: str, text: str, name: str, difference: str = "") -> None:
        """Select a part of the page: `kind` is css, xpath or jsonpath, `text` the selector, `name`
        the field, `difference` how it differs.
        """
        self.selects.setdefault(kind, []).append(DraftClause(text, name, difference))

    def read(self, name: str, value: Any, rule: Callable[[], None]) -> None:
        """Have a rule read a field. A value of a shape that its program does not write is refused
        by itself.

        Args:
            name: The field.
            value: Its value, for the note.
            rule: Reads it into this draft.
        """
        try:
            rule()
        except UNREADABLE:
            self.refuse(name, f"{show_value(value)} cannot be read")

    def header(self, name: str, value: str, of: str) -> None:
        """Add a header; a value that may be secret is stored as a secret."""
        if SECRET_HEADERS.search(name):
            self.add(f"Header {write_text(name)} secret {write_text(self.keep_secret(name, value))}", of)
        else:
            self.add(f"Header {write_text(name)} {write_text(value)}", of)

    def body(self, text: str, of: str) -> None:
        """Add the body of a request; one with a password or token is stored as a secret."""
        if SECRET_FIELDS.search(text):
            self.add(f"Body secret {write_text(self.keep_secret('body', text))}", of)
        else:
            self.add(f"Body {write_text(text)}", of)

    def notify_by_mail(self, given: Any, of: str) -> None:
        """Add a receiver for each address of a list, or of a text with commas."""
        texts = [str(one) for one in given] if isinstance(given, list) else [str(given)]
        for _, mailbox in getaddresses(texts):
            self.add(f"Notify by email {mailbox}", of)

    def check_every(self, amount: float, of: str) -> None:
        """Have the page checked at an interval (µs); one that is no time is refused."""
        if 0 < amount <= LONGEST_INTERVAL:
            self.every = max(SECOND, round(amount))
        else:
            self.refuse(of, "it is no time between two checks; Tidings chooses when to check")

    def sign_in(self, user: str, password: str, of: str) -> None:
        """Add the header of a user and a password, as a secret."""
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        self.header("Authorization", f"Basic {pair}", of)

    def method(self, value: Any, of: str) -> None:
        """Add the method of a request, unless it is GET."""
        if (name := str(value).upper()) != "GET":
            self.add(f"Method {write_text(name)}", of)

    def keep_secret(self, what: str, value: str) -> str:
        """Store a value as a secret; return its name, unique to the job and stable across
        imports.
        """
        parts = split_url(self.url)
        host = parts.hostname or "page"
        job = hashlib.sha256(f"{self.peer} {self.key} {host}{parts.path}".encode(errors="surrogatepass")).hexdigest()[
            :8
        ]
        stem = re.sub(r"[^a-z0-9]+", "-", f"import-{self.title or host}-{what}".lower()).strip("-")[:48]
        stem = f"{stem}-{job}"
        name, number = stem, 1
        while self.secrets.get(name, value) != value:
            number += 1
            name = f"{stem}-{number}"
        self.secrets[name] = value
        return name


def write_text(text: str) -> str:
    """Return a text quoted for the language."""
    escaped = text.replace("\\", "\\\\") if text.endswith("\\") or '\\"' in text or "\\\\" in text else text
    return '"' + escaped.replace('"', '\\"') + '"'


def literal(text: str) -> str:
    """Return a pattern that matches a text literally."""
    return re.sub(r"([^\w\s])", r"\\\1", text, flags=re.ASCII) if text.isascii() else re.escape(text)


def show_value(value: Any) -> str:
    """Return a value for a note, cut."""
    text = str(value).replace("\n", " ")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def name_of(title: str, url: str) -> str:
    """Return a valid name from a title, else from the address."""
    parts = split_url(url)
    source = title.strip() or f"{(parts.hostname or '').removeprefix('www.')} {unquote(parts.path)}"
    text = unicodedata.normalize("NFKC", source)
    text = re.sub(r"[^\w]+", "-", text.replace("'", "")).strip("-_")[:60].strip("-_")
    if not re.match(r"[A-Za-z_]", text):
        text = f"w-{text}".rstrip("-")
    return f"{text}-page" if is_reserved(text) else text


def tag_of(text: str) -> str:
    """Return a valid tag, with the grammar of a name."""
    return name_of(text, "") if text.strip() else ""


def duration(amount: Duration) -> str:
    """Return a duration in its largest whole unit."""
    for size, unit in ((7 * DAY, "week"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "min")):
        if amount >= size and amount % size == 0:
            return f"{amount // size} {unit}"
    return f"{max(1, (amount + SECOND // 2) // SECOND)} s"


def plain_address(draft: Draft, url: str) -> str:
    """Return an address without user and password, which become a header with a secret."""
    parts = split_url(url)
    if parts.username is None:
        return url
    draft.sign_in(unquote(parts.username), unquote(parts.password or ""), "url")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def form(body: Mapping[str, Any]) -> str:
    """Return a map as the body of a form."""
    return "&".join(f"{quote(str(k), safe='')}={quote(str(v), safe='')}" for k, v in body.items())


JOINED = {"css": ", ", "xpath": " | "}
"""How several selectors of a kind are combined."""
MORE_CLAUSES = "it has more than this clause"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result for a draft: its name and statements (empty if it was refused as a whole), the
    secrets they name, and all notes. `shown` is the text to show: addresses of receivers may be
    secrets.
    """

    draft: Draft
    name: str
    text: str
    secrets: dict[str, str]
    notes: tuple[Note, ...]
    shown: str = ""

    @property
    def grade(self) -> str:
        """Return the worst result of its fields, as one word."""
        found = {note.grade for note in self.notes}
        if not self.text:
            return "refused"
        return "approximated" if found & {"approximated", "refused"} else "translated"


def judge(draft: Draft, name: str, *, learn: bool) -> Judged:
    """Return the valid part of a draft, which stays as it is; an invalid clause is omitted with the
    reason.

    Args:
        draft: A reader's draft of a job.
        name: The sentinel's name.
        learn: Whether the interval becomes bounds (`Fetch on change between …`).
    """
    if fault := draft.fault or _fault_of_address(draft.url):
        return Judged(draft, name, "", {}, (*draft.notes, Note("refused", "url", fault)))
    trying = _Trying(f"Create Sentinel x Using {split_url(draft.url).scheme}://x.example/", list(draft.notes))
    selects = _selects(draft)
    parts = trying.keep(draft.parts, lambda text: f"Monitor {text}", beside=0)
    first = (parts or ["all words"])[0].partition(" where ")[0]
    conditions = trying.keep(draft.conditions, lambda text: f"Monitor {first} {text}", beside=0)
    lines = [f"Monitor {_monitor(parts or ['all words'], conditions, selects)}"]
    if len(selects) == 1:
        lines += trying.keep(selects, lambda text: f"Monitor all words {text}")
    else:
        trying.keep(selects, lambda text: f"Monitor all words {text}")
    if draft.renders:
        steps = trying.keep(draft.steps, lambda text: f"Monitor all words Render browser steps ({text})")
        lines.append(f"Render {draft.renders}{' steps (' + ', '.join(steps) + ')' if steps else ''}")
    clauses = list(draft.clauses)
    if draft.every is not None:
        less = "a page is checked at most once a minute" if draft.every < MINUTE else ""
        clauses.append(DraftClause(_fetch(draft.every, learn=learn), "interval", less))
    if draft.tags:
        clauses.append(DraftClause(f"Tags {', '.join(dict.fromkeys(draft.tags))}", "tags"))
    lines += trying.keep(clauses, lambda text: f"Monitor all words {text}")
    head = f"Create Sentinel {name} Using {draft.url}\n"
    text = head + "\n".join(f"  {line}" for line in lines)
    if problems := parser.parse(text).problems:
        lines = _keep_together(head, lines, trying.notes)
        text = head + "\n".join(f"  {line}" for line in lines)
        problems = parser.parse(text).problems
    notes = tuple(trying.notes)
    if problems:
        reason = f"the language refuses it: {problems[0]}"
        return Judged(draft, name, "", {}, (*notes, Note("refused", "job", reason)))
    comments = "".join(f"-- {show_value(comment)}\n" for comment in (draft.title, *draft.comments) if comment)
    after = f"\nDisable {name}" if draft.disabled else ""
    used = {key: value for key, value in draft.secrets.items() if write_text(key) in text}
    whole = f"{comments}{text}{after}"
    return Judged(draft, name, whole, used, notes, mask_receivers(whole))


def _keep_together(head: str, lines: list[str], notes: list[Note]) -> list[str]:
    """Return the clauses that may stand together; each is valid by itself."""
    kept = lines[:1]
    for line in lines[1:]:
        if problems := parser.parse(head + "\n".join((*kept, line))).problems:
            notes.append(Note("refused", "job", f"{show_value(mask_receivers(line))}: {problems[0].message}"))
        else:
            kept.append(line)
    return kept


_RECEIVER: Final = re.compile(r"(?m)^(?P<head> *Notify by (?P<kind>webhook |url )?)(?P<address>\S+://\S*)")


def mask_receivers(text: str) -> str:
    """Return clauses without the addresses of webhooks and Apprise, which commonly are secrets."""

    def mask(found: re.Match[str]) -> str:
        return found["head"] + mask_address((found["kind"] or "apprise").strip(), found["address"])

    return _RECEIVER.sub(mask, text)


@dataclass(slots=True)
class _Trying:
    """Checks one clause after the other with the language."""

    head: str
    notes: list[Note]

    def keep(self, clauses: Iterable[DraftClause], put: Callable[[str], str], *, beside: int = 1) -> list[str]:
        """Return the texts of the valid clauses; note the result of each.

        One that brings further clauses is refused: a file from elsewhere chooses no receiver and
        sends no secret by what it calls an address or a proxy. So is a receiver that no message
        can reach.

        Args:
            clauses: The clauses of a draft.
            put: Makes the clauses of a statement with one of them in its place.
            beside: How many further clauses there are.
        """
        texts = []
        for clause in clauses:
            shown = show_value(mask_receivers(clause.text))
            if why := why_invalid(f"{self.head} {put(clause.text)}", beside + clause.many):
                receiver = _RECEIVER.search(clause.text)
                why = redact(why, receiver["address"]) if receiver else why
                self.notes.append(Note("refused", clause.field, f"{shown}: {why}"))
                continue
            grade: Grade = "approximated" if clause.difference else "translated"
            self.notes.append(Note(grade, clause.field, clause.difference or shown))
            texts.append(clause.text)
        return texts


@functools.lru_cache(maxsize=4_096)  # watches of one file have many clauses in common
def why_invalid(text: str, clauses: int) -> str:
    """Return why a statement with so many clauses cannot be stored, "" if it can."""
    try:
        parsed = parser.parse(text)
    except (OverflowError, ValueError):
        return "it has a number that cannot be read"
    if parsed.problems:
        return f"{parsed.problems[0].message} ({parsed.problems[0].code})"
    if parser.count_clauses(text) != clauses:
        return MORE_CLAUSES
    for statement in parsed.statements:
        try:
            check_addressees(statement)
        except AddressError as error:
            return str(error).partition(": ")[2]
    return ""


def _fault_of_address(url: str) -> str:
    if "{{" in url or "{%" in url:
        return "its address is a template (Jinja), which is not run"
    text = f"Create Sentinel x Using {url} Monitor all words"
    try:
        found = parser.parse(text)
        if found.problems:
            return f"its address cannot be watched: {found.problems[0].message}"
        (sentinel,) = found.statements
        is_one = parser.count_clauses(text) == 1
        if not isinstance(sentinel, Sentinel) or len(sentinel.pages) != 1 or not is_one:
            return "its address is not one address"
        address.identify(sentinel.pages[0].url, sentinel.asking)
    except (TidingsError, ValueError) as error:
        return str(error)
    return ""


def _selects(draft: Draft) -> list[DraftClause]:
    """Return one clause per kind of selector."""
    found = []
    for kind, clauses in draft.selects.items():
        texts = [clause.text for clause in clauses]
        differences = "; ".join(dict.fromkeys(clause.difference for clause in clauses if clause.difference))
        if kind in JOINED:
            found.append(
                DraftClause(f"Select {kind} {write_text(JOINED[kind].join(texts))}", clauses[0].field, differences)
            )
        else:
            found += [DraftClause(f"Select {kind} {write_text(text)}", clauses[0].field, differences) for text in texts]
    return found


def _monitor(parts: list[str], conditions: list[str], selects: list[DraftClause]) -> str:
    """Return the Monitor clause: each part under each condition, and in each place where several
    kinds of selectors are combined.
    """
    places = [f" in {one.text.removeprefix('Select ')}" for one in selects] if len(selects) > 1 else [""]
    either = [one for one in conditions if not one.startswith("where")]
    tests = " but ".join(one.removeprefix("where ") for one in conditions if one.startswith("where"))
    tail = f" where {tests}" if tests else ""
    joined = []
    for part in parts:
        for place in places:
            for direction in either or [""]:
                own = tail.replace(" where ", " but ", 1) if " where " in part else tail
                head, condition = ([*part.split(" where ", 1), ""])[:2]
                between = f" where {condition}" if condition else ""
                joined.append(f"{head} {direction}".rstrip() + place + between + own)
    return " OR ".join(dict.fromkeys(joined))


def _fetch(every: Duration, *, learn: bool) -> str:
    if not learn:
        return f"Fetch every {duration(every)}"
    least = max(60 * SECOND, every // 4)
    return f"Fetch on change between {duration(least)} and {duration(max(every * 4, least + SECOND))}"
