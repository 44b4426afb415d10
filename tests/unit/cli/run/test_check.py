from tidings.cli.run.check import _Waiting


def test_wait_is_printed_once_until_it_changes(capsys):
    """Without a terminal too: a user who runs `check` by cron can read why it takes long (S-7)."""
    say = _Waiting()
    for text in ("waiting for a", "waiting for a", "waiting for b"):
        say(text)

    assert "tidings: waiting for a\ntidings: waiting for b\n" == capsys.readouterr().err
