from __future__ import annotations

import io
import json
import sys

import pytest

from tests.fakes import Page

JAR = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc4nary\n"


@pytest.fixture
def pipe(tidings, monkeypatch):
    """Run a command with a text on standard input."""

    def run(text, *words):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return tidings(*words)

    return run


def watch(tidings, server, tmp_path, *, name="api", secret="api-token"):
    text = f'Create Sentinel {name} Using {server.url("/news")} Monitor all words Fetch every 1 hour Header "X-Key" secret "{secret}"'
    (tmp_path / "s.txt").write_text(text)
    return tidings("add", str(tmp_path / "s.txt"))


def test_set_reads_standard_input_and_prints_only_the_name(tidings, pipe, server, tmp_path):
    """The line end of `echo` is not part of the value. The output, also as JSON, has the name and
    the sentinels that use it.
    """
    watch(tidings, server, tmp_path)
    text = pipe("c4nary\n", "secret", "set", "api-token")
    [record] = pipe("c4nary\n", "secret", "set", "api-token", "-", "--json").records
    tidings("check", "api")
    [seen] = [seen for seen in server.seen if seen.path == "/news"]

    assert (0, "api-token is set; used by api\n") == (text.code, text.out)
    assert ("api-token", "text", ["api"], True) == tuple(record[key] for key in ("name", "kind", "sentinels", "opens"))
    assert "c4nary" not in json.dumps(record)
    assert "c4nary" == seen.headers["x-key"]


def test_set_at_a_terminal_prompts_without_echo(tidings, monkeypatch):
    """`getpass` reads the value; its prompt is the name."""
    asked = []

    def ask(prompt):
        asked.append(prompt)
        return "c4nary"

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("getpass.getpass", ask)
    ran = tidings("secret", "set", "token")

    assert (0, "token is set\n", ["token: "]) == (ran.code, ran.out, asked)


def test_value_as_an_argument_is_refused(tidings):
    """An argument is visible to other processes. It is not repeated in the error, and nothing is
    stored.
    """
    ran = tidings("secret", "set", "token", "c4nary")

    assert 2 == ran.code
    assert "cannot be an argument" in ran.err
    assert "c4nary" not in ran.out + ran.err
    assert 3 == tidings("secret", "list").code  # there is no database


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
def test_invalid_secret_is_refused(tidings, pipe, words, text, expected):
    """The exit code is 2, and the error does not have the value."""
    pipe("x", "secret", "set", "other")
    ran = pipe(text, "secret", *words)

    assert 2 == ran.code
    assert expected in ran.err
    assert "c4nary" not in ran.err


def test_cookies_are_set_from_a_file(tidings, pipe, server, tmp_path):
    """The cookies of a login are sent with each request. A file of another format is refused."""
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


def test_invalid_cookie_is_left_out_with_a_warning(tidings, tmp_path):
    """The other cookies of the file are set. The warning names line, cookie and site, but not the
    value.
    """
    (tmp_path / "jar.txt").write_text(JAR + "other.example\tFALSE\t/\tFALSE\t0\todd\tc4nary;\x01\n")
    ran = tidings("secret", "set", "shop", "--cookies", str(tmp_path / "jar.txt"))
    [record] = tidings("secret", "set", "shop", "--cookies", str(tmp_path / "jar.txt"), "--json").records

    assert 0 == ran.code
    assert "warning: line" in ran.err
    assert "the cookie odd of other.example" in ran.err
    assert "c4nary" not in ran.err
    assert 1 == len(record["left_out"])


def test_list_shows_names_states_and_sentinels_but_no_values(tidings, pipe, server, tmp_path):
    """The list includes secrets that sentinels name but that are not set, and those that cannot be
    decrypted.
    """
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
    """A page in error(secret) is polled at the next check, whatever its wait."""
    server.pages["/news"] = Page(b"<p>count 1</p>", {"Content-Type": "text/html"})
    watch(tidings, server, tmp_path)
    [before] = [r for r in tidings("check", "--json").records if r["record"] == "poll"]
    again = pipe("c4nary", "secret", "set", "api-token")
    [after] = [r for r in tidings("check", "--json").records if r["record"] == "poll"]

    assert ("error", "secret") == (before["outcome"], before["kind"])
    assert "`tidings secret set api-token`" in before["reason"]
    assert "checked again now: api\n" in again.out
    assert "new" == after["outcome"]


def test_add_and_test_warn_of_a_missing_secret(tidings, pipe, server, tmp_path):
    """The warning W9 names the command, and the sentinel is created. The warning ends when the
    secret is set.
    """
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


def test_drop_of_a_used_secret_is_refused(tidings, pipe, server, tmp_path):
    """The error names the sentinels. `--force` drops it anyway, and it can be dropped after its
    sentinels.
    """
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


def test_rotate_changes_the_key_and_keeps_the_secrets(tidings, pipe, tmp_path):
    """The new key file has one key, and all secrets can be decrypted."""
    pipe("c4nary", "secret", "set", "token")
    key = (tmp_path / "data" / "secrets.key").read_bytes()
    text, [record] = tidings("secret", "rotate"), tidings("secret", "rotate", "--json").records
    now = (tmp_path / "data" / "secrets.key").read_bytes()

    assert text.out.startswith("1 secret encrypted with a new key; keep a copy of ")
    assert {"record": "rotation", "secrets": 1} == record
    assert key != now
    assert 1 == len(now.splitlines())
    assert [True] == [row["opens"] for row in tidings("secret", "list", "--json").records]


def test_doctor_reports_how_secrets_are_stored(tidings, pipe, tmp_path):
    """A key file that others can read, a missing key and an interrupted rotation each have their
    fix.
    """
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
