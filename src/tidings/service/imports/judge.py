"""From a draft to statements: the language checks which clauses are valid, and why others
are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidings.clock import SECOND
from tidings.errors import TidingsError
from tidings.fetching import address
from tidings.language import parser
from tidings.model.interval import Duration
from tidings.model.watch.sentinel import Sentinel
from tidings.record import dataclass
from tidings.service.imports.draft import Draft, DraftClause, Grade, Note, duration, show_value, write_text

JOINED = {"css": ", ", "xpath": " | "}
"""How several selectors of a kind are combined."""
MORE_CLAUSES = "it has more than this clause"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result for a draft: its name and statements (empty if it was refused as a whole), the
    secrets they name, and all notes.
    """

    draft: Draft
    name: str
    text: str
    secrets: dict[str, str]
    notes: tuple[Note, ...]

    @property
    def grade(self) -> str:
        """Return the worst result of its fields, as one word."""
        found = {note.grade for note in self.notes}
        if not self.text:
            return "refused"
        return "approximated" if found & {"approximated", "refused"} else "translated"


def judge(draft: Draft, name: str, *, learn: bool) -> Judged:
    """Return the valid part of a draft; an invalid clause is omitted with the reason.

    Args:
        draft: A reader's draft of a job.
        name: The sentinel's name.
        learn: Whether the interval becomes bounds (`Fetch on change between …`).
    """
    if not draft.fault:
        draft.fault = _fault_of_address(draft.url)
    if draft.fault:
        return Judged(draft, name, "", {}, (*draft.notes, Note("refused", "url", draft.fault)))
    trying = _Trying(f"Create Sentinel {name} Using {draft.url}", draft.notes)
    selects = _selects(draft)
    parts = trying.keep(draft.parts, lambda text: f"Monitor {text}", beside=0)
    first = (parts or ["all words"])[0]
    conditions = trying.keep(draft.conditions, lambda text: f"Monitor {first} {text}", beside=0)
    lines = [f"Monitor {_monitor(parts or ['all words'], conditions, selects)}"]
    if len(selects) == 1:
        lines += trying.keep(selects, lambda text: f"Monitor all words {text}")
    else:
        trying.keep(selects, lambda text: f"Monitor all words {text}")
    if draft.renders:
        steps = trying.keep(draft.steps, lambda text: f"Monitor all words Render browser steps ({text})")
        lines.append(f"Render {draft.renders}{' steps (' + ', '.join(steps) + ')' if steps else ''}")
    if draft.every is not None:
        draft.clauses.append(DraftClause(_fetch(draft.every, learn=learn), "interval"))
    if draft.tags:
        draft.clauses.append(DraftClause(f"Tags {', '.join(dict.fromkeys(draft.tags))}", "tags"))
    lines += trying.keep(draft.clauses, lambda text: f"Monitor all words {text}")
    text = f"Create Sentinel {name} Using {draft.url}\n" + "\n".join(f"  {line}" for line in lines)
    if problems := parser.parse(text).problems:
        reason = f"the language refuses it: {problems[0]}"
        return Judged(draft, name, "", {}, (*draft.notes, Note("refused", "job", reason)))
    comments = "".join(f"-- {show_value(comment)}\n" for comment in (draft.title, *draft.comments) if comment)
    after = f"\nDisable {name}" if draft.disabled else ""
    used = {key: value for key, value in draft.secrets.items() if write_text(key) in text}
    return Judged(draft, name, f"{comments}{text}{after}", used, tuple(draft.notes))


@dataclass(slots=True)
class _Trying:
    """Checks one clause after the other with the language."""

    head: str
    notes: list[Note]

    def keep(self, clauses: Iterable[DraftClause], put: Callable[[str], str], *, beside: int = 1) -> list[str]:
        """Return the texts of the valid clauses; note the result of each.

        One that brings further clauses is refused: a file from elsewhere chooses no receiver and
        sends no secret by what it calls an address or a proxy.

        Args:
            clauses: The clauses of a draft.
            put: Makes the clauses of a statement with one of them in its place.
            beside: How many further clauses there are.
        """
        texts = []
        for clause in clauses:
            text = f"{self.head} {put(clause.text)}"
            problems = parser.parse(text).problems
            if problems:
                said_there = f"{problems[0].message} ({problems[0].code})"
                self.notes.append(Note("refused", clause.field, f"{show_value(clause.text)}: {said_there}"))
                continue
            if parser.count_clauses(text) != beside + clause.many:
                self.notes.append(Note("refused", clause.field, f"{show_value(clause.text)}: {MORE_CLAUSES}"))
                continue
            grade: Grade = "approximated" if clause.difference else "translated"
            self.notes.append(Note(grade, clause.field, clause.difference or show_value(clause.text)))
            texts.append(clause.text)
        return texts


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
