from tidings.cli.run.check import _Waiting


def test_a_wait_is_said_in_pipes_too_once_until_it_is_another(capsys):
    """Whoever runs it by cron reads why it takes so long (S-7)."""
    say = _Waiting()
    for text in ("waiting for a", "waiting for a", "waiting for b"):
        say(text)

    assert "tidings: waiting for a\ntidings: waiting for b\n" == capsys.readouterr().err
