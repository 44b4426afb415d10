"""The commands `tidings backup`, `verify` and `restore`."""

import io
import sys

from tests.unit.cli.conftest import Ran


def test_backup_is_verified_and_restored(tidings, tmp_path, server):
    """The output names the old data that was moved aside, and the files that a backup does not
    have.
    """
    tidings("add", "--url", server.url("/news"), "--name", "news", "--no-test")
    tidings("token", "add", "phone", "--scope", "read")
    made: Ran = tidings("backup", str(tmp_path / "b.tar"))
    verified = tidings("verify", "--deep", str(tmp_path / "b.tar"))
    refused = tidings("restore", str(tmp_path / "b.tar"))
    restored = tidings("restore", "--replace", str(tmp_path / "b.tar"))

    assert "the database and 0 files of bodies" in made.out
    assert "the backup has no secrets.key and no tidings.toml" in made.err
    assert "is complete: made " in verified.out
    assert "1 sentinel, 1 body: restored and verified by hash" in verified.out
    assert (3, True) == (refused.code, "--replace moves it aside" in refused.err)
    assert "the old data is in " in restored.out
    assert "paused, because they use this machine or its network: news" in restored.out
    assert "tidings enable news" in restored.out
    assert "are valid, also those revoked since then: phone" in restored.out


def test_output_says_which_secret_files_are_in_a_backup(tidings, tmp_path, monkeypatch):
    """None, one, or both: nobody believes that a key was kept which is not there."""
    outputs = []
    tidings("token", "add", "phone", "--scope", "read")
    for step in ("nothing", "key", "both"):
        if step == "key":
            monkeypatch.setattr(sys, "stdin", io.StringIO("c4nary"))
            tidings("secret", "set", "token", "-")
        if step == "both":
            (tmp_path / "data" / "tidings.toml").write_text("")
        monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse\n"))
        outputs.append(tidings("backup", "--with-secrets", str(tmp_path / f"{step}.tar")))

    nothing, key, both = outputs
    assert "no secrets.key, because this installation has none" in nothing.err
    assert "no tidings.toml, because this installation has none" in nothing.err
    assert "with secrets.key, encrypted" in key.out
    assert "no tidings.toml" in key.err
    assert "with secrets.key and tidings.toml, encrypted" in both.out
    assert "" == both.err


def test_passphrase_is_read_from_standard_input(tidings, tmp_path, server, monkeypatch):
    """A script never passes it as an argument."""
    tidings("add", "--url", server.url("/news"), "--name", "news", "--no-test")
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse\n"))
    [made] = tidings("backup", "--with-secrets", "--json", str(tmp_path / "b.tar")).records
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse\n"))
    data = str(tmp_path / "other")
    [restored] = tidings("restore", "--json", "--data", data, str(tmp_path / "b.tar")).records
    [verified] = tidings("verify", "--json", str(tmp_path / "b.tar")).records

    assert made["has_secrets"]
    assert (["secrets.key"], []) == (made["secret_files"], made["not_decrypted"])
    assert restored["secrets_restored"]
    assert (["news"], None, data) == (restored["paused"], restored["aside"], restored["data"])
    assert ("verified", 1) == (verified["record"], verified["sentinels"])
