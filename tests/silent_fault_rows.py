"""The faults of `silent_faults`: each with its name, the expected event and the time limit.

Nothing is random.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import trustme

from tests.blocked_pages import MAKERS
from tests.fakes import Page, Seen, WebServer, Wire
from tests.silent_faults import FILLER, HTML, NEWS, Act, Fault, Verdict, Watch, page
from tests.unit.fetching.asking import FixedNames
from tidings.clock import DAY, HOUR, MINUTE, SECOND, Duration
from tidings.errors import StoreBusyError, StoreError, StoreFullError
from tidings.fetching.http import routes
from tidings.isolation.runner import Died
from tidings.storage.write.store import Store

GOES_ON: frozenset[Verdict] = frozenset({"goes on"})
REPORTED: frozenset[Verdict] = frozenset({"reported"})
HALF = 30 * MINUTE


def _mend(watch: Watch) -> None:
    """End the fault."""
    watch.undo.close()


def _passing(name: str, kind: str, act: Act, **more: Any) -> Fault:
    """Return a fault that ends after half an hour: the news arrive within an interval."""
    return Fault(name=name, kind=kind, act=act, lift=_mend, after=HALF, expect=GOES_ON, **more)


# -- clocks ----------------------------------------------------------------------------------------------------------------------


def _wrong_step(offset: Duration | None) -> Act:
    """Let one step run at another time (None: in 1970), then set the clock right."""

    async def act(watch: Watch) -> None:
        right = watch.clock.wall()
        watch.clock.move_to(SECOND if offset is None else right + offset)
        await watch.step()
        watch.clock.move_to(right)

    return act


def _wrong_check(offset: Duration) -> Act:
    """Let a whole `check` run at another time while the service is down; the next process finds the
    clock right.
    """

    async def act(watch: Watch) -> None:
        right = watch.clock.wall()
        _set(watch, right + offset)
        watch.show("nothing yet")
        async with watch.world.monitor() as monitor:
            await watch.world.settle(monitor)
        _set(watch, right)
        watch.show()

    return act


def _set(watch: Watch, wall: int) -> None:
    """Set the clock as a new process finds it, which remembers no later time."""
    watch.clock._wall = watch.clock._last = wall


async def _sleep(watch: Watch) -> None:
    watch.clock.advance(8 * HOUR)


CLOCKS = (
    *(
        Fault(
            name=f"the clock is {word} for one step, then right", kind="clock", act=_wrong_step(offset), expect=GOES_ON
        )
        for word, offset in (
            ("90 minutes ahead", 90 * MINUTE),
            ("a day ahead", DAY),
            ("twelve years ahead", 4_400 * DAY),
            ("an hour behind", -HOUR),
            ("a year behind", -365 * DAY),
            ("in 1970", None),
        )
    ),
    *(
        Fault(
            name=f"a check runs while the clock is {word}, then it is right",
            kind="clock",
            act=_wrong_check(offset),
            expect=GOES_ON,
            restart=True,
        )
        for word, offset in (
            ("90 minutes ahead", 90 * MINUTE),
            ("a day ahead", DAY),
            ("twelve years ahead", 4_400 * DAY),
        )
    ),
    Fault(name="the machine sleeps for eight hours", kind="clock", act=_sleep, expect=GOES_ON),
)


# -- disk, memory, descriptors -----------------------------------------------------------------------------------------------------


def _refuse_commits(error: Exception) -> Act:
    async def refuse(_: Store, units: Any) -> list[Exception]:
        return [error] * len(units)

    return lambda watch: watch.patch(Store, "commit", refuse)


def _refuse(name: str, error: Exception) -> Act:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise error

    return lambda watch: watch.patch(Store, name, refuse)


def _refuse_files(code: int) -> Act:
    def act(watch: Watch) -> None:
        opened = os.open

        def refuse(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if flags & os.O_CREAT and "blobs" in os.fspath(path):
                raise OSError(code, os.strerror(code), path)
            return opened(path, flags, *rest, **more)

        watch.patch(os, "open", refuse)

    return act


def _no_descriptors(watch: Watch) -> None:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    assert watch.monitor is not None
    loop_time = watch.monitor.polling.grants._fetcher
    watch.patch(loop_time, "fetch", refuse)


FULL = StoreFullError(
    "tidings.db cannot grow: database or disk is full; free some space (`tidings doctor` shows how much there is)"
)
BROKEN = StoreError(
    "tidings.db cannot be used: disk I/O error; check free space and permissions, then run `tidings doctor`"
)
READ_ONLY = StoreError("tidings.db cannot be used: attempt to write a readonly database; check rights")
BUSY = StoreBusyError("tidings.db was locked for 5 s (another process); try again, or raise store.busy_seconds")
AS_FILES = {"store.blob_file_bytes": "0"}

MACHINE = (
    _passing("the disk is full when a result is stored, for half an hour", "disk", _refuse_commits(FULL)),
    _passing("the disk is full when a check is paid for, for half an hour", "disk", _refuse("charge", FULL)),
    _passing("the disk is full for everything that is written, for half an hour", "disk", _refuse("write", FULL)),
    _passing("the database is held by another program for half an hour", "disk", _refuse_commits(BUSY)),
    _passing("another program holds the database when a check is paid for", "disk", _refuse("charge", BUSY)),
    _passing("files cannot be written for half an hour: no space", "disk", _refuse_files(errno.ENOSPC), flags=AS_FILES),
    _passing("files cannot be written for half an hour: quota", "disk", _refuse_files(errno.EDQUOT), flags=AS_FILES),
    _passing("files cannot be written for half an hour: read-only", "disk", _refuse_files(errno.EROFS), flags=AS_FILES),
    _passing("files cannot be written for half an hour: I/O error", "disk", _refuse_files(errno.EIO), flags=AS_FILES),
    _passing("no file descriptors are left for half an hour", "machine", _no_descriptors),
)


# -- damage ------------------------------------------------------------------------------------------------------------------------


def _sql(text: str, **values: Any) -> Act:
    return lambda watch: watch.write(text, **values)


def _bytes(change: Callable[[bytearray], None]) -> Act:
    def act(watch: Watch) -> None:
        path = watch.world.directory / "tidings.db"
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        content = bytearray(path.read_bytes())
        change(content)
        path.write_bytes(content)

    return act


def _zero(start: int, length: int) -> Callable[[bytearray], None]:
    def change(content: bytearray) -> None:
        content[start : start + length] = bytes(min(length, max(0, len(content) - start)))

    return change


def _flip_all(every: int) -> Callable[[bytearray], None]:
    def change(content: bytearray) -> None:
        for place in range(100, len(content), every):
            content[place] ^= 0x10

    return change


def _cut(content: bytearray) -> None:
    del content[len(content) // 2 :]


def _spoil_files(change: Callable[[Path], object]) -> Act:
    def act(watch: Watch) -> None:
        for path in (watch.world.directory / "blobs").rglob("*"):
            if path.is_file():
                change(path)

    return act


def _no_key(watch: Watch) -> None:
    (watch.world.directory / "secrets.key").unlink(missing_ok=True)


def _damage(name: str, act: Act, **more: Any) -> Fault:
    return Fault(name=name, kind="damage", act=act, restart=True, **more)


DAMAGE = (
    _damage("the database file is cut in half", _bytes(_cut)),
    _damage("the header of the database is zeroed", _bytes(_zero(0, 100))),
    _damage("a page of the database is zeroed", _bytes(_zero(4_096 * 3, 4_096))),
    _damage("twenty pages of the database are zeroed", _bytes(_zero(4_096 * 20, 4_096 * 20))),
    _damage("a bit in each 5,000 bytes of the database is flipped", _bytes(_flip_all(5_000))),
    _damage("a bit in each 50,000 bytes of the database is flipped", _bytes(_flip_all(50_000))),
    _damage("the database is gone", lambda watch: (watch.world.directory / "tidings.db").unlink()),
    _damage("stored bodies are no bodies", _sql("UPDATE blob SET frame = :frame", frame=b"no frame")),
    _damage("stored bodies are gone", _sql("UPDATE blob SET frame = :frame", frame=b"")),
    _damage("files of bodies are gone", _spoil_files(Path.unlink), flags=AS_FILES),
    _damage("files of bodies are cut", _spoil_files(lambda path: path.write_bytes(b"(")), flags=AS_FILES),
    _damage("what is learned of pages is no JSON", _sql("UPDATE estimate SET state = '{'")),
    _damage("what rules remember is no JSON", _sql("UPDATE rule_state SET state = '{'")),
    _damage(
        "what a subscription remembers is no JSON", _sql("UPDATE subscription SET remembered = '{', learned = '{'")
    ),
    _damage("the text of a sentinel is none", _sql("UPDATE sentinel_revision SET text = 'Create nothing'")),
    _damage("the key of the secrets is gone", _no_key, expect=frozenset({"shown"})),
)


# -- workers -----------------------------------------------------------------------------------------------------------------------


def _die(times: int, cause: Any) -> Act:
    def act(watch: Watch) -> None:
        assert watch.monitor is not None
        detector = watch.monitor.polling.poller._detector
        runner, left = detector._runner, [times]

        async def run(function: Any, argument: Any, *, seconds: float | None = None) -> Any:
            if left[0]:
                left[0] -= 1
                return Died(cause, f"the worker ended: {cause}")
            return await runner.run(function, argument, seconds=seconds)

        watch.patch(detector, "_runner", type("Mortal", (), {"run": staticmethod(run), "close": runner.close})())

    return act


WORKERS = (
    *(
        Fault(name=f"a worker ends once: {cause}", kind="worker", act=_die(1, cause), expect=GOES_ON)
        for cause in ("crash", "deadline", "memory", "error")
    ),
    *(
        Fault(
            name=f"workers end at each job of a page: {cause}", kind="worker", act=_die(10**6, cause), expect=REPORTED
        )
        for cause in ("crash", "deadline", "memory", "error")
    ),
)


# -- network, names, certificates --------------------------------------------------------------------------------------------------


def _reset(seen: Seen, wire: Wire) -> None:
    wire.reset()


def _half(seen: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90000\r\n\r\n<p>half")
    wire.close()


def _chunk(seen: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n<p>half")
    wire.close()


def _hang(seen: Seen, wire: Wire) -> None:
    wire.hang()


def _raw(data: bytes) -> Callable[[Seen, Wire], None]:
    def answer(seen: Seen, wire: Wire) -> None:
        wire.send(data)
        wire.close()

    return answer


def _let_answer(answer: Page | Callable[[Seen, Wire], object]) -> Act:
    return lambda watch: watch.answer(answer)


def _close_door(watch: Watch) -> None:
    watch.world.server.connect = lambda wire: wire.reset()


NAMES = FixedNames({})


def _give_name(watch: Watch) -> None:
    """Let the page have a name, which one resolver knows."""
    NAMES.names = {"board.test": [["127.0.0.1"]]}
    watch.patch(routes.aiohttp.resolver, "DefaultResolver", lambda: NAMES)
    watch.host = f"http://board.test:{watch.world.server.port}"


def _rename(names: dict[str, list[list[str]]]) -> Act:
    def act(watch: Watch) -> None:
        NAMES.names = names
        NAMES.lookups.clear()

    return act


def _serve_by_tls(watch: Watch) -> None:
    """Let the page be served by TLS, under an authority that the sentinel trusts."""
    authority = trustme.CA()
    path = watch.world.directory.parent / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    secure = watch.closing.enter_context(WebServer("127.0.0.2", tls=_context(authority, "127.0.0.2")))
    secure.pages = watch.world.server.pages
    watch.secure = secure
    watch.authority = authority
    watch.host = secure.url("").rstrip("/")


def _context(authority: trustme.CA, *names: str, until: datetime | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names, not_after=until).configure_cert(context)
    return context


def _certify(make: Callable[[Watch], ssl.SSLContext | None]) -> Act:
    def act(watch: Watch) -> None:
        assert watch.secure is not None
        watch.secure.tls = make(watch)

    return act


SHORT = {"fetch.total_seconds": "0.3"}

NETWORK = (
    *(
        Fault(name=name, kind="network", act=_let_answer(answer), flags=SHORT, expect=REPORTED)
        for name, answer in (
            ("connections are reset", _reset),
            ("bodies end before their length", _half),
            ("chunks end before their end", _chunk),
            ("the server accepts and says nothing", _hang),
            ("what is answered is not HTTP", _raw(b"SSH-2.0-OpenSSH_9.2\r\n")),
            ("header lines never end", _raw(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000)),
        )
    ),
    Fault(name="the server resets each connection at once", kind="network", act=_close_door, expect=REPORTED),
    *(
        Fault(
            name=name,
            kind="name",
            prepare=_give_name,
            address="{host}/a",
            act=_rename(names),
            expect=REPORTED,
            restart=True,
        )
        for name, names in (
            ("the name of the host is not known any more", {}),
            ("the name leads to a private address", {"board.test": [["10.0.0.1"]]}),
            ("the name leads to a public and a private address", {"board.test": [["127.0.0.1", "192.168.1.1"]]}),
            ("the name leads to where nobody listens", {"board.test": [["127.0.0.77"]]}),
        )
    ),
    *(
        Fault(
            name=name,
            kind="certificate",
            prepare=_serve_by_tls,
            address="{host}/a",
            clauses='Trust "{trust}"',
            act=_certify(make),
            expect=REPORTED,
        )
        for name, make in (
            (
                "the certificate has ended",
                lambda w: _context(w.authority, "127.0.0.2", until=datetime(2020, 1, 1, tzinfo=UTC)),
            ),
            ("the certificate is another host's", lambda w: _context(w.authority, "127.0.0.3")),
            ("the certificate is of an unknown authority", lambda w: _context(trustme.CA(), "127.0.0.2")),
            ("the server speaks no TLS any more", lambda _: None),
        )
    ),
)

# -- robots.txt --------------------------------------------------------------------------------------------------------------------


def _robots(answer: Page | Callable[[Seen, Wire], object]) -> Act:
    """Let robots.txt be answered so; it is read once a day, and the page has no news before."""

    async def act(watch: Watch) -> None:
        watch.show("something")
        watch.world.server.pages["/robots.txt"] = answer
        await watch.live(DAY)
        watch.show()

    return act


ROBOTS = tuple(
    Fault(name=f"robots.txt {name}", kind="robots", act=_robots(answer), flags={"fetch.robots": "true"})
    for name, answer in (
        ("forbids the page", Page(b"User-agent: *\nDisallow: /")),
        ("answers 500", Page(status=500)),
        ("answers 401", Page(status=401)),
        ("is reset", _reset),
        ("leads to a private address", Page(status=302, headers=[("Location", "http://10.0.0.1/robots.txt")])),
        ("asks for ten hours between requests", Page(b"User-agent: *\nCrawl-delay: 36000")),
    )
)


# -- answers -----------------------------------------------------------------------------------------------------------------------

LONG = page("nothing")


def _status(status: int, *headers: tuple[str, str]) -> Act:
    return _let_answer(Page(b"<h1>Sorry</h1>", [*HTML.items(), *headers], status=status))


def _body(body: bytes, *headers: tuple[str, str], kind: str = HTML["Content-Type"]) -> Act:
    return _let_answer(Page(body, [("Content-Type", kind), *headers]))


STATUSES = tuple(
    Fault(name=f"the page answers {status}", kind="answer", act=_status(status), expect=REPORTED)
    for status in (
        400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 412, 413, 414, 415, 418, 421, 422, 423, 425, 428, 429, 431, 451,
        500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 530, 599, 600, 204, 205, 206, 203, 300, 305,
    )
    if status != 203
)  # fmt: skip

ANSWERS = (
    Fault(name="the page answers 203 with the news", kind="answer", act=_let_answer(Page(page(NEWS).encode(), HTML, 203)), expect=GOES_ON),
    Fault(name="503 with Retry-After of a year", kind="answer", act=_status(503, ("Retry-After", "31536000")), expect=REPORTED),
    Fault(name="429 with Retry-After of zero", kind="answer", act=_status(429, ("Retry-After", "0")), expect=REPORTED),
    Fault(name="an empty page", kind="answer", act=_body(b""), expect=REPORTED),
    Fault(name="white space", kind="answer", act=_body(b" \n\n "), expect=REPORTED),
    Fault(name="a 304 that nobody asked for", kind="answer", act=_let_answer(_raw(b"HTTP/1.1 304 Not Modified\r\n\r\n")), expect=REPORTED),
    Fault(name="a circle of redirects", kind="answer", act=_status(302, ("Location", "/a")), expect=REPORTED),
    Fault(name="a redirect to a private address", kind="answer", act=_status(302, ("Location", "http://10.0.0.1/")), expect=REPORTED),
    Fault(name="a redirect to another scheme", kind="answer", act=_status(302, ("Location", "ftp://example.org/")), expect=REPORTED),
    Fault(name="a redirect to nowhere", kind="answer", act=_status(302), expect=REPORTED),
    *(
        Fault(name=f"a wall: {name}", kind="answer", act=_body(body.encode()), expect=REPORTED)
        for name, _, body in MAKERS[:4]
    ),
    Fault(name="a login page", kind="answer", act=_body(b"<title>Log in</title><form><input name=user><input type=password name=p><button>Log in</button></form>"), expect=REPORTED),
    Fault(name="a body over the limit", kind="answer", act=_body(FILLER.encode() * 10_000), expect=REPORTED),
    Fault(name="a gzip body that is none", kind="answer", act=_body(b"no gzip", ("Content-Encoding", "gzip")), expect=REPORTED),
    Fault(name="a gzip body that is cut", kind="answer", act=_body(gzip.compress(LONG.encode())[:-20], ("Content-Encoding", "gzip")), expect=REPORTED),
    Fault(name="an unknown coding", kind="answer", act=_body(LONG.encode(), ("Content-Encoding", "snappy")), expect=REPORTED),
    Fault(name="a page of 100,000 links", kind="answer", act=_body(b"".join(b"<a href=/%d>x%d</a> " % (n, n) for n in range(100_000))), expect=REPORTED),
    Fault(name="a page 100,000 levels deep", kind="answer", act=_body(b"<div>" * 100_000 + NEWS.encode()), expect=REPORTED),
    Fault(name="a PDF instead of the page", kind="answer", act=_body(b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer<<>>\n%%EOF", kind="application/pdf")),
    Fault(name="JSON with an error instead of the page", kind="answer", act=_body(json.dumps({"error": "gone"}).encode(), kind="application/json")),
    Fault(name="binary rubbish instead of the page", kind="answer", act=_body(bytes(range(256)) * 20, kind="application/octet-stream")),
    Fault(name="the selected part is gone", kind="answer", act=_body(LONG.replace("id=news", "id=other").replace("Today", "Never").encode()), monitor='all words in css "#news"'),
    Fault(name="the page shrinks to a line", kind="answer", act=_body(b"<p>Closed.")),
)  # fmt: skip


# -- receivers ---------------------------------------------------------------------------------------------------------------------


def _hook(answer: Page | Callable[[Seen, Wire], object]) -> Act:
    """Let the first receiver answer so; the second is the owner's other way."""

    def act(watch: Watch) -> None:
        watch.receiver.pages["/hook"] = answer

    return act


def _hook_for_a_while(answer: Page | Callable[[Seen, Wire], object]) -> Act:
    def act(watch: Watch) -> None:
        for server in (watch.receiver, watch.second):
            old = server.pages["/hook"]
            server.pages["/hook"] = answer
            watch.undo.callback(server.pages.__setitem__, "/hook", old)

    return act


RECEIVERS = (
    *(
        Fault(name=f"a receiver answers {status} from now on", kind="receiver", act=_hook(Page(status=status)), expect=frozenset({"reported"}), notices_only=True)
        for status in (400, 401, 403, 404, 405, 410, 413, 422)
    ),
    *(
        _passing(f"both receivers answer {status} for half an hour", "receiver", _hook_for_a_while(Page(status=status)))
        for status in (408, 429, 500, 502, 503, 504)
    ),
    _passing("both receivers ask for half an hour (429)", "receiver", _hook_for_a_while(Page(status=429, headers=[("Retry-After", "1800")]))),
    _passing("both receivers reset connections for half an hour", "receiver", _hook_for_a_while(_reset)),
    _passing("both receivers say nothing for half an hour", "receiver", _hook_for_a_while(_hang), flags={"notify.timeout_seconds": "0.2"}),
)  # fmt: skip

ROWS: tuple[Fault, ...] = (*CLOCKS, *MACHINE, *DAMAGE, *WORKERS, *NETWORK, *ROBOTS, *STATUSES, *ANSWERS, *RECEIVERS)
