from __future__ import annotations

import io
import json
import sys

import pytest

from tests.fakes import Page

JAR = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc4nary\n"


@pytest.fixture
def pipe(tidings, monkeypatch):
    """Run a verb with a text on standard input."""

    def run(text, *words):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return tidings(*words)

    return run


def watch(tidings, server, tmp_path, *, name="api", secret="api-token"):
    text = f'Create Sentinel {name} Using {server.url("/news")} Monitor all words Fetch every 1 hour Header "X-Key" secret "{secret}"'
    (tmp_path / "s.txt").write_text(text)
    return tidings("add", str(tmp_path / "s.txt"))


def test_set_reads_a_pipe_and_says_only_the_name(tidings, pipe, server, tmp_path):
    """The line end of `echo` is no part of it; what is printed, for people and as JSON, has the name and who uses it."""
    watch(tidings, server, tmp_path)
    said = pipe("c4nary\n", "secret", "set", "api-token")
    [record] = pipe("c4nary\n", "secret", "set", "api-token", "-", "--json").records
    tidings("check", "api")
    [seen] = [seen for seen in server.seen if seen.path == "/news"]

    assert (0, "api-token is set; used by api\n") == (said.code, said.out)
    assert ("api-token", "text", ["api"], True) == tuple(record[key] for key in ("name", "kind", "sentinels", "opens"))
    assert "c4nary" not in json.dumps(record)
    assert "c4nary" == seen.headers["x-key"]


def test_set_asks_at_a_terminal_without_an_echo(tidings, monkeypatch):
    """`getpass` shows nothing; its prompt is the name."""
    asked = []

    def ask(prompt):
        asked.append(prompt)
        return "c4nary"

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("getpass.getpass", ask)
    ran = tidings("secret", "set", "token")

    assert (0, "token is set\n", ["token: "]) == (ran.code, ran.out, asked)


def test_a_value_is_never_an_argument(tidings):
    """It is refused and not repeated; nothing is set."""
    ran = tidings("secret", "set", "token", "c4nary")

    assert 2 == ran.code
    assert "cannot be an argument" in ran.err
    assert "c4nary" not in ran.out + ran.err
    assert 3 == tidings("secret", "list").code  # not even a database was made


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        (("set",), "x", "needs the NAME"),
        (("list", "token"), "x", "takes no name"),
        (("drop",), "x", "needs the NAME"),
        (("set", "a b"), "x", "is not the name of a secret"),
        (("set", "token"), "", "at least one character"),
        (("set", "token"), "\n", "at least one character"),
        (("set", "token"), "x" * 65_537, "at most 65,536 bytes"),
        (("set", "token", "--cookies", "/none"), "", "cannot be read"),
        (("set", "token", "-", "--cookies", "/none"), "", "replaces the value"),
        (("set", "webhook"), "c4nary", "is not whsec_"),
        (("drop", "token"), "", "no secret token"),
    ],
)
def test_what_cannot_be_is_refused(tidings, pipe, words, text, expected):
    """With exit code 2, what helps, and no word of the value."""
    pipe("x", "secret", "set", "other")
    ran = pipe(text, "secret", *words)

    assert 2 == ran.code
    assert expected in ran.err
    assert "c4nary" not in ran.err


def test_cookies_are_set_from_a_file(tidings, pipe, server, tmp_path):
    """A kept log-in: its cookies are sent, what is no such file is refused."""
    (tmp_path / "jar.txt").write_text(JAR)
    (tmp_path / "no.txt").write_text("sid=c4nary")
    text = f'Create Sentinel shop Using {server.url("/news")} Monitor all words Header "Cookie" secret "shop"'
    (tmp_path / "s.txt").write_text(text)
    tidings("add", str(tmp_path / "s.txt"))
    refused = tidings("secret", "set", "shop", "--cookies", str(tmp_path / "no.txt"))
    [record] = tidings("secret", "set", "shop", "--cookies", str(tmp_path / "jar.txt"), "--json").records
    tidings("check", "shop")
    [seen] = [seen for seen in server.seen if seen.path == "/news"]

    assert (2, "cookies") == (refused.code, record["kind"])
    assert "sid=c4nary" == seen.headers["cookie"]


def test_one_odd_cookie_is_left_out_with_a_warning(tidings, tmp_path):
    """The others of the file are set; the warning names line, cookie and site, never the value."""
    (tmp_path / "jar.txt").write_text(JAR + "other.example\tFALSE\t/\tFALSE\t0\todd\tc4nary;\x01\n")
    ran = tidings("secret", "set", "shop", "--cookies", str(tmp_path / "jar.txt"))
    [record] = tidings("secret", "set", "shop", "--cookies", str(tmp_path / "jar.txt"), "--json").records

    assert 0 == ran.code
    assert "warning: line" in ran.err
    assert "the cookie odd of other.example" in ran.err
    assert "c4nary" not in ran.err
    assert 1 == len(record["left_out"])


def test_list_shows_names_states_and_users_never_values(tidings, pipe, server, tmp_path):
    """Also what sentinels name and nobody has set, and what does not open."""
    watch(tidings, server, tmp_path, secret="missing")
    pipe("c4nary", "secret", "set", "spare")
    tidings("check")
    shown = tidings("secret", "list")
    records = {record["name"]: record for record in tidings("secret", "list", "--json").records}
    (tmp_path / "data" / "secrets.key").unlink()
    lost = tidings("secret", "list")

    assert ["missing", "spare", "webhook"] == sorted(records)
    assert (None, ["api"], None) == tuple(records["missing"][key] for key in ("set_at", "sentinels", "opens"))
    assert (True, "signing") == (records["webhook"]["opens"], records["webhook"]["kind"])
    assert ["missing", "-", "not", "set", "-", "api"] == shown.out.splitlines()[1].split()
    assert "c4nary" not in shown.out
    assert "cannot be decrypted" in lost.out
    assert "tidings secret set spare" in lost.out


def test_setting_a_missing_secret_makes_its_page_due(tidings, pipe, server, tmp_path):
    """A page in error(secret) is checked again at the next check, whatever its wait; then it is well."""
    server.pages["/news"] = Page(b"<p>count 1</p>", {"Content-Type": "text/html"})
    watch(tidings, server, tmp_path)
    [before] = [r for r in tidings("check", "--json").records if r["record"] == "poll"]
    again = pipe("c4nary", "secret", "set", "api-token")
    [after] = [r for r in tidings("check", "--json").records if r["record"] == "poll"]

    assert ("error", "secret") == (before["outcome"], before["kind"])
    assert "`tidings secret set api-token`" in before["reason"]
    assert "checked again now: api\n" in again.out
    assert "new" == after["outcome"]


def test_add_and_test_warn_of_a_secret_that_is_not_set(tidings, pipe, server, tmp_path):
    """W9, with the command; the sentinel is made all the same, and once the secret is set nobody is warned."""
    added = watch(tidings, server, tmp_path)
    tried = tidings("test", str(tmp_path / "s.txt"), "--json")
    pipe("c4nary", "secret", "set", "api-token")
    later = tidings("test", str(tmp_path / "s.txt"), "--json")
    warned = [[r["code"] for r in ran.records if r["record"] == "problem"] for ran in (tried, later)]

    assert 0 == added.code
    assert "W9" in added.err
    assert "tidings secret set api-token" in added.err
    assert [["W9"], []] == warned
    assert ["secret", "ok"] == [ran.records[-1]["outcome"] for ran in (tried, later)]


def test_drop_is_refused_while_a_sentinel_uses_it(tidings, pipe, server, tmp_path):
    """With the names; --force drops it all the same, and so does dropping the sentinel first."""
    watch(tidings, server, tmp_path)
    pipe("c4nary", "secret", "set", "api-token")
    refused = tidings("secret", "drop", "api-token")
    forced = tidings("secret", "drop", "api-token", "--force", "--json")
    pipe("c4nary", "secret", "set", "api-token")
    tidings("drop", "api")

    assert (2, True) == (refused.code, "api would lose the secret api-token" in refused.err)
    assert (0, ["api"]) == (forced.code, forced.records[0]["sentinels"])
    assert (0, "api-token is deleted\n") == (
        (ran := tidings("secret", "drop", "api-token")).code,
        ran.out,
    )


def test_rotate_changes_the_key_and_no_secret(tidings, pipe, tmp_path):
    """The file is another, with one key; all open."""
    pipe("c4nary", "secret", "set", "token")
    key = (tmp_path / "data" / "secrets.key").read_bytes()
    said, [record] = tidings("secret", "rotate"), tidings("secret", "rotate", "--json").records
    now = (tmp_path / "data" / "secrets.key").read_bytes()

    assert said.out.startswith("1 secret encrypted with a new key; keep a copy of ")
    assert {"record": "rotation", "secrets": 1} == record
    assert key != now
    assert 1 == len(now.splitlines())
    assert [True] == [row["opens"] for row in tidings("secret", "list", "--json").records]


def test_doctor_says_how_secrets_are_kept(tidings, pipe, tmp_path):
    """Each opens; a file that others can read, a key that is gone, a rotation that was cut off, each with what mends it."""
    path = tmp_path / "data" / "secrets.key"

    def report():
        return [
            (r["status"], r["detail"], r["mend"])
            for r in tidings("doctor", "--json").records
            if r["what"] in {"secret", "secrets"}
        ]

    pipe("c4nary", "secret", "set", "token")
    assert [("ok", "1 stored, each can be decrypted", "")] == report()
    path.chmod(0o644)
    assert [("fail", f"{path} can be read by other users", f"chmod 600 {path}")] == report()[:1]
    path.chmod(0o600)
    key = path.read_bytes()
    path.write_bytes(b"A" * 43 + b"=\n" + key)
    assert [("warn", "tidings secret rotate")] == [(status, mend) for status, _, mend in report()][:1]
    path.unlink()
    assert [("fail", "tidings secret set token")] == [(status, mend) for status, _, mend in report()]
